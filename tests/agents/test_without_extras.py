"""Agents and error messages where only some extras are installed, in a fresh interpreter."""

import pytest

from tests.helpers import run_python

pytestmark = pytest.mark.slow
BLOCK = """
import sys

class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Block())
"""
AGENTS = ["msgspec", "safetensors"]
TRAIN = ["torch", "stable_baselines3", "sb3_contrib", "tensorboard", "yaml"]
EXPERIMENTS = ["pandas", "joblib", "scipy", "tyro", "matplotlib"]
PLAY = """
import numpy as np
from four_seasons_env.agents import make_agent
from four_seasons_env.game import Game

def play(name):
    agent, game, rng = make_agent(name), Game(deal=10_000), np.random.default_rng(0)
    while not game.is_over and game.moves_played < 300:
        mask = game.action_mask(distinct=agent.mask != "legal")[None]
        game.play(int(agent.act(game.record.copy(), mask, rng)[0]))
    assert game.cards_up > 4
"""


def run(blocked: list[str], code: str) -> str:
    """The output of code in a Python without these modules."""
    return run_python("-c", BLOCK.format(blocked=blocked) + code).strip()


def test_missing_extras_are_named():
    printed = run(
        AGENTS + TRAIN + EXPERIMENTS,
        PLAY
        + """
for name in ("random", "heuristic", "greedy", "first_candidate", "rollout", "finisher"):
    play(name)
for name in ("planner", "next_deal_ppo", "finisher@base=maskable_ppo", "rollout@worlds=2"):
    try:
        make_agent(name)
    except ImportError as error:
        print(error)
try:
    from four_seasons_env.agents import CandidatePolicy
except ImportError as error:
    print(error)
""",
    )
    install = "pip install 'four-seasons-env[agents]'"
    named = ("planner", "next_deal_ppo", "finisher", "rollout")
    *agents, policy = printed.splitlines()
    assert agents == [f'agent {name!r} needs the extra "agents": {install}' for name in named]
    assert policy.startswith('CandidatePolicy needs the extra "train"')


def test_the_registry_is_light():
    """A misspelt agent is rejected before anything is compiled or trained."""
    loaded = run(
        [],
        """
import sys
from four_seasons_env.agents import make_agent
try:
    make_agent("planer")
except ValueError:
    print([name for name in ("numba", "torch", "pandas", "msgspec") if name in sys.modules])
""",
    )
    assert loaded == "[]"
