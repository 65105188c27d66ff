"""Agents of other packages: by the place of a class, or by an entry point of a package."""

import inspect
from pathlib import Path

import numpy as np
import pytest

from four_seasons_env.agents import make_agent
from four_seasons_env.agents.names import split_name
from four_seasons_env.agents.registry import takes_three
from four_seasons_env.experiments.compare import Compare, compare
from four_seasons_env.experiments.comparison import read_results
from four_seasons_env.experiments.players import find_players
from four_seasons_env.experiments.report import Report, report
from four_seasons_env.experiments.verify import Verify, verify
from four_seasons_env.experiments.workers import Workers
from four_seasons_env.rules import RULES

CODE = '''
class First:
    """Plays the first legal move."""

    def act(self, games, masks, rng):
        return masks.argmax(axis=1)


class Last:
    kind, mask = "rule of thumb", "distinct"

    def __init__(self, rules, depth=1):
        self.rules, self.depth = rules, depth

    def act(self, games, masks, rng):
        return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


class Odd(First):
    mask = "legall"


class Untold(First):
    kind = None


class Short:
    def act(self, games, masks):
        return masks.argmax(axis=1)


class Dated(First):
    kind, train_seed = "learned", 20240917


class Later(Dated):
    train_seed = 20240918


class Lettered(First):
    train_seed = "a"


'''


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module of agents, and a package whose entry point `their-agent` names one of them."""
    folder, module = tmp_path / "site", f"plugin_{tmp_path.name}"
    about = folder / "theirs-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / f"{module}.py").write_text(CODE)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    points = f"[four_seasons_env.agents]\ntheir-agent = {module}:Last\nrandom = {module}:Last\n"
    (about / "entry_points.txt").write_text(points)
    monkeypatch.syspath_prepend(str(folder))
    return module


def test_a_class_is_an_agent_by_its_place(plugin: str) -> None:
    rules = RULES["czarina"]
    first = make_agent(f"{plugin}:First", rules)
    assert first.mask == "legal"
    masks = np.array([[0, 1, 1], [1, 0, 0]], np.int8)
    assert first.act(np.zeros(2), masks, np.random.default_rng(0)).tolist() == [1, 0]
    last = make_agent(f"{plugin}:Last@depth=3", rules)
    assert (last.rules, last.depth, last.mask) == (rules, 3, "distinct")
    assert make_agent(f"{plugin}:Last@depth=3", rules, depth=4).depth == 4


def test_an_entry_point_adds_an_agent(plugin: str) -> None:
    assert type(make_agent("their-agent")).__name__ == "Last"
    assert make_agent("their-agent@depth=2").depth == 2
    assert type(make_agent("random")).__module__ == "four_seasons_env.agents.scripted.random_agent"
    with pytest.raises(ValueError, match="did you mean 'their-agent'"):
        make_agent("their-agnt")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("{module}:Furst", "has no 'Furst': did you mean 'First'"),
        ("{module}:Short", r"has no act\(games, masks, rng\)"),
        ("{module}:Untold", "kind of agent .* must be a text, not None"),
        ("{module}:Odd", "has mask 'legall': did you mean 'legal'"),
        ("{module}:First@depth=2", "no option 'depth': it takes none"),
        ("{module}:Last@dept=2", "no option 'dept': did you mean 'depth'"),
        ("no_such_module:First", "unknown agent 'no_such_module', and no module 'no_such_module'"),
        ("planer:runs/x", "unknown agent 'planer', .*did you mean 'planner'"),
    ],
)
def test_unplayable_classes_are_refused(plugin: str, name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message.format(module=plugin)):
        make_agent(name.format(module=plugin))


def test_players_of_others_have_kind_and_block(plugin: str) -> None:
    names = [f"mine={plugin}:Last@depth=2", f"{plugin}:First", "heuristic"]
    players = find_players(map(split_name, names), "four-seasons")
    kinds = [("rule of thumb", 10), ("-", 10), ("rule of thumb", 1000)]
    assert [(player.kind, player.block) for player in players] == kinds


def test_agents_with_one_label_are_training_seeds(plugin: str, tmp_path: Path, capsys) -> None:
    """Seeds are those that they state, or their order; in every file, and on the page."""
    dated, own = (
        [f"{plugin}:Dated", f"{plugin}:Later"],
        [f"{plugin}:Last", f"{plugin}:Last@depth=2"],
    )
    names = [*(f"dated={each}" for each in dated), *(f"own={each}" for each in own), "heuristic"]
    out = tmp_path / "out"
    compare(Compare(out, names, deals="10000-10019", record=True, workers=Workers(n_jobs=1)))
    assert "; 2 training seeds are few: the true intervals are wider" in capsys.readouterr().out
    results = read_results(str(out)).groupby("agent", sort=False)["train_seed"].unique()
    seeds = [20240917, 20240918, 0, 1]
    assert [*results["dated"], *results["own"]] == seeds and results["heuristic"].isna().all()
    assert verify(Verify(out))
    page = report(Report([out])).read_text()
    for seed in seeds:
        assert f"<td>{seed}</td>" in page
        assert f"\n{seed}," in (out / "seeds.csv").read_text()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["own={module}:First", "own={module}:First"], "have the same label 'own'"),
        (["own={module}:First", "own={module}:Last"], "have the same label 'own': rename one"),
        (["own={module}:First", "own=heuristic"], "have the same label 'own': rename one"),
        (["{module}:Lettered"], "train_seed of agent .* must be a whole number .*, not 'a'"),
    ],
)
def test_other_agents_need_other_labels(plugin: str, names: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        find_players([split_name(each.format(module=plugin)) for each in names], "four-seasons")


def test_functions_may_lack_a_signature() -> None:
    with pytest.raises(ValueError, match="no signature"):
        inspect.signature(min)
    assert takes_three(min)
