"""Agents and error messages where no extra is installed, in a fresh interpreter."""

import pytest

from tests.helpers import run_python

BLOCKED = [
    *("msgspec", "safetensors"),
    *("torch", "stable_baselines3", "sb3_contrib", "tensorboard", "yaml"),
    *("pandas", "joblib", "scipy", "tyro", "matplotlib"),
]
SCRIPT = f"""
import sys

class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {BLOCKED!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Block())

import numpy as np
from four_seasons_env.agents import make_agent
from four_seasons_env.game import Game

for name in ("random", "heuristic", "greedy", "first_candidate", "rollout", "finisher"):
    agent, game, rng = make_agent(name), Game(deal=10_000), np.random.default_rng(0)
    while not game.is_over and game.moves_played < 300:
        mask = game.action_mask(distinct=agent.mask != "legal")[None]
        game.play(int(agent.act(game.record.copy(), mask, rng)[0]))
    assert game.cards_up > 4
for name in ("planner", "next_deal_ppo", "finisher@base=maskable_ppo", "rollout@worlds=2"):
    try:
        make_agent(name)
    except ImportError as error:
        print(error)
try:
    from four_seasons_env.agents import CandidatePolicy
except ImportError as error:
    print(error)
"""


@pytest.mark.slow
def test_missing_extras_are_named():
    *agents, policy = run_python("-c", SCRIPT).splitlines()
    install = "pip install 'four-seasons-env[agents]'"
    named = ("planner", "next_deal_ppo", "finisher", "rollout")
    assert agents == [f'agent {name!r} needs the extra "agents": {install}' for name in named]
    assert policy.startswith('CandidatePolicy needs the extra "train"')
