"""Review a game: a page with pictures, chances of winning and the moment it was lost.

    four-seasons review --agent planner --deal 17 --out page.html

The page is one self-contained HTML file. It shows the game move by move, the planner's
chance of winning, the solver's verdict on the true deal, and the losing move. To review a recorded
game (`four_seasons_env.records`):

    four-seasons review --record games.jsonl --line 3 --out page.html

`--gif game.gif` animates the game, with or without a page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from four_seasons_env.agents.names import split_name
from four_seasons_env.engine.deals import check_deal
from four_seasons_env.experiments.command_line import run_command
from four_seasons_env.rules import get_rules

if TYPE_CHECKING:
    from four_seasons_env.experiments.reporting.review_page import Reviewed
    from four_seasons_env.records import Record

OTHERS = ("heuristic", "planner")
"""Agents whose moves are shown in the position of the losing move."""


@dataclass
class Review:
    """Review a game."""

    out: Path | None = None
    """HTML file of the page."""
    gif: Path | None = None
    """GIF file of an animation of the game; needs the extra `render`."""
    rules: str = "four-seasons"
    """Rule set by name; a changed one in quotes, as in 'czarina(piles=4)'."""
    agent: str = "planner"
    """Agent that plays the game."""
    play: Literal["deterministic", "stochastic"] = "deterministic"
    """How it plays if it can play both ways."""
    deal: int = 17
    """Number of the deal."""
    record: Path | None = None
    """File of recorded games, to review one of them and not an agent's game."""
    line: int = 1
    """Line of the game in the file of --record."""
    seconds: float = 10.0
    """Time limit for the solver's verdicts on the game."""


def review(run: Review) -> None:
    """Write the page of a game, an animation of it, or both.

    Raises:
        ValueError: for a wrong flag.
        FileNotFoundError: if there is no such file of games.
    """
    if not (run.out or run.gif):
        raise ValueError("give --out page.html, --gif game.gif or both")
    if not run.seconds > 0:
        raise ValueError(f"--seconds must be more than 0, not {run.seconds:g}")
    if run.line < 1:
        raise ValueError(f"--line must be 1 or more, not {run.line}")
    get_rules(run.rules)
    split_name(run.agent)
    check_deal(run.deal)
    for path in filter(None, (run.out, run.gif)):
        path.parent.mkdir(parents=True, exist_ok=True)  # fails before the game is played

    from four_seasons_env.experiments.matches.verdicts import useful_moves
    from four_seasons_env.experiments.reporting.review_page import review_page
    from four_seasons_env.files import write_atomically

    record = _record(run)
    if run.gif:
        from four_seasons_env.rendering.picture import save_animation

        positions = record.positions()
        save_animation(positions[: useful_moves(positions) + 1], run.gif, width=280)
        print(f"saved in {run.gif}")
    if run.out:
        write_atomically(run.out, review_page(review_game(record, run.seconds)))
        print(f"saved in {run.out}")


def _record(run: Review) -> Record:
    """The game to review: a recorded one, or the agent's game of the deal."""
    if run.record is None:
        from four_seasons_env.experiments.matches.play import play_game

        return play_game(run.agent, run.rules, run.deal, run.play)

    from four_seasons_env.records import RecordError, parse_record, read_lines

    for number, line in read_lines(run.record):
        if number == run.line:
            try:
                return parse_record(line)
            except RecordError as error:
                raise RecordError(f"{run.record}, line {number}: {error}") from None
    raise ValueError(f"{run.record} has no game in line {run.line}")


def review_game(record: Record, seconds: float = 10.0) -> Reviewed:
    """The content of a game's page.

    Args:
        record: the game.
        seconds: time limit for the solver's verdicts on the game.
    """
    from four_seasons_env.engine.moves import find_move
    from four_seasons_env.experiments.matches.verdicts import (
        LOST,
        judge,
        useful_moves,
        verdicts_after_moves,
    )
    from four_seasons_env.experiments.reporting.review_page import Reviewed
    from four_seasons_env.play import advice

    positions = record.positions()
    useful = useful_moves(positions)
    # A lost game may end with moves back and forth until the limit, which nobody wants to see.
    positions, idle = positions[: useful + 1], len(record.moves) - useful
    rules = positions[0].rules
    can_judge = advice.can_judge(rules)
    verdicts = judge(positions, seconds)
    at = verdicts.losing_move
    moves = [find_move(rules, move) for move in record.moves[:useful]]
    alternatives, others = dict[str, str](), dict[str, str]()
    if at is not None:
        alternatives = verdicts_after_moves(positions[at]) | {record.moves[at]: LOST}
        able = [name for name in OTHERS if name in advice.advisers(rules)]
        past = [*zip(positions[:at], moves[:at], strict=True)]
        chosen = {name: advice.choose(name, positions[at], past) for name in able}
        others = {name: move.text for name, move in chosen.items() if move}
    return Reviewed(
        record.player or "a game",
        positions,
        moves,
        idle,
        [advice.chance(position) for position in positions] if can_judge else [],
        verdicts,
        alternatives,
        others,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    run_command(arguments, review, Review, __doc__)
