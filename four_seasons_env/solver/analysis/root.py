"""`Root`: the position that searches start from, and how they end.

FRAME holds what the compiled searches look up for one game, made from its rules and base ranks.

Bit sets of cards are ordered by the foundations: bit 4 * place + suit. With base rank 7, place 0 is
the Seven: 7C 7S 7H 7D are bits 0 to 3, 8C is bit 4, KD is bit 27, and AC, at place 7, is bit 28.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine import kernel
from four_seasons_env.rules import Rules

SEARCHING, WON, LOST, UNDECIDED = range(4)
"""The status of a search: `LOST` is a proof, `UNDECIDED` an end without an answer."""
UNLIMITED = 2**62
"""No limit of positions."""

FRAME = np.dtype(
    [
        ("place", "u1", (53,)),  # [card] -> its bit: 4 * place in the foundation's order + suit
        ("ready", "u1", (52,)),  # [bit] -> cards dealt once it and those before it in its suit are
        ("cards", "u8"),  # bit set of the deck
        ("packs", "u8"),  # nibble r is 15 where a card of place r goes on one of place r + 1
        ("turn", "u8"),  # bits that move the lowest nibble above the highest: 4 * (ranks - 1)
        ("by_colour", "b1"),  # packing wants alternate colours
        ("one_way", "b1"),  # no redeal is left and no card comes back: cards never return
        ("safe", "b1"),  # cards may go up first where `is_safe` says so
        ("base_hosts", "b1"),  # a card of the last place goes on a base card
        ("chains", "b1"),  # a card matters only to later cards of its suit
    ],
    align=True,
)
"""The facts about one game that do not change while it is played."""


class Root:
    """The position that searches start from, and what they share.

    Args:
        record: a GAME record.
        memory: maximum number of bytes that a search may take.
    """

    def __init__(self, record: Any, rules: Rules, memory: int = 2**30) -> None:
        self.record, self.rules, self.memory = record, rules, memory
        self.frames = make_frame(record, rules)


def make_frame(record: Any, rules: Rules) -> NDArray[np.void]:
    """The FRAME array, of shape (1,), of a GAME record under its rules."""
    frames = np.zeros(1, FRAME)
    frame = frames[0]
    ranks = rules.ranks
    # 1. The order of the foundations.
    base = [int(rank) for rank in record["base"]]
    for card in range(4 * ranks):
        frame["place"][card] = 4 * (((card >> 2) - base[card & 3]) % ranks) + (card & 3)
    frame["cards"] = (1 << 4 * ranks) - 1
    # 2. Packing, as the engine's table says (`accepts` of the RULE record).
    rule = kernel.compile_rules(rules)[0]
    accepts = rule["accepts"][base[0]]
    packs = 0
    if rules.build != "none":  # then all suits have one base rank
        for place in range(ranks):
            host = 4 * ((base[0] + place + 1) % ranks)
            packs |= 15 << 4 * place if int(accepts[host]) else 0
    frame["packs"] = packs
    frame["turn"] = 4 * (ranks - 1)
    frame["by_colour"] = rules.build == "alternate_colour"
    # 3. What the rules allow a proof to assume.
    frame["one_way"] = int(record["redeals"]) == 0 and not rules.worrying_back
    if frame["one_way"]:
        for number, card in enumerate(record["deck"][: record["deck_size"]]):
            frame["ready"][frame["place"][card] :: 4] = number + 1
    frame["safe"] = rules.spaces == "optional" and not (rules.worrying_back or rule["refills"])
    frame["base_hosts"] = packs >> 4 * (ranks - 1) != 0
    frame["chains"] = packs == 0 and bool(frame["safe"]) and bool(frame["one_way"])
    return frames
