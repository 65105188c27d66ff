"""Play an agent on many deals in lockstep, fairly: it never sees the true order of the stock."""

import functools
import random
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from four_seasons_env.agents.agent import Agent, AnswerError, as_actions
from four_seasons_env.arguments import check_choice
from four_seasons_env.engine import kernel
from four_seasons_env.engine.deals import TRAIN_FROM, check_deal, mix, read_deals
from four_seasons_env.engine.masks import MASKS, MaskedGames
from four_seasons_env.engine.moves import all_moves
from four_seasons_env.engine.validation import unchecked
from four_seasons_env.episodes.running import why_left_out
from four_seasons_env.experiments.players import Player, find_players
from four_seasons_env.game import MAX_MOVES, Game
from four_seasons_env.records import Record
from four_seasons_env.rules import Rules, get_rules


@contextmanager
def own_generators() -> Iterator[None]:
    """Give back the global generators of Python, NumPy and torch as they were before a block.

    Players, learners and the libraries that they use seed them, and a program that calls us may use
    them, too.
    """
    with ExitStack() as at_the_end:
        at_the_end.callback(random.setstate, random.getstate())
        at_the_end.callback(np.random.set_state, np.random.get_state())  # noqa: NPY002
        if torch := sys.modules.get("torch"):
            cuda = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
            at_the_end.enter_context(torch.random.fork_rng(cuda))
        yield


@own_generators()
def play_game(agent: str, rules: str | Rules, deal: int, play: str = "deterministic") -> Record:
    """The game that an agent, by its name, plays in a comparison.

    Args:
        agent: name of the agent.
        rules: the rule set.
        deal: number of the deal.
        play: how it plays if it can play both ways.

    Raises:
        ValueError: for a negative deal; see also `find_players`.
    """
    number = check_deal(deal)  # before the agent is made, which may take long
    (player,) = find_players([agent], rules, [play])
    record: Record = play_in_block(player, get_rules(rules), [number])["game"].item()
    return record


def play_in_block(
    player: Player, rules: Rules, deals: Sequence[int], seed: int = 0
) -> pd.DataFrame:
    """Play the whole block that has these deals, and return their games alone.

    Agents may draw random numbers for all games of a block together. Blocks begin at multiples of
    their size, so the game of a deal does not depend on the other deals of a call. The global
    generators of Python, NumPy and torch are seeded, because libraries draw from them.

    Args:
        player: the player, which knows the size of its blocks and the mask that it plays with.
        rules: the rule set.
        deals: numbers of deals of one block.
        seed: seed of the agent's random numbers and of the reshuffled stock.

    Returns:
        The results of `play_deals` for these deals, with the recorded games.
    """
    first = deals[0] - deals[0] % player.block
    block = range(first, min(first + player.block, 2**63))  # the last deal is 2^63 - 1
    warm_up(player, rules)
    _seed_libraries([seed, first, 1])
    results = _play(player, rules, block, seed)
    return results[results["deal"].isin(deals)].reset_index(drop=True)


@functools.cache
def warm_up(player: Player, rules: Rules) -> pd.DataFrame:
    """Play a training deal, once per process, before the first deal is timed.

    Otherwise the time of that deal would include compiling and loading. The agent of the warm-up
    plays no other deal: agents may have a state, and a block's games must not depend on whether it
    is the first of its process.

    Returns:
        The results of `play_deals`, with the recorded game.
    """
    return _play(player, rules, [TRAIN_FROM])


def _play(player: Player, rules: Rules, deals: Sequence[int], seed: int = 0) -> pd.DataFrame:
    """Play deals with a new agent of the player, and record the games."""
    agent, mask = player.new_agent(rules), player.mask
    return play_deals(agent, rules, deals, seed, mask, record=True, name=player.agent)


def _seed_libraries(seed: list[int]) -> None:
    """Seed the global generators of Python and NumPy, and of torch if it is imported."""
    drawn = np.random.PCG64(seed).random_raw(3)
    random.seed(int(drawn[0]))
    np.random.seed(int(drawn[1]) % 2**32)  # noqa: NPY002
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(int(drawn[2]) % 2**63)


def play_deals(
    agent: Agent,
    rules: Rules,
    deals: Sequence[int] | NDArray[np.int64],
    seed: int = 0,
    mask: str | None = None,
    record: bool = False,
    name: str = "",
) -> pd.DataFrame:
    """Play each deal once, all in lockstep.

    At every move the agent gets public copies of the games (`engine.kernel.public_copy`), so
    copies, masks and random numbers do not reveal the order of the stock. An agent could still look
    up the opening of a public deal, or read the memory of this process; nothing here prevents that.

    Args:
        agent: the agent.
        rules: the rule set.
        deals: numbers of the deals.
        seed: seed of the agent's random numbers and of the reshuffled stock; the same seed and
            deals give the same games.
        mask: the mask of `FourSeasonsEnv` that decides which moves may be played; None: the
            mask of the agent.
        record: return the games too.
        name: name of the agent in records and errors, by default the name of its class.

    Returns:
        A row per deal: deal, won, cards_up, moves, seconds (the processor time of `act`, divided
        among the games); with ``record`` also `game`, a `Record`.

    Raises:
        ValueError: for a bad deal number, an unknown mask, or an agent that was made for other
            rules.
        AnswerError: if the agent does not return one integer for each game, or plays a move that
            the mask leaves out.
    """
    name = name or type(agent).__name__
    mask = check_choice("mask", mask or agent.mask, MASKS)
    made_for = getattr(agent, "rules", rules)
    if isinstance(made_for, Rules) and made_for != rules:
        raise ValueError(f"the rules of {name} must be {rules.name!r}, not {made_for.name!r}")
    # 1. The openings.
    numbers = np.array(read_deals(deals), np.int64)
    games = np.zeros(len(numbers), kernel.GAME)
    kernel.start_all(games, kernel.compile_rules(rules), numbers)
    playing = MaskedGames(games, rules, mask)
    # 2. The games.
    seconds, moves = _play_out(agent, playing, rules, numbers, seed, name)
    # 3. A row for each.
    results = pd.DataFrame(
        {
            "deal": games["deal"],
            "won": games["cards_up"] == rules.cards,
            "cards_up": games["cards_up"].astype(np.int64),
            "moves": games["moves"].astype(np.int64),
            "seconds": seconds,
        }
    )
    if record:
        results["game"] = pd.Series(_records(moves, rules, numbers, name))
    return results


def _play_out(
    agent: Agent,
    playing: MaskedGames,
    rules: Rules,
    numbers: NDArray[np.int64],
    seed: int,
    name: str,
) -> tuple[NDArray[np.float64], list[tuple[NDArray[np.int64], NDArray[np.int64]]]]:
    """Play games to their ends.

    Returns:
        The agent's processor seconds for each game, and for each turn the games that moved, by
        index, with their moves.
    """
    games, rule = playing.games, kernel.compile_rules(rules)
    # The reshuffles depend on seed, deal and turn alone, whatever deals are played together.
    # The last number separates them from the random numbers of libraries (1).
    drawn = [np.random.PCG64([seed, deal, 2]).random_raw() for deal in numbers.tolist()]
    keys = np.array(drawn, np.uint64)
    rng = _nameless_rng([seed, int(numbers[0]) if len(numbers) else 0])
    act = unchecked(agent.act)  # the copies are positions, and the masks theirs
    seconds, turns = np.zeros(len(games)), []
    alive = np.arange(len(games))
    for turn in range(MAX_MOVES):
        # 1. The games that are not over, and the moves that may be played in them.
        masks, is_open = playing.masks(alive)
        alive, masks = alive[is_open], masks[is_open]
        if not len(alive):
            break
        # 2. The agent sees copies of them with another order of the stock, and chooses.
        shown = kernel.public_copy(games[alive], rule, mix(keys[alive] + np.uint64(turn)))
        # Not the clock: others may use the cores, and waiting is not playing. The threads of the
        # agent count; a process that it starts, or a server that it asks, does not.
        started = time.process_time()
        # The agent gets a copy of the masks: moves are checked by those it cannot write to.
        actions = as_actions(act(shown, masks.copy(), rng), len(alive), name)
        seconds[alive] += (time.process_time() - started) / len(alive)
        # 3. Its moves are checked, noted and played.
        _check(name, actions, masks, games[alive], rules)
        turns.append((alive, actions))
        playing.play(alive, actions)
    return seconds, turns


def _records(
    turns: list[tuple[NDArray[np.int64], NDArray[np.int64]]],
    rules: Rules,
    numbers: NDArray[np.int64],
    name: str,
) -> list[Record]:
    """The games of `_play_out` as records."""
    texts = [move.text for move in all_moves(rules)]
    played: list[list[str]] = [[] for _ in numbers]
    for alive, actions in turns:
        for i, action in zip(alive.tolist(), actions.tolist(), strict=True):
            played[i].append(texts[action])
    return [
        Record(rules.name, tuple(moves), deal=deal, player=name)
        for deal, moves in zip(numbers.tolist(), played, strict=True)
    ]


def _nameless_rng(seed: list[int]) -> np.random.Generator:
    """A generator that does not reveal its seed, because the seed contains the deal's number."""
    bits = np.random.PCG64(0)
    bits.state = np.random.PCG64(seed).state
    return np.random.Generator(bits)


def _check(
    name: str,
    actions: NDArray[np.int64],
    masks: NDArray[np.int8],
    games: NDArray[np.void],
    rules: Rules,
) -> None:
    """Reject moves that the agent may not play.

    Args:
        name: name of the agent that chose them.
        actions: int64 (n,), numbers of the moves.
        masks: int8 (n, A), 1 for moves that may be played.
        games: GAME (n,).
        rules: the rule set.

    Raises:
        AnswerError: naming the agent, the move and the reason.
    """
    allowed = (actions >= 0) & (actions < masks.shape[1])
    allowed[allowed] = masks[np.flatnonzero(allowed), actions[allowed]] == 1
    if allowed.all():
        return
    game = int(np.flatnonzero(~allowed)[0])
    action, count = int(actions[game]), masks.shape[1]
    if not 0 <= action < count:
        raise AnswerError(f"{name} must choose moves from 0 to {count - 1}, not {action}")
    reason = why_left_out(Game.from_own_record(games[game], rules), action)
    raise AnswerError(f"{name} must choose by the masks: {reason}")
