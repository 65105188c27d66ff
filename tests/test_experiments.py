"""The experiments, end to end on few deals, and their statistics against hand-made cases."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from agents.maskable_ppo import Hyperparameters
from experiments.census import COLUMNS, Census, census, take_census
from experiments.compare import CENSUS, Compare, _part, compare, play_all, read_census
from experiments.pages import (
    FAMILY,
    README,
    RESULTS,
    SOLVER,
    family_page,
    up_to_date,
    with_census,
)
from experiments.play import play_deals
from experiments.report import Report, report
from experiments.solve import Solve, solve_and_print
from experiments.summary import RESULT_COLUMNS, as_text, summarise, with_ceiling
from experiments.train import Train, parse_steps, train
from four_seasons_env.deals import TRAIN_FROM
from four_seasons_env.game import Game
from four_seasons_env.rules import RULES

DEFAULT = RULES["four-seasons"]
DEALS = f"{TRAIN_FROM}-{TRAIN_FROM + 1199}"


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
    from agents import make_agent

    deals = range(TRAIN_FROM, TRAIN_FROM + 30)
    first, second = (
        play_deals(make_agent("random"), DEFAULT, deals, max_moves=60).drop(columns="seconds")
        for _ in range(2)
    )
    assert first.equals(second)
    assert first["moves"].max() == 60
    assert list(first["deal"]) == list(deals)


def results_of(agent: str, won: list[int]) -> pd.DataFrame:
    rows = {"agent": agent, "rules": "r", "train_seed": None, "deal": range(len(won))}
    rows |= {"won": np.array(won, bool), "cards_up": np.array(won) * 52, "moves": 10}
    return pd.DataFrame(rows | {"seconds": 0.001})


def test_summary_of_hand_made_results() -> None:
    """Ten deals: the other wins 5 of them, the baseline 2, one of them alone."""
    other = results_of("other", [1, 1, 1, 1, 1, 0, 0, 0, 0, 0])
    base = results_of("heuristic", [1, 0, 0, 0, 0, 1, 0, 0, 0, 0])
    summary = summarise(pd.concat([other, base])).set_index("agent")
    row = summary.loc["other"]
    assert (row["wins"], row["deals"], row["win_rate"]) == (5, 10, 0.5)
    # Wilson's interval of 5 in 10 (Wilson 1927; any table): 0.2366 to 0.7634.
    assert (round(row["win_low"], 4), round(row["win_high"], 4)) == (0.2366, 0.7634)
    assert row["win_difference"] == pytest.approx(0.3)
    # McNemar, exact: 4 deals against 1, two-sided binomial: 2 * (1 + 5) / 32.
    assert row["p_value"] == pytest.approx(12 / 32)
    assert row["difference_low"] < 0.3 < row["difference_high"]
    assert row["cards_difference"] == pytest.approx(0.3 * 52)
    assert row["ms_per_move"] == pytest.approx(0.1)
    assert np.isnan(summary.loc["heuristic"]["win_difference"])
    cells = as_text(summarise(pd.concat([other, base])))
    assert cells["won % [95%]"][0] == "50.00 [23.66, 76.34]"


def test_compare_goes_on_where_it_was(tmp_path: Path) -> None:
    run = Compare(out=tmp_path / "y", agents=["random", "heuristic"], deals=DEALS, n_jobs=1)
    compare(run)
    results = pd.read_csv(run.out / "results.csv")
    assert tuple(results.columns) == RESULT_COLUMNS
    assert results.groupby("agent")["deal"].nunique().to_dict() == {
        "heuristic": 1200,
        "random": 1200,
    }
    for name in ("summary.csv", "table.md", "win_rates-four-seasons.png"):
        assert (run.out / name).stat().st_size > 0

    kept = _part(run, ("four-seasons", "heuristic", range(TRAIN_FROM, TRAIN_FROM + 1000)))
    lost = _part(run, ("four-seasons", "random", range(TRAIN_FROM, TRAIN_FROM + 1000)))
    before = kept.stat().st_mtime_ns
    lost.unlink()
    again = play_all(run)
    assert kept.stat().st_mtime_ns == before
    pd.testing.assert_frame_equal(
        again.drop(columns="seconds"), results.drop(columns="seconds"), check_dtype=False
    )
    with pytest.raises(ValueError, match="holds a comparison"):
        play_all(replace(run, seed=1))


def test_compare_over_rule_sets(tmp_path: Path) -> None:
    rules = ["czarina", "pysolfc/corners"]
    deals = f"{TRAIN_FROM}-{TRAIN_FROM + 9}"
    run = Compare(out=tmp_path, agents=["heuristic"], rules=rules, deals=deals, n_jobs=1)
    compare(run)
    assert "pysolfc/corners" in (tmp_path / "table.md").read_text()


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--agents", "heuristik"], "did you mean 'heuristic'"),
        (["--rules", "czarena"], "did you mean 'czarina'"),
        (["--deals", "9-1"], "run backwards"),
        (["--agents", "maskable_ppo:nowhere"], "no weights at nowhere"),
    ],
)
def test_compare_says_what_is_wrong(tmp_path: Path, flags: list[str], told: str) -> None:
    command = [sys.executable, "-m", "experiments.compare", "--out", str(tmp_path / "y"), *flags]
    done = subprocess.run(command, capture_output=True, text=True, cwd=README.parent, check=False)
    assert done.returncode != 0
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "y").exists()


def test_train_keeps_all_that_the_report_needs(tmp_path: Path) -> None:
    small = Hyperparameters(games=8, n_steps=8, batch_size=32, n_epochs=1, layers=[8])
    settings = tmp_path / "small.yaml"
    settings.write_text(yaml.safe_dump(vars(small)))
    run = Train(
        out=tmp_path / "x",
        steps="200",
        seed=3,
        hyperparameters=settings,
        validation_deals=20,
        rules="czarina",
    )
    train(run)
    for name in ("run.json", "progress.csv", "best/model.safetensors", "last/model.json"):
        assert (run.out / name).stat().st_size > 0
    assert list(run.out.glob("events.*")), "TensorBoard"
    with pytest.raises(FileExistsError, match="not empty"):
        train(run)

    compared = Compare(
        out=tmp_path / "y",
        agents=["heuristic", f"maskable_ppo:{run.out / 'best'}"],
        rules=["czarina"],
        deals=f"{TRAIN_FROM}-{TRAIN_FROM + 9}",
        n_jobs=1,
    )
    results = play_all(compared)
    assert set(results["train_seed"].dropna()) == {3}
    page = report(Report([run.out, compared.out])).read_text()
    assert "maskable_ppo learns czarina, seed 3" in page
    assert page.count("data:image/png") == 3
    with pytest.raises(FileNotFoundError, match="holds no run"):
        report(Report([tmp_path]))


@pytest.mark.parametrize(
    ("text", "steps"), [("1000", 1000), ("500k", 500_000), ("20M", 20_000_000), ("1.5k", 1500)]
)
def test_steps_are_read(text: str, steps: int) -> None:
    assert parse_steps(text) == steps


@pytest.mark.parametrize("text", ["", "0", "-5", "many", "5T"])
def test_steps_that_are_none(text: str) -> None:
    with pytest.raises(ValueError, match="steps are a positive number"):
        parse_steps(text)


def test_pages_are_up_to_date() -> None:
    """`python -m experiments.pages` writes them."""
    assert up_to_date(README.read_text()) == README.read_text()
    assert family_page(pd.read_csv(RESULTS / "family.csv")) == FAMILY.read_text()
    solved = read_census(CENSUS)
    if solved is not None:
        assert with_census(SOLVER.read_text(), solved) == SOLVER.read_text()


def test_readme_code_runs() -> None:
    """The first two Python examples, as they stand."""
    blocks = README.read_text().split("```python\n")[1:3]
    code = "".join(block.split("```")[0] for block in blocks)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "cards up" in done.stdout


def test_a_census_goes_on_and_retries_what_is_open(tmp_path: Path) -> None:
    deals = f"{TRAIN_FROM}-{TRAIN_FROM + 119}"
    run = Census(out=tmp_path, rules=["corners"], deals=deals, seconds=1e-6, n_jobs=1)
    first = take_census(run)
    assert tuple(first.columns) == COLUMNS
    assert list(first["deal"]) == list(range(TRAIN_FROM, TRAIN_FROM + 120))
    assert (first["status"] == "unknown").all()
    assert take_census(run).equals(first)

    parts = sorted(tmp_path.glob("parts/corners/*.csv"))
    pd.read_csv(parts[0]).head(50).to_csv(parts[0], index=False)  # as if killed after 50 deals
    again = replace(run, only="unknown", seconds=0.5)
    census(again)
    solved = pd.read_csv(tmp_path / "results.csv")
    assert list(solved["deal"]) == list(first["deal"])
    assert (solved["status"] != "unknown").sum() > 100
    summary = pd.read_csv(tmp_path / "summary.csv").iloc[0]
    counts = solved["status"].value_counts()
    assert summary["low"] == pytest.approx(counts.get("won", 0) / 120)
    assert summary["high"] == pytest.approx(1 - counts.get("lost", 0) / 120)
    for name in ("table.md", "census-corners.png"):
        assert (tmp_path / name).stat().st_size > 0


def test_the_ceiling_of_hand_made_results() -> None:
    """Of ten deals six can be won, two are open. The agent wins four, one of them open."""
    results = results_of("heuristic", [1, 1, 1, 0, 0, 0, 0, 0, 1, 0])
    statuses = ["won"] * 6 + ["lost"] * 2 + ["unknown"] * 2
    solved = pd.DataFrame({"rules": "r", "deal": range(10), "status": statuses})
    summary = summarise(results)
    table = with_ceiling(summary, results, solved).set_index("agent")
    assert table.loc["heuristic", "of_winnable"] == pytest.approx(3 / 6)
    assert tuple(table.loc["ceiling", ["win_low", "win_high"]]) == pytest.approx((0.6, 0.8))
    cells = as_text(table.reset_index()).set_index("agent")
    assert cells.loc["ceiling", "won % [95%]"] == "60.00 to 80.00"
    assert cells.loc["heuristic", "of winnable %"] == "50.00"
    assert with_ceiling(summary, results, solved.head(9)).equals(summary)


def test_compare_shows_the_ceiling(tmp_path: Path) -> None:
    solved = Census(out=tmp_path / "c", deals=f"{TRAIN_FROM}-{TRAIN_FROM + 3}", n_jobs=1)
    take_census(solved)
    run = Compare(
        out=tmp_path / "y", agents=["heuristic"], deals=solved.deals, census=solved.out, n_jobs=1
    )
    compare(run)
    assert list(pd.read_csv(run.out / "summary.csv")["agent"]) == ["heuristic", "ceiling"]


def test_solve_prints_a_game(capsys: pytest.CaptureFixture[str]) -> None:
    solve_and_print(Solve(rules="florentine", deal=TRAIN_FROM))
    lines = capsys.readouterr().out.splitlines()
    moves = [line for line in lines if re.match(r" +\d+\. ", line)]
    assert moves[-1].endswith("52 up")
    assert lines[-1].startswith(f"won in {len(moves)} moves (")
    game = Game("florentine", TRAIN_FROM)
    for line in moves:
        game.play(line.split()[1])
    assert game.is_won


def test_solve_says_what_is_wrong() -> None:
    command = [sys.executable, "-m", "experiments.solve", "--rules", "czarena"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=README.parent, check=False)
    assert done.returncode != 0
    assert done.stderr.startswith("error: unknown rules 'czarena': did you mean 'czarina'?")
