"""Write an agent's decisions in the next-deal environment as data, for imitation and offline RL.

    four-seasons dataset --out runs/expert
    four-seasons dataset --agent next_deal_ppo --deals 4294967296-4294968295 --out runs/small

The same data twice: `parquet/*.parquet` with metadata in `croissant.json`, and a Minari dataset in
`minari`. Agent, deals, seed and versions determine every byte. An interrupted command continues
with the missing deals when it is started again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import four_seasons_env
from four_seasons_env.agents.registry import split_name
from four_seasons_env.engine.deals import TEST, TRAIN_FROM, parse_deals
from four_seasons_env.experiments.command_line import check_seed, run_command
from four_seasons_env.experiments.expert_data import PARQUET
from four_seasons_env.experiments.out_folder import MARKS, check_out
from four_seasons_env.experiments.parallel.blocks import Block, run_blocks, split_deals
from four_seasons_env.experiments.parallel.workers import Workers
from four_seasons_env.rules import get_rules

if TYPE_CHECKING:
    import gymnasium as gym
    import pandas as pd

    from four_seasons_env.experiments.matches.players import Player

ENV = "FourSeasonsNextDeal-v0"
BLOCK = 100
"""Deals in one task and Parquet file."""


@dataclass
class Dataset:
    """Write an agent's decisions in the next-deal environment as data."""

    out: Path
    """Folder of the data."""
    agent: str = "planner"
    """An agent by name. One with weights may have a path: planner:runs/x."""
    rules: str = "four-seasons"
    """A rule set by name."""
    deals: str = f"{TRAIN_FROM}-{TRAIN_FROM + 9_999}"
    """A range of deals; by default the first 10,000 training deals."""
    test_deals: bool = False
    """Allow test deals (0-9999), which are for reporting only."""
    seed: int = 0
    """Seed of the agent's chance and of the stock's reshuffles."""
    solve: int = 0
    """Add the solver's verdict on every position. The solver expands up to this many positions for
    a game, such as 500000, so that the verdicts are the same on every machine."""
    workers: Workers = field(default_factory=Workers)


@dataclass(frozen=True)
class DecisionsTask(Block):
    """A block of deals to play."""

    player: Player
    seed: int
    solve: int

    @property
    def part(self) -> Path:
        """Its Parquet file."""
        return self.out / PARQUET / f"{self.deals[0]}-{self.deals[-1]}.parquet"

    def stored(self) -> pd.DataFrame | None:
        """None: the file is written whole, and not read again."""
        return None

    def left(self, stored: pd.DataFrame | None) -> Sequence[int]:
        """All deals, unless the file exists."""
        return () if self.part.is_file() else self.deals


def play_block(task: DecisionsTask) -> None:
    """Play a block of deals, and write its file.

    The agent is new for each block, so that its memory does not depend on the number of workers.
    """
    from four_seasons_env.agents.files import write_atomically
    from four_seasons_env.experiments.expert_data.games import play_game
    from four_seasons_env.experiments.expert_data.parquet import to_parquet
    from four_seasons_env.next_deal import FourSeasonsNextDealVectorEnv

    rules = get_rules(task.rules)
    env = FourSeasonsNextDealVectorEnv(1, rules, autoreset_mode="NextStep")
    agent = task.player.make(rules)
    games = (play_game(agent, env, deal, task.seed, task.solve) for deal in task.deals)
    rows = [row for game in games for row in game]
    write_atomically(task.part, to_parquet(rows, _sizes(env.single_observation_space)))


def _sizes(space: gym.Space[Any]) -> dict[str, int]:
    """The sizes of `Column.shape`."""
    candidates, slots = space["observation"].shape  # type: ignore[index]
    return {"candidates": candidates, "slots": slots}


def _check(run: Dataset) -> None:
    """Reject wrong flags before anything is played.

    Raises:
        ValueError: naming the nearest valid choice.
    """
    deals = parse_deals(run.deals)
    if not run.test_deals and deals[0] in TEST:
        raise ValueError(
            f"deal {deals[0]} is a test deal (0-9,999), which is for reporting only: choose deals "
            "from 2^32 on, or add --test-deals"
        )
    check_seed(run.seed)
    if run.solve < 0:
        raise ValueError(f"--solve must be 0 or more, not {run.solve}")
    run.workers.check()
    check_out(run.out, "dataset")


def write_dataset(run: Dataset) -> None:
    """Play the missing deals, and write all files.

    Raises:
        ValueError: for wrong flags, or if the folder holds other data.
        RuntimeError: if a block of deals could not be played, once all others have been.
    """
    _check(run)
    import gymnasium as gym

    from four_seasons_env.experiments.expert_data.minari_files import write_minari
    from four_seasons_env.experiments.expert_data.parquet import croissant
    from four_seasons_env.experiments.matches.players import find_players
    from four_seasons_env.experiments.training.run_folder import write_json

    rules = get_rules(run.rules)
    player, *others = find_players([run.agent], rules, ["deterministic"])
    if others:
        raise ValueError(f"--agent {run.agent} stands for {1 + len(others)} policies: choose one")
    parts = split_name(player.name)
    options = ",".join(f"{key}={value}" for key, value in parts.options.items())
    about: dict[str, Any] = {"version": four_seasons_env.__version__, "rules": rules.name}
    about |= {"deals": run.deals, "seed": run.seed, "solve": run.solve}
    about |= {"agent": parts.registered, "options": options, "weights": player.weights}
    mark = run.out / MARKS["dataset"]
    found = json.loads(mark.read_text()) if mark.is_file() else about
    for key, value in about.items():
        if found.get(key) != value:
            raise ValueError(
                f"{run.out} holds a dataset with {key} {found.get(key)}, not {value}: choose a new "
                "folder (--out)"
            )
    write_json(mark, about)
    tasks = [
        DecisionsTask(run.out, rules.name, block, player, run.seed, run.solve)
        for block in split_deals(run.deals, BLOCK)
    ]
    run_blocks(play_block, tasks, "playing", run.workers)
    env = gym.make(ENV, rules=rules.name)
    name = f"{rules.name}/{re.sub(r'[^A-Za-z0-9_-]', '_', parts.registered)}-v0"
    write_json(run.out / "croissant.json", croissant(about, name, _sizes(env.observation_space)))
    folder = write_minari(run.out / "minari", name, [task.part for task in tasks], env, about)
    print(f"saved in {run.out}: parquet, croissant.json; Minari: {folder}")
    print(f"sha256 of the files: {digest_of(run.out)}")


def digest_of(folder: Path) -> str:
    """The SHA-256, in hex, of the names and contents of all files in a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            own = hashlib.sha256(path.read_bytes()).hexdigest()
            digest.update(f"{own}  {path.relative_to(folder).as_posix()}\n".encode())
    return digest.hexdigest()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    run_command(
        arguments,
        write_dataset,
        Dataset,
        __doc__,
        "finished blocks of deals are saved in {run.out}; resume: {command}",
    )
