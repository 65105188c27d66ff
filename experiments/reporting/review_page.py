"""The HTML page of one game: pictures, the chance of winning, the moment it was lost."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from itertools import groupby

from four_seasons_env.engine.moves import Move
from four_seasons_env.experiments.matches.verdicts import LOST, WON, Verdicts
from four_seasons_env.experiments.reporting.page import fill, write_page
from four_seasons_env.game import Game
from four_seasons_env.play.words import move_words, table_words
from four_seasons_env.rendering.svg import draw_parts

_CHART = (640, 220)
_LEFT, _TOP, _BOTTOM = 54, 14, 50
"""Margins of the chart, in its own units."""
_TOLD = {WON: "can be won", LOST: "lost", "unknown": "unknown"}


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
    verdicts: Verdicts
    alternatives: dict[str, str]
    """The solver's verdict after each legal move in the position of the losing move."""
    others: dict[str, str]
    """Moves of other agents in the position of the losing move, by their names."""


def review_page(game: Reviewed) -> bytes:
    """The page as HTML."""
    words = [move_words(*each) for each in zip(game.positions, game.moves, strict=False)]
    start, parts, frames = _frames(game.positions)
    last, fatal = len(game.moves), game.verdicts.losing_move
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
        data=_script_json(
            {
                "start": start,
                "parts": parts,
                "frames": frames,
                "words": words,
                "tables": ["; ".join(table_words(each)) for each in game.positions],
                "left": _LEFT,
                "width": _CHART[0] - _LEFT - 8,
                "chart": _CHART[0],
                "first": 0 if fatal is None else fatal,
            }
        ),
    )
    return write_page("review", title, body)


def _deal(game: Game) -> str:
    return f"deal {game.deal}" if game.deal >= 0 else "a custom deck"


def _script_json(data: object) -> str:
    """JSON that is safe inside a script element."""
    return json.dumps(data, separators=(",", ":")).replace("</", "<\\/")


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
    end, verdicts = game.positions[-1], game.verdicts
    text = f"{end.cards_up} of {end.rules.cards} cards up after {_count(len(game.moves), 'move')}"
    text += f" ({game.idle} more had no effect): " if game.idle else ": "
    if end.is_won:
        return text + "won."
    text += "lost. " if end.is_over else "not won. "
    if verdicts.statuses[0] == LOST:
        return text + "Nobody could have won this deal."
    if verdicts.losing_move is not None:
        at = verdicts.losing_move
        left = game.positions[at].stock_size
        return text + (
            f"The true deal could be won until move {at + 1}, with {_count(left, 'card')} in the "
            "stock."
        )
    last = verdicts.last_won
    if last is None:
        return text + "It is unknown whether this deal could be won."
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
    statuses = game.verdicts.statuses
    for status, group in groupby(range(len(statuses)), statuses.__getitem__):
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
    fatal = game.verdicts.losing_move
    if fatal is not None:
        at = x(fatal + 0.5)
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
    fatal = ' class="fatal"' if i == game.verdicts.losing_move else ""
    return (
        f'<tr{fatal}><td class="n">{i + 1}</td><td>{escape(words)}</td>'
        f'<td class="n">{_percent(chance)}</td>'
        f"<td>{_verdict(game.verdicts.statuses[i + 1])}</td></tr>"
    )


def _moment(game: Reviewed, words: list[str]) -> str:
    """The losing move, the moves that keep the deal winnable, and the moves of other agents."""
    at = game.verdicts.losing_move
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
