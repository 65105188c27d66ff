"""Each study runs from beginning to end, on little data."""

import dataclasses
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import tyro

from four_seasons_env import datasets
from four_seasons_env.agents import make_agent
from four_seasons_env.agents.names import Name
from four_seasons_env.agents.planner.best_stop import HEADS, network_value, read_planner
from four_seasons_env.agents.policy_files import load_policy, save_policy
from four_seasons_env.experiments.train import Train
from four_seasons_env.game import Game
from four_seasons_env.observations import OBSERVATIONS
from four_seasons_env.rules import RULES
from tests.agents.fakes import candidate_card, table_weights
from tests.helpers import ROOT, load, run_python, same

pytestmark = pytest.mark.slow


def run(study: str, *flags: str) -> str:
    """The output of a study."""
    return run_python(f"experiments/studies/{study}.py", *flags)


def test_costs_of_starts_and_learning() -> None:
    study = load(ROOT / "experiments/studies/bench.py")
    run_code = study.run_code
    study.run_code = lambda code, cache=None: run_code(code)  # without compiling
    measured = list(study.measure_costs(64, 0.02))
    rows = pd.DataFrame(measured, columns=study.COSTS).set_index("what")["value"]
    stored = pd.read_csv(ROOT / "docs" / "results" / "costs.csv")
    assert {what for what in rows.index if "games" not in what} <= set(stored["what"])
    assert (rows > 0).all()
    assert rows["import"] < rows["import, make, reset and step"]


@pytest.mark.skipif(sys.platform != "linux", reason="others count memory in other units")
def test_arrays_that_nobody_reads_take_no_memory() -> None:
    """Of final observations, for example, before an episode has ended."""
    study = load(ROOT / "experiments/studies/bench.py")
    few, many = (study.run_code(study.MANY.format(games))[2] for games in (1, 200_000))
    assert (many - few) * 2**30 < 200_000 * 1500


def test_bench_measures_what_its_flags_name(tmp_path: Path) -> None:
    flags = ["--games", "1", "32", "--threads", "1", "2", "--seconds", "0.01"]
    run("bench", *flags, "--out", str(tmp_path / "bench.csv"))
    rows = pd.read_csv(tmp_path / "bench.csv")
    kinds = rows.groupby(["what", "games", "threads"])["observation"].agg(set).to_dict()
    assert list(kinds.values()) == 3 * [{"features"}] + [{*OBSERVATIONS}] * 7
    assert {key[1:] for key in kinds} == {(1, 1), (32, 1), (32, 2)}
    assert rows.filter(like="per_second").gt(0).all(axis=None)


def commands_of_results() -> str:
    """The commands of `make results`, one in each line."""
    command = ["make", "--dry-run", "--always-make", "--file", "experiments/studies/results.mk"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.replace("\\\n", " ")


def test_every_agent_of_the_results_exists(monkeypatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs" / "tutorials" / "search")
    compared = re.findall(r"--agents (.*?)(?:\s--|$)", commands_of_results(), re.MULTILINE)
    names = {name for each in compared for name in shlex.split(each) if "my_net:" not in name}
    assert {"planner@lookahead=1", "heuristic"} <= names
    for name in names:
        parts = Name(name)
        if not parts.path:
            make_agent(name)


def test_bundled_policy_plays_nearly_alike(tmp_path: Path) -> None:
    card = candidate_card(RULES["four-seasons"])
    learned = dataclasses.replace(card, agent="planner", layers=[8, 4, 8, 8], decisions={})
    save_policy(tmp_path / "one" / "best", learned, table_weights((8, 4, 8, 8), HEADS, 0))
    run("bundle", str(tmp_path / "one"), "--out", str(tmp_path / "small"), "--deals", "4")
    one, small = (value_at_opening(tmp_path / name) for name in ("one", "small"))
    assert small == pytest.approx(one, abs=0.01)
    kept, _ = load_policy(tmp_path / "small", "planner", RULES["four-seasons"])
    assert kept.layers == learned.layers


def value_at_opening(policy: Path) -> float:
    """The log-odds that a planner's network gives an opening."""
    game = Game("four-seasons", deal=10_000)
    _, evaluator = read_planner(policy, game.rules)
    chance = network_value(game.record[0], evaluator)
    return float(np.log(chance / (1 - chance)))


def test_small_games_writes_regret(tmp_path: Path) -> None:
    out = tmp_path / "small-games.csv"
    flags = ["--rules", "small-4x4-cells", "--agents", "heuristic", "--games", "3"]
    run("small_games", *flags, "--out", str(out))
    (row,) = pd.read_csv(out).to_dict("records")
    assert 0 <= row["regret_low"] <= row["regret"] <= row["regret_high"]


def test_baselines_play_three_ways_and_are_measured_once(tmp_path: Path) -> None:
    out = tmp_path / "baselines.csv"
    chosen = ["MaskablePPO", "MaskablePPO, legal, same setting", "RecurrentPPO", "masked QR-DQN"]
    flags = ["--settings", "2", "--search-moves", "500", "--seeds", "1", "--moves", "1k"]
    flags += ["--deals", "20", "--algorithms", *chosen]
    run("baselines", *flags, "--out", str(out))
    rows, stored = (pd.read_csv(path) for path in (out, ROOT / "docs/results/baselines.csv"))
    assert [*rows] == [*stored]
    searched, final = (rows[rows["stage"] == stage] for stage in ("search", "1k"))
    algorithms = load(ROOT / "experiments/studies/baselines.py").ALGORITHMS
    assert [*final["algorithm"]] == chosen and {*stored["algorithm"]} == {*algorithms}
    assert searched["algorithm"].value_counts().eq(2).all()
    # The setting of each is that of the higher return.
    returns = searched["won"] + searched["cards_up"] / 52
    best = searched.loc[returns.groupby(searched["algorithm"]).idxmax()]
    best = best.set_index("algorithm")["values"]
    for name, values in final.set_index("algorithm")["values"].items():
        assert values == best[algorithms[name].searched or name]
    ways = ["cards_up", "own_cards_up", "open_cards_up"]
    assert final[ways].gt(0).all(axis=None) and searched[ways[1:]].isna().all(axis=None)
    assert final["illegal"].between(0.3, 1).all()  # they have learned nothing yet
    assert stored.query("stage == 'search'")["algorithm"].value_counts().eq(4).all()
    before = out.read_text()
    run("baselines", *flags, "--out", str(out))
    assert out.read_text() == before


def test_figures_draws_plots_and_openings(tmp_path: Path) -> None:
    run("figures", "--out", str(tmp_path))
    drawn = {path.name for path in tmp_path.glob("results/*.png")}
    assert drawn == {path.name for path in (ROOT / "docs" / "results").glob("*.png")}
    pictures = ROOT / "docs" / "pictures"
    for path in [*pictures.glob("rules/*.svg"), *pictures.glob("stop-*.svg")]:
        assert (tmp_path / path.relative_to(ROOT / "docs")).read_text() == path.read_text()


def test_every_training_of_the_results_can_start() -> None:
    commands = commands_of_results()
    found = re.findall(r"else .*?four-seasons train (.*?); fi", commands)
    assert 2 * len(found) == commands.count("four-seasons train ")  # each with its --resume
    config = (tyro.conf.OmitArgPrefixes,)
    runs = [tyro.cli(Train, args=each.split(), config=config) for each in found]
    assert len({run.out for run in runs}) == len(runs) > 1
    for run in runs:
        what = run.rules
        if run.out.parent.name == "trained":
            what = f"{run.core_minutes:g}-seed-{run.seed}"
        assert run.out.name == f"{run.agent}-{what}"


def test_curves_keep_every_fourth_row_of_each_training(tmp_path: Path) -> None:
    paths = [str(tmp_path / f"{name}.csv") for name in "ab"]
    for path, rows in zip(paths, (9, 4), strict=True):
        pd.DataFrame({"won": np.arange(1, rows + 1)}).to_csv(path, index=False)
    run("curves", *paths, "--out", str(tmp_path / "joined.csv"))
    joined = pd.read_csv(tmp_path / "joined.csv")
    assert joined.to_dict("list") == {"run": [paths[0], *paths], "won": [4, 8, 4]}


def test_data_sets_are_the_same_from_any_workers_and_folder(tmp_path: Path) -> None:
    for jobs in "12":
        folder = tmp_path / jobs
        where = ["--out", str(folder / "games"), "--store", str(folder)]
        run("datasets", "mixed", "--games", "1200", "--n-jobs", jobs, *where)
    one, two = ((tmp_path / jobs / "mixed.npz").read_bytes() for jobs in "12")
    assert one == two
    card = json.loads((tmp_path / "1" / "mixed.json").read_text())
    assert [each["games"] for each in card["players"]] == 4 * [300]
    played = datasets.load(tmp_path / "1" / "games" / "mixed" / "random")
    assert same(vars(played), vars(datasets.load("mixed", games=300)))  # of the first player


def test_rows_of_libraries_name_page_script_and_versions(tmp_path: Path) -> None:
    study = load(ROOT / "experiments/studies/libraries.py")
    stored = pd.read_csv(ROOT / "docs/results/libraries.csv").drop(columns=["version", "commit"])
    pages = re.findall(r"libraries\.py (\S+)", commands_of_results())
    assert {(page, study.script_of(page)) for page in pages} == {
        *stored[["page", "script"]].itertuples(index=False, name=None)
    }
    study.RECIPES = tmp_path
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "own.txt").write_text("ray[rllib]==2.60.0\ntorch==2.13.0\n")
    (tmp_path / "own.md").write_text("# Own\n\n[with_own.py](with_own.py)\n")
    printed = {"environment": "FourSeasons-v0", "steps": 8, "games": 1, "won": 0.0}
    printed |= {"cards_up": 9.0, "illegal": 0}
    rows = study.rows_of("own", f"episode 1 of 2\n{json.dumps(printed)}\n")
    about = {"page": "own", "script": "with_own.py", "versions": "ray 2.60.0, torch 2.13.0"}
    assert rows.to_dict("records") == [about | printed]
    assert list(rows) == list(stored)


@pytest.mark.parametrize(
    ("script", "needs"), [("numpy", "numpy"), ("sb3", "sb3_contrib"), ("minari", "minari")]
)
def test_recipes_play_no_illegal_action(script: str, needs: str, tmp_path: Path) -> None:
    pytest.importorskip(needs, reason="the recipe's library is not installed")
    folder = str(tmp_path / "minari")  # for its data sets
    path = str(ROOT / f"docs/recipes/with_{script}.py")
    printed = run_python(path, cwd=tmp_path, MINARI_DATASETS_PATH=folder)
    rows = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    assert {(row["games"], row["illegal"]) for row in rows} == {(100, 0)}


def test_lines_that_are_reached_are_summed_by_folder(tmp_path: Path) -> None:
    folders = [*load(ROOT / "experiments/studies/reached.py").FOLDERS]
    paths = [f"four_seasons_env/{folder}/{name}.py" for folder in folders for name in "ab"]
    files = {
        path: {"summary": {"num_statements": 10, "covered_lines": 10 - len(paths) + i}}
        for i, path in enumerate([*paths, "agents/agent.py", "agents_of_others/a.py"])
    }
    (tmp_path / "coverage.json").write_text(json.dumps({"files": files}))
    run("reached", str(tmp_path / "coverage.json"), "--out", str(tmp_path / "reached.csv"))
    rows = pd.read_csv(tmp_path / "reached.csv").set_index("folder")
    assert rows["lines"].tolist() == [20] * len(folders) + [10]
    assert rows.loc["agents", "reached"] == 10
    assert rows.loc["four_seasons_env/engine", "reached"] == 20 - 2 * len(paths) + 1
    assert (rows["share"] == rows["reached"] / rows["lines"]).all()
