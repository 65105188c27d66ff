"""Compile ahead of the tests, on two cores: `python -m tests.warm_up`.

The tests run in several processes, each of which would compile the same functions for itself. Here
each of two processes compiles a half, for all that come after.
"""

from __future__ import annotations

import subprocess
import sys

from four_seasons_env.agents import make_agent
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.evaluation.play import play_deals
from four_seasons_env.rules import RULES

AGENTS = ("heuristic", "greedy", "rollout@worlds=2", "planner@lookahead=1", "finisher")


def warm_up() -> None:
    """Compile the environments in one process, and the solver and the agents in this one."""
    environments = subprocess.Popen([sys.executable, "-m", "four_seasons_env.precompile"])
    for name in AGENTS:
        play_deals(make_agent(name), RULES["four-seasons"], range(TRAIN_FROM, TRAIN_FROM + 1))
    sys.exit(environments.wait())


if __name__ == "__main__":
    warm_up()
