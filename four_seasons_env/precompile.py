"""Compile the environments ahead of time: `python -m four_seasons_env.precompile`.

This is optional: the first environment of a kind compiles what it needs, and caches it. Numba
compiles one function at a time in a process, so a second process compiles about half
(`second_process`). The Makefile runs this module while other packages are being installed.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

_HALF = """import sys
sys.path.append({root!r})
from four_seasons_env.precompile import HALVES
HALVES[{kind!r}]()"""


@contextmanager
def second_process(kind: str) -> Iterator[None]:
    """Compile half of what an environment needs in a process that runs during a block.

    The block should compile the functions that take the longest chain of others. It gains nothing
    if the process cannot start or fails: then the caller compiles all.

    Args:
        kind: a key of `HALVES`.
    """
    python = sys.executable or ""
    if not Path(python).name.lower().startswith("python"):
        yield  # an application embeds Python, and would start once more
        return
    code = _HALF.format(root=str(Path(__file__).parents[1]), kind=kind)
    # -P: no module of the current folder takes the place of another.
    null = subprocess.DEVNULL
    command = [python, "-P", "-c", code]
    with subprocess.Popen(command, stdin=null, stdout=null, stderr=null) as process:
        try:
            yield  # leaving the block below waits for the process
        except BaseException:
            process.kill()
            raise


def _moves() -> None:
    """The second half of `FourSeasons-v0`, in the order in which the first half needs it."""
    from four_seasons_env.engine.cards import NO_CARD
    from four_seasons_env.engine.kernel import GAME, compile_rules, play
    from four_seasons_env.episodes.stepping import deal_all
    from four_seasons_env.observations import SHOWN, TOPS, encode, observation_length, refresh
    from four_seasons_env.rules import get_rules

    rules = get_rules("four-seasons")
    table, games, shown = compile_rules(rules), np.zeros(1, GAME), np.zeros(1, SHOWN)
    counts = np.zeros(observation_length(rules, "tops"), np.uint8)
    rule, g = table[0], games[0]
    g["top"] = NO_CARD  # no pile has a card to look at
    encode(g, rule, TOPS, shown[0], counts)
    play(g, rule, 0)
    g["top"] = NO_CARD
    refresh(g, rule, TOPS, shown[0], counts, 0)
    deal_all(games, table, np.zeros(1, np.uint64), np.ones(1, np.bool_))


def _positions() -> None:
    """The second half of `FourSeasonsNextDeal-v0`, likewise."""
    from four_seasons_env.engine.kernel import play
    from four_seasons_env.episodes.stepping import deal_all
    from four_seasons_env.next_deal.batch import NextDealBatch
    from four_seasons_env.next_deal.enumeration import choose
    from four_seasons_env.next_deal.features import write_row
    from four_seasons_env.next_deal.settings import NextDealSettings
    from four_seasons_env.next_deal.stepping import end_all, take_all
    from four_seasons_env.rules import get_rules

    batch = NextDealBatch(
        NextDealSettings(
            rules=get_rules("four-seasons"),
            candidates=2,
            expansions=1,
            endings="search",
            ending_expansions=1,
            order="advice",
            observation="features",
            reward="foundation",
            illegal="stay",
            max_moves=1,
        )
    )
    rule, g = batch.rule[0], batch.games[0]
    play(g, rule, 0)
    deal_all(batch.games, batch.rule, np.zeros(1, np.uint64), np.ones(1, np.bool_))
    write_row(g, rule, batch.observations[0, 0])
    scratch = batch._new_scratch()
    choose(0, scratch.search, scratch.chosen, 1, False)
    take_all(batch._whole, np.full(1, -1), np.zeros(1, np.bool_))
    end_all(batch._whole, batch.observations)


HALVES: dict[str, Callable[[], None]] = {"moves": _moves, "positions": _positions}
"""What the second process compiles, by what the actions of the environment are."""


def main(_: Sequence[str] | None = None) -> None:
    """Take a step in each vector environment, the next-deal one first."""
    from four_seasons_env.next_deal import FourSeasonsNextDealVectorEnv
    from four_seasons_env.vector import FourSeasonsVectorEnv

    for kind in (FourSeasonsNextDealVectorEnv, FourSeasonsVectorEnv):
        env = kind(1)
        _, infos = env.reset(seed=0)
        env.step(infos["action_mask"].argmax(axis=1).astype(np.int64))


if __name__ == "__main__":
    main()
