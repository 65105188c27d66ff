"""The page on the family of rule sets, docs/family.md; `four_seasons_env.experiments.pages` writes
it."""

from __future__ import annotations

import pandas as pd

from four_seasons_env.engine.moves import all_moves
from four_seasons_env.experiments.reporting.odds import BEST, OPEN, SIMPLE, odds
from four_seasons_env.experiments.reporting.tables import as_markdown
from four_seasons_env.observations import observation_length
from four_seasons_env.registration import ENVS, FORMER_ENVS
from four_seasons_env.rules import ALIASES, FORMER, RULES, Rules, file_name

_DEFAULTS = Rules()
_FIELDS = (
    "piles",
    "base_from",
    "opening",
    "build",
    "wrap",
    "runs",
    "spaces",
    "reserve",
    "redeals",
    "limited_redeal",
    "first_waste",
    "worrying_back",
)


def _row(rules: Rules) -> list[str]:
    """A rule set's line in the table of the family."""
    differing = [
        f"{name} `{getattr(rules, name)}`"
        for name in _FIELDS
        if getattr(rules, name) != getattr(_DEFAULTS, name)
    ]
    lengths = [observation_length(rules, observation) for observation in ("tops", "cards")]
    return [
        f"`{rules.name}`",
        ", ".join(differing) or "the default",
        str(len(all_moves(rules))),
        f"{lengths[0]:,} / {lengths[1]:,}",
    ]


def _odds(rules: Rules, played: pd.DataFrame, solved: pd.DataFrame | None) -> list[str]:
    """What the players of each kind win, with the number of deals."""
    told = odds(rules, played, solved).set_index("kind")
    cells = []
    for kind in (*SIMPLE, BEST, OPEN):
        if kind not in told.index:
            cells.append("-")
            continue
        agent, wins, deals = told.loc[kind, ["agent", "wins", "deals"]]
        cells.append(f"{f'`{agent}` ' if kind == BEST else ''}{wins} ({deals})")
    return cells


def family_page(played: pd.DataFrame, solved: pd.DataFrame | None) -> str:
    """The page on the family: the table of rule sets with their odds; see `odds.odds`."""
    cells = pd.DataFrame(
        [[*_row(rules), *_odds(rules, played, solved)] for rules in RULES.values()],
        columns=[
            *("rules", "differs from the default in", "actions", "`tops` / `cards`"),
            *(f"{kind}, wins %" for kind in (*SIMPLE, BEST)),
            "can be won %",
        ],
    )
    ids = {rules: env_id for env_id, rules in ENVS.items()}
    defaults = ", ".join(f"{name} `{getattr(_DEFAULTS, name)}`" for name in _FIELDS)
    lines = [
        "# The family",
        "",
        "Every rule set is a row of `four_seasons_env.rules.RULES`; the fields are explained "
        "there, and `kernel.py` alone says what they mean for a game. Below, each has a page to "
        "learn the game from. "
        f"The default, `four-seasons`, has {defaults}.",
        "",
        "Win rates are on test deals, with 95% Wilson intervals and the number of deals. The best "
        "fair player is the one of those in [agents.md](agents.md) that has won most and does not "
        "see the stock. What can be won is told of a player who sees every card "
        "([solver.md](solver.md)); where deals are open, the bounds.",
        "",
        as_markdown(cells),
        "## Sources",
        "",
    ]
    for name, rules in RULES.items():
        made = f", `gym.make({ids[name]!r})`" if name in ids else ""
        page = f"[rules](rules/{file_name(name)}.md)"
        lines += [f"**`{name}`** ({page}{made}): {rules.about}", ""]
    for env_id, name in FORMER_ENVS.items():
        lines += [f"**`{name}`** (`gym.make({env_id!r})`): {FORMER[name].about}", ""]
    aliases = ", ".join(f"`{alias}` is `{name}`" for alias, name in ALIASES.items())
    lines += [
        f"Other names: {aliases}. A game in full of each rule set stands in "
        "tests/reference/golden.",
        "",
        "## Layouts",
        "",
        "Five piles form a cross, dealt top, left, centre, right, bottom (T0 to T4), with the "
        "foundations in the corners:",
        "",
        "    [C]  T0  [S]",
        "     T1  T2  T3",
        "    [H]  T4  [D]",
        "",
        "Simplicity has two rows of six piles, T0 to T5 and T6 to T11.",
    ]
    return "\n".join(lines) + "\n"
