"""Options of agents: unknown ones, twice given ones, and values of another kind."""

import numpy as np
import pytest

from four_seasons_env.agents import make_agent
from four_seasons_env.agents.options import check_values


@pytest.mark.parametrize("name", [None, 3, ["heuristic"]])
def test_a_name_is_text(name):
    with pytest.raises(TypeError, match="an agent's name is text, such as 'heuristic', not"):
        make_agent(name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("planner@nodes=abc", "nodes of agent 'planner' must be a whole number, 0 or more"),
        ("planner@nodes=-5", "must be a whole number, 0 or more, not -5"),
        ("planner@endgame=xyz", r"not 'xyz' \(default 4\)"),
        ("rollout@worlds=2.5", r"a whole number, 0 or more, not 2\.5 \(default 16\)"),
        ("rollout@worlds=true", "a whole number, 0 or more, not True"),
        ("rollout@standard_errors=.nan", "a number, 0 or more, not nan"),
        ("rollout@standard_errors=.inf", "a number, 0 or more, not inf"),
        ("finisher@base=3", "base of agent 'finisher' must be a text, not 3"),
        ("finisher@endgame_nodes=2021-01-01", "must be a whole number"),
        ("next_deal_ppo@candidates=many", "candidates of agent 'next_deal_ppo' must be a whole"),
        ("best@milliseconds=fast", r"must be a number, 0 or more, not 'fast' \(default 10\.0\)"),
        ("planner@lookahead=1,lookahead=2", "option 'lookahead' is given twice"),
        ("planner@cards=1,lookahead=2", "is given option 'lookahead' twice"),
        ("finisher@base=finisher", "is a finisher itself: take another, such as 'heuristic'"),
        ("finisher@base=finisher@endgame_nodes=5", "is a finisher itself"),
        ("planner@nodes=[", "is not YAML"),
        ("planner@nodes=&a [*a]", "aliases .* are not read"),
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_options_in_a_name(name, message):
    with pytest.raises(ValueError, match=message):
        make_agent(name)


def test_options_as_arguments_are_checked_too():
    with pytest.raises(ValueError, match="milliseconds of agent 'best' must be a number"):
        make_agent("best", milliseconds="1")
    with pytest.raises(ValueError, match="worlds of agent 'rollout' must be a whole number"):
        make_agent("rollout", worlds=2.5)
    make_agent("rollout", worlds=np.int64(2), standard_errors=1)


def test_what_is_not_annotated_is_left_to_the_maker():
    def make(rules, depth, width: int | None = 4, names: list[str] | None = None):
        """Takes anything but a width that is none."""

    check_values("mine", make, {"depth": "deep", "width": None, "names": ["a"], "other": -1})
    with pytest.raises(ValueError, match=r"width of agent 'mine' must be a whole .* \(default 4\)"):
        check_values("mine", make, {"width": "wide"})
