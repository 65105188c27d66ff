"""docs/spaces.md: actions and observations, from the code that defines them."""

from __future__ import annotations

import pandas as pd

from four_seasons_env.engine.moves import FOUNDATION, STOCK, WASTE, Move, all_moves
from four_seasons_env.experiments.reporting.tables import as_markdown
from four_seasons_env.observations import OBSERVATIONS, observation_length
from four_seasons_env.rewards import ILLEGAL_PENALTY
from four_seasons_env.rules import RULES
from four_seasons_env.slots import Slots, observation_slots

_DEFAULT = RULES["four-seasons"]


def _place(place: int) -> str:
    if place == WASTE:
        return "the waste"
    return f"pile {place}" if place < WASTE else "its foundation"


def _meaning(move: Move) -> str:
    if move.turns:
        if move.target == STOCK:
            return "turn the waste over to be the stock again"
        return "turn the next card of the stock to the waste"
    if move.source == STOCK:
        return f"the card that lies face up on the stock to {_place(move.target)}"
    if move.source >= FOUNDATION:
        return f"the top card of a foundation back to {_place(move.target)}"
    return f"the top card of {_place(move.source)} to {_place(move.target)}"


def _actions() -> str:
    moves = all_moves(_DEFAULT)
    cells = pd.DataFrame(
        {
            "number": [str(move.number) for move in moves],
            "text": [f"`{move}`" for move in moves],
            "meaning": [_meaning(move) for move in moves],
        }
    )
    return as_markdown(cells)


def _more_actions() -> str:
    rows = []
    for name, rules in RULES.items():
        new = [str(move) for move in all_moves(rules)[len(all_moves(_DEFAULT)) :]]
        if rules.piles == _DEFAULT.piles and new:
            rows.append({"rules": f"`{name}`", "further actions": ", ".join(map(repr, new))})
    return as_markdown(pd.DataFrame(rows)).replace("'", "`")


def _range(slots: Slots) -> str:
    last = slots.stop - 1
    return str(slots.start) if slots.start == last else f"{slots.start} - {last}"


def _slots(slots: list[Slots]) -> str:
    cells = {"slots": map(_range, slots), "meaning": [each.meaning for each in slots]}
    return as_markdown(pd.DataFrame(cells))


def spaces_parts() -> dict[str, str]:
    """The parts of the page that are written from the code, by the name of their marks."""
    tops, cards = (observation_slots(_DEFAULT, name) for name in OBSERVATIONS)
    lengths = [f"`{name}` {observation_length(_DEFAULT, name)}" for name in OBSERVATIONS]
    return {
        "actions": f"`Discrete({len(all_moves(_DEFAULT))})`:\n\n{_actions()}\n",
        "further-actions": f"{_more_actions()}\n",
        "lengths": f"Slots: {', '.join(lengths)}.\n\n",
        "tops": f"{_slots(tops)}\n",
        "cards": f"{_slots(cards[len(tops) : len(tops) + 1])}\n"
        f"and so on for {len(cards) - len(tops)} cards, suit by suit.\n\n",
        "penalty": f"An illegal action costs {ILLEGAL_PENALTY:g}.\n\n",
    }
