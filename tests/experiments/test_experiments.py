"""The experiments, end to end on few deals, and their statistics against hand-made cases."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.compare import Compare, compare
from four_seasons_env.experiments.compare import main as compare_command
from four_seasons_env.experiments.matches.play import play_deals
from four_seasons_env.experiments.matches.results import summarise_folder
from four_seasons_env.experiments.parallel.workers import Workers
from four_seasons_env.experiments.report import Report, report
from four_seasons_env.experiments.reporting.tables import as_markdown
from four_seasons_env.experiments.statistics.summary import as_text, summarise
from four_seasons_env.experiments.train import Train, parse_steps, train
from four_seasons_env.experiments.training.run_folder import STEPS, read_log
from four_seasons_env.rules import RULES

DEFAULT = RULES["four-seasons"]
ALONE = Workers(n_jobs=1)
DEALS = f"{TRAIN_FROM}-{TRAIN_FROM + 1199}"
SMALL = {
    "maskable_ppo": ["games=4", "n_steps=8", "batch_size=16", "layers=[8]", "max_moves=30"],
}


class Cheat:
    """Plays the legal move of the highest number, and notes the stocks that it is shown."""

    mask = "legal"

    def __init__(self) -> None:
        self.next_cards: list[int] = []

    def act(self, games, masks, rng):
        self.next_cards.append(int(games["deck"][0, games["dealt"][0]]))
        return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


class Rogue:
    """Plays whatever it likes."""

    mask = "legal"

    def act(self, games, masks, rng):
        return np.ones(len(games), np.int64)


def test_agents_are_shown_another_stock_each_time() -> None:
    cheat = Cheat()
    play_deals(cheat, DEFAULT, [TRAIN_FROM], max_moves=20)
    assert len(set(cheat.next_cards)) > 5


def test_illegal_moves_are_refused_by_name() -> None:
    with pytest.raises(RuntimeError, match="Rogue played W>F, which is not legal"):
        play_deals(Rogue(), DEFAULT, [TRAIN_FROM])


def test_games_are_repeatable_and_given_up_in_time() -> None:
    from four_seasons_env.agents import make_agent

    deals = range(TRAIN_FROM, TRAIN_FROM + 30)
    first, second = (
        play_deals(make_agent("random"), DEFAULT, deals, max_moves=60).drop(columns="seconds")
        for _ in range(2)
    )
    assert first.equals(second)
    assert first["moves"].max() == 60
    assert list(first["deal"]) == list(deals)


def results_of(agent: str, won: list[int]) -> pd.DataFrame:
    rows = {"agent": agent, "play": "deterministic", "rules": "r", "train_seed": None}
    rows |= {"deal": range(len(won))}
    rows |= {"won": np.array(won, bool), "cards_up": np.array(won) * 52, "moves": 10}
    return pd.DataFrame(rows | {"seconds": 0.001})


def test_summary_of_hand_made_results() -> None:
    """Ten deals: the other wins 5 of them, the baseline 2, one of them alone."""
    other = results_of("other", [1, 1, 1, 1, 1, 0, 0, 0, 0, 0])
    base = results_of("heuristic", [1, 0, 0, 0, 0, 1, 0, 0, 0, 0])
    summary = summarise(pd.concat([other, base])).set_index("agent")
    row = summary.loc["other"]
    assert (row["seeds"], row["deals"], row["win_rate"]) == (1, 10, 0.5)
    # Wilson's interval of 5 in 10 (Wilson 1927; any table): 0.2366 to 0.7634.
    assert (round(row["win_low"], 4), round(row["win_high"], 4)) == (0.2366, 0.7634)
    assert row["win_difference"] == pytest.approx(0.3)
    # McNemar, exact: 4 deals against 1, two-sided binomial: 2 * (1 + 5) / 32.
    assert row["p_value"] == pytest.approx(12 / 32)
    assert row["win_difference_low"] < 0.3 < row["win_difference_high"]
    assert row["cards_difference_low"] < 0.3 * 52 < row["cards_difference_high"]
    assert row["cards_difference"] == pytest.approx(0.3 * 52)
    assert row["ms_per_move"] == pytest.approx(0.1)
    assert row["ms_per_game"] == pytest.approx(1.0)
    assert np.isnan(summary.loc["heuristic"]["win_difference"])
    cells = as_text(summarise(pd.concat([other, base])))
    assert cells["won % [95%]"][0] == "50.00 [23.66, 76.34]"


def test_compare_over_rule_sets(tmp_path: Path) -> None:
    rules = ["czarina", "pysolfc/corners"]
    deals = f"{TRAIN_FROM}-{TRAIN_FROM + 9}"
    run = Compare(out=tmp_path, agents=["heuristic"], rules=rules, deals=deals, workers=ALONE)
    compare(run)
    assert "pysolfc/corners" in (tmp_path / "table.md").read_text()


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--agents", "heuristik"], "did you mean 'heuristic'"),
        (["--rules", "czarena"], "did you mean 'czarina'"),
        (["--deals", "9-1"], "run backwards"),
        (["--agents", "maskable_ppo:nowhere"], "no weights at nowhere"),
        (["--agents", "maskable_ppo:nowhere/*"], "nothing matches"),
        (["--agents", "maskable_ppo", "maskable_ppo"], "give one another label"),
        (["--cluster", "here:1"], "loky works on this machine alone"),
    ],
)
def test_compare_says_what_is_wrong(
    tmp_path: Path, monkeypatch, capsys, flags: list[str], told: str
) -> None:
    command = ["compare", "--out", str(tmp_path / "y"), *flags]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit) as stopped:
        compare_command()
    assert stopped.value.code == 2
    printed = capsys.readouterr().err
    assert printed.startswith("error: ")
    assert told in printed
    assert not (tmp_path / "y").exists()


@pytest.mark.slow
def test_train_keeps_all_that_the_report_needs(tmp_path: Path) -> None:
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
    told = json.loads((run / "run.json").read_text())
    assert told["run"]["seed"] == 3
    assert told["hyperparameters"]["layers"] == [8]
    assert told["versions"]["torch"] == torch.__version__
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
    assert text.count("data:image/png") == 4 + 1
    for told in ("won by", "only heuristic", "probability of improvement", "<td>all</td>"):
        assert told in text
    assert "http" not in text, "self-contained"
    markdown = page.with_suffix(".md").read_text()
    assert as_markdown(as_text(summarise_folder(compared.out, results, None))) in markdown
    with pytest.raises(FileNotFoundError, match="contains no run"):
        report(Report([tmp_path]))


@pytest.mark.parametrize(
    ("text", "steps"), [("1000", 1000), ("500k", 500_000), ("20M", 20_000_000), ("1.5k", 1500)]
)
def test_steps_are_read(text: str, steps: int) -> None:
    assert parse_steps(text) == steps


@pytest.mark.parametrize("text", ["", "0", "-5", "many", "5T"])
def test_steps_that_are_none(text: str) -> None:
    with pytest.raises(ValueError, match="steps must be a positive number"):
        parse_steps(text)
