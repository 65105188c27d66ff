"""Write the results of experiments into README and docs.

    pages --results runs/y        # agents on one rule set -> README
                                                        # and docs/benchmark.md
    pages --family runs/z         # agents on all rule sets -> docs/family.md,
                                                        # docs/rules
    pages --recipes runs/r/*      # other rule sets -> docs/agents.md
    pages --searches runs/f       # players without weights -> docs/family.md
    pages --speed runs/speed      # throughput -> docs/benchmark.md
    pages --census runs/c         # experiments.census -> docs/solver.md
    pages --ladder runs/l         # experiments.ladder -> docs/agents.md
    pages --thrown-away runs/review
                                                        # experiments.review -> docs/play.md
    pages --disagreements runs/d  # of that name -> docs/agents.md
    pages --endings runs/e        # experiments.endings -> docs/solver.md
    pages --losses runs/l         # experiments.losses -> docs/solver.md
    pages --optimum runs/o        # experiments.optimum ->
                                                        # docs/small-games.md, and the package
    pages --learning runs/l/compare --curves runs/l/next_deal
                                                        # the study -> docs/learning.md

Folders without a note are of `four-seasons compare`, `--curves` of `four-seasons sweep`. What the
pages show of them is stored in docs/results; without a folder the pages are written from there. No
figure on them is typed by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from four_seasons_env.agents.files import write_atomically
from four_seasons_env.engine.cards import RANKS
from four_seasons_env.experiments.bench import cpu_name
from four_seasons_env.experiments.command_line import ROOT, require_clone, run_command
from four_seasons_env.experiments.disagreements import disagreements_as_text
from four_seasons_env.experiments.endings import endings_as_text
from four_seasons_env.experiments.evaluation.ceiling import (
    CEILING,
    CENSUS,
    read_census,
    with_present_ceiling,
)
from four_seasons_env.experiments.evaluation.thrown_away import thrown_away
from four_seasons_env.experiments.losses import PICTURES
from four_seasons_env.experiments.losses import TABLE as LOSSES
from four_seasons_env.experiments.reporting.answer_page import answer_page, answers
from four_seasons_env.experiments.reporting.architecture_page import record_part
from four_seasons_env.experiments.reporting.benchmark_page import (
    headline_part,
    results_part,
    speed_part,
    with_ratios,
)
from four_seasons_env.experiments.reporting.family_page import family_page
from four_seasons_env.experiments.reporting.learning_page import (
    PAGE,
    learning_parts,
    store_learning,
)
from four_seasons_env.experiments.reporting.losses_page import losses_part
from four_seasons_env.experiments.reporting.odds import kept_results
from four_seasons_env.experiments.reporting.plots.comparison import (
    plot_speed_strength,
    plot_win_rates,
)
from four_seasons_env.experiments.reporting.plots.odds import plot_alive, plot_answer, plot_census
from four_seasons_env.experiments.reporting.plots.throughput import plot_throughput
from four_seasons_env.experiments.reporting.rules_page import rules_page
from four_seasons_env.experiments.reporting.small_games_page import (
    small_games_part,
    store_small_games,
)
from four_seasons_env.experiments.reporting.spaces_page import spaces_parts
from four_seasons_env.experiments.reporting.tables import (
    as_markdown,
    beside_stored,
    read_table,
    write_csv,
)
from four_seasons_env.experiments.reporting.weights_table import weights_table
from four_seasons_env.experiments.statistics.census import (
    census_as_text,
    decided_within,
    hardest,
    summarise_census,
)
from four_seasons_env.experiments.statistics.summary import as_text
from four_seasons_env.rules import RULES, Rules, file_name

README = ROOT / "README.md"
FAMILY = ROOT / "docs" / "family.md"
RULES_PAGES = ROOT / "docs" / "rules"
RESULTS = ROOT / "docs" / "results"
CERTIFICATES = RESULTS / "certificates.csv"
SOLVER = ROOT / "docs" / "solver.md"
DRAWN = ROOT / "docs" / "pictures"
AGENTS = ROOT / "docs" / "agents.md"
ARCHITECTURE = ROOT / "docs" / "architecture.md"
BENCHMARK = ROOT / "docs" / "benchmark.md"
SPACES = ROOT / "docs" / "spaces.md"
PLAY = ROOT / "docs" / "play.md"
SMALL_GAMES = ROOT / "docs" / "small-games.md"
ANSWER = ROOT / "docs" / "answer.md"

_DEFAULT = "four-seasons"


@dataclass
class Pages:
    """Write results into README and docs."""

    results: Path | None = None
    """Folder of a comparison of agents on the test deals of `four-seasons`."""
    family: Path | None = None
    """Folder of a comparison of agents on the test deals of all rule sets, or of some."""
    speed: Path | None = None
    """Folder of `four-seasons bench`."""
    census: Path | None = None
    """Folder of a census of test deals, of one rule set or of more."""
    ladder: Path | None = None
    """Folder of `four_seasons_env.experiments.ladder` on test deals."""
    disagreements: Path | None = None
    """Folder of `four_seasons_env.experiments.disagreements`."""
    endings: list[Path] = field(default_factory=list)
    """Folders of `four_seasons_env.experiments.endings`; of each number of hidden cards the most
    decisions count."""
    losses: Path | None = None
    """Folder of `four_seasons_env.experiments.losses`."""
    optimum: Path | None = None
    """Folder of `four-seasons optimum` on all small games."""
    thrown_away: Path | None = None
    """Folder of `four-seasons review --deals`."""
    recipes: list[Path] = field(default_factory=list)
    """Folders of comparisons of heuristic and planner on other rule sets."""
    searches: list[Path] = field(default_factory=list)
    """Folders of comparisons of players that need no weights, on rule sets without."""
    learning: list[Path] = field(default_factory=list)
    """Folders of comparisons of the policies of the learning study, on test deals."""
    curves: list[Path] = field(default_factory=list)
    """Folders of the sweeps of that study."""


def with_part(page: str, name: str, part: str) -> str:
    """A text with the part between the marks of a name replaced.

    Raises:
        ValueError: if the marks are missing.
    """
    start, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    before, found, rest = page.partition(start)
    _, found_too, after = rest.partition(end)
    if not (found and found_too):
        raise ValueError(f"the page lacks the marks {start.strip()} and {end}")
    return before + start + part + end + after


def up_to_date(readme: str) -> str:
    """The README's text with the stored results."""
    return with_part(readme, "results", headline_part(_summary()))


def _summary() -> pd.DataFrame:
    """The kept results on the default rule set, with the ceiling as it is known now."""
    return with_present_ceiling(read_table(RESULTS / "four-seasons.csv"), read_census(CENSUS))


def with_benchmark(page: str) -> str:
    """The text of docs/benchmark.md with the stored results."""
    names = ("throughput", "costs", "ratios")
    rates, costs, ratios = (read_table(RESULTS / f"{name}.csv") for name in names)
    page = with_part(page, "results", results_part(_summary()))
    return with_part(page, "speed", speed_part(rates, costs, ratios))


def with_census(page: str, results: pd.DataFrame) -> str:
    """The text of docs/solver.md with the figures of a census between its marks."""
    results = results.assign(rules=pd.Categorical(results["rules"], list(RULES)))
    by_rules = summarise_census(results.sort_values(["rules", "deal"]))
    default = results[results["rules"] == _DEFAULT]
    part = "Test deals, each solved for itself on one core.\n\n"
    part += as_markdown(census_as_text(by_rules)) + "\n"
    if CERTIFICATES.is_file():
        part += _certified_part(read_table(CERTIFICATES)) + "\n\n"
    if len(default):
        bases = default.assign(base=pd.Categorical(default["base"], list(RANKS)))
        part += f"`{_DEFAULT}` by the rank of the base card:\n\n"
        part += as_markdown(census_as_text(summarise_census(bases.sort_values("base"), "base")))
        part += f"\nDeals of `{_DEFAULT}` that are decided in so many seconds each:\n\n"
        part += as_markdown(decided_within(default))
        part += f"\nThe hardest deals of `{_DEFAULT}`:\n\n{as_markdown(hardest(default))}\n"
        part += "![time and moves](results/census.png)\n\n"
    return with_part(page, "results", part)


def _certified_part(certificates: pd.DataFrame) -> str:
    """How many losses have a proof that has been checked, by rule set."""
    counts = certificates.groupby("rules")["certified"].agg(["sum", "count"])
    shares = [f"`{rules}` {row['sum']} of {row['count']}" for rules, row in counts.iterrows()]
    return f"Losses that are certified (see below): {', '.join(shares)}."


def with_endings(page: str) -> str:
    """The text of docs/solver.md with the stored values of endings."""
    return with_part(page, "endings", _told("endings.csv", endings_as_text))


def with_losses(page: str) -> str:
    """The text of docs/solver.md with the reasons of losses."""
    table = read_table(RESULTS / LOSSES)
    return with_part(page, "losses", losses_part(table, sorted(DRAWN.glob(PICTURES))))


def store_losses(folder: Path) -> None:
    """Copy table and pictures into docs."""
    write_csv(RESULTS / LOSSES, read_table(folder / LOSSES))
    for path in DRAWN.glob(PICTURES):
        path.unlink()
    for path in folder.glob(PICTURES):
        write_atomically(DRAWN / path.name, path.read_bytes())


def _told(name: str, as_cells: Callable[[pd.DataFrame], pd.DataFrame]) -> str:
    """A stored table of an agent's decisions, with a word on weights that it no longer has."""
    table = read_table(RESULTS / name)
    return as_markdown(as_cells(table)) + "\n"


def with_agents(page: str) -> str:
    """The text of docs/agents.md with the stored results."""
    ladder = read_table(RESULTS / "ladder.csv")
    part = (
        f"Test deals 0 to {int(ladder['deals'].max()) - 1:,}, one core, by "
        "`python -m four_seasons_env.experiments.ladder`. `ms/game` is the agent's own time for a "
        "game.\n\n"
        f"{as_markdown(as_text(ladder))}\n![games won against time a move](results/ladder.png)\n\n"
    )
    page = with_part(page, "ladder", part)
    recipes = read_table(RESULTS / "recipes.csv")
    page = with_part(page, "recipes", as_markdown(as_text(recipes)) + "\n")
    page = with_part(page, "steps", _steps_part(read_table(RESULTS / "steps.csv")))
    weights = weights_table(pd.concat([ladder, recipes]))
    page = with_part(page, "weights", as_markdown(weights) + "\n")
    return with_part(page, "habits", _told("habits.csv", disagreements_as_text))


def _steps_part(steps: pd.DataFrame) -> str:
    """What was tried to make the planner stronger, with its gain in points and standard error."""
    gains = [
        f"{gain:+.1f} ({error:.1f})"
        for gain, error in zip(steps["gain"], steps["error"], strict=True)
    ]
    return as_markdown(steps[["step", "measured on"]].assign(**{"gain, points": gains})) + "\n"


def read_summary(folder: Path) -> pd.DataFrame:
    """The summary of a comparison."""
    return read_table(folder / "summary.csv")


def with_rows(stored: Path, new: pd.DataFrame) -> pd.DataFrame:
    """Stored results in which new ones replace those of the same agents; the ceiling comes last.

    Stored rows of other agents stay if they are of the same number of deals.

    Raises:
        ValueError: if the new results are of fewer deals than the stored ones.
    """
    if not stored.is_file():
        return new
    key = ["rules", "agent", "play"]
    before = read_table(stored)
    if new["deals"].max() < before["deals"].max():
        raise ValueError(
            f"{stored} has results of {before['deals'].max():,} deals, and the new ones are of "
            f"{new['deals'].max():,}: play the same, or remove the file to start anew"
        )
    before = before[before["deals"] == new["deals"].max()]
    again = pd.MultiIndex.from_frame(before[key]).isin(pd.MultiIndex.from_frame(new[key]))
    both = pd.concat([before[~again], new], ignore_index=True)
    is_ceiling = both["agent"] == CEILING
    ordered: pd.DataFrame = pd.concat([both[~is_ceiling], both[is_ceiling]], ignore_index=True)
    return ordered


def store_census(folder: Path) -> None:
    """Copy the results of a census into docs/results, a file a rule set."""
    results = read_table(folder / "results.csv")
    for rules in map(str, results["rules"].unique()):
        solved = results[results["rules"] == rules]
        write_csv(CENSUS / f"{file_name(rules)}.csv", solved)
        if rules == _DEFAULT:
            title = f"{rules}, {len(solved):,} test deals"
            plot_census(solved, title, RESULTS / "census.png")
    if (folder / "certificates.csv").is_file():
        new = read_table(folder / "certificates.csv")
        write_csv(CERTIFICATES, beside_stored(new, CERTIFICATES))


def rules_pages() -> dict[Path, str]:
    """The text of each rule set's page, with the stored odds of all kinds of players."""
    played, solved = kept_results(), read_census(CENSUS)

    def path(rules: Rules) -> Path:
        return RULES_PAGES / f"{file_name(rules.name)}.md"

    return {path(rules): rules_page(rules, played, solved) for rules in RULES.values()}


def with_small_games(page: str) -> str:
    """The text of docs/small-games.md with the stored values."""
    return with_part(page, "small-games", small_games_part())


def with_thrown_away(page: str) -> str:
    """The text of docs/play.md as the kept results have it."""
    results = read_table(RESULTS / "thrown_away.csv")
    told = (
        f"Validation deals {results['deal'].min():,} to {results['deal'].max():,}, "
        "in percent of those known to be winnable: not yet thrown away, at least and at most.\n\n"
        f"{as_markdown(thrown_away(results))}\n"
        "![winnable deals not yet thrown away](results/thrown_away.png)\n\n"
    )
    return with_part(page, "thrown-away", told)


def answer() -> str:
    """The text of docs/answer.md as the kept results have it."""
    return answer_page(_answered(), read_table(RESULTS / "thrown_away.csv"))


def _answered() -> pd.DataFrame:
    """The kept results of players, with the ceiling as it is known now."""
    played = kept_results()
    return pd.concat([played[played["agent"] != CEILING], _summary()], ignore_index=True)


def write_pages(run: Pages) -> None:
    """Copy new results, if any, into docs/results, and write README and pages.

    Raises:
        RuntimeError: in an installed wheel.
    """
    require_clone()
    if run.results:
        summary = with_rows(RESULTS / "four-seasons.csv", read_summary(run.results))
        write_csv(RESULTS / "four-seasons.csv", summary)
    if run.family:
        path, new = RESULTS / "family.csv", read_summary(run.family)
        players = new[new["agent"] != CEILING]  # the ceiling has tables of its own
        write_csv(path, beside_stored(players, path))
    if run.speed:
        rates = read_table(run.speed / "throughput.csv")
        write_csv(RESULTS / "throughput.csv", rates)
        costs = read_table(run.speed / "costs.csv")
        write_csv(RESULTS / "costs.csv", costs)
        stored = read_table(RESULTS / "ratios.csv")
        write_csv(RESULTS / "ratios.csv", with_ratios(stored, costs, cpu_name()))
        plot_throughput(rates, RESULTS / "throughput.png")
    if run.census:
        store_census(run.census)
    if run.results or run.census:
        now = _summary()
        title = f"Four Seasons, {int(now['deals'].max()):,} test deals"
        plot_win_rates(now, title, RESULTS / "win_rates.png")
    if run.ladder:
        ladder = with_rows(RESULTS / "ladder.csv", read_summary(run.ladder))
        write_csv(RESULTS / "ladder.csv", ladder)
        title = f"Four Seasons, {int(ladder['deals'].max()):,} test deals"
        plot_speed_strength(ladder, title, RESULTS / "ladder.png")
    if run.recipes:
        found = pd.concat([read_summary(folder) for folder in run.recipes])
        path = RESULTS / "recipes.csv"
        write_csv(path, beside_stored(found, path))
    if run.searches:
        found = pd.concat([read_summary(folder) for folder in run.searches])
        write_csv(RESULTS / "searches.csv", found[found["agent"] != CEILING])
    if run.learning or run.curves:
        store_learning(run.learning, run.curves)
    if run.disagreements:
        write_csv(RESULTS / "habits.csv", read_table(run.disagreements / "summary.csv"))
    if run.endings:
        found = pd.concat([read_table(folder / "summary.csv") for folder in run.endings])
        most = found.sort_values("decisions").drop_duplicates("hidden", keep="last")
        write_csv(RESULTS / "endings.csv", most.sort_values("hidden"))
    if run.losses:
        store_losses(run.losses)
    if run.optimum:
        store_small_games(run.optimum)
    if run.thrown_away:
        results = read_table(run.thrown_away / "results.csv")
        write_csv(RESULTS / "thrown_away.csv", results)
        plot_alive(results, "Four Seasons, validation deals", RESULTS / "thrown_away.png")
    if (RESULTS / "learning.csv").is_file():
        page = PAGE.read_text()
        for name, part in learning_parts().items():
            page = with_part(page, name, part)
        write_atomically(PAGE, page.encode())
    write_atomically(SMALL_GAMES, with_small_games(SMALL_GAMES.read_text()).encode())
    plot_answer(answers(_answered()), RESULTS / "answer.png")
    write_atomically(ANSWER, answer().encode())
    write_atomically(PLAY, with_thrown_away(PLAY.read_text()).encode())
    write_atomically(AGENTS, with_agents(AGENTS.read_text()).encode())
    solved = read_census(CENSUS)
    if solved is not None:
        write_atomically(SOLVER, with_census(SOLVER.read_text(), solved).encode())
    write_atomically(SOLVER, with_losses(with_endings(SOLVER.read_text())).encode())
    write_atomically(README, up_to_date(README.read_text()).encode())
    write_atomically(BENCHMARK, with_benchmark(BENCHMARK.read_text()).encode())
    spaces = SPACES.read_text()
    for name, part in spaces_parts().items():
        spaces = with_part(spaces, name, part)
    write_atomically(SPACES, spaces.encode())
    house = with_part(ARCHITECTURE.read_text(), "record", record_part())
    write_atomically(ARCHITECTURE, house.encode())
    write_atomically(FAMILY, family_page(kept_results(), solved).encode())
    for path, page in rules_pages().items():
        path.parent.mkdir(exist_ok=True)
        write_atomically(path, page.encode())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    run_command(
        arguments,
        write_pages,
        Pages,
        __doc__,
        "pages that were written stay as they are; resume: {command}",
    )


if __name__ == "__main__":
    main()
