"""docs/answer.md: how often Four Seasons can be won, told so that anybody may quote it."""

from __future__ import annotations

import math

import pandas as pd

from four_seasons_env.experiments.evaluation.ceiling import CEILING
from four_seasons_env.experiments.evaluation.thrown_away import (
    alive_at,
    thrown_away,
    winnable_deals,
)
from four_seasons_env.experiments.reporting.odds import BOOK_ODDS
from four_seasons_env.experiments.reporting.tables import as_markdown

RULES = "four-seasons"

PLAYERS = {
    "random": "any legal move",
    "greedy": "a beginner's list of moves",
    "maskable_ppo": "a network that learned single moves",
    "heuristic": "the advice that good players give",
    "next_deal_ppo": "a network that learned which position to turn a card in",
    "planner": "plans ahead with a network of its own",
    CEILING: "sees every card",
}
"""What the page calls the players."""

_SAME = {"kept": "maskable_ppo"}
"""Other names in the kept results: the weights that come with the project."""
_LEFT = 20
"""Cards left in the stock, where the text asks what is thrown away."""
_FEWEST = 1000
"""Deals that a player has to have played to stand on the ladder as the best."""


def answers(played: pd.DataFrame) -> pd.DataFrame:
    """The rungs of the ladder, from the one who wins least up, each from its most deals.

    Args:
        played: kept results of any players, with the ceiling
            (`four_seasons_env.experiments.evaluation.ceiling`).

    Returns:
        A row a player; columns agent, told (what it is), win_rate, win_low, win_high, deals.
    """
    own = played[(played["rules"] == RULES) & (played["play"] != "stochastic")]
    chance = played[(played["rules"] == RULES) & (played["agent"] == "random")]
    own = pd.concat([chance, own]).assign(agent=lambda rows: rows["agent"].replace(_SAME))
    own = own.sort_values("deals", ascending=False, kind="stable").drop_duplicates("agent")
    named = own[own["agent"].isin(list(PLAYERS))]
    named = named.assign(told=named["agent"].map(PLAYERS))
    fair = own[(own["agent"] != CEILING) & (own["deals"] >= _FEWEST)]
    best = fair.sort_values("win_rate").tail(1)
    if not set(best["agent"]) <= set(named["agent"]):
        of = PLAYERS.get(best["agent"].iloc[0].partition("@")[0])
        told = f"{of}, and more time" if of else "the best fair player so far"
        named = pd.concat([named, best.assign(told=told)])
    is_ceiling = named["agent"] == CEILING
    order = pd.concat([named[~is_ceiling].sort_values("win_rate"), named[is_ceiling]])
    columns = ["agent", "told", "win_rate", "win_low", "win_high", "deals"]
    return order[columns].reset_index(drop=True)


def _of_100(rate: float) -> str:
    return f"{100 * rate:.0f}"


def _one_in(rate: float) -> str:
    return f"1 in {1 / rate:,.0f}" if rate < 0.15 else f"{10 * rate:.1f} in 10"


def _table(ladder: pd.DataFrame) -> str:
    rows = []
    for row in ladder.to_dict("records"):
        low, high = (f"{100 * row[end]:.2f}" for end in ("win_low", "win_high"))
        is_open = row["agent"] == CEILING
        so = _one_in(row["win_low"] if is_open else row["win_rate"])
        rows.append(
            {
                "player": row["told"],
                "called": f"`{row['agent']}`",
                "wins %": f"{low} to {high}" if is_open else f"{100 * row['win_rate']:.2f}",
                "95%": "-" if is_open else f"{low} to {high}",
                "so": f"{so} at least" if is_open else so,
                "deals": f"{row['deals']:,.0f}",
            }
        )
    return as_markdown(pd.DataFrame(rows))


def _thrown(results: pd.DataFrame) -> list[str]:
    """What separates the players: sentences, a line each."""
    lines = []
    for agent, games in winnable_deals(results).groupby("agent", sort=False):
        early, open_cards = alive_at(games, _LEFT), alive_at(games, 0)
        won = games["won"].mean()
        late = [max(share - won, 0) for share in open_cards]
        lines.append(
            f"- **{PLAYERS.get(str(agent), agent)}** (`{agent}`), {len(games):,} winnable deals: "
            f"{_share(*early)} can still be won with {_LEFT} cards left in the stock, "
            f"{_share(*open_cards)} when the stock is out, and {_of_100(won)} are won. "
            f"So {_share(*late)} are lost with every card in view."
        )
    return lines


def _share(low: float, high: float) -> str:
    """A share between bounds, of 100."""
    if _of_100(low) == _of_100(high):
        return f"{_of_100(low)} of 100"
    return f"{_of_100(low)} to {_of_100(high)} of 100"


def answer_page(played: pd.DataFrame, results: pd.DataFrame) -> str:
    """The page.

    Args:
        played: see `answers`.
        results: of `four_seasons_env.experiments.evaluation.thrown_away`.
    """
    ladder = answers(played)
    rungs = ladder.set_index("agent")
    won = rungs["win_rate"]
    fair = ladder[ladder["agent"] != CEILING]
    best = fair[fair["deals"] == fair["deals"].max()].iloc[-1]
    deals = f"{results['deal'].min():,} to {results['deal'].max():,}"
    low, high = (rungs[end][CEILING] for end in ("win_low", "win_high"))
    gap = [100 * (end - best["win_rate"]) for end in (low, high)]
    lines = [
        "# How often can Four Seasons be won?",
        "",
        f"> One game in {1 / BOOK_ODDS:.0f}, says the textbook, and a beginner's list of moves "
        f"does win {_of_100(won['greedy'])} games of 100. The advice that good players give wins "
        f"{_of_100(won['heuristic'])}. The best computer player that sees no more than a person "
        f"at the table wins {_of_100(best['win_rate'])}. One who saw every card could win "
        f"{math.floor(100 * low)} or more.",
        "",
        "So the odds in the book are those of a beginner. Nearly every deal can be won; but nobody "
        "at the table knows which card comes next, and much is in how a deal is played: from good "
        f"advice to good planning it is {_of_100(best['win_rate'] - won['heuristic'])} games of "
        "100.",
        "",
        _table(ladder),
        "![games won by each kind of player](results/answer.png)",
        "",
        "Every player but the last sees what a person at the table sees, and no more: the stock "
        "stays face down. The last is a bound for them all: the lower end counts the deals for "
        "which moves that win were found, the upper end leaves out those that were proved lost. "
        "Intervals are 95% (Wilson). All deals are test deals, which no player has trained on; "
        "where a player has played fewer, they are the first of the same.",
        "",
        "## What separates them",
        "",
        f"Games of the validation deals {deals} were looked over afterwards: until when could the "
        "deal, with the stock as it lay, still be won? The solver leaves some positions open, so "
        "there are bounds. The planner played with earlier weights than it has now.",
        "",
        *_thrown(results),
        "",
        as_markdown(thrown_away(results)),
        "![winnable deals not yet thrown away](results/thrown_away.png)",
        "",
        "## What nobody knows",
        "",
        f"From `{best['agent']}` to the one who sees every card it is {gap[0]:.0f} to {gap[1]:.0f} "
        "points. Part of that can be won by better play, and part by nobody who does not see the "
        "stock. How much is which nobody knows.",
        "",
        "## Where the numbers come from",
        "",
        "All of them are read from results kept in the repository when this page is written "
        "(`python -m four_seasons_env.experiments.pages`). The players: [agents.md](agents.md). "
        "All of them on "
        "10,000 deals: [benchmark.md](benchmark.md). Why the ceiling is one: "
        "[solver.md](solver.md). How a game is looked over: [play.md](play.md). Other games of the "
        "family: [family.md](family.md).",
    ]
    return "\n".join(lines) + "\n"
