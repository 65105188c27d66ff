"""The experiments, end to end on few deals."""

import json
from pathlib import Path

import pandas as pd
import pytest

from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.compare import Compare, compare
from four_seasons_env.experiments.matches.play import play_deals
from four_seasons_env.experiments.parallel.pool import Workers
from four_seasons_env.experiments.report import Report, report
from four_seasons_env.experiments.reporting.cells import as_text
from four_seasons_env.experiments.reporting.tables import as_markdown
from four_seasons_env.experiments.results.comparison import summarise_folder
from four_seasons_env.experiments.results.training_run import STEPS, read_log
from four_seasons_env.experiments.train import Train, parse_steps, train
from four_seasons_env.rules import RULES

DEFAULT = RULES["four-seasons"]
ALONE = Workers(n_jobs=1)
SMALL = {
    "maskable_ppo": ["games=4", "n_steps=8", "batch_size=16", "layers=[8]", "max_moves=30"],
}


def test_games_repeat_and_end() -> None:
    from four_seasons_env.agents import make_agent

    deals = range(TRAIN_FROM, TRAIN_FROM + 30)
    first, second = (
        play_deals(make_agent("random"), DEFAULT, deals, max_moves=60).drop(columns="seconds")
        for _ in range(2)
    )
    assert first.equals(second)
    assert first["moves"].max() == 60
    assert list(first["deal"]) == list(deals)


@pytest.mark.slow
def test_train_writes_what_the_report_needs(tmp_path: Path) -> None:
    """Two algorithms, two seeds: from training to the page."""
    import torch

    for name, sizes in SMALL.items():
        for seed in (3, 4):
            train(
                Train(
                    out=tmp_path / "study" / f"{name}-{seed}",
                    agent=name,
                    steps="300",
                    seed=seed,
                    set=sizes,
                    validations=3,
                    validation_deals=20,
                    rules="czarina",
                )
            )
    run = tmp_path / "study" / "maskable_ppo-3"
    for name in (
        *("run.json", "progress.csv", "done.json"),
        *("best/model.safetensors", "last/model.json"),
    ):
        assert (run / name).stat().st_size > 0
    assert list(run.glob("events.*")), "TensorBoard"
    about = json.loads((run / "run.json").read_text())
    assert about["run"]["seed"] == 3
    assert about["hyperparameters"]["layers"] == [8]
    assert about["versions"]["torch"] == torch.__version__
    log = read_log(run)
    assert log["validation/win_rate"].count() == 3
    assert log[STEPS].is_monotonic_increasing

    (tmp_path / "study" / "maskable_ppo-3.log").write_text("patterns are for folders")
    compared = Compare(
        out=tmp_path / "y",
        agents=["heuristic", *(f"{name}:{tmp_path}/study/{name}-*" for name in SMALL)],
        rules=["czarina"],
        deals=f"{TRAIN_FROM}-{TRAIN_FROM + 29}",
        workers=ALONE,
    )
    compare(compared)
    results = pd.read_csv(compared.out / "results.csv")
    assert set(results["train_seed"].dropna()) == {3, 4}
    assert set(results["play"]) == {"deterministic", "stochastic"}
    assert len(results) == 30 * (1 + len(SMALL) * 2 * 2)
    page = report(Report([compared.out, tmp_path / "study"]))
    text = page.read_text()
    assert "Learning czarina" in text
    assert text.count("data:image/png") == 2 + 1
    assert "Training seeds" in text
    assert "http" not in text, "self-contained"
    table = (compared.out / "table.md").read_text()
    assert table == as_markdown(as_text(summarise_folder(compared.out, results, None)))
    with pytest.raises(FileNotFoundError, match="has no run"):
        report(Report([tmp_path]))


@pytest.mark.parametrize(
    ("text", "steps"), [("1000", 1000), ("500k", 500_000), ("20M", 20_000_000), ("1.5k", 1500)]
)
def test_steps_are_read(text: str, steps: int) -> None:
    assert parse_steps(text) == steps


@pytest.mark.parametrize("text", ["", "0", "-5", "many", "5T"])
def test_wrong_steps(text: str) -> None:
    with pytest.raises(ValueError, match="steps must be a positive number"):
        parse_steps(text)
