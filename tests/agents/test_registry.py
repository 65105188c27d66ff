"""Agents of other packages, by the place of a class."""

from pathlib import Path

from four_seasons_env.experiments.compare import Compare, compare
from four_seasons_env.experiments.comparison import read_results
from four_seasons_env.experiments.report import Report, report
from four_seasons_env.experiments.verify import Verify, verify
from four_seasons_env.experiments.workers import Workers
from tests.agents.fakes import HERE


def test_agents_with_one_label_are_training_seeds(tmp_path: Path, capsys) -> None:
    """Seeds are those that they state, or their order; in every file, and on the page."""
    places = {"dated": ("Dated", "Later"), "own": ("Last", "Last@depth=2")}
    names = [f"{label}={HERE}:{each}" for label in places for each in places[label]]
    workers = Workers(n_jobs=1)
    run = Compare(
        tmp_path, [*names, "heuristic"], deals="10000-10019", record=True, workers=workers
    )
    compare(run)
    assert "; claims about an algorithm need 5 training seeds" in capsys.readouterr().out
    results = read_results(tmp_path).groupby("agent", sort=False)["train_seed"].unique()
    seeds = [20240917, 20240918, 0, 1]
    assert [*results["dated"], *results["own"]] == seeds and results["heuristic"].isna().all()
    assert verify(Verify(tmp_path))
    page = report(Report([tmp_path])).read_text()
    for seed in seeds:
        assert f"<td>{seed}</td>" in page
        assert f"\n{seed}," in (tmp_path / "seeds.csv").read_text()
