"""Names of agents: taken apart, their options converted, and what makes no sense refused."""

from pathlib import Path

import numpy as np
import pytest

from four_seasons_env.agents import make_agent
from four_seasons_env.agents.options import check_options, convert_options
from four_seasons_env.agents.registry import split_name


def test_names_are_taken_apart():
    name = split_name("planner:runs/x/best@positions=400,expansions=1")
    assert (name.registered, name.path) == ("planner", Path("runs/x/best"))
    assert name.options == {"positions": "400", "expansions": "1"}
    assert split_name("heuristic").options == {}


@pytest.mark.parametrize("name", [None, 3, ["heuristic"]])
def test_a_name_is_text(name):
    with pytest.raises(TypeError, match="an agent's name is text, such as 'heuristic', not"):
        make_agent(name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("heuristik", "did you mean 'heuristic'"),
        ("random:runs/x", "has no weights"),
        ("rollout@world=4", "no option 'world': did you mean 'worlds'"),
        ("planner@expansion=4", "no option 'expansion': did you mean 'expansions'"),
        ("next_deal_ppo@candidate=4", "no option 'candidate': did you mean 'candidates'"),
        ("planner@path=here", "no option 'path'"),
        ("maskable_ppo@deterministic=true", "no option 'deterministic': it takes none"),
        ("random@worlds=4", "no option 'worlds'"),
        ("rollout@worlds", "is no option"),
        ("rollout@worlds=2,worlds=3", "option 'worlds' is given twice"),
        ("planner@positions=abc", "positions of agent 'planner' must be a whole number, 0 or more"),
        ("planner@positions=-5", "must be a whole number, 0 or more, not '-5'"),
        ("planner@votes=xyz", r"not 'xyz' \(default 4\)"),
        ("rollout@worlds=[", "must be a whole number"),
        ("rollout@worlds=2.5", r"a whole number, 0 or more, not '2\.5' \(default 16\)"),
        ("rollout@worlds=true", "a whole number, 0 or more, not 'true'"),
        ("rollout@standard_errors=nan", "a number, 0 or more, not 'nan'"),
        ("rollout@standard_errors=inf", "a number, 0 or more, not 'inf'"),
        ("finisher@ending_positions=2021-01-01", "must be a whole number"),
        ("next_deal_ppo@candidates=many", "candidates of agent 'next_deal_ppo' must be a whole"),
        ("finisher@base=finisher", "is a finisher itself: take another, such as 'heuristic'"),
        ("finisher@base=finisher@ending_positions=5", "is a finisher itself"),
        ("finisher@base=3", "unknown agent '3'"),
        ("rollout@worlds=0", "worlds must be at least 1"),
        ("rollout@moves=0", "moves must be at least 1"),
        ("rollout@base=gredy", "did you mean 'greedy'"),
        ("next_deal_ppo@endings=serch", "unknown endings 'serch': did you mean 'search'"),
    ],
)
def test_names_that_make_no_sense_are_refused(name, message):
    with pytest.raises(ValueError, match=message):
        make_agent(name)


def test_weights_that_are_not_there_are_refused():
    with pytest.raises(FileNotFoundError, match="no weights at runs/nowhere"):
        make_agent("maskable_ppo:runs/nowhere")


def test_options_as_arguments_are_checked_too():
    with pytest.raises(ValueError, match="worlds of agent 'rollout' must be a whole number"):
        make_agent("rollout", worlds=2.5)
    with pytest.raises(ValueError, match="no option 'world': did you mean 'worlds'"):
        make_agent("rollout", world=2)
    make_agent("rollout", worlds=np.int64(2), standard_errors=1)


def make(rules, depth, width: int | None = 4, share: float = 0.5, on: bool = False, to: str = ""):
    """Has options of every kind."""


def test_text_becomes_what_the_annotations_say():
    text = {"width": "7", "share": "1e-3", "on": "true", "to": "7"}
    expected = {"width": 7, "share": 0.001, "on": True, "to": "7"}
    assert convert_options("mine", make, text, text=True) == expected
    assert convert_options("mine", make, expected, text=False) == expected
    assert convert_options("mine", make, {"width": "null"}, text=True) == {"width": None}


@pytest.mark.parametrize(
    ("text", "value"), [("3", 3), ("0.5", 0.5), ("true", True), ("[1]", [1]), ("deep", "deep")]
)
def test_text_without_an_annotation_is_json_where_it_can_be(text, value):
    assert convert_options("mine", make, {"depth": text}, text=True) == {"depth": value}


def test_what_has_an_annotation_of_another_kind_is_left_to_the_maker():
    def other(names: list[str] | None = None, where: Path = Path()):
        """Has options that no name can hold."""

    values = {"names": ["a"], "where": Path("x")}
    assert convert_options("mine", other, values, text=False) == values


def test_a_wrong_value_is_refused_with_the_kind_and_the_default():
    with pytest.raises(ValueError, match=r"width of agent 'mine' must be a whole .* \(default 4\)"):
        convert_options("mine", make, {"width": "wide"}, text=True)
    with pytest.raises(ValueError, match="on of agent 'mine' must be true or false, not 'maybe'"):
        convert_options("mine", make, {"on": "maybe"}, text=True)


def test_reserved_arguments_are_no_options():
    check_options("mine", make, ["rules", "width"], reserved=())
    with pytest.raises(ValueError, match="no option 'rules'"):
        check_options("mine", make, ["rules"], reserved=("rules",))
