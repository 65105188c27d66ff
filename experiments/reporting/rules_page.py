"""The rules of one member of the family, short enough to learn the game from: docs/rules.

What a page says of layout, play and end is put together from the fields of the rule set, so that a
variant of one's own can be told as well. Its odds come from the stored results.
"""

from __future__ import annotations

import pandas as pd

from four_seasons_env.experiments.reporting.odds import BEST, OPEN, SIMPLE, odds
from four_seasons_env.experiments.reporting.tables import as_markdown
from four_seasons_env.registration import ENVS
from four_seasons_env.rules import ALIASES, Rules, file_name

_NUMBERS = (
    *("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve"),
)
_BASES = {
    "sixth": "The card dealt after the piles' goes to its foundation: its rank is the base of all "
    "four.",
    "first": "The first card of all goes to its foundation: its rank is the base of all four.",
    "one_per_suit": "Before that, the first card of each suit met from the end of the deck goes to "
    "its foundation: each suit has a base of its own.",
    "aces": "The foundations start empty; their base is the Ace.",
}
_BUILDS = {
    "any_suit": "Piles are built down, whatever the suit",
    "alternate_colour": "Piles are built down in alternate colours",
    "none": "Nothing is built on a pile: each is a cell for one card",
}
_PLAYERS = {
    "random": "one who plays at random",
    "heuristic": "the heuristic",
    OPEN: "one who sees every card",
}
_WRAPS = {
    "always": "a King goes on an Ace",
    "unless_ace_base": "a King goes on an Ace, unless Aces are the base",
    "linear": "a King goes on an Ace, but nothing on a card of the base rank",
    "never": "nothing goes on an Ace",
}
_SPACES = {
    "optional": "fills a space, when the player likes.",
    "before_dealing": "fills a space. While there are a space and a waste card, no card is dealt.",
    "auto_stock": "fills a space once the stock is out. Before, it is filled from the stock at "
    "once.",
    "auto_waste": "fills a space that is left. One that a card leaves is filled at once from the "
    "waste, and the waste, when that empties it, from the stock.",
}


def _layout(rules: Rules) -> list[str]:
    piles = f"{_NUMBERS[rules.piles]} piles" if rules.piles > 1 else "one pile"
    shape = ""
    if rules.piles == 5:
        shape = ", a cross, with the four foundations in its corners"
    elif rules.piles == 12:
        shape = ", two rows of six, below the four foundations"
    dealt = {
        "fixed": "One card is dealt to each.",
        "as_dealt": "Cards come one at a time: those that fit a foundation go up at once, each "
        "other one to the next pile, until every pile has a card.",
        "empty": "They begin empty.",
    }[rules.opening]
    words = [f"{rules.cards} cards. {piles.capitalize()}{shape}. {dealt} {_BASES[rules.base_from]}"]
    if rules.first_waste:
        words.append("One card starts the waste. The others are the stock, face down.")
    else:
        words.append("The others are the stock, face down.")
    return words


def _spaces(rules: Rules) -> str:
    if rules.reserve:
        return f"The waste's top card or the reserve's {_SPACES[rules.spaces]}"
    return f"Any available card {_SPACES[rules.spaces]}"


def _redeals(rules: Rules) -> str:
    if rules.limited_redeal:
        return (
            "Once the stock is out, the waste is turned over, once, to be the stock again. One "
            "card is turned to the waste, and the next lies face up on the stock: these two are "
            "available. Another is turned when one of them has been played, and not before."
        )
    if not rules.redeals:
        return "The waste is never turned over."
    times = ("once", "twice")[rules.redeals - 1]
    return f"Once the stock is out, the waste may be turned over to be the stock again, {times}."


def _play(rules: Rules) -> list[str]:
    packing = _BUILDS[rules.build]
    if rules.build != "none":
        packing += f"; {_WRAPS[rules.wrap]}"
    moving = (
        "A packed run, or the part of it that fits, moves as one onto another card; a space takes "
        "one card."
        if rules.runs
        else "One card moves at a time."
    )
    centre = "centre pile" if rules.piles == 5 else f"pile T{rules.reserve_pile}"
    reserve = (
        [
            f"The {centre} is a reserve of one card: nothing is put on it. Its card goes to its "
            "foundation or to a space, and is replaced from the stock at once; with the stock out "
            "it stays empty until there is a stock again."
        ]
        if rules.reserve
        else []
    )
    back = ["A foundation's top card may come back to a pile."] if rules.worrying_back else []
    return [
        "Foundations are built up in suit from their base, round from King to Ace, until all have "
        f"{rules.ranks} cards.",
        f"{packing}. {moving}",
        *reserve,
        _spaces(rules),
        "The stock is dealt card by card to the waste, whose top card is available.",
        _redeals(rules),
        *back,
    ]


def _end(rules: Rules) -> str:
    lost = "nothing more can be done"
    if rules.limited_redeal:
        lost += ", in the second round when neither of the two cards can be played"
    return f"The game is won when all {rules.cards} cards are up, and lost when {lost}."


def _odds_cells(rules: Rules, played: pd.DataFrame, solved: pd.DataFrame | None) -> pd.DataFrame:
    told = odds(rules, played, solved)
    players = [
        _PLAYERS.get(kind, f"the best fair one so far, `{agent}`")
        for kind, agent in zip(told["kind"], told["agent"], strict=True)
    ]
    is_twice = (told["kind"] == BEST) & told["agent"].isin(SIMPLE)
    cells = pd.DataFrame({"player": players, "wins %": told["wins"], "test deals": told["deals"]})
    return cells[~is_twice]


def rules_page(rules: Rules, played: pd.DataFrame, solved: pd.DataFrame | None) -> str:
    """The page of a rule set; see `four_seasons_env.experiments.reporting.odds.odds` for its
    arguments."""
    ids = [env_id for env_id, name in ENVS.items() if name == rules.name]
    aliases = [alias for alias, name in ALIASES.items() if name == rules.name]
    made = f"{ids[0]!r}" if ids else f"'FourSeasons-v0', rules={rules.name!r}"
    names = f" Also known as {', '.join(aliases)}." if aliases else ""
    lines = [
        f"# {rules.name}",
        "",
        f"`gym.make({made})`, `Game({rules.name!r})`.{names}",
        "",
        f"![the opening](../pictures/rules/{file_name(rules.name)}.svg)",
        "",
        "## Layout",
        "",
        *_layout(rules),
        "",
        "## Play",
        "",
        *(f"- {words}" for words in _play(rules)),
        "",
        "## End",
        "",
        _end(rules),
        "",
        "## History and source",
        "",
        rules.about,
        "",
        "## Odds",
        "",
        "95% Wilson intervals; with cards open, bounds where deals are undecided. The players are "
        "told in [agents.md](../agents.md), the last line in [solver.md](../solver.md).",
        "",
        as_markdown(_odds_cells(rules, played, solved)),
    ]
    return "\n".join(lines)
