"""The meaning of each slot of an observation vector."""

from __future__ import annotations

from dataclasses import dataclass

from four_seasons_env.engine.cards import SUITS
from four_seasons_env.observations import observation_length
from four_seasons_env.rules import Rules, get_rules


@dataclass(frozen=True)
class Slots:
    """Slots `start` to `stop` (exclusive) of an observation, and their meaning."""

    start: int
    stop: int
    meaning: str


def observation_slots(rules: str | Rules, observation: str) -> list[Slots]:
    """The meaning of the slots of an observation, in order and without a gap.

    Args:
        rules: the rule set, or its name.
        observation: `tops` or `cards`.

    Raises:
        ValueError: for unknown rules or an unknown observation, with the nearest.
    """
    rules = get_rules(rules)
    length = observation_length(rules, observation)
    sizes = [*_tops(rules), *(_cards(rules) if observation == "cards" else ())]
    slots: list[Slots] = []
    start = 0
    for size, meaning in sizes:
        slots.append(Slots(start, start + size, meaning))
        start += size
    if start != length:
        raise AssertionError(f"{start} slots are described, of {length}")
    return slots


def _tops(rules: Rules) -> list[tuple[int, str]]:
    ranks, piles = rules.ranks, rules.piles
    sizes = []
    for place in [*(f"T{pile}" for pile in range(piles)), "the waste"]:
        sizes.append((ranks, f"relative rank of the top card of {place}, one-hot"))
        sizes.append((4, f"suit of the top card of {place}, one-hot ({', '.join(SUITS)})"))
    sizes += [(ranks + 1, f"cards on the foundation of {suit}, one-hot") for suit in SUITS]
    sizes.append((piles, f"height of each pile / {rules.cards}"))
    sizes.append((ranks, "the base's rank (of clubs, where suits differ), one-hot from the Ace"))
    sizes.append((1, f"cards in the stock / {rules.cards}"))
    sizes.append((1, f"cards in the waste / {rules.cards}"))
    sizes.append((1, "redeals left / 2"))
    if rules.limited_redeal:
        sizes.append((ranks, "relative rank of the card that lies face up on the stock, one-hot"))
        sizes.append((4, f"suit of that card, one-hot ({', '.join(SUITS)})"))
    return sizes


def _cards(rules: Rules) -> list[tuple[int, str]]:
    piles = "".join(f", in T{pile}" for pile in range(rules.piles))
    each = (
        f"in the stock, on its foundation, in the waste{piles}, cards that lie on it / "
        f"{rules.cards}, cards to be dealt up to and including it / {rules.cards} (known after a "
        "redeal)"
    )
    width = rules.piles + 5
    return [
        (width, f"{suit}, relative rank {rank}: {each}")
        for suit in SUITS
        for rank in range(rules.ranks)
    ]
