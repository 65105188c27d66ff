"""Play the games of a data set that comes with the package, and store them with their card.

    python experiments/studies/datasets.py expert

Every player chooses with the mask `no_repeats`, so the games can be loaded with any mask. The games
depend on neither the workers nor the folder. A stopped call can be repeated: it plays only the
missing blocks of deals. Each player has the folder of a comparison in `runs/datasets`, which
`four-seasons verify` replays. `expert` takes about 40 minutes of one core, the others take seconds.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import tyro

from four_seasons_env import __version__
from four_seasons_env.datasets import FOLDER, packed
from four_seasons_env.experiments import blocks, comparison, folders
from four_seasons_env.experiments.command_line import Run, command
from four_seasons_env.experiments.players import find_players
from four_seasons_env.experiments.workers import Workers
from four_seasons_env.files import write_atomically
from four_seasons_env.records import Record, read_records

RULES, MASK = "four-seasons", "no_repeats"

FIRST = {"expert": 4_300_000_000, "medium": 4_300_010_000, "mixed": 4_300_020_000}
"""The first deal of each set: training deals, which no other set has."""

PLAYERS = {
    "expert": ["planner"],
    "medium": ["heuristic"],
    "mixed": ["random", "greedy", "heuristic", "maskable_ppo"],
}
"""The players of each set, and their order; each plays the same number of deals.

Networks choose their best move, but those of `mixed` draw their moves, for the sake of variety."""


@dataclass
class Datasets(Run):
    """Play and store a data set."""

    name: tyro.conf.Positional[Literal["expert", "medium", "mixed"]]
    """Name of the set."""
    out: Path = Path("runs/datasets")
    """Folder for the recorded games."""
    store: Path = FOLDER
    """Folder for the set and its card."""
    games: int = 10_000
    """Number of games."""
    workers: Workers = field(default_factory=Workers)


def datasets(run: Datasets) -> None:
    """Play the missing games of a set, and write its files.

    Raises:
        ValueError: for a number of games that its players cannot share.
        RuntimeError: if a block of deals could not be played.
    """
    agents = PLAYERS[run.name]
    share, rest = divmod(run.games, len(agents))
    if share < 1 or rest:
        raise ValueError(f"--games must be a multiple of {len(agents)}, not {run.games}")
    records, players = [], []
    for i, agent in enumerate(agents):
        first = FIRST[run.name] + i * share
        games, about = _play(run, agent, f"{first}-{first + share - 1}")
        records += games
        players.append(about)
    data, facts = packed(records)
    card = {"name": run.name, "version": __version__, "licence": "MIT", "mask": MASK}
    card |= {"command": f"python experiments/studies/datasets.py {run.name}"}
    card |= facts | {"players": players}
    write_atomically(run.store / f"{run.name}.npz", data)
    folders.write_json(run.store / f"{run.name}.json", card)
    print(f"saved in {run.store}: {facts['games']:,} games, {facts['won']:.1%} won")


def _play(run: Datasets, agent: str, deals: str) -> tuple[list[Record], dict[str, Any]]:
    """Play the missing games of a player; returns all of them, and what the card says of it."""
    out = run.out / run.name / agent
    play = "stochastic" if run.name == "mixed" else "deterministic"
    (found,) = find_players([agent], RULES, [play])
    player = replace(found, mask=MASK)
    manifest = comparison.Manifest({RULES: [player]}, deals, recorded=True)
    (todo,) = blocks.blocks_of(out, manifest)
    with folders.locked(out, "comparison", [*blocks.files_of(out, manifest), out / "results.csv"]):
        comparison.open_comparison(out, manifest)
        won = blocks.run_blocks(todo, agent, run.workers)["won"].mean()
    records = [record for block in todo for record in read_records(block.games)]
    about = {"agent": agent, "play": player.play, "weights": player.weights, "deals": deals}
    return records, about | {"games": len(records), "won": float(won)}


main = command(datasets, "finished blocks of deals are saved in {run.out}; resume: {command}")


if __name__ == "__main__":
    main()
