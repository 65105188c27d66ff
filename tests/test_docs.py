"""The docs: examples run, links work, tables agree with the code."""

import ast
import doctest
import importlib
import inspect
import itertools
import re
import shutil
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from docs import outputs, tables
from four_seasons_env import Game, __version__
from four_seasons_env.agents import make_agent
from four_seasons_env.env import FourSeasonsEnv
from four_seasons_env.experiments.compare import Compare, compare
from four_seasons_env.experiments.comparison import Manifest
from four_seasons_env.experiments.play import play_game
from four_seasons_env.experiments.players import Player
from four_seasons_env.experiments.tables import TITLES
from four_seasons_env.experiments.workers import Workers
from four_seasons_env.games import Games
from four_seasons_env.next_deal import FourSeasonsNextDealEnv, FourSeasonsNextDealVectorEnv
from four_seasons_env.observations import OBSERVATIONS, observation_length
from four_seasons_env.records import append_record
from four_seasons_env.rewards import ILLEGAL_PENALTY
from four_seasons_env.rules import RULES
from four_seasons_env.text import FourSeasonsTextEnv
from four_seasons_env.vector import FourSeasonsVectorEnv
from tests.helpers import FILES, ROOT, documented, load, run_python

DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text()
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text()
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md")))
}
EXAMPLE = re.compile(r'```py(?:thon)?(?: title="[^"]*")?\n(.*?)```', re.DOTALL)
ELSEWHERE = ("README.md", "docs/recipes/openenv.md", "docs/recipes/verifiers.md")
"""Pages with agents, which are played below, and with clients: see test_text_recipes.py."""
SHORTER = {
    'model = MaskablePPO.load("four-seasons-ppo")': "model = None",
    "seconds=10": "seconds=0.1",
    '"docs/results/': f'"{DOCS}/results/',
}
"""Replacements in examples, so that they take seconds and need no file."""
RECORDED = '"runs/games"'
"""Folder of recorded games in an example."""
SHOWN = {
    *("four_seasons_env", "env", "vector", "next_deal.next_deal_env", "text.text_env"),
    *("game", "games", "rules", "records", "datasets", "observations", "rewards", "optima"),
    *("engine.deals", "engine.moves", "solver.solving", "solver.fair.value"),
    *("wrappers", "adapters.sb3", "evaluation", "testing", "agents", "agents.names"),
}
"""Modules of what users call: the docstrings of each have examples."""
FROM_ELSEWHERE = re.compile(r"<(?:script|img|iframe|link)\b[^>]*(?:src|href)=[\"']?https?:[^>]*>")


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in PAGES if page not in ELSEWHERE and EXAMPLE.search(PAGES[page])]
)
def test_examples_of_pages_run(
    page: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    code = "\n".join(EXAMPLE.findall(PAGES[page]))
    for text, shorter in SHORTER.items():
        code = code.replace(text, shorter)
    if RECORDED in code:
        folder = tmp_path_factory.mktemp("games")
        append_record(folder / "14-14.jsonl.gz", play_game("heuristic", "four-seasons", 14))  # won
        code = code.replace(RECORDED, repr(str(folder)))
    if "runs/solved" in code:
        few = ["--deals", "4294967296-4294967303", "--seconds", "0.1", "--n-jobs", "1"]
        out = str(tmp_path / "runs" / "solved")
        run_python("experiments/studies/census.py", *few, "--out", out)
    run_python("-c", code, cwd=tmp_path)
    assert {each.name for each in tmp_path.iterdir()} <= {"runs"}


def test_first_example_prints_what_readme_says() -> None:
    assert outputs.written(README) == README


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in PAGES if page != "README.md" and outputs.shapes(PAGES[page])]
)
def test_commands_of_pages_print_what_pages_show(page: str) -> None:
    run_python("docs/outputs.py", "--check", page)


def test_a_page_that_shows_another_output_is_named() -> None:
    assert not doctest.testmod(outputs).failed
    page = '    echo 12 games\n\n```text title="Output"\n9 games\n```\n'
    assert outputs.shapes(outputs.written(f"Run:\n\n{page}")) == outputs.shapes(page)
    assert outputs.shapes(page.replace("9 games", "9 deals")) != outputs.shapes(page)


def test_tutorial_ends_with_the_stored_agent() -> None:
    agent = (DOCS / "tutorials" / "search" / "flat_monte_carlo.py").read_text()
    assert f'```python title="flat_monte_carlo.py"\n{agent}```' in PAGES["docs/tutorials/search.md"]


@pytest.mark.slow
def test_agents_of_pages_play(tmp_path: Path) -> None:
    """Each is a module, in the folder of the model that the README trains."""
    _, training, player = EXAMPLE.findall(README)
    policy, agent, epsilon = EXAMPLE.findall(PAGES["docs/how-to/own-agent.md"])
    (tutorial,) = EXAMPLE.findall(PAGES["docs/tutorials/benchmark.md"])
    assert "model.learn(300_000)" in training
    run_python("-c", training.replace("300_000", "8_192"), cwd=tmp_path)
    modules = {"my_module": player, "drawn": policy, "other": agent, "tutorial": tutorial}
    modules["asks"] = epsilon
    for name, code in modules.items():
        (tmp_path / f"{name}.py").write_text(code)
    agents = ["my_module:my_policy", "a=drawn:my_policy", "other:MyAgent", "tutorial:MyAgent"]
    agents.append("asks:Epsilon@epsilon=0.2")
    command = ["-m", "four_seasons_env", "compare", "--deals", "10000-10019", "--n-jobs", "1"]
    run_python(*command, "--out", "x", "--agents", *agents, cwd=tmp_path)
    played = pd.read_csv(tmp_path / "x" / "results.csv").groupby("agent")["cards_up"]
    assert played.count().tolist() == [20] * 5
    assert played.mean()["my_module:my_policy"] > 10


@pytest.mark.slow
def test_training_seeds_of_the_page_train_and_play(tmp_path: Path) -> None:
    shutil.copy(DOCS / "how-to" / "my_net.py", tmp_path)
    run_python("my_net.py", "--steps", "4096", cwd=tmp_path)
    agents = [f"own=my_net:net@train_seed={seed}" for seed in (0, 4)]
    command = ["-m", "four_seasons_env", "compare", "--deals", "10000-10009", "--n-jobs", "1"]
    flags = ["--play", "deterministic", "--out", "x", "--agents", *agents]
    run_python(*command, *flags, cwd=tmp_path)
    (row,) = pd.read_csv(tmp_path / "x" / "summary.csv").to_dict("records")
    assert (row["agent"], row["seeds"], row["mask"]) == ("own", 2, "no_repeats")
    assert row["cards_up"] > 12  # random: 8


@pytest.mark.slow
def test_policy_of_the_page_imitates_its_player(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = load(DOCS / "how-to" / "behaviour_cloning.py")
    small = {"games": 40, "won_only": True, "layers": (16, 16, 8), "batch_size": 256}
    script.main(script.Args(source="medium", epochs=12, out=tmp_path / "own", **small))
    same = [float(each) for each in re.findall(r"([\d.]+)% of new", capsys.readouterr().out)]
    assert same[-1] > max(60, same[0])  # random: 25
    make_agent(f"maskable_ppo:{tmp_path / 'own'}")  # so `four-seasons compare` can play it


@pytest.mark.slow
def test_values_of_the_page_are_learned_from_games(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.syspath_prepend(DOCS / "how-to")
    script = load(DOCS / "how-to" / "offline_q.py")
    small = {"games": 40, "layers": (16, 16, 8), "batch_size": 256, "target_steps": 8}
    args = script.Args(source="medium", epochs=4, out=tmp_path / "own", **small)
    data = script.datasets.load("medium", games=40, **script.GAME)
    networks = [script.QNetwork("four-seasons", args.layers) for _ in range(2)]
    # Where the game is over, nothing follows: the target's weights do not matter.
    ends = np.flatnonzero(data.terminated)
    losses = [script.loss_of(networks[0], each, data, ends, args) for each in networks]
    assert losses[0].isfinite() and losses[0] == losses[1]
    before = script.loss_of(*networks, data, np.arange(500), args)
    assert before != script.loss_of(networks[0], networks[0], data, np.arange(500), args)
    script.main(args)
    make_agent(f"maskable_ppo:{tmp_path / 'own'}")  # so `four-seasons compare` can play it


@pytest.mark.parametrize("name", ["behaviour_cloning", "offline_q"])
def test_a_page_learns_nothing_that_it_cannot_save(name: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.syspath_prepend(DOCS / "how-to")
    script = load(DOCS / "how-to" / f"{name}.py")
    monkeypatch.setattr(script, "datasets", None)  # nothing is even read
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(FileExistsError, match=r"must be a new folder .* not one with run.json"):
        script.main(script.Args(out=tmp_path))


@pytest.mark.parametrize("name", ["with_cleanrl", "with_pqn"])
def test_a_recipe_trains_nothing_that_it_cannot_save(name: str, tmp_path: Path) -> None:
    """Nor less than one batch; and it leaves the curve of a training before as it is."""
    recipe = load(DOCS / "recipes" / f"{name}.py")
    (tmp_path / "curve.csv").write_text("mine")
    with pytest.raises(ValueError, match="total_timesteps must be 256, one batch, or more, not 9"):
        recipe.main(recipe.Args(out=tmp_path, num_envs=8, total_timesteps=9))
    (tmp_path / "policy").mkdir()
    (tmp_path / "policy" / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match=r"policy must be a new folder .* notes.txt"):
        recipe.main(recipe.Args(out=tmp_path))
    assert (tmp_path / "curve.csv").read_text() == "mine"


def test_pages_install_the_clone_editable() -> None:
    """Scripts of docs and studies read files of the clone, and no index has the package."""
    commands = re.findall("pip install.*", "\n".join(PAGES.values()))
    own = [each for each in commands if ".[" in each or "four-seasons-env" in each]
    assert len(own) >= 7
    assert all("-e '.[" in each for each in own)


def test_tables_of_pages_are_up_to_date() -> None:
    """Those of rule sets too: each has its picture, and words for every changed field."""
    run_python("docs/tables.py", "--check")


def test_a_part_that_nobody_writes_is_named() -> None:
    with pytest.raises(ValueError, match="no function writes the part 'rate': did you mean 'rates"):
        tables.filled("<!-- rate -->\n<!-- /rate -->")


def test_win_rates_in_prose_come_from_files() -> None:
    """They stand between marks, which `docs/tables.py` fills."""
    for page in ("README.md", "docs/explanation/answer.md"):
        filled = r"<!-- (\S+) -->.*?<!-- /\1 -->"
        assert "%" not in re.sub(filled, "", PAGES[page], flags=re.DOTALL)


def test_page_on_environments_agrees_with_code() -> None:
    page, rules = PAGES["docs/reference/environments.md"], RULES["four-seasons"]
    for name in OBSERVATIONS:
        assert re.search(rf"`{name}` \([^)]*, {observation_length(rules, name)} numbers\)", page)
    assert f"the reward is -{ILLEGAL_PENALTY:g}" in page


def test_page_states_every_default() -> None:
    sections = PAGES["docs/reference/environments.md"].split("\n## ")
    rows = [re.findall(r"^\| `(\w+)` \| `(.*?)` \|", each, re.MULTILINE) for each in sections]
    tables = [{name: ast.literal_eval(text) for name, text in each} for each in rows if each]
    moves, many, positions, text = tables
    positions = {name: moves[name] for name in moves if name != "mask"} | positions
    text = {name: moves[name] for name in moves if name not in ("observation", "illegal")} | text
    for env, stated in {
        FourSeasonsEnv: moves,
        FourSeasonsVectorEnv: moves | many,
        FourSeasonsNextDealEnv: positions,
        FourSeasonsNextDealVectorEnv: positions | many,
        FourSeasonsTextEnv: text,
    }.items():
        taken = inspect.signature(env).parameters.values()
        assert stated == {each.name: each.default for each in taken}, env.__name__


def test_page_on_files_explains_comparisons() -> None:
    """Those of tables: see test_luck.py, and those of a training run: test_train.py."""
    page = PAGES["docs/reference/files.md"]
    assert documented("compare.json") == {each.name for each in fields(Manifest)}
    (players,) = re.findall(r"^\| `players` \| (.*) \|$", page, re.MULTILINE)
    assert set(re.findall("`(.*?)`", players)) == {each.name for each in fields(Player)}
    titles = {title.format(against="heuristic") for title in TITLES}
    shown = re.findall(r"\| ([^|]*?)(?:, with several seeds)? \|$", page, re.MULTILINE)
    assert titles <= set(", ".join(shown).split(", "))


def test_recipes_are_linked_and_run() -> None:
    recipes = DOCS / "recipes"
    pages = {path.stem: path.read_text() for path in recipes.glob("*.md")}
    linked = re.compile(r"^\[(with_\w+\.py)\]\(\1\)$", re.MULTILINE)
    quoted = linked.findall("".join(pages.values()))
    assert sorted(quoted) == sorted(path.name for path in recipes.glob("with_*.py"))
    assert all(f"({name}.md)" in pages["index"] for name in set(pages) - {"index"})
    rows = tables.stored("libraries")
    as_text = {"openenv", "verifiers"}  # not trained: see test_text_recipes.py
    assert set(rows["page"]) == set(pages) - as_text
    assert set(rows["script"]) == set(quoted) - {f"with_{name}.py" for name in as_text}
    assert (rows["illegal"] == 0).all()


def merged_rows(folder: Path, stored: str, new: str) -> pd.DataFrame:
    """The rows of a stored file after `--add` of another."""
    for name, text in (("stored", stored), ("new", new)):
        (folder / name).write_text(text)
    tables.add(folder / "new", folder / "stored")
    return pd.read_csv(folder / "stored")


@pytest.mark.parametrize(
    ("stored", "new", "merged"),
    [
        (
            "agent,play,win_rate\na,p,0.1\nb,p,0.1\n",
            "agent,play,win_rate\nc,p,0.9\nb,p,0.9\n",
            {"agent": ["a", "c", "b"], "win_rate": [0.1, 0.9, 0.9]},
        ),
        # The rows of a deal replace all that were stored for it.
        ("deal,move\n1,a\n1,b\n2,a\n", "deal,move\n1,c\n1,d\n", {"move": ["a", "c", "d"]}),
    ],
)
def test_new_results_replace_old_ones(
    stored: str, new: str, merged: dict[str, list[Any]], tmp_path: Path
) -> None:
    rows = merged_rows(tmp_path, stored, new)
    assert rows[list(merged)].to_dict("list") == merged
    assert rows["version"].dropna().tolist() == 2 * [__version__]


def test_fewer_deals_do_not_replace_more(tmp_path: Path) -> None:
    header = "rules,agent,play,deals\n"
    with pytest.raises(ValueError, match="fewer deals than"):
        merged_rows(tmp_path, f"{header}r,a,p,1000\n", f"{header}r,a,p,20\n")


def test_differences_from_another_baseline_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must be compared with heuristic"):
        merged_rows(tmp_path, "agent\n", "agent,against\na,greedy\n")


def test_the_ceiling_is_not_stored(tmp_path: Path) -> None:
    """A stored one would be that of an older census, or of the deals of a replaced comparison."""
    compare(Compare(tmp_path / "new", ["heuristic"], deals="0-2", workers=Workers(n_jobs=1)))
    tables.add(tmp_path / "new", tmp_path / "stored.csv")
    assert pd.read_csv(tmp_path / "stored.csv")["agent"].tolist() == ["heuristic"]


def test_games_are_stored_beside_the_rows(tmp_path: Path) -> None:
    """The games of a player replace those that were stored; others stay."""
    path = tmp_path / "games" / "x.csv.gz"
    game = {"rules": "czarina", "agent": "a", "play": "stochastic", "train_seed": None, "deal": 0}
    tables.add_games(
        pd.DataFrame([game | {"cards_up": 7}, game | {"deal": 1, "cards_up": 8}]), path
    )
    again = game | {"cards_up": 52}
    tables.add_games(pd.DataFrame([again, again | {"train_seed": 3, "cards_up": 9}]), path)
    stored = pd.read_csv(path, index_col=["rules", "deal"])
    assert stored["a stochastic"].tolist() == [52, 8]
    assert stored["a stochastic seed 3"].fillna(-1).tolist() == [9, -1]


@pytest.mark.parametrize(
    "path", sorted((DOCS / "results" / "games").iterdir()), ids=lambda p: p.stem
)
def test_stored_games_are_those_of_the_rows(path: Path) -> None:
    games = pd.read_csv(path, index_col=["rules", "deal"])
    rows = tables.stored(path.name.removesuffix(".csv.gz"))
    checked = 0
    for row in rows.to_dict("records"):
        name = f"{row['agent']} {row['play']}"
        found = games.loc[row["rules"]].filter(regex=f"^{re.escape(name)}( seed|$)")
        found = found.dropna(axis="columns", how="all").dropna()  # other rules have other seeds
        if found.empty:  # earlier rows have no games
            assert row["version"] != __version__, name
            continue
        checked += 1
        assert found.shape == (row["deals"], row["seeds"]), name
        won = found == RULES[row["rules"]].cards
        assert won.to_numpy().mean() == pytest.approx(row["win_rate"], abs=1e-6)
        assert found.to_numpy().mean() == pytest.approx(row["cards_up"], abs=1e-4)
    assert checked


@pytest.mark.slow
def test_site_has_working_links_and_own_files(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="the extra `docs` is not installed")
    run_python("-m", "mkdocs", "build", "--site-dir", str(tmp_path))  # strict: a warning fails
    pages = {
        path.relative_to(tmp_path).as_posix(): path.read_text() for path in tmp_path.rglob("*.html")
    }
    assert "four_seasons_env.game.Game.play" in pages["api/game.html"]
    assert "api/environments.html#four_seasons_env.env" in pages["explanation/architecture.html"]
    assert not [*tmp_path.rglob("*.py")]
    for name, text in pages.items():
        assert not FROM_ELSEWHERE.findall(text), name


def examples() -> list[doctest.DocTest]:
    """The examples of all docstrings."""
    names = [name for name, path in FILES.items() if ">>>" in path.read_text()]
    modules = map(importlib.import_module, names)
    found = itertools.chain(*map(doctest.DocTestFinder().find, modules))
    return [each for each in found if each.examples]


@pytest.mark.slow  # of torch and Stable-Baselines3
def test_examples_in_docstrings_run() -> None:
    import torch
    from sb3_contrib import MaskablePPO

    from four_seasons_env.adapters.sb3 import FourSeasonsNextDealVecEnv, FourSeasonsVecEnv

    tests = examples()
    shown = {each.globs["__name__"].removeprefix("four_seasons_env.") for each in tests}
    assert shown >= SHOWN
    for each in tests:
        games = Games(RULES["four-seasons"], 4)
        each.globs.update(
            game=Game(deal=17),
            games=games.records,
            masks=games.action_masks(),
            rng=np.random.default_rng(0),
            observations=np.zeros((4, 107), np.uint8),
            RULES=RULES,
            MaskablePPO=MaskablePPO,
            FourSeasonsVecEnv=FourSeasonsVecEnv,
            env=FourSeasonsNextDealVecEnv(2),
            make_agent=make_agent,
            torch=torch,
        )
        report: list[str] = []
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(each, out=report.append)
        # An example without an expected value only has to run.
        assert not [text for text in report if "Exception raised" in text or "Expected:" in text], (
            each
        )
