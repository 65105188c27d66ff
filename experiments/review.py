"""Review a game: a page with pictures, chances of winning and the moment it was lost.

    four-seasons review --agent planner --deal 17 --out page.html

The page is one self-contained HTML file. It shows the game move by move, the planner's
chance of winning, the solver's verdict on the true deal, and the losing move. To review a recorded
game (`four_seasons_env.records`):

    four-seasons review --record games.jsonl --line 3 --out page.html

`--gif game.gif` animates the game, with or without a page.
"""

import json
import time
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby, pairwise
from pathlib import Path
from typing import Literal

from four_seasons_env.engine.moves import Move, find_move
from four_seasons_env.experiments.command_line import Run, command
from four_seasons_env.experiments.play import play_game
from four_seasons_env.experiments.tables import fill, write_page
from four_seasons_env.files import write_atomically
from four_seasons_env.game import Game
from four_seasons_env.play import advice
from four_seasons_env.play.words import move_words, table_words
from four_seasons_env.records import Record, RecordError, parse_record, read_lines
from four_seasons_env.rendering.svg import draw_parts
from four_seasons_env.solver import solve

WON, LOST, UNKNOWN = "won", "lost", "unknown"
"""The solver's verdicts on a position: whether the true deal can still be won."""

OTHERS = ("heuristic", "planner")
"""Agents whose moves are shown in the position of the losing move."""
_CHART = (640, 220)
_LEFT, _TOP, _BOTTOM = 54, 14, 50
"""Margins of the chart, in its own units."""
_FIRST = 25_000
"""Positions that the solver expands for a first answer; takes a few hundredths of a second."""
_TOLD = {WON: "can be won", LOST: "lost", UNKNOWN: "unknown"}


@dataclass
class Review(Run):
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
    seconds: float = 20.0
    """Time limit for chances and verdicts, once the agent has played the game."""


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
    positions = record.positions()
    useful = useful_moves(positions)
    # A lost game may end with moves back and forth until the limit, which nobody wants to see.
    positions, idle = positions[: useful + 1], len(record.moves) - useful
    rules = positions[0].rules
    moves = [find_move(rules, move) for move in record.moves[:useful]]
    judged = positions if advice.can_judge(rules) else []
    chances = [advice.chance(opening) for opening in judged[:1]]  # loads before the clock runs
    started = time.perf_counter()

    def left(share: float = 1.0) -> float:
        """The seconds that are left of a share of the time."""
        return started + share * seconds - time.perf_counter()

    # The solver may take all the time there is, so the chances come first.
    chances += [advice.chance(each) if left(0.5) > 0 else None for each in judged[1:]]
    verdicts = judge(positions, left())
    game = Reviewed(record.player or "a game", positions, moves, idle, chances, verdicts, {}, {})
    at = game.losing_move
    if at is not None:
        alternatives = verdicts_after_moves(positions[at], left(0.9))
        game.alternatives = alternatives | {record.moves[at]: LOST}
        able = [name for name in OTHERS if name in advice.advisers(rules)]
        past = [*zip(positions[:at], moves[:at], strict=True)]
        chosen = {name: advice.choose(name, positions[at], past) for name in able if left() > 0}
        game.others = {name: move.text for name, move in chosen.items() if move}
    return game


def review_page(game: Reviewed) -> bytes:
    """The page as HTML."""
    words = [move_words(*each) for each in zip(game.positions, game.moves, strict=False)]
    start, parts, frames = _frames(game.positions)
    last = len(game.moves)
    opening = game.positions[0]
    title = f"{game.player}: {opening.rules.name}, {_deal(opening)}"
    body = fill(
        "review_page",
        title=escape(title),
        summary=_summary(game),
        last=last,
        chart=_chart(game),
        caption=_caption(game),
        moment=_moment(game, words),
        rows="".join(_row(game, i, words[i]) for i in range(last)),
        data=json.dumps(
            {
                "start": start,
                "parts": parts,
                "frames": frames,
                "words": words,
                "tables": ["; ".join(table_words(each)) for each in game.positions],
                "left": _LEFT,
                "width": _CHART[0] - _LEFT - 8,
                "chart": _CHART[0],
                "first": game.losing_move or 0,
            },
            separators=(",", ":"),
        ).replace("</", "<\\/"),  # which would end the script element
    )
    return write_page("review", title, body)


def _deal(game: Game) -> str:
    return f"deal {game.deal}" if game.deal >= 0 else "a custom deck"


def _frames(positions: list[Game]) -> tuple[str, list[str], list[list[int]]]:
    """The common start of all drawings, their distinct parts, and the parts of each drawing."""
    start, known, frames = "", dict[str, int](), []
    for i, position in enumerate(positions):
        start, parts = draw_parts(position, before=positions[i - 1] if i else None)
        frames.append([known.setdefault(part, len(known)) for part in parts])
    return start, list(known), frames


def _verdict(status: str) -> str:
    return f'<b class="{status}">{_TOLD[status]}</b>'


def _percent(chance: float | None) -> str:
    return "" if chance is None else f"{chance:.1%}" if chance < 0.1 else f"{chance:.0%}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _summary(game: Reviewed) -> str:
    end, at = game.positions[-1], game.losing_move
    text = f"{end.cards_up} of {end.rules.cards} cards up after {_count(len(game.moves), 'move')}"
    text += f" ({game.idle} more had no effect): " if game.idle else ": "
    if end.is_won:
        return text + "won."
    text += "lost. " if end.is_over else "not won. "
    if game.verdicts[0] == LOST:
        return text + "Nobody could have won this deal."
    if at is not None:
        left = game.positions[at].stock_size
        return text + (
            f"The true deal could be won until move {at + 1}, with {_count(left, 'card')} in the "
            "stock."
        )
    if game.verdicts[0] == UNKNOWN:
        return text + "It is unknown whether this deal could be won."
    last = game.verdicts.count(WON) - 1
    return text + f"The true deal could be won at least until after move {last}."


def _caption(game: Reviewed) -> str:
    band = "The band is the verdict of the solver, which sees all cards, on the true deal."
    if not game.chances:
        return band + " The chance of winning is not known for these rules."
    return "The line is the chance that the planner wins from there, by public information. " + band


def _chart(game: Reviewed) -> str:
    """The curve over the moves, and the solver's verdicts as a band below it."""
    width, height = _CHART
    across, down = width - _LEFT - 8, height - _TOP - _BOTTOM
    last = max(len(game.moves), 1)

    def x(at: float) -> float:
        return _LEFT + across * at / last

    def y(chance: float) -> float:
        return _TOP + down * (1 - chance)

    parts = [
        f'<line class="grid" x1="{_LEFT}" x2="{width - 8}" y1="{y(v):.1f}" y2="{y(v):.1f}"/>'
        f'<text x="{_LEFT - 5}" y="{y(v) + 4:.1f}" text-anchor="end">{v:.0%}</text>'
        for v in (0, 0.5, 1)
    ]
    for status, group in groupby(range(len(game.verdicts)), game.verdicts.__getitem__):
        run = [*group]
        x0, x1 = x(max(0, run[0] - 0.5)), x(min(last, run[-1] + 0.5))
        parts.append(
            f'<rect class="{status}" x="{x0:.1f}" y="{height - _BOTTOM + 8}" '
            f'width="{max(x1 - x0, 1):.1f}" height="12"><title>{_TOLD[status]}</title></rect>'
        )
        if x1 - x0 > 60:
            parts.append(
                f'<text x="{(x0 + x1) / 2:.1f}" y="{height - _BOTTOM + 33}" '
                f'text-anchor="middle">{_TOLD[status]}</text>'
            )
    known = [(x(i), y(c)) for i, c in enumerate(game.chances) if c is not None]
    if known:
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in known)
        parts.append(f'<polyline id="curve" points="{points}"/>')
    if game.losing_move is not None:
        at = x(game.losing_move + 0.5)
        parts.append(
            f'<line id="fatal" x1="{at:.1f}" x2="{at:.1f}" y1="{_TOP}" '
            f'y2="{height - _BOTTOM + 20}" stroke-width="1.5"/>'
        )
    parts.append(f'<line id="now" x1="0" x2="0" y1="{_TOP}" y2="{height - _BOTTOM + 20}"/>')
    return (
        f'<svg id="chart" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="Chance of winning, move by move">{"".join(parts)}</svg>'
    )


def _row(game: Reviewed, i: int, words: str) -> str:
    """A row of the list of moves: the move, and chance and verdict after it."""
    chance = game.chances[i + 1] if game.chances else None
    fatal = ' class="fatal"' if i == game.losing_move else ""
    return (
        f'<tr{fatal}><td class="n">{i + 1}</td><td>{escape(words)}</td>'
        f'<td class="n">{_percent(chance)}</td>'
        f"<td>{_verdict(game.verdicts[i + 1])}</td></tr>"
    )


def _moment(game: Reviewed, words: list[str]) -> str:
    """The losing move, the moves that keep the deal winnable, and the moves of other agents."""
    at = game.losing_move
    if at is None:
        return ""
    position = game.positions[at]
    named = {move.text: move_words(position, move) for move in position.legal_moves()}
    alive = [named[text] for text, status in game.alternatives.items() if status == WON]
    played = (
        f"<p>Move {at + 1}, {escape(words[at])}, lost the game. "
        f'<button data-go="{at}">Before it</button> '
        f'<button data-go="{at + 1}">After it</button></p>'
    )
    if alive:
        listed = "".join(f"<li>{escape(each)}</li>" for each in alive)
        played += f"<p>The true deal could still be won after</p><ul>{listed}</ul>"
    else:
        played += "<p>The solver found no move that keeps the deal winnable.</p>"
    others = "".join(
        f"<li>{escape(name)}: {escape(named[text])} "
        f"({_verdict(game.alternatives.get(text, 'unknown'))})</li>"
        for name, text in game.others.items()
    )
    if others:
        played += f"<p>Moves of other agents there, from public information:</p><ul>{others}</ul>"
    return f"<h2>The moment the game was lost</h2>{played}"


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
    limit, wins, lost = _FIRST, 0, count - end.is_over

    def ask(at: int) -> str:
        """The answer for a position, asked once in a round; `unknown` after the deadline."""
        left = deadline - time.perf_counter()
        if at not in answers and left > 0:
            answers[at] = solve(positions[at], max_positions=limit, seconds=left).status
        return answers.get(at, UNKNOWN)

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
