"""Fill the marked parts of README and docs from the stored results.

    python docs/tables.py            # write them
    python docs/tables.py --check    # name the stale ones; exit status 1 if there are any
    python docs/tables.py --add runs/y/summary.csv docs/results/four-seasons.csv

Each part is enclosed by `<!-- name -->` and `<!-- /name -->`. `--add` first merges a new file of
results into a stored one: its rows replace those of the same agents, deals or measurements, and
name the version and the commit that they come from.
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from four_seasons_env import Game, __version__
from four_seasons_env.experiments.comparison import ceiling_row, read_census
from four_seasons_env.experiments.folders import provenance, read_table, write_csv
from four_seasons_env.experiments.summary import BASELINE, CEILING
from four_seasons_env.experiments.tables import as_markdown, bounds_as_text, cell, win_rates
from four_seasons_env.files import expanded, file_name
from four_seasons_env.registration import ENVS
from four_seasons_env.rules import RULES
from four_seasons_env.rules_in_words import sentences
from four_seasons_env.text import FourSeasonsTextEnv

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs" / "results"
DEFAULT = "four-seasons"
_KEYS = ("rules", "agent", "play", "deal", "page", "what", "games", "threads", "observation")
"""Columns that identify a row of results."""
_INTERVALS = {
    "gain": "{win_difference:+.2%} [{win_difference_low:+.2%}, {win_difference_high:+.2%}]",
    "up": "{cards_up:.1f} [{cards_low:.1f}, {cards_high:.1f}]",
}
"""Texts that are added to the rows of players."""


# --- Cells: a title and a format for each column, written as a row of the table. ---


def table(rows: pd.DataFrame, titles: str, forms: str) -> str:
    """A Markdown table of rows, from the titles and the formats of its columns."""
    records = rows.to_dict("records")
    columns = zip(titles.split(" | "), forms.split(" | "), strict=True)
    return as_markdown(
        pd.DataFrame({title: [cell(form, row) for row in records] for title, form in columns})
    )


# --- Rows: what is stored, and what follows from it. ---


def stored(*names: str) -> pd.DataFrame:
    """The rows of stored results, one file after the other."""
    paths = [RESULTS / f"{name}.csv" for name in names]
    return pd.concat([read_table(path) for path in paths], ignore_index=True)


@functools.cache
def census() -> pd.DataFrame:
    """The solver's answers: one row per deal."""
    return read_census()


def players(*names: str, ranked: bool = False) -> pd.DataFrame:
    """Stored results of agents with their ceiling: what the census knows of the same deals now."""
    rows, answers = stored(*names).query("agent != @CEILING"), census()
    parts = []
    for rules, own in rows.groupby("rules", sort=False):
        deals = answers[(answers["rules"] == rules) & (answers["deal"] < own["deals"].max())]
        both = pd.concat([own, pd.DataFrame([ceiling_row(str(rules), deals)])], ignore_index=True)
        parts.append(both.sort_values("win_rate", ascending=False) if ranked else both)
    found = pd.concat(parts, ignore_index=True)
    records = found.to_dict("records")
    texts = {name: [cell(form, row) for row in records] for name, form in _INTERVALS.items()}
    return found.assign(won=win_rates(found), **texts)


def only(rows: pd.DataFrame, names: dict[str, str]) -> pd.DataFrame:
    """The rows of some agents, in this order, each from its most deals; with a word on each."""
    most = rows.sort_values(["deals", "play"], ascending=[False, True], kind="stable")
    found = most.drop_duplicates("agent").set_index("agent", drop=False).loc[list(names)]
    return found.assign(about=list(names.values()))


@functools.cache
def odds() -> pd.DataFrame:
    """A row for each rule set: what simple players, the best agent so far and open cards win."""
    played = stored("family", "four-seasons", "price").query("agent != @CEILING")
    played = played.assign(won=win_rates(played))
    solved, found = dict(list(census().groupby("rules"))), []
    for name in RULES:
        own = played[played["rules"] == name].sort_values("deals", ascending=False, kind="stable")
        own = own.drop_duplicates(["agent", "play"]).set_index("agent", drop=False)
        best = own.drop("random").sort_values("win_rate", kind="stable").iloc[-1]
        simple = own.loc[["random", "heuristic"]]
        bounds = ceiling_row(name, solved[name])
        (deals,) = {*simple["deals"], bounds["deals"]}
        fewer = "" if best["deals"] == deals else f" ({best['deals']:,} deals)"
        row = {"rules": name, "anchor": name.replace("/", ""), "deals": deals}
        row |= simple["won"].to_dict() | {"best": best["agent"], "fair": best["won"] + fewer}
        found.append(row | {"open": bounds_as_text(bounds["win_low"], bounds["win_high"])})
    return pd.DataFrame(found)


def decided_within(results: pd.DataFrame, limits: Sequence[float] = (0.1, 1, 10)) -> pd.DataFrame:
    """The number of deals decided within a time limit each, as cells of text."""
    decided = results[results["status"] != "unknown"]
    rows = []
    for limit in limits:
        counts = decided["status"][decided["seconds"] <= limit].value_counts()
        won, lost = int(counts.get("won", 0)), int(counts.get("lost", 0))
        rows.append(
            {
                "seconds each": f"{limit:g}",
                "won": f"{won:,}",
                "lost": f"{lost:,}",
                "decided %": f"{100 * (won + lost) / len(results):.2f}",
            }
        )
    return pd.DataFrame(rows)


def optima() -> pd.DataFrame:
    """A row for each small game."""
    games = json.loads((ROOT / "four_seasons_env/data/small_games.json").read_text())["games"]
    return pd.DataFrame({"rules": name} | about for name, about in games.items())


def regrets() -> pd.DataFrame:
    """A row for each agent, and a column for each small game: its regret."""
    rows = stored("small-games")
    form = "{regret:.2%} [{regret_low:.2%}, {regret_high:.2%}]"
    rows["regret"] = [cell(form, row) for row in rows.to_dict("records")]
    wide = rows.pivot(index="agent", columns="rules", values="regret")
    return wide.loc[rows["agent"].unique()].reset_index()


def rates() -> pd.DataFrame:
    """Moves per second with one thread and with two; of vector environments without copies."""
    rows = stored("bench")
    is_vector = rows["what"].str.startswith("vector environment")
    shown = rows["games"].isin([1024, 16384]) & rows["what"].ne("vector environment")
    rows = rows[~is_vector | shown]
    columns = ["what", "observation", "games"]
    wide = rows.pivot(index=columns, columns="threads", values="moves_per_second")
    wide = wide.reindex(rows[columns].drop_duplicates().itertuples(index=False, name=None))
    two = wide[2].map("{:,.0f}".format).where(wide[2].notna(), "")
    return wide.assign(one=wide[1], two=two).reset_index()


def costs() -> pd.DataFrame:
    """Costs measured once, and comparisons with other libraries."""
    rows = stored("costs")
    return rows.assign(shown=[f"{x:,.0f}" if x >= 100 else f"{x:.2g}" for x in rows["value"]])


def baselines() -> pd.DataFrame:
    """A row for each algorithm and mask: means over seeds, moves in millions; the best first."""
    rows = stored("baselines").groupby(["algorithm", "mask"]).mean(numeric_only=True).reset_index()
    rows["moves"] /= 1e6
    return rows.sort_values(["masked_won", "masked_cards_up"], ascending=False)


def calibrated() -> pd.DataFrame:
    """A row for each group of moves: the mean chance shown, and the share of games won.

    Column error: the typical error of a chance of 20% to 80%, without the noise of its games.
    """
    rows = stored("calibration")
    rows["rate"] = rows["won"] / rows["games"]
    rows["noise"] = rows["rate"] * (1 - rows["rate"]) / (rows["games"] - 1)
    rows["error"] = (rows["chance"] - rows["rate"]) ** 2 - rows["noise"]
    rows["error"] = rows["error"].where(rows["chance"].between(0.2, 0.8))
    groups = {
        "the planner's moves": rows["chosen"],
        **{
            f"the same, in games of `{player}`": rows["chosen"] & (rows["player"] == player)
            for player in ("planner", "heuristic", "greedy", "random")
        },
        "other moves": ~rows["chosen"],
        "dealing at once, another move": ~rows["chosen"] & (rows["move"] == "deal"),
        "chances of 70% to 90%": rows["chance"].between(0.7, 0.9),
    }
    columns = ["chance", "rate", "error"]
    means = pd.DataFrame({name: rows[among][columns].mean() for name, among in groups.items()}).T
    means["error"] **= 0.5
    counts = [int(among.sum()) for among in groups.values()]
    return means.rename_axis("what").reset_index().assign(moves=counts)


def weights() -> pd.DataFrame:
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
        script = [Path(word).name for word in run.get("command", "").split() if ".py" in word]
        row["program"] = f"`{script[0]}`, {run['device']}" if script else "`train`, one core"
        row["amount"] += f" by {row['program']}" if script else ""
        rows.append(row | {"tried": run["validation"]["won"]})
    return pd.DataFrame(rows)


def model_card(path: Path) -> str:
    """The page beside bundled weights, from their `model.json`."""
    card = json.loads(path.read_text())
    agent, folder = path.parts[-3:-1]
    facts = {"layers": card["layers"], "observation": card["observation"], "mask": card["mask"]}
    facts |= {name: value for name, value in card["training"].items() if value is not None}
    facts["validation"] = ", ".join(f"{key}: {each}" for key, each in facts["validation"].items())
    lines = [f"| {name} | {value} |" for name, value in facts.items()]
    return (
        f"# {agent}, {folder}\n\n"
        f"Weights of the agent `{agent}` for the rule set that the folder is named after; they "
        "play no other. [Agents](../../../../docs/reference/agents.md) describes the method, and "
        "[results](../../../../docs/reference/benchmark.md) what the agent wins. It sees only "
        "public information. Loading runs no code. Licence: MIT.\n\n"
        "| | |\n| --- | --- |\n" + "\n".join(lines) + "\n"
    )


def prompt() -> str:
    """A message of `FourSeasonsTextEnv` as a block of text."""
    env = FourSeasonsTextEnv()
    env.reset(options={"deal": 17})
    env.step("Answer: T3>T0, T9>F")
    return f"```text\n{env.message}\n```\n"


def rule_sets() -> str:
    """What fields change, then for each rule set its id, opening, changed fields and source."""
    ids = {name: f'"{env_id}"' for env_id, name in ENVS.items()}
    default, sections = RULES[DEFAULT], []
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
        sections.append("\n\n".join(filter(None, parts)))
    rows = [f"| {value} | {meanings[value]} |" for value in sorted(meanings)]
    fields = "\n".join(["| field | meaning |", "| --- | --- |", *rows])
    return "\n\n".join([fields, *sections]) + "\n"


# --- The parts: page, name of the marks, rows, titles, formats. ---

BUNDLED = "; {program}, {minutes:.0f} minutes"
LADDER = {
    CEILING: "a player who sees every card",
    "planner@lookahead=3,worlds=32,candidates=8": "the best agent so far: the planner, slower",
    "planner": "a search with a network trained on its own games",
    "next_deal_ppo": f"a network that chooses positions{BUNDLED}",
    "maskable_ppo": f"a network that chooses moves{BUNDLED}",
    "maskable_ppo-10": "the same; `train`, 10 core-minutes",
    "heuristic": "the advice of good players",
    "random": "any legal move",
}
"""The players of README, and what each is; with the program that made the bundled weights."""
GAP = """The benchmark is the gap between three players: one who sees every card wins almost every \
deal, the best agent so far wins {best:.0%}, and the advice of good players wins {heuristic:.0%}. \
The textbook (Morehead and Mott-Smith) says one game in 10.
"""
QUOTE = """> The textbook says one game in 10. A beginner's list of moves wins {greedy:.0%} of \
games. The advice of good players wins {heuristic:.0%}. The best agent so far, which sees only \
public information, wins {best:.0%}. A player who sees every card could win at least {ceiling:.0%}.
"""
LENGTH = """A game takes {moves:.0f} moves (mean of `maskable_ppo`), or at most {decisions} \
choices of a position before the next card.
"""
SPEED = """With the defaults, one core plays {single:,.0f} moves a second in a single environment, \
{batch:.1f} million in a batch of 1,024 games, and takes {choices:,.0f} such choices.
"""
BIBTEX = """```bibtex
@software{{four_seasons_env,
  author  = {{{{{authors[0][name]}}}}},
  title   = {{{title}}},
  version = {{{version}}},
  year    = {{{date-released.year}}}
}}
```
"""


def summit() -> pd.DataFrame:
    """The players of README, with win rates of one decimal, each of its most deals."""
    rows, cards = only(players("four-seasons", "price", "learning"), LADDER), weights()
    cards = cards.assign(agent=cards["name"].str.removesuffix(f"/{DEFAULT}")).set_index("agent")
    for name in cards.index.intersection(rows.index):
        rows.loc[name, "about"] = rows.loc[name, "about"].format_map(cards.loc[name])
    low, high = (100 * rows.loc[CEILING, name] for name in ("win_low", "win_high"))
    rows["shown"] = rows["win_rate"].map("{:.1%}".format).str.rstrip("%")
    fewer = rows["deals"] < rows["deals"].max()
    rows["shown"] += rows["deals"].map(" ({:,} deals)".format).where(fewer, "")
    rows.loc[CEILING, "shown"] = f"{low:.1f} to {high:.1f}"
    return rows


@functools.cache
def facts() -> dict[str, Any]:
    """What sentences state: win rates, length of a game, speed of the defaults, CITATION.cff."""
    rows = players("four-seasons", "price")
    rows = only(rows, dict.fromkeys(rows["agent"], ""))
    best = rows["win_rate"].drop(CEILING).max()
    found = rows["win_rate"].to_dict() | {"best": best, "decisions": Game(deal=0).stock_size}
    found["moves"] = rows.loc["maskable_ppo", "moves"]
    bench = stored("bench").query("threads == 1").set_index(["what", "games", "observation"])
    rates = bench["per_cpu_second"]
    found["single"] = rates["single environment", 1, "tops"]
    found["batch"] = rates["vector environment", 1024, "tops"] / 1e6
    found["choices"] = rates["next-deal environment, decisions", 1024, "features"]
    return found | yaml.safe_load((ROOT / "CITATION.cff").read_text())


# fmt: off
TABLES: list[tuple[str, str, Callable[[], pd.DataFrame], str, str]] = [
    ("README.md", "results", summit, "agent | what it is | won %", "{agent} | {about} | {shown}"),
    ("docs/reference/benchmark.md", "results", lambda: players("four-seasons", ranked=True),
     "agent | method | play | seeds | won % [95%] | vs heuristic [95%] | CPU ms/game",
     "{agent} | {kind} | {play} | {seeds:.0f} | {won} | {gain} | {ms_per_game:.2f}"),
    ("docs/reference/benchmark.md", "baselines", baselines,
     "algorithm | mask in training | M moves | won % | cards up | illegal % | with masks, won %",
     "{algorithm} | {mask} | {moves:.1f} | {won:.1%} | {cards_up:.1f} | {illegal:.1%} "
     "| {masked_won:.1%}"),
    ("docs/reference/benchmark.md", "rates", rates,
     "what | observation | games | moves/s, 1 thread (default) | 2 threads",
     "{what} | {observation} | {games:,} | {one:,.0f} | {two}"),
    ("docs/reference/benchmark.md", "costs", costs,
     "what | value",
     "{what} | {shown} {unit}"),
    ("docs/reference/agents.md", "weights", weights,
     "weights | trained on | started from | minutes | seed | validation deals won %",
     "[{name}](../../{path}) | {amount} | {teacher} | {minutes:.0f} | {seed} | {tried:.1%}"),
    ("docs/reference/agents.md", "seeds", lambda: stored("seeds"),
     "agent | seeds | won % [95%] | cards up [95%]",
     "{agent} | {seeds:.0f} | {win_rate:.2%} [{win_low:.2%}, {win_high:.2%}] "
     "| {cards_up:.1f} [{cards_low:.1f}, {cards_high:.1f}]"),
    ("docs/reference/rules.md", "odds", odds,
     "rules | deals | `random` wins % | `heuristic` wins % | best agent so far wins % "
     "| can be won %",
     "[{rules}](#{anchor}) | {deals:,} | {random} | {heuristic} | `{best}` {fair} | {open}"),
    ("docs/reference/data.md", "optima", optima,
     "rules | openings | optimum % | seconds for an opening",
     "{rules} | {openings:,} | {optimum:.3%} | {seconds:.1f}"),
    ("docs/explanation/answer.md", "price", lambda: players("price", ranked=True),
     "agent | won % [95%]", "{agent} | {won}"),
    ("docs/explanation/learning.md", "study",
     lambda: players("learning", ranked=True),
     "agent | seeds | won % [95%] | vs heuristic [95%] | cards up [95%]",
     "{agent} | {seeds:.0f} | {won} | {gain} | {up}"),
    ("docs/explanation/learning.md", "ideas", lambda: stored("ideas"),
     "agent | core-minutes | change | measure | with it | without it",
     "{agent} | {minutes} | {change} | {measure} | {changed:g} | {before:g}"),
    ("docs/explanation/planner.md", "calibrated", calibrated,
     "moves | number | chance shown, mean % | games won % | off by, points",
     "{what} | {moves} | {chance:.1%} | {rate:.1%} | {error:.0%}"),
    ("docs/explanation/luck.md", "peeking",
     lambda: stored("peeking"),
     "sees | games | won % | luck z | luck p | measured with version",
     "{what} | {games:,} | {won:.1%} | {luck_z:+.2f} | {luck_p:.2g} | {version}"),
    ("docs/reference/leaderboard.md", "leaderboard", lambda: players("leaderboard", ranked=True),
     "agent | method | play | won % [95%] | luck-adjusted [95%] | z (p) | CPU ms/game",
     "{agent} | {kind} | {play} | {won} | {adjusted:.2%} [{adjusted_low:.2%}, {adjusted_high:.2%}] "
     "| {luck_z:+.2f} ({luck_p:.2g}) | {ms_per_game:.2f}"),
    ("docs/recipes/cleanrl.md", "result", lambda: stored("libraries").query("page == 'cleanrl'"),
     "moves | deals | won % | cards up", "{steps:,.0f} | {games} | {won:.1%} | {cards_up:.1f}"),
    ("docs/recipes/index.md", "libraries", lambda: stored("libraries"),
     "library | tested | environment | steps | cards up",
     "[{page}]({page}.md) | {versions} | {environment} | {steps:,.0f} "
     "| {cards_up:.1f}"),
]
# fmt: on
"""Tables with a row for each row of results: page, marks, rows, titles, formats."""


OTHERS: dict[tuple[str, str], Callable[[], str]] = {
    ("README.md", "gap"): lambda: GAP.format_map(facts()),
    ("README.md", "speed"): lambda: (LENGTH[:-1] + " " + SPEED).format_map(facts()),
    ("docs/explanation/answer.md", "quote"): lambda: QUOTE.format_map(facts()),
    ("docs/explanation/learning.md", "length"): lambda: LENGTH.format_map(facts()),
    ("docs/reference/protocol.md", "bibtex"): lambda: BIBTEX.format_map(facts()),
    ("docs/reference/rules.md", "sections"): rule_sets,
    ("docs/reference/data.md", "regret"): lambda: as_markdown(regrets()),
    ("docs/explanation/solver.md", "decided"): lambda: as_markdown(
        decided_within(census().query("rules == @DEFAULT"))
    ),
    ("docs/how-to/language-models.md", "prompt"): prompt,
}
"""Parts of another form: page, marks, text."""


def parts() -> dict[tuple[str, str], str]:
    """The text of every part, by page and marks."""
    tables = {(page, mark): table(rows(), *cells) for page, mark, rows, *cells in TABLES}
    return tables | {where: text() for where, text in OTHERS.items()}


def with_part(page: str, name: str, part: str) -> str:
    """A text with the part between the marks of a name replaced.

    Raises:
        ValueError: if the marks are missing.
    """
    start, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    before, _, rest = page.partition(start)
    _, found, after = rest.partition(end)
    if not found:
        raise ValueError(f"the marks {start.strip()} and {end} are missing")
    return f"{before}{start}{part}\n{end}{after}"


def add(new: Path, path: Path) -> None:
    """Merge rows of results into stored ones, in place of those with the same keys.

    Raises:
        ValueError: if a row would replace one of more deals, or has differences from another
            baseline than `heuristic`.
    """
    rows = read_table(new).assign(version=__version__, commit=provenance()["git"]["commit"][:10])
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


def main() -> None:
    """Write the parts, or name the stale ones."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if any is stale")
    parser.add_argument("--add", nargs=2, type=expanded, metavar=("NEW", "STORED"))
    flags = parser.parse_args()
    if flags.add:
        add(*flags.add)
    stale = []
    for (page, name), part in parts().items():
        before = (ROOT / page).read_text()
        after = with_part(before, name, part)
        if after != before:
            stale.append(f"{page}: {name}")
            if not flags.check:
                (ROOT / page).write_text(after)
    for path in (ROOT / "agents" / "weights").glob("*/*/model.json"):
        page, text = path.with_name("README.md"), model_card(path)
        if not page.is_file() or page.read_text() != text:
            stale.append(page.relative_to(ROOT).as_posix())
            if not flags.check:
                page.write_text(text)
    print("\n".join(stale) or "all tables are up to date")
    if flags.check and stale:
        sys.exit("stale: run python docs/tables.py")


if __name__ == "__main__":
    main()
