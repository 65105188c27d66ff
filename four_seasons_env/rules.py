"""The rule sets of the family: the fields of a rule set (`Rules`), and their table (`RULES`).

A rule set is data. Only `engine/kernel.py` decides what its fields mean for a game.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from four_seasons_env.arguments import WrongType, check_choice, nearest, whole_number

BASE_FROM = ("sixth", "first", "one_per_suit", "aces")
OPENINGS = ("fixed", "as_dealt", "empty")
BUILDS = ("any_suit", "alternate_colour", "none")
WRAPS = ("always", "unless_ace_base", "linear", "never")
SPACES = ("optional", "before_dealing", "auto_stock", "auto_waste")

CHOICES = {
    "base_from": BASE_FROM,
    "opening": OPENINGS,
    "build": BUILDS,
    "wrap": WRAPS,
    "spaces": SPACES,
}
RANGES = {"ranks": (4, 13), "piles": (1, 12), "redeals": (0, 2), "first_waste": (0, 1)}

_NEEDS: tuple[tuple[str, Any, str, Sequence[Any], str], ...] = (
    ("opening", "as_dealt", "base_from", ("first",), "needs the base before the piles"),
    (
        "opening",
        "empty",
        "base_from",
        ("first", "one_per_suit", "aces"),
        "deals no card to the piles",
    ),
    ("opening", "empty", "spaces", SPACES[:2], "leaves spaces to the player"),
    ("opening", "empty", "reserve", (False,), "leaves spaces to the player"),
    ("reserve", True, "piles", range(2, 13), "needs another pile, too"),
    ("reserve", True, "spaces", SPACES[:3], "fills the centre pile from the stock"),
    ("limited_redeal", True, "redeals", (1,), "says how the only redeal is played"),
    ("limited_redeal", True, "spaces", ("optional", *SPACES[2:]), "turns the next card at once"),
    ("base_from", "one_per_suit", "build", ("none",), "gives each suit another base rank"),
    ("build", "none", "runs", (False,), "packs nothing"),
)
"""A field and one of its values, another field and the values that it must have then, and why."""


@dataclass(frozen=True)
class Rules:
    """One rule set, in the terms of patience.

    Examples:
        >>> Rules(ranks=6, piles=2, build="alternate_colour").cards
        24
        >>> RULES["czarina"].spaces
        'auto_stock'

    Raises:
        ValueError: for a value outside a field's choices, or fields that contradict each other.
    """

    name: str = "custom"
    ranks: int = 13
    """Ranks of each suit, 4-13; fewer than 13 make a small game of the same kind."""
    piles: int = 5
    """Tableau piles, 1-12."""
    base_from: str = "sixth"
    """Where the bases of the foundations come from: `sixth` (the tableau is dealt first, the next
    card is the base), `first` (the base card is dealt first), `one_per_suit` (the card of each
    suit that would be dealt last, taken out before the opening), `aces` (foundations start
    empty)."""
    opening: str = "fixed"
    """`fixed`: one card to each pile. `as_dealt`: cards are dealt one at a time; those that fit a
    foundation go up, the others to the next pile, until every pile has a card. `empty`: the piles
    begin as spaces."""
    build: str = "any_suit"
    """Packing in the tableau, downward: `any_suit`, `alternate_colour`, `none` (one-card cells)."""
    wrap: str = "unless_ace_base"
    """King on Ace in the tableau: `always`; `unless_ace_base`; `linear` (yes, but nothing goes on a
    card of the base rank); `never`."""
    runs: bool = False
    """A packed sequence, or the part of it that fits, moves as a unit onto another card."""
    spaces: str = "optional"
    """How an empty pile is filled: `optional` (by the player, at any time), `before_dealing` (no
    deal while there are a space and a waste card), `auto_stock` (at once from the stock),
    `auto_waste` (at once from the waste, which in turn gets a card from the stock when emptied)."""
    reserve: bool = False
    """The centre pile (number piles // 2) is a reserve of one card. No card is put on it. Its card
    goes to a foundation or to a space, and the next card of the stock replaces it at once. The
    other spaces take only the reserve's card or the waste's, not the card of another pile."""
    redeals: int = 0
    """How often the waste may be turned over to be the stock again, 0-2."""
    limited_redeal: bool = False
    """After the redeal two cards are available: one is turned to the waste, the next lies face up
    on the stock. When one of them has been played, another is turned automatically."""
    first_waste: int = 0
    """Cards dealt to the waste at the start, 0 or 1."""
    worrying_back: bool = False
    """A foundation's top card may go back to the tableau."""
    about: str = dataclasses.field(default="", compare=False, repr=False)
    """The source of the rule set, and what is uncertain about it."""

    def __post_init__(self) -> None:
        # 1. Each field by itself.
        for field, choices in CHOICES.items():
            check_choice(field, getattr(self, field), choices)
        for field, (low, high) in RANGES.items():
            value = getattr(self, field)
            if not low <= whole_number(field, value) <= high:
                raise ValueError(f"{field} must be an integer from {low} to {high}, not {value!r}")
        for field in ("runs", "reserve", "limited_redeal", "worrying_back"):
            if not isinstance(getattr(self, field), bool):
                raise WrongType(f"{field} must be True or False, not {getattr(self, field)!r}")
        # 2. Fields that must agree.
        for field, value, other, needed, why in _NEEDS:
            chosen = getattr(self, other)
            if getattr(self, field) == value and chosen not in needed:
                listed = " or ".join(map(repr, needed))
                if isinstance(needed, range):
                    listed = f"{needed[0]} or more"
                raise ValueError(f"{field}={value!r} {why}: use {other}={listed}, not {chosen!r}")
        # 3. The deck must have enough cards for the opening.
        bases = {"one_per_suit": 4, "aces": 0}.get(self.base_from, 1)
        laid_out = 0 if self.opening == "empty" else self.piles
        opening_cards = laid_out + bases + self.first_waste
        if opening_cards > self.cards:
            raise ValueError(
                f"the opening takes {opening_cards} cards, but {self.ranks} ranks make a deck of "
                f"{self.cards}: use fewer piles or more ranks"
            )

    @property
    def reserve_pile(self) -> int | None:
        """The number of the pile that is a reserve, if one is."""
        return self.piles // 2 if self.reserve else None

    @property
    def without_refills(self) -> Rules:
        """The same rules without automatic refills: only a deal turns a card."""
        return self.replace(spaces="optional", reserve=False)

    @property
    def cards(self) -> int:
        """Cards in the deck."""
        return 4 * self.ranks

    def replace(self, **changes: Any) -> Rules:
        """A variant of these rules; its name lists the changes unless a name is given.

        Examples:
            >>> RULES["four-seasons"].replace(piles=2, ranks=6).name
            'four-seasons(piles=2,ranks=6)'
            >>> RULES["four-seasons"].replace(piles=2, name="mine").name
            'mine'
        """
        fields = [field.name for field in dataclasses.fields(self)]
        for key in changes:
            if key not in fields:
                raise TypeError(f"unknown field {key!r}: {nearest(key, fields)}")
        if "name" not in changes:
            changed = ",".join(f"{key}={value}" for key, value in changes.items())
            changes["name"] = f"{self.name}({changed})"
        return dataclasses.replace(self, **changes)


class UnknownRules(KeyError, ValueError):
    """An unknown name of a rule set; the message names the nearest known one."""

    def __str__(self) -> str:
        return str(self.args[0])


class _Table(dict[str, Rules]):
    def __missing__(self, name: Any) -> Rules:
        get_rules(name)  # refuses an unknown name; what it finds is an alias or a small game
        raise UnknownRules(f"RULES has no {name!r}: use get_rules({name!r})")


_PYSOLFC = Rules(base_from="first", wrap="always", first_waste=1)
"""Fields shared by PySolFC's games: the base card comes first, and one card starts the waste."""

_TABLE = (
    Rules(
        name="four-seasons",
        about="The later rules of the patience encyclopedia, and PySolFC's rules page. Sources "
        "disagree whether a King may be put on an Ace when Aces are the base; here it may not.",
    ),
    Rules(
        name="four-seasons-1883",
        base_from="first",
        opening="as_dealt",
        wrap="always",
        runs=True,
        spaces="before_dealing",
        about="William B. Dick's book of 1883, as the encyclopedia reports it.",
    ),
    Rules(
        name="solitaire-till-dawn",
        wrap="always",
        about="The rules page of Solitaire Till Dawn (semicolon.com).",
    ),
    Rules(
        name="fsolitaire",
        spaces="before_dealing",
        about='The rules page of fsolitaire.com. It speaks of "King on Ace and Ace on King", which '
        "contradicts building down; here only a King may be put on an Ace.",
    ),
    Rules(
        name="czarina",
        spaces="auto_stock",
        about="The encyclopedia's variation Czarina.",
    ),
    Rules(
        name="czarina-1898",
        spaces="auto_stock",
        redeals=1,
        limited_redeal=True,
        about="Mary Whitmore Jones's Czarina (fourth series), as solitaireforever.com reports it, "
        "with the limited redeal that modern descriptions omit. After the redeal, the face-up card "
        "fills a space.",
    ),
    Rules(
        name="corners",
        build="none",
        spaces="auto_stock",
        about="The encyclopedia's variation Corners. It mentions no redeal, and without one, every "
        "deal that was tried is proved lost. Older descriptions have two (`corners-hoffmann`).",
    ),
    Rules(
        name="corners-hoffmann",
        base_from="one_per_suit",
        build="none",
        spaces="auto_stock",
        redeals=2,
        about="Professor Hoffmann's Corners, as solitaireforever.com reports it. The page does not "
        "state what fills the cells; here it is the stock.",
    ),
    Rules(
        name="corner-patience",
        base_from="first",
        opening="empty",
        wrap="always",
        about="Corner Patience of Mary Whitmore Jones (second series), Cheney's Corners and "
        "Dalton's Corner, as solitaireforever.com reports them.",
    ),
    Rules(
        name="simplicity",
        piles=12,
        build="alternate_colour",
        about="The encyclopedia's variation Simplicity.",
    ),
    Rules(
        name="florentine",
        base_from="first",
        wrap="always",
        reserve=True,
        redeals=1,
        about="Parlett's Florentine, as solitaireforever.com reports it. That page fills empty "
        'outer piles "from the deck, or with the center card". Here they take the top card of the '
        "waste, whatever it is, or the centre card. When the stock is empty, an empty centre "
        "stays empty until the redeal. Without the reserve the game is `pysolfc/florentine`.",
    ),
    Rules(
        name="kings-in-the-corner",
        base_from="aces",
        wrap="never",
        about="Reconstructed from a single rules page, which does not state whether foundations "
        "follow suit and whether a King may be put on an Ace. Here foundations follow suit "
        "from the Ace, and a King may not be put on an Ace.",
    ),
    _PYSOLFC.replace(
        name="pysolfc/four-seasons",
        about="As PySolFC's code plays it (automatic dealing off), which differs from its rules "
        "page.",
    ),
    _PYSOLFC.replace(
        name="pysolfc/czarina",
        spaces="auto_waste",
        about="As PySolFC's code plays it.",
    ),
    _PYSOLFC.replace(
        name="pysolfc/florentine",
        redeals=1,
        about="As PySolFC's code plays it: its Four Seasons with one redeal.",
    ),
    _PYSOLFC.replace(
        name="pysolfc/corners",
        base_from="one_per_suit",
        build="none",
        spaces="auto_waste",
        redeals=2,
        about="As PySolFC's code plays it. A cell that becomes empty just after a redeal, while "
        "the waste is empty, stays a space.",
    ),
    _PYSOLFC.replace(
        name="pysolfc/simplicity",
        piles=12,
        build="alternate_colour",
        worrying_back=True,
        about="As PySolFC's code plays it: even the base card may move back.",
    ),
)

RULES: dict[str, Rules] = _Table({rules.name: rules for rules in _TABLE})
"""The rule sets by name; an unknown one is an `UnknownRules`, which is a KeyError."""


def _small(piles: int) -> Rules:
    return RULES["four-seasons"].replace(
        name=f"small-4x{piles}-cells",
        ranks=4,
        piles=piles,
        build="none",
        wrap="linear",
        about=f"A small `four-seasons` of 4 ranks and {piles} pile{'s' * (piles > 1)}, small "
        "enough that the best fair play is known exactly. Nothing packs, so that all bases are "
        "alike.",
    )


SMALL: dict[str, Rules] = {rules.name: rules for rules in map(_small, (1, 2, 3, 4))}
"""Small games by name, whose optimum is known (`four_seasons_env.small_games`)."""

ALIASES: dict[str, str] = {
    "corner-card": "four-seasons",
    "vanishing-cross": "four-seasons",
    "cross-currents": "four-seasons",
}
"""Other names of rule sets."""


def get_rules(rules: str | Rules | Mapping[str, Any]) -> Rules:
    """The rule set of a name, an alias, or its fields; a `Rules` is returned as it is.

    Changed fields follow a name in parentheses, as in the names that `Rules.replace` makes. A
    mapping of fields is what `gymnasium.envs.registration.EnvSpec.to_json` makes of a `Rules`.

    Examples:
        >>> get_rules("czarina(piles=4,runs=True)").piles
        4

    Raises:
        UnknownRules: for an unknown name, with the nearest known one.
        ValueError: for a wrong field or value, with the nearest valid one.
        TypeError: for anything else.
    """
    if isinstance(rules, Rules):
        return rules
    if isinstance(rules, Mapping):
        return Rules().replace(**{"name": Rules.name, **rules})
    if not isinstance(rules, str):
        raise WrongType(f"rules must be a name or a Rules, not {rules!r}")
    if "(" in rules or ")" in rules:
        name, _, changes = rules.rpartition("(")
        read = _read_changes(rules, changes.strip())
        return get_rules(name.strip()).replace(**read)
    name = ALIASES.get(rules, rules)
    if name in SMALL:
        return SMALL[name]
    if name not in RULES:
        known = [*RULES, *ALIASES, *SMALL]
        raise UnknownRules(f"unknown rules {rules!r}: {nearest(rules, known)}")
    return RULES[name]


def _read_changes(rules: str, text: str) -> dict[str, Any]:
    """The fields in "piles=4,runs=True)"."""
    fields = [each.name for each in dataclasses.fields(Rules) if each.name not in ("name", "about")]
    # "piles=4" -> 4, "runs=True" -> True, "wrap='linear'" -> "linear"
    changes: dict[str, Any] = {}
    for each in text.removesuffix(")").split(","):
        key, _, value = (part.strip() for part in each.partition("="))
        if not text.endswith(")") or not value or key in changes:
            raise ValueError(
                f"rules {rules!r} cannot be read: write each field once, as in "
                "'four-seasons(piles=4,runs=True)'"
            )
        if key not in fields:
            raise ValueError(f"unknown field {key!r} in {rules!r}: {nearest(key, fields)}")
        word = value.strip("'\"")
        number = int(word) if re.fullmatch(r"-?\d+", word) else word
        changes[key] = {"true": True, "false": False}.get(word.lower(), number)
    return changes
