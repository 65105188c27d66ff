"""Fill the marked parts of README and docs from the stored results.

    python docs/tables.py            # write them
    python docs/tables.py --check    # name the stale ones; exit status 1 if there are any
    python docs/tables.py --add runs/y docs/results/four-seasons.csv

The part between `<!-- rates -->` and `<!-- /rates -->` of a page is what the function `rates` below
returns, and so on for all that are marked by `@part`. `--add` first merges new results, the summary
of a comparison or a file, into stored ones: its rows replace those of the same agents, deals or
measurements, and name the version and the commit that they come from. The games of a comparison go
beside them, into `games`.
"""

import functools
import gzip
import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import tyro
import yaml
from scipy import stats

from four_seasons_env import Game, small_games
from four_seasons_env.agents.names import bundled_weights
from four_seasons_env.agents.planner.best_stop import AGENT, network_value, read_planner
from four_seasons_env.agents.planner.luck import LuckMeter
from four_seasons_env.arguments import nearest
from four_seasons_env.datasets import DATASETS, FOLDER
from four_seasons_env.experiments.comparison import (
    MANIFEST,
    ceiling_row,
    read_census,
    read_comparison,
    read_results,
)
from four_seasons_env.experiments.crossed import difference_of, holm
from four_seasons_env.experiments.folders import measured_by, read_table, write_csv
from four_seasons_env.experiments.summary import BASELINE, CEILING
from four_seasons_env.experiments.tables import (
    ADJUSTED,
    BRIEF,
    as_markdown,
    as_text,
    bounds_as_text,
    cell,
    p_as_text,
    win_rates,
)
from four_seasons_env.files import expanded, file_name, write_atomically
from four_seasons_env.registration import ENVS
from four_seasons_env.rules import RULES
from four_seasons_env.rules_in_words import sentences
from four_seasons_env.text import FourSeasonsTextEnv

PARTS: dict[str, Callable[[], str]] = {}
"""The functions that write parts of pages, by their names."""
ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs" / "results"
DEFAULT = "four-seasons"
_KEYS = ("rules", "agent", "play", "deal", "page", "what", "games", "threads", "observation")
"""Columns that identify a row of results."""


def part(function: Callable[[], str]) -> Callable[[], str]:
    """Let pages have the text that a function returns, between marks of its name."""
    PARTS[function.__name__] = function
    return function


def table(rows: pd.DataFrame, *columns: str) -> str:
    """A Markdown table.

    Args:
        rows: one for each row of the table.
        columns: "title: format" of each column, the format filled from a row; or the name of a
            field, which is also the title.
    """
    records, cells = rows.to_dict("records"), {}
    for column in columns:
        title, _, form = column.partition(": ")
        cells[title] = [cell(form or f"{{{title}}}", record) for record in records]
    return as_markdown(pd.DataFrame(cells))


def differences(rows: list[dict[str, Any]], *columns: str) -> str:
    """A table of differences in wins: `more`, from `low` to `high`, and Holm's p of `p_value`."""
    shown = pd.DataFrame(rows)
    shown["p"] = list(map(p_as_text, holm(shown["p_value"].to_numpy())))
    more = ("points more [95%]: {more:+.1%} [{low:+.1%}, {high:+.1%}]", "p (Holm): {p}")
    return table(shown, *columns, *more)


# --- stored results -----------------------------------------------------------------------------


def stored(*names: str) -> pd.DataFrame:
    """The rows of stored results, one file after the other."""
    paths = [RESULTS / f"{name}.csv" for name in names]
    return pd.concat([read_table(path) for path in paths], ignore_index=True)


census = functools.cache(read_census)
"""The solver's answers: one row per deal."""


def players(*names: str) -> pd.DataFrame:
    """Stored results of agents, and the ceiling of their deals by the census; the best first."""
    rows, answers = stored(*names), census()
    parts = []
    for rules, played in rows.groupby("rules", sort=False):
        deals = answers[(answers["rules"] == rules) & (answers["deal"] < played["deals"].max())]
        parts += [played, pd.DataFrame([ceiling_row(str(rules), deals)])]
    return pd.concat(parts, ignore_index=True).sort_values("win_rate", ascending=False)


def most_deals(*names: str) -> pd.DataFrame:
    """A row for each agent of `players`, by its name: that of the most deals."""
    rows = players(*names).sort_values(["deals", "play"], ascending=[False, True], kind="stable")
    return rows.drop_duplicates("agent").set_index("agent", drop=False)


# --- README -------------------------------------------------------------------------------------

BEST_PLAYERS = ("planner@lookahead=1", "planner", "heuristic")
"""The agent shown as the strongest: the first of these that played. No test deal chooses it."""

LADDER = {
    CEILING: "a player who sees every card",
    "planner@lookahead=1": "the planner, which here also looks one card ahead",
    "planner": "a search, guided by a network that was trained on its own games",
    "next_deal_ppo": "a network that chooses positions, trained by `train --agent next_deal_ppo` "
    "for seven minutes of one core; its weights were saved after {minutes:.0f} minutes",
    "maskable_ppo": "a network that chooses moves, trained for 100 minutes of one core by "
    "[this command](docs/how-to/train.md#the-bundled-maskable_ppo); its weights were saved after "
    "{minutes:.0f} minutes",
    "maskable_ppo-10": "a network that chooses moves, trained for 10 minutes of one core by `train "
    "--agent maskable_ppo`; the mean of five seeds",
    "heuristic": "a rule of thumb with 30 weights for what players look at, tuned on training "
    "deals",
    "random": "any legal move",
}
"""The players of README, and what each is."""


def summit() -> pd.DataFrame:
    """The players of README, with win rates of one decimal, each of its most deals."""
    rows = most_deals("four-seasons", "learning").loc[list(LADDER)]
    rows["about"], cards = list(LADDER.values()), cards_of_weights()
    cards = cards.assign(agent=cards["name"].str.removesuffix(f"/{DEFAULT}")).set_index("agent")
    for name in cards.index.intersection(rows.index):
        rows.loc[name, "about"] = rows.loc[name, "about"].format_map(cards.loc[name])
    low, high = (100 * rows.loc[CEILING, name] for name in ("win_low", "win_high"))
    rows["shown"] = rows["win_rate"].map("{:.1%}".format).str.rstrip("%")
    fewer = rows["deals"] < rows["deals"].max()
    rows["shown"] += rows["deals"].map(" ({:,} deals)".format).where(fewer, "")
    rows.loc[CEILING, "shown"] = f"{low:.1f} to {high:.1f}"
    return rows


@part
def ladder() -> str:
    """What the players of README win."""
    rate = stored("leaderboard").set_index("agent").loc["heuristic", "win_rate"]
    easy = f"\nThe first deals are easier: `heuristic` wins {rate:.1%} of the first 1,000.\n"
    return table(summit(), "agent", "what it is: {about}", "won %: {shown}") + easy


@functools.cache
def facts() -> dict[str, Any]:
    """What sentences state: win rates, length of a game, speed of the defaults, CITATION.cff."""
    rows = most_deals("four-seasons")
    bench = stored("bench").query("threads == 1").set_index(["what", "games", "observation"])
    rate = bench["moves_per_second"]
    numbers = {
        "best": rows.loc[BEST_PLAYERS[0], "win_rate"],
        "moves": rows.loc["maskable_ppo", "moves"],
        "decisions": Game(deal=0).stock_size - 1,  # the last card is no secret
        "single": rate["single environment", 1, "tops"],
        "batch": rate["vector environment", 1024, "tops"] / 1e6,
        "choices": rate["next-deal environment, decisions", 1024, "features"],
    }
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    return rows["win_rate"].to_dict() | numbers | citation


@part
def gap() -> str:
    """Why the game is hard."""
    return """**The challenge.** A player who sees every card could win at least {ceiling:.0%} of \
the 10,000 test deals. A textbook of patience games (Morehead and Mott-Smith) says one game in 10, \
a tuned rule of thumb wins {heuristic:.0%}, and the best agent that played all these deals wins \
{best:.0%}. Nobody knows how much better one can play without seeing every card: this is an \
[open question](docs/explanation/answer.md).
""".format_map(facts())


@part
def offers() -> str:
    """What the project offers."""
    return """- **Fast.** One core plays {single:,.0f} \
[moves a second](docs/reference/benchmark.md#speed) in a single environment, and {batch:.1f} \
million in a batch of 1,024 games.
- **Two levels of action, both with masks.** Choose each move, or choose the position in which you \
turn the next card.
- **Baselines with weights**, from rules of thumb to MaskablePPO and a planner trained on its own \
games.
- **Honest comparisons.** The same deals for all agents, 95% intervals, training seeds, and games \
that anyone can replay.
- **A solver** that proves deals won or lost, and small games whose best play is known exactly.
- **A page in your browser** to play, ask for hints, and find the move that lost a game.
""".format_map(facts())


@part
def length() -> str:
    """How long a game is, and how fast decisions are."""
    return """A game of `maskable_ppo` takes {moves:.0f} moves on average. In \
`FourSeasonsNextDeal-v0`, a game takes at most {decisions} decisions, one for each card of the \
stock but the last; one core makes {choices:,.0f} of them a second in a batch of 1,024 games.
""".format_map(facts())


# --- docs/explanation ---------------------------------------------------------------------------


@part
def quote() -> str:
    """The answer to how often the game can be won."""
    return """> A textbook of patience games (Morehead and Mott-Smith) says one game in 10. A \
fixed list of moves wins {greedy:.0%} of games. A tuned rule of thumb wins {heuristic:.0%}. The \
best agent that played all 10,000 test deals sees only public information, and wins {best:.0%} of \
them. A player who sees every card could win at least {ceiling:.0%}.
""".format_map(facts())


LONGER, SHORTER = "planner@lookahead=1", "planner"
"""Two players: one that searches longer than the other."""


@part
def longer() -> str:
    """By how much a longer search wins more than a shorter one, on the same deals."""
    rows = []
    for name, deals in (("four-seasons", "test"), ("fresh", "fresh")):
        games = pd.read_csv(RESULTS / "games" / f"{name}.csv.gz")
        played = [
            games.filter(regex=rf"^{re.escape(each)} deterministic\b") for each in (LONGER, SHORTER)
        ]
        won = [(each == 52).to_numpy(float).T for each in played]  # of shape (seeds, deals)
        difference = difference_of(*won)
        low, high = difference.interval()
        rows.append(
            {
                "longer": LONGER,
                "shorter": SHORTER,
                "deals": f"{len(games):,} {deals}",
                "more": difference.value,
            }
            | {"low": low, "high": high, "p_value": difference.p_value()}
        )
    return differences(rows, "longer: `{longer}`", "shorter: `{shorter}`", "deals")


@part
def study() -> str:
    """What agents win after some minutes of learning."""
    columns = ("agent", "seeds", "won % [95%]", "vs {against} [95%]", "cards up [95%]")
    return as_markdown(as_text(players("learning"), columns))


@part
def efficiency() -> str:
    """What learners of moves win in training after some numbers of moves; means over seeds."""
    names = ["time/total_timesteps", "play/win_rate"]
    ppo = stored("moves-seeds").rename(columns=dict(zip(names, ("steps", "win_rate"), strict=True)))
    agents = {"maskable_ppo-10": ppo}
    for run, rows in stored("values-curves").groupby("run"):
        agents[Path(str(run)).parent.name] = rows
    rows = []
    for agent, curves in agents.items():
        seeds = curves["run"].nunique()
        row = {"agent": agent, "seeds": str(seeds)}
        for millions in (0.5, 2, 10, 30):
            # The first row of each run with as many moves; runs that are shorter have none.
            later = curves[curves["steps"] >= 1e6 * millions].groupby("run")["win_rate"].first()
            mean = f"{100 * later.mean():.1f}" if len(later) == seeds else "-"
            row[f"{millions:g}M moves, won %"] = mean
        rows.append(row)
    return as_markdown(pd.DataFrame(rows))


@part
def by_games() -> str:
    """What learners of positions win in training after some numbers of games."""
    rows = []
    for run, curve in stored("positions-curves").groupby("run"):
        row = {"agent": Path(str(run)).parent.name.partition("-")[0]}
        for games in (10_000, 40_000, 150_000):
            later = curve[curve["play/games"] >= games]["play/win_rate"]
            row[f"{games:,} games, won %"] = f"{100 * later.iloc[0]:.1f}" if len(later) else "-"
        rows.append(row)
    return as_markdown(pd.DataFrame(rows))


@part
def ideas() -> str:
    """What helped learning and what did not."""
    rows, pair = stored("ideas"), ("with it: {changed:g}", "without it: {before:g}")
    measure = ("measure", "deals: {deals:,.0f}")
    return table(rows, "agent", "core-minutes: {minutes}", "change", *measure, *pair)


_VALUE = "value %: {value:.1%}"
"""A column of the two tables below."""


@part
def decision() -> str:
    """The planner's decision at the opening of deal 17: its candidates and their values."""
    _, evaluator = read_planner(bundled_weights(AGENT, DEFAULT), RULES[DEFAULT])
    rows = [
        {
            "moves": ", ".join(str(move) for move in stop.moves) or "none",
            "empty": sum(not pile for pile in stop.game.tableau),
            "value": network_value(stop.game.record[0], evaluator),
        }
        for stop in Game(deal=17).stops()
    ]
    best_first = pd.DataFrame(rows).sort_values("value", ascending=False)
    return table(best_first, "moves before the deal: {moves}", "empty piles: {empty}", _VALUE)


@part
def turned() -> str:
    """The luck of the first card of deal 17, after the planner's first two moves."""
    game = Game(deal=17).after("T3>T0").after("T4>T1")
    outcomes, came = game.outcomes("deal"), game.after("deal").waste[-1]
    values = LuckMeter(RULES[DEFAULT]).worth(np.concatenate([o.game.record for o in outcomes]))
    by_card = pd.Series(values, [each.card for each in outcomes])
    mean = float(values @ [each.probability for each in outcomes])
    named = {
        f"{by_card.idxmax()}, the best card": by_card.max(),
        f"{came}, the card that came": by_card[came],
        f"{by_card.idxmin()}, the worst card": by_card.min(),
    }
    rows = pd.DataFrame({"card": [*named], "value": [*named.values()]})
    rows["luck"] = rows["value"] - mean
    average = pd.DataFrame([{"card": f"mean of all {len(outcomes)} cards", "value": mean}])
    return table(pd.concat([rows, average]), "card", _VALUE, "luck, points: {luck:+.1%}")


@part
def lucky() -> str:
    """Two agents of the leaderboard, one of which was lucky."""
    rows = stored("leaderboard").query("agent in ('planner', 'planner@lookahead=1')")
    columns = ("agent", "won % [95%]", ADJUSTED, "luck z (p)")
    return as_markdown(as_text(rows.sort_values("win_rate", ascending=False), columns))


@part
def calibrated() -> str:
    """For groups of moves, the mean chance shown, and the share of games won.

    Off by: the typical error of a chance of 20% to 80%, without the noise of its games.
    """
    # 1. The squared error of each row, less the variance that its games have by chance.
    rows = stored("calibration")
    rows["rate"] = rows["won"] / rows["games"]
    rows["noise"] = rows["rate"] * (1 - rows["rate"]) / (rows["games"] - 1)
    rows["error"] = (rows["chance"] - rows["rate"]) ** 2 - rows["noise"]
    rows["error"] = rows["error"].where(rows["chance"].between(0.2, 0.8))
    # 2. The groups.
    of_planner = {
        f"the planner's moves, in games of `{player}`": rows["chosen"] & (rows["player"] == player)
        for player in ("planner", "heuristic", "greedy", "random")
    }
    groups = {
        "the planner's moves": rows["chosen"],
        **of_planner,
        "other moves": ~rows["chosen"],
        "other moves: dealing at once": ~rows["chosen"] & (rows["move"] == "deal"),
        "moves with a chance of 10% to 50%": rows["chance"].between(0.1, 0.5),
        "moves with a chance of 70% to 90%": rows["chance"].between(0.7, 0.9),
    }
    # 3. Their means.
    means = pd.DataFrame(
        [
            {"moves": name, "number": among.sum()}
            | rows[among][["chance", "rate", "error"]].mean().to_dict()
            for name, among in groups.items()
        ]
    )
    means["error"] **= 0.5
    shown = ("chance shown, mean %: {chance:.1%}", "games won %: {rate:.1%}")
    return table(means, "moves", "number", *shown, "off by, points: {error:.0%}")


@part
def peeking() -> str:
    """The test for peeking, of players that see hidden cards."""
    z = ("luck z: {luck_z:+.2f}", "luck p: {luck_p:.2g}")
    return table(stored("peeking"), "sees: {what}", "games: {games:,}", "won %: {won:.1%}", *z)


@part
def decided() -> str:
    """How many test deals the solver decides within some limits of time."""
    solved, rows = census().query("rules == @DEFAULT"), []
    for limit in (0.1, 1, 10):
        counts = solved["status"][solved["seconds"] <= limit].value_counts()
        share = (counts["won"] + counts["lost"]) / len(solved)
        rows.append({"limit": limit, "won": counts["won"], "lost": counts["lost"], "share": share})
    shown = ("seconds each: {limit:g}", "won: {won:,}", "lost: {lost:,}", "decided %: {share:.2%}")
    return table(pd.DataFrame(rows), *shown)


# --- docs/reference -----------------------------------------------------------------------------


@part
def results() -> str:
    """What all agents win."""
    return as_markdown(as_text(players("four-seasons"), BRIEF))


@part
def fresh() -> str:
    """What agents win on deals that no version had played, beside the test deals."""
    new, test = stored("fresh"), most_deals("four-seasons")
    rows = new.sort_values("win_rate", ascending=False)
    rows["test"] = test.loc[rows["agent"], "win_rate"].to_numpy()
    rows["new"] = win_rates(rows)
    shown = ("fresh deals, won % [95%]: {new}", "test deals, won %: {test:.2%}")
    return table(rows, "agent: `{agent}`", *shown)


OWN_MASK, BEST = "own mask, drawn", "`no_repeats`, best"
PAIRS = [
    ("MaskablePPO", "MaskablePPO, legal, same setting", BEST),
    ("MaskablePPO", "MaskablePPO, legal, same setting", OWN_MASK),
    ("MaskablePPO, places", "MaskablePPO", BEST),
]
"""Two algorithms of `baselines`, and how both play."""


@part
def pairs() -> str:
    """How much more one algorithm wins than another: Welch's test over the training seeds."""
    won = stored("baselines").query("stage == '500k'").set_index("algorithm")
    rows = []
    for one, other, play in PAIRS:
        column = "won" if play == BEST else "own_won"
        test = stats.ttest_ind(won.loc[one, column], won.loc[other, column], equal_var=False)
        low, high = test.confidence_interval()
        more = won.loc[one, column].mean() - won.loc[other, column].mean()
        rows.append({"one": one, "other": other, "play": play, "more": more, "low": low})
        rows[-1] |= {"high": high, "p_value": test.pvalue}
    return differences(rows, "algorithm: {one}", "compared with: {other}", "play: {play}")


@part
def baselines() -> str:
    """A row for each algorithm and number of moves: means over the seeds; the best first."""
    rows = stored("baselines").query("stage != 'search'")
    each = ["algorithm", "stage"]
    seeds = rows.groupby(each)["won"].agg(["size", "min", "max"])
    means = rows.groupby([*each, "mask", "network"], as_index=False).mean(numeric_only=True)
    means = means.join(seeds, on=each).sort_values(["won", "cards_up"], ascending=False)
    names = [name.split(", ") for name in means["algorithm"]]  # the second part has a column
    how = [f" ({name[2]})" if len(name) > 2 else "" for name in names]
    return table(
        means.assign(name=[name[0] for name in names], how=how),
        "algorithm: {name} ({network})",
        "mask in training: {mask}{how}",
        "moves: {stage}",
        "core-minutes: {size} x {core_minutes:.1f}",
        "no mask, drawn: {open_won:.1%}; {open_cards_up:.1f}",
        "own mask, drawn: {own_won:.1%}; {own_cards_up:.1f}",
        "no_repeats, best: {won:.1%} ({min:.1%} to {max:.1%}); {cards_up:.1f}",
        "illegal %: {illegal:.1%}",
    )


@part
def untrained() -> str:
    """What searches win that have learned nothing, beside agents that have."""
    rows = stored("untrained").sort_values("win_rate", ascending=False)
    columns = ("agent", "won % [95%]", "vs {against} [95%]", "cards up [95%]", "CPU ms/game")
    return as_markdown(as_text(rows, columns))


@part
def rates() -> str:
    """Moves per second with one thread and with two; of two sizes of vector environments."""
    rows = stored("bench").query("not what.str.startswith('vector') or games in (1024, 16384)")
    # Without copies one row is enough to see what they cost.
    rows = rows.query("not what.str.contains('copy') or (games == 1024 and observation == 'tops')")
    names = ["what", "observation", "games"]
    wide = rows.pivot(index=names, columns="threads", values="moves_per_second")
    wide = wide.reindex(rows[names].drop_duplicates().itertuples(index=False, name=None))
    wide = wide.rename(columns={1: "one", 2: "two"}).reset_index()
    threads = ("moves/s, 1 thread (default): {one:,.0f}", "2 threads: {two:,.0f}")
    return table(wide, "what", "observation", "games: {games:,}", *threads)


@part
def costs() -> str:
    """Costs measured once, and comparisons with other libraries."""
    rows = stored("costs")
    rows["shown"] = [f"{x:,.0f}" if x >= 100 else f"{x:.2g}" for x in rows["value"]]
    return table(rows, "what", "value: {shown} {unit}")


@part
def leaderboard() -> str:
    """What agents win with luck subtracted, and the test for peeking."""
    columns = ("agent", "method", "play", "won % [95%]", ADJUSTED, "luck z (p)", "CPU ms/game")
    return as_markdown(as_text(players("leaderboard"), columns))


def cards_of_weights() -> pd.DataFrame:
    """A row for each folder of bundled weights, from its card."""
    rows = []
    for path in sorted((ROOT / "agents" / "weights").glob("*/*/model.json")):
        run = json.loads(path.read_text())["training"]
        teacher = str(run.get("warm_start")).partition(" ")[0]
        unit = "games" if "games" in run else "steps"
        row = {"path": path.relative_to(ROOT).as_posix(), "name": "/".join(path.parts[-3:-1])}
        row["seed"], row["amount"] = str(run["seed"]), f"{run[unit]:,} {unit}"
        row["teacher"] = teacher.replace("None", "-").rpartition("weights/")[2]
        row["minutes"] = run.get("core_seconds", run["seconds"]) / 60
        rows.append(row | {"tried": run["validation"]["won"]})
    return pd.DataFrame(rows)


@part
def weights() -> str:
    """The bundled weights."""
    return table(
        cards_of_weights(),
        "weights: [{name}](../../{path})",
        "trained on: {amount}",
        "started from: {teacher}",
        "minutes: {minutes:.0f}",
        "seed",
        "validation deals won %: {tried:.1%}",
    )


@part
def lineage() -> str:
    """The trainings behind the bundled planner; their cards are in the history."""
    columns = ("weights: {short}", "started from: {started_from}", "games: {games:,}")
    columns += ("minutes: {minutes:.0f}", "validation deals won %: {validation:.1%}", "commit")
    rows = stored("lineage")
    return table(rows.assign(short=rows["sha256"].str[:8]), *columns)


@part
def seeds() -> str:
    """Five training seeds of an own network."""
    columns = ("agent", "seeds", "won % [95%]", "cards up [95%]")
    return as_markdown(as_text(stored("seeds"), columns))


@part
def odds() -> str:
    """A row for each rule set: what simple players, the strongest agent and open cards win."""
    played = stored("family", "four-seasons")
    played = played.assign(won=win_rates(played))
    solved, rows = dict(list(census().groupby("rules"))), []
    for name in RULES:
        agents = played[played["rules"] == name]
        agents = agents.sort_values("deals", ascending=False, kind="stable")
        agents = agents.drop_duplicates(["agent", "play"]).set_index("agent", drop=False)
        best = agents.loc[next(name for name in BEST_PLAYERS if name in agents.index)]
        simple = agents.loc[["random", "heuristic"]]
        bounds = ceiling_row(name, solved[name])
        (deals,) = {*simple["deals"], bounds["deals"]}
        row = {"rules": f"[{name}](#{name.replace('/', '')})", "deals": f"{deals:,}"}
        row |= {f"`{agent}` wins %": won for agent, won in simple["won"].items()}
        row["strongest agent wins %"] = f"`{best['agent']}` {best['won']}"
        rows.append(row | {"can be won %": bounds_as_text(bounds["win_low"], bounds["win_high"])})
    return as_markdown(pd.DataFrame(rows))


@part
def gallery() -> str:
    """The openings of all rule sets, three in a row, and their names above them."""
    blank = [""] * (-len(RULES) % 3)
    names = [f"[{name}](#{name.replace('/', '')})" for name in RULES] + blank
    pictures = [f"![{name}](../pictures/rules/{file_name(name)}.svg)" for name in RULES] + blank
    rows = np.stack([np.reshape(names, (-1, 3)), np.reshape(pictures, (-1, 3))], axis=1)
    return as_markdown(pd.DataFrame(rows.reshape(-1, 3), columns=[""] * 3))


@part
def sections() -> str:
    """What fields change, then for each rule set its id, opening, changed fields and source."""
    ids = {name: f'"{env_id}"' for env_id, name in ENVS.items()}
    default, texts = RULES[DEFAULT], []
    usual = sentences(default)
    meanings: dict[str, str] = {}
    for name, rules in RULES.items():
        made = ids.get(name, f'"FourSeasons-v0", rules="{name}"')
        about = f"`gym.make({made})`, [opening](../pictures/rules/{file_name(name)}.svg)."
        changed = []
        for field, words in sentences(rules).items():
            if words != usual.get(field):
                value = getattr(rules, field)
                beside = " with a reserve" if value == getattr(default, field) else ""
                changed.append(f"{field}=`{value}`{beside}")
                assert meanings.setdefault(changed[-1], words) == words
        parts = [f"### {name}", about, ", ".join(changed), f"Source: {rules.about}"]
        texts.append("\n\n".join(filter(None, parts)))
    fields = pd.DataFrame(sorted(meanings.items()), columns=["field", "meaning"])
    return "\n\n".join([as_markdown(fields).strip(), *texts]) + "\n"


@part
def optima() -> str:
    """The small games and their best play."""
    rows = pd.DataFrame(map(vars, small_games()))
    optimum = ("optimum %: {optimum:.3%}", "seconds for an opening: {seconds:.1f}")
    return table(rows, "rules: {name}", "openings: {openings:,}", *optimum)


@part
def regret() -> str:
    """A row for each agent, and a column for each small game: its regret."""
    rows = stored("small-games")
    form = "{regret:.2%} [{regret_low:.2%}, {regret_high:.2%}]"
    rows["regret"] = [cell(form, row) for row in rows.to_dict("records")]
    wide = rows.pivot(index="agent", columns="rules", values="regret")
    return as_markdown(wide.loc[rows["agent"].unique()].reset_index())


@part
def bibtex() -> str:
    """How to cite the software."""
    return """```bibtex
@software{{four_seasons_env,
  author  = {{{{{authors[0][name]}}}}},
  title   = {{{title}}},
  version = {{{version}}},
  year    = {{{date-released.year}}}
}}
```
""".format_map(facts())


# --- docs/how-to, docs/recipes --------------------------------------------------------------------


@part
def sets() -> str:
    """The data sets, and the digests of their games."""
    cards = [json.loads((FOLDER / f"{name}.json").read_bytes()) for name in DATASETS]
    rows = pd.DataFrame(cards).drop(columns="players")
    rows["who"] = [", ".join(f"`{each['agent']}`" for each in card["players"]) for card in cards]
    about = ("set: `{name}`", "players: {who}", "games: {games:,}", "won %: {won:.1%}")
    what = table(rows, *about, "transitions: {transitions:,}", "deals")
    return f"{what}\n{table(rows, 'set: `{name}`', 'SHA-256 of the games: `{sha256}`')}"


@part
def prompt() -> str:
    """A message of `FourSeasonsTextEnv` as a block of text."""
    env = FourSeasonsTextEnv()
    env.reset(options={"deal": 17})
    env.step("Answer: T3>T0, T9>F")
    return f"```text\n{env.message}\n```\n"


def last_line(page: str) -> str:
    """What the script of a recipe prints last, when it was run for the table of libraries."""
    (row,) = stored("libraries").query("page == @page").to_dict("records")
    shown = ("environment", "steps", "games", "won", "cards_up", "illegal")
    return f"```text\n{json.dumps({name: row[name] for name in shown})}\n```\n"


PARTS |= {
    f"printed_{page}": functools.partial(last_line, page)
    for page in ("cleanrl", "minari", "pqn", "rllib", "sb3", "torchrl")
}


@part
def result() -> str:
    """What the recipe in one file wins."""
    rows = stored("libraries").query("page == 'cleanrl'")
    won = ("won %: {won:.1%}", "cards up: {cards_up:.1f}")
    return table(rows, "moves: {steps:,.0f}", "deals: {games}", *won)


@part
def coverage() -> str:
    """How often intervals hold the truth, and how often differences are found, by simulation."""
    shown = ("win rate %: {rate:.2%}", "seeds: {seeds:.0f}", "deals: {deals:,}")
    shown += ("spread of seeds, points: {points:g}", "agents: {agents:.0f}")
    found = (
        "coverage: {coverage:.3f}",
        "size: {size:.3f}",
        "power: {power:.2f}",
        "trials: {trials:,}",
    )
    return table(stored("coverage"), *shown, *found)


@part
def offline() -> str:
    """What is learned from recorded games wins."""
    columns = ("agent", "seeds", "won % [95%]", "vs {against} [95%]")
    tested = as_text(players("offline-test").sort_values("agent"), columns)
    validated = as_text(stored("offline-validation"), ("agent", "won % [95%]"))
    titles = "agent", "won %, deals 10000-10999 [95%]"
    both = tested.merge(validated.set_axis(titles, axis=1), on="agent", how="left")
    return as_markdown(both.fillna("-"))


@part
def values() -> str:
    """What Q-learning in one file wins."""
    columns = ("agent", "training", "won % [95%]", "vs {against} [95%]", "cards up [95%]")
    return as_markdown(as_text(stored("values"), columns))


MEASURED = {
    "players": ["four-seasons"],
    "offline": ["offline-test", "offline-validation"],
    **{name: [name] for name in ("leaderboard", "fresh", "family", "learning", "values", "seeds")},
    "untrained": ["untrained"],
}
"""The stored comparisons of each part of `make results`."""
TRAINS = ("learning", "values", "offline")
"""The parts that first train what they compare; the others play weights that come with it."""


@part
def compute() -> str:
    """Versions and core-hours of the parts of `make results`: of games, and of trainings."""
    solved, others = census(), stored("baselines")
    row = {"part": "census", "version": versions(solved), "games": len(solved)}
    rows = [row | {"play": solved["seconds"].sum() / 3600}]
    for name, files in MEASURED.items():
        played = stored(*files)
        games = played["deals"] * played["seeds"]
        row = {"part": name, "version": versions(played), "games": games.sum()}
        row["play"] = (played["ms_per_game"] * games).sum() / 3.6e6
        if name in TRAINS:
            once = played.drop_duplicates("agent")  # one training, two sets of deals
            row["training"] = (once["core_seconds"] * once["seeds"]).sum() / 3600
        rows.append(row)
    ways = others["stage"].map({"search": 1}).fillna(3)  # of playing
    row = {"part": "baselines", "version": versions(others)}
    rows.append(row | {"games": (others["deals"] * ways).sum()})
    rows[-1]["training"] = others["core_minutes"].sum() / 60
    spent = ("play, core-hours: {play:.2f}", "training, core-hours: {training:.2f}")
    about = ("part: `{part}`", "versions: {version}", "games: {games:,.0f}")
    return table(pd.DataFrame(rows), *about, *spent)


def versions(rows: pd.DataFrame) -> str:
    """The versions that measured the rows."""
    return ", ".join(sorted(set(rows["version"])))


@part
def libraries() -> str:
    """The tested libraries."""
    page = ("library: {name}", "tested: {versions}", "environment")
    rows = stored("libraries")
    names = rows["page"].map("[{0}]({0}.md)".format)
    rows["name"] = names.where(rows["page"] != "index", "[no library](#without-a-library)")
    rows["versions"] = rows["versions"].where(rows["page"] != "index", "-")
    return table(rows, *page, "steps: {steps:,.0f}", "cards up: {cards_up:.1f}")


@part
def reached() -> str:
    """Which lines the tests of short games reach, with compiled code run as Python."""
    columns = ("folder: `{folder}`", "lines: {lines:,.0f}", "reached %: {share:.1%}")
    return table(stored("reached"), *columns)


@part
def mutants() -> str:
    """How many faults the tests find."""
    rows = stored("mutants")
    found, count = int(rows["killed"].sum()), int(rows["mutants"].sum())
    interval = stats.binomtest(found, count).proportion_ci(method="wilson")
    total = {"file": "all", "mutants": count, "score": found / count}
    total |= {"score_low": interval.low, "score_high": interval.high}
    rows = pd.concat([rows.assign(file="`" + rows["file"] + "`"), pd.DataFrame([total])])
    bounds = "found % [95%]: {score:.0%} [{score_low:.0%}, {score_high:.0%}]"
    return table(rows, "file", "mutants: {mutants:.0f}", bounds)


# --- the command --------------------------------------------------------------------------------

_PART = re.compile(r"<!-- (\w+) -->\n.*?<!-- /\1 -->", re.DOTALL)


def filled(page: str) -> str:
    """A page with its marked parts written anew.

    Raises:
        ValueError: for a mark that no function has.
    """

    def written(marked: re.Match[str]) -> str:
        name = marked[1]
        if name not in PARTS:
            raise ValueError(f"no function writes the part {name!r}: {nearest(name, PARTS)}")
        return f"<!-- {name} -->\n{PARTS[name]()}\n<!-- /{name} -->"

    return _PART.sub(written, page)


def add(new: Path, path: Path) -> None:
    """Merge rows of results into stored ones, in place of those with the same keys.

    Args:
        new: the folder of a comparison, or a CSV file of a study.
        path: the CSV file of the stored rows.

    Raises:
        ValueError: if a row would replace one of more deals, or has differences from another
            baseline than `heuristic`; or for a table of a comparison, which may not be what its
            games give.
    """
    if (new.parent / MANIFEST).is_file():
        raise ValueError(f"name the comparison, {new.parent}, not {new}: its rows are computed")
    # What measured the rows, which comparisons and most studies have noted; else this clone.
    origin = measured_by()
    if new.is_dir():
        compared = read_comparison(new, census())
        # The ceiling of stored rows is that of the census as it is when a page is written.
        rows, noted = compared.summary.query("agent != @CEILING"), compared.manifest.origin
        commit = noted["git"]["commit"] if noted else None
        origin = {"version": compared.manifest.version, "commit": (commit or "")[:10]}
    else:
        rows = read_table(new)
    if "version" not in rows:
        rows = rows.assign(**origin)
    before = read_table(path) if path.is_file() else rows[:0]
    if "against" in rows and not {*rows["against"].dropna()} <= {BASELINE}:
        raise ValueError(f"{new} must be compared with {BASELINE}: repeat it without --against")
    rows = rows.drop(columns="against", errors="ignore")
    keys = [name for name in _KEYS if name in rows and name in before]
    if keys:
        both = before.merge(rows, on=keys, suffixes=("_before", ""))
        if "deals_before" in both and (both["deals_before"] > both["deals"]).any():
            raise ValueError(f"{new} has fewer deals than {path}: delete the rows there first")
        before = before[~before.set_index(keys).index.isin(rows.set_index(keys).index)]
        rows = pd.concat([before, rows], ignore_index=True)
    write_csv(path, rows)
    if new.is_dir():
        add_games(read_results(new), path.parent / "games" / f"{path.stem}.csv.gz")


def add_games(games: pd.DataFrame, path: Path) -> None:
    """Store the cards up of each game: a row for each deal, and a column for each player.

    Args:
        games: rows of `read_results`; games of the same player and deal are replaced.
        path: the compressed CSV file.
    """
    seeds = games["train_seed"].map(lambda seed: "" if pd.isna(seed) else f" seed {seed:g}")
    games = games.assign(player=games["agent"] + " " + games["play"] + seeds)
    rows = games.pivot(index=["rules", "deal"], columns="player", values="cards_up")
    if path.is_file():
        rows = rows.combine_first(pd.read_csv(path, index_col=["rules", "deal"]))
    path.parent.mkdir(exist_ok=True)
    # Without the time, equal games make equal bytes.
    write_atomically(path, gzip.compress(rows.astype("UInt8").to_csv().encode(), mtime=0))


@dataclass
class Tables:
    """Fill the marked parts of README and docs from the stored results."""

    check: bool = False
    """Write nothing; the exit status is 1 if a page is stale."""
    add: tuple[Path, Path] | None = None
    """First merge new results, a comparison or a CSV file, into a stored file."""


def main() -> None:
    """Write the parts, or name the stale pages."""
    flags = tyro.cli(Tables)
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    try:
        if flags.add:
            add(*map(expanded, flags.add))
        texts = {page: filled(page.read_text()) for page in pages}
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    stale = [page for page, text in texts.items() if page.read_text() != text]
    print("\n".join(page.relative_to(ROOT).as_posix() for page in stale) or "all are up to date")
    if flags.check and stale:
        sys.exit("stale: run python docs/tables.py")
    for page in stale:
        page.write_text(texts[page])


if __name__ == "__main__":
    main()
