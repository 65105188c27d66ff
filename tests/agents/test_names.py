"""Names of agents: split, options converted, and wrong ones refused."""

import dataclasses
import pickle
from pathlib import Path

import numpy as np
import pytest

from four_seasons_env.agents import make_agent
from four_seasons_env.agents.names import convert_options, split_name


@pytest.mark.parametrize(
    ("name", "label", "agent", "path", "options"),
    [
        ("heuristic", "", "heuristic", None, {}),
        ("rollout@worlds=4", "", "rollout", None, {"worlds": "4"}),
        ("a b: c=rollout@worlds=4", "a b: c", "rollout", None, {"worlds": "4"}),
        ("planner=planner:x/y@positions=4", "planner", "planner", "x/y", {"positions": "4"}),
        ("p=planner:lr=0.1 [1]/x", "p", "planner", "lr=0.1 [1]/x", {}),
        ("planner:~/home", "", "planner", "HOME/home", {}),
        (
            "finisher@base=planner:a@positions=4,ending_positions=1",
            *("", "finisher", None),
            {"base": "planner:a@positions=4", "ending_positions": "1"},
        ),
    ],
)
def test_names_are_split(monkeypatch, name, label, agent, path, options):
    monkeypatch.setenv("HOME", "HOME")
    monkeypatch.setenv("USERPROFILE", "HOME")
    parts = split_name(name)
    assert parts == pickle.loads(pickle.dumps(parts))
    assert (parts.label, parts.registered, parts.options) == (label, agent, options)
    assert parts.path == (None if path is None else Path(path))
    assert split_name(str(parts)) == dataclasses.replace(parts, label="")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("heuristik", "did you mean 'heuristic'"),
        ("random:runs/x", "has no weights"),
        ("rollout@world=4", "no option 'world': did you mean 'worlds'"),
        ("maskable_ppo@deterministic=true", "no option 'deterministic': choose .* with --play"),
        ("rollout@worlds", "is not an option"),
        ("=heuristic", "a label must not be empty"),
        ("planner:me@corp.org/x", "'corp.org/x' .* is not an option.*must be without @"),
        ("planner:runs/a:b", "must be without : ,: rename 'runs/a:b'"),
        ("planner:lr=0.1,seed=3", "must be without : ,: rename 'lr=0.1,seed=3'"),
        ("rollout@worlds=2,worlds=3", "option 'worlds' is given twice"),
        ("planner@positions=abc", "positions of agent 'planner' must be a whole number, 0 or more"),
        ("rollout@worlds=2.5", r"a whole number, 0 or more, not '2\.5' \(default 16\)"),
        ("next_deal_ppo@value_weight=nan", "a number, 0 or more, not 'nan'"),
        (
            "finisher@base=finisher",
            "base must be another agent, such as 'heuristic', not 'finisher'",
        ),
        ("finisher@base=heuristics", "unknown agent 'heuristics'"),
        ("rollout@worlds=0", "worlds must be a positive integer, not 0"),
        ("rollout@base=gredy", "did you mean 'greedy'"),
        ("next_deal_ppo@endings=serch", "unknown endings 'serch': did you mean 'search'"),
    ],
)
def test_wrong_names(name, message):
    with pytest.raises(ValueError, match=message):
        make_agent(name)


def test_missing_weights():
    with pytest.raises(FileNotFoundError, match="no weights at runs/nowhere"):
        make_agent("maskable_ppo:runs/nowhere")


def test_options_as_arguments():
    with pytest.raises(ValueError, match="worlds of agent 'rollout' must be a whole number"):
        make_agent("rollout", worlds=2.5)
    make_agent("rollout", worlds=np.int64(2))


def make(rules, depth, width: int | None = 4, share: float = 0.5, on: bool = False, to: str = ""):
    """Has options of every kind."""


def test_annotations_convert_text():
    text = {"width": "7", "share": "1e-3", "on": "true", "to": "7"}
    expected = {"width": 7, "share": 0.001, "on": True, "to": "7"}
    assert convert_options("mine", make, text, text=True) == expected
    assert convert_options("mine", make, expected, text=False) == expected
    assert convert_options("mine", make, {"width": "null"}, text=True) == {"width": None}
    assert convert_options("mine", make, {"share": 1}, text=False) == {"share": 1.0}
    with pytest.raises(ValueError, match="on of agent 'mine' must be true or false, not 'maybe'"):
        convert_options("mine", make, {"on": "maybe"}, text=True)


@pytest.mark.parametrize(
    ("text", "value"), [("3", 3), ("0.5", 0.5), ("true", True), ("[1]", [1]), ("deep", "deep")]
)
def test_text_without_annotation_is_json(text, value):
    assert convert_options("mine", make, {"depth": text}, text=True) == {"depth": value}
