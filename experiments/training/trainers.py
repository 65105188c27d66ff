"""All that can be trained, by the agent's name."""

from __future__ import annotations

from four_seasons_env.agents.learned.algorithms import ALGORITHMS
from four_seasons_env.experiments.training.learner import Trainer
from four_seasons_env.experiments.training.planner import PlannerTrainer
from four_seasons_env.experiments.training.stable_baselines import StableBaselinesTrainer
from four_seasons_env.rules import nearest


def trainers() -> dict[str, Trainer]:
    """A trainer for each learning agent."""
    found: list[Trainer] = [PlannerTrainer()]
    found += [StableBaselinesTrainer(each) for each in ALGORITHMS.values()]
    return {each.name: each for each in found}


def get_trainer(name: str) -> Trainer:
    """The trainer of a learning agent.

    Raises:
        ValueError: for an agent that does not learn, with the nearest that does.
    """
    known = trainers()
    if name not in known:
        raise ValueError(f"no learning agent {name!r}: {nearest(name, known)}")
    return known[name]
