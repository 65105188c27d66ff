"""The page on the family of rule sets, docs/family.md; `experiments.pages` writes it."""

from __future__ import annotations

import pandas as pd

from experiments.evaluation.ceiling import CEILING
from experiments.reporting.tables import as_markdown
from experiments.statistics.summary import labels, win_rates
from four_seasons_env.engine.moves import all_moves
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
_CEILING = (
    " What can be won by a player who sees every card is told in [solver.md](solver.md); where "
    "deals are open, the bounds."
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


def _fewer(summary: pd.DataFrame) -> str:
    """Which rule sets have been played on fewer deals than the others, if any."""
    deals = summary.groupby("rules", sort=False)["deals"].max()
    fewer = deals[deals < deals.max()]
    names = ", ".join(f"`{name}`" for name in fewer.index)
    return f" Those of {names} are on the first {int(fewer.max()):,}." if len(fewer) else ""


def family_page(summary: pd.DataFrame) -> str:
    """The page on the family, from the table of rule sets and a summary over all of them."""
    played = summary.assign(who=labels(summary), won=win_rates(summary))
    rates = played.pivot(index="rules", columns="who", values="won").reindex(list(RULES))
    who = list(dict.fromkeys(played["who"]))
    agents = [name for name in who if name != CEILING]
    header = ["rules", "differs from the default in", "actions", "`tops` / `cards`"]
    header += [f"{name} wins %" for name in agents]
    if CEILING in who:
        header.append("can be won %")
        agents.append(CEILING)
    cells = pd.DataFrame(
        [[*_row(rules), *rates.fillna("-").loc[name, agents]] for name, rules in RULES.items()],
        columns=header,
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
        f"Win rates are on {int(summary['deals'].max()):,} test deals, with 95% Wilson intervals."
        + _fewer(summary)
        + (_CEILING if CEILING in who else ""),
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
