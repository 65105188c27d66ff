"""Write a page that shows where a game was lost.

    four-seasons review --agent planner --deal 17 --out page.html

The page is one self-contained HTML file. It shows the game move by move, the planner's chance of
winning after each move, the solver's verdict on the true deal, and the first move after which that
deal can no longer be won. To review a recorded game instead, name its file and line:

    four-seasons review --record games.jsonl --line 3 --out page.html

`--gif game.gif` writes an animation of the game, with or without a page.
"""

import time
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

from four_seasons_env.engine.moves import Move, find_move
from four_seasons_env.experiments.command_line import Run, command
from four_seasons_env.experiments.pages import render
from four_seasons_env.experiments.play import play_game
from four_seasons_env.files import write_atomically
from four_seasons_env.game import Game
from four_seasons_env.play import advice
from four_seasons_env.play.words import move_words, played_words, table_words
from four_seasons_env.records import Record, RecordError, parse_record, read_lines
from four_seasons_env.rendering.svg import draw_svg
from four_seasons_env.solver import solve

WON, LOST, UNKNOWN = "won", "lost", "unknown"
"""The solver's verdicts on a position: whether the true deal can still be won."""

OTHERS = ("heuristic", "planner")
"""Agents whose moves are shown in the position of the losing move."""
_FIRST_EXPANSIONS = 25_000
"""Positions that the solver expands for a first answer; takes a few hundredths of a second."""


@dataclass
class Review(Run):
    """Review a game."""

    out: Path | None = None
    """HTML file of the page."""
    gif: Path | None = None
    """GIF file, for an animation of the game. It needs the extra `render`."""
    rules: str = "four-seasons"
    """Rule set by name. Put a changed one in quotes, as in 'czarina(piles=4)'."""
    agent: str = "planner"
    """Agent that plays the game."""
    play: Literal["deterministic", "stochastic"] = "deterministic"
    """How the agent plays, if it can play both ways."""
    deal: int = 17
    """Number of the deal."""
    record: Path | None = None
    """File of recorded games: review one of them instead of an agent's game."""
    line: int = 1
    """Line of the game in the file of --record."""
    seconds: float = 20.0
    """Seconds for chances and verdicts, after the agent has played the game."""


@dataclass
class Reviewed:
    """The content of a page."""

    player: str
    positions: list[Game]
    """First to last."""
    moves: list[Move]
    """The moves between the positions."""
    idle: int
    """Number of moves after the last position; they turned no card and put none up."""
    chances: list[float | None]
    """The chance that the planner wins from each position; empty where `can_judge` is false."""
    verdicts: list[str]
    """The solver's verdicts on the positions."""
    alternatives: dict[str, str]
    """The solver's verdict after each legal move in the position of the losing move."""
    others: dict[str, str]
    """Moves of other agents in the position of the losing move, by their names."""

    @property
    def losing_move(self) -> int | None:
        """Index of the position in which the losing move was played.

        None if the game was won, could never be won, or stayed undecided.
        """
        found = (at for at, pair in enumerate(pairwise(self.verdicts)) if pair == (WON, LOST))
        return next(found, None)


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
    if run.out and run.out.is_dir():
        raise ValueError(f"--out must be a file such as {run.out / 'game.html'}, not a folder")
    if run.out and run.out.suffix != ".html":
        raise ValueError(f"--out must end in .html, not {run.out.suffix!r}")
    # A flag that was left out looks like its default.
    other = ("rules", "agent", "play", "deal") if run.record else ("line",)
    if unused := [name for name in other if getattr(run, name) != getattr(Review, name)]:
        remedy = "leave it out, or --record" if run.record else "give the file, --record"
        raise ValueError(f"--{unused[0]} has no effect here: {remedy}")
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
        return play_game(run.agent, run.rules, run.deal, run.play)
    for number, line in read_lines(run.record):
        if number == run.line:
            try:
                return parse_record(line)
            except RecordError as error:
                raise RecordError(f"{run.record}, line {number}: {error}") from None
    raise ValueError(f"{run.record} has no game in line {run.line}")


def review_game(record: Record, seconds: float = 20.0) -> Reviewed:
    """The content of a game's page.

    Args:
        record: the game.
        seconds: time limit for chances, verdicts and other agents' moves; after it, they are
            missing or unknown. Loading, or compiling, does not count.
    """
    # 1. A lost game may end with moves back and forth until the limit, which nobody wants to see.
    positions = record.positions()
    useful = useful_moves(positions)
    positions, idle = positions[: useful + 1], len(record.moves) - useful
    rules = positions[0].rules
    moves = [find_move(rules, move) for move in record.moves[:useful]]

    # 2. The chances first, for half of the time, because the solver may take all that there is.
    judged = positions if advice.can_judge(rules) else []
    chances = [advice.chance(opening) for opening in judged[:1]]  # loads before the clock runs
    started = time.perf_counter()

    def left(share: float = 1.0) -> float:
        """The seconds that are left of a share of the time."""
        return started + share * seconds - time.perf_counter()

    chances += [advice.chance(each) if left(0.5) > 0 else None for each in judged[1:]]

    # 3. The verdicts, and from them the losing move.
    verdicts = judge(positions, left())
    game = Reviewed(record.player or "a game", positions, moves, idle, chances, verdicts, {}, {})
    at = game.losing_move
    if at is None:
        return game

    # 4. What else could have been played there?
    game.alternatives = verdicts_after_moves(positions[at], left(0.9)) | {record.moves[at]: LOST}
    able = [name for name in OTHERS if name in advice.advisers(rules)]
    past = [*zip(positions[:at], moves[:at], strict=True)]
    chosen = {name: advice.choose(name, positions[at], past) for name in able if left() > 0}
    game.others = {name: move.text for name, move in chosen.items() if move}
    return game


# --- page ---------------------------------------------------------------------------------------


def review_page(game: Reviewed) -> bytes:
    """The page as HTML. Its template has the texts and draws the chart."""
    played = zip(pairwise(game.positions), game.moves, strict=True)
    words = [played_words(before, move, after) for (before, after), move in played]
    fatal = None if game.losing_move is None else game.positions[game.losing_move]
    start, parts, frames = _frames(game.positions)
    data = {
        "start": start,
        "parts": parts,
        "frames": frames,
        "words": words,
        "tables": ["; ".join(table_words(each)) for each in game.positions],
        "first": game.losing_move or 0,
    }
    legal = {each.text: move_words(fatal, each) for each in fatal.legal_moves()} if fatal else {}
    return render("review.html", game=game, words=words, legal=legal, data=data)


def _frames(positions: list[Game]) -> tuple[str, list[str], list[list[int]]]:
    """The tag that opens all drawings, their distinct lines, and the lines of each drawing."""
    start, known, frames = "", dict[str, int](), []
    for i, position in enumerate(positions):
        drawn = draw_svg(position, before=positions[i - 1] if i else None)
        start, _, *parts = drawn.splitlines()  # without the title
        frames.append([known.setdefault(part, len(known)) for part in parts])
    return start, list(known), frames


# --- verdicts -----------------------------------------------------------------------------------


def judge(positions: Sequence[Game], seconds: float = 10.0) -> list[str]:
    """The solver's verdicts on the positions of a game, as far as the time allows.

    After a lost position all positions are lost, and before a winnable one all are winnable. So the
    solver answers for a position in the middle of the open ones, and few answers decide all.

    In each round the solver expands four times more positions per answer than in the round before.
    It fails most often near the losing move. So each round finds two edges by bisection: the last
    position that it knows to be winnable, and the first that it knows to be lost. What lies between
    waits for the next round.

    Args:
        positions: positions of one game, first to last.
        seconds: time limit for all answers.
    """
    end, count = positions[-1], len(positions)
    if end.is_won:
        return [WON] * count
    solve(positions[0], max_positions=1)  # loads the compiled solver before the clock runs
    deadline, answers = time.perf_counter() + seconds, dict[int, str]()
    limit, wins, lost = _FIRST_EXPANSIONS, 0, count - end.is_over

    def ask(at: int) -> str:
        """The answer for a position, asked once in a round; `unknown` after the deadline."""
        left = deadline - time.perf_counter()
        if at not in answers and left > 0:
            answers[at] = solve(positions[at], max_positions=limit, seconds=left).status
        return answers.get(at, UNKNOWN)

    # Verdicts of a game of 8 positions, for example: won x 3, unknown x 2, lost x 3. `wins` is 3,
    # and `lost` is 5, until a round with a higher limit answers for the two between them.
    while wins < lost and time.perf_counter() < deadline:
        answers.clear()
        wins += bisect_left(range(wins, lost), True, key=lambda at: ask(at) != WON)
        lost = min([lost, *(at for at, answer in answers.items() if answer == LOST)])
        lost = wins + bisect_left(range(wins, lost), True, key=lambda at: ask(at) == LOST)
        limit *= 4
    return [WON] * wins + [UNKNOWN] * (lost - wins) + [LOST] * (count - lost)


def useful_moves(positions: Sequence[Game]) -> int:
    """The number of moves up to the last one that turned a card or put a card up."""
    shown = [(each.stock_size, each.cards_up) for each in positions]
    return max((at for at in range(1, len(shown)) if shown[at] != shown[at - 1]), default=0)


def verdicts_after_moves(position: Game, seconds: float = 6.0) -> dict[str, str]:
    """The solver's verdict after each move, without moves that only rename spaces.

    Args:
        position: the position.
        seconds: time limit for all answers.
    """
    moves = position.legal_moves(distinct=True)
    if not seconds > 0:
        return dict.fromkeys((move.text for move in moves), UNKNOWN)
    share = seconds / len(moves)
    return {move.text: solve(position.after(move), seconds=share).status for move in moves}


main = command(review)
