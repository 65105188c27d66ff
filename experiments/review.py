"""Review a game: a page with pictures, chances of winning and the moment it was lost.

    four-seasons review --agent planner --deal 17 --out page.html

One self-contained page: the game move by move, the chance of winning as the planner judges it, what
the solver says of the true deal, and the moment the game was lost. A recorded game
(`four_seasons_env.play.records`) is reviewed with:

    four-seasons review --record games.jsonl --line 3 --out page.html
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from four_seasons_env.agents.files import write_atomically
from four_seasons_env.agents.judge import Judge, can_judge
from four_seasons_env.engine.deals import check_deal
from four_seasons_env.engine.moves import find_move
from four_seasons_env.experiments.command_line import check_seed, run_command
from four_seasons_env.experiments.evaluation.players import find_players
from four_seasons_env.experiments.evaluation.review import (
    LOST,
    judge,
    kept_alive,
    record_games,
    useful_moves,
)
from four_seasons_env.experiments.out_folder import check_writable
from four_seasons_env.experiments.reporting.review_page import Reviewed, review_page
from four_seasons_env.game import Game
from four_seasons_env.play import advice
from four_seasons_env.play.records import Record, read_records
from four_seasons_env.rules import Rules, get_rules


@dataclass
class Review:
    """Review a game."""

    out: Path
    """The page."""
    rules: str = "four-seasons"
    """Rule set by name."""
    agent: str = "planner"
    """Whose game it is."""
    deal: int = 17
    """The deal's number."""
    record: Path | None = None
    """A JSON lines file with the game, instead of an agent's."""
    line: int = 1
    """Which game of the file."""
    beside: list[str] = field(default_factory=lambda: ["heuristic", "planner"])
    """Agents that are asked what they would play at the moment the game was lost."""
    seconds: float = 10.0
    """For the solver's verdicts on the page's game, at most."""
    seed: int = 0
    """Of the agents' chance."""


def review_game(record: Record, beside: list[str], seconds: float = 10.0) -> Reviewed:
    """All that a page tells of a game.

    Args:
        record: the game.
        beside: agents to ask at the moment it was lost; those that cannot play the rules are not.
        seconds: for the solver's verdicts on the game, at most.
    """
    positions = record.positions()
    useful = useful_moves(positions)
    positions, idle = positions[: useful + 1], len(record.moves) - useful
    rules = positions[0].rules
    verdicts = judge(positions, seconds)
    at = verdicts.losing_move
    alternatives = {} if at is None else kept_alive(positions[at])
    if at is not None:
        alternatives[record.moves[at]] = LOST
    return Reviewed(
        record.player or "a game",
        positions,
        [find_move(rules, move) for move in record.moves[:useful]],
        idle,
        _chances(positions, rules),
        verdicts,
        alternatives,
        {} if at is None else _others(positions[at], beside),
    )


def _chances(positions: list[Game], rules: Rules) -> list[float | None]:
    if not can_judge(rules):
        return []
    judges = Judge(rules)
    return [judges.chance(position) for position in positions]


def _others(position: Game, beside: list[str]) -> dict[str, str]:
    able = advice.advisers(position.rules)
    return {name: advice.choose(name, position).text for name in beside if name in able}


def _record(run: Review) -> Record:
    """The game that is to be looked over."""
    if run.record is not None:
        found = next(itertools.islice(read_records(run.record), run.line - 1, None), None)
        if found is None:
            raise ValueError(f"{run.record} has no game {run.line}")
        return found
    rules = get_rules(run.rules)
    (player,) = find_players([run.agent], rules, ["deterministic"])
    deal = check_deal(run.deal)
    return record_games(player, rules, [deal], run.seed)[deal]


def review(run: Review) -> None:
    """Write the page of a game.

    Raises:
        ValueError: for a wrong flag.
    """
    if not run.seconds > 0:
        raise ValueError(f"--seconds is more than 0 seconds, not {run.seconds:g}")
    if run.line < 1:
        raise ValueError(f"--line is counted from 1, not {run.line}")
    check_seed(run.seed)
    check_writable(run.out.parent)
    reviewed = review_game(_record(run), run.beside, run.seconds)
    run.out.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(run.out, review_page(reviewed).encode())
    print(f"kept in {run.out}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    run_command(arguments, review, Review, __doc__)
