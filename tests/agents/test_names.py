"""Names of agents: split, and options converted."""

import pickle
from pathlib import Path

import numpy as np
import pytest

from four_seasons_env.agents import make_agent
from four_seasons_env.agents.names import Name, read_options
from tests.agents.fakes import First


@pytest.mark.parametrize(
    ("name", "label", "agent", "path", "options"),
    [
        ("heuristic", "", "heuristic", None, {}),
        ("a b: c=rollout@worlds=4", "a b: c", "rollout", None, {"worlds": "4"}),
        ("planner=planner:x/y@positions=4", "planner", "planner", "x/y", {"positions": "4"}),
        ("p=planner:lr=0.1 [1]/x", "p", "planner", "lr=0.1 [1]/x", {}),
        ("planner:~/home", "", "planner", "HOME/home", {}),
        ("p=planner:C:\\runs\\x@positions=4", "p", "planner", "C:\\runs\\x", {"positions": "4"}),
        ("planner:/me@x.org@positions=4", "", "planner", "/me@x.org", {"positions": "4"}),
        ("m=my.module:Own:runs/x@depth=2", "m", "my.module:Own", "runs/x", {"depth": "2"}),
        ("finisher@base=planner:C:/a@b", "", "finisher", None, {"base": "planner:C:/a@b"}),
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
    parsed = Name(name)
    assert vars(pickle.loads(pickle.dumps(parsed))) == vars(parsed)
    assert (parsed.label, parsed.registered, parsed.options) == (label, agent, options)
    assert parsed.path == (None if path is None else Path(path))
    assert vars(Name(str(parsed))) == vars(parsed)
    assert vars(parsed.unlabelled) == vars(parsed) | {"label": ""}


def test_labels_distinguish_names():
    assert Name("x=planner") != Name("y=planner")
    assert len({Name("x=planner"), Name("y=planner"), Name("y=planner")}) == 2


class Optional(First):
    """Has options of every kind."""

    def __init__(
        self,
        rules,
        depth,
        width: int | None = 4,
        share: float = 0.5,
        on: bool = False,
        to: str = "",
    ):
        pass


OPTIONS = Optional.parameters()


def test_annotations_convert_text():
    text = {"width": "7", "share": "1e-3", "on": "true", "to": "7"}
    expected = {"width": 7, "share": 0.001, "on": True, "to": "7"}
    assert read_options("mine", OPTIONS, text, text=True) == expected
    assert read_options("mine", OPTIONS, expected, text=False) == expected
    assert read_options("mine", OPTIONS, {"width": "null"}, text=True) == {"width": None}
    assert read_options("mine", OPTIONS, {"share": 1}, text=False) == {"share": 1.0}
    make_agent("rollout", worlds=np.int64(2))


@pytest.mark.parametrize(
    ("text", "value"), [("3", 3), ("0.5", 0.5), ("true", True), ("[1]", [1]), ("deep", "deep")]
)
def test_text_without_annotation_is_json(text, value):
    assert read_options("mine", OPTIONS, {"depth": text}, text=True) == {"depth": value}
