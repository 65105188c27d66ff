"""Warm starts: behaviour cloning of a teacher, before reinforcement learning begins.

The teacher plays training games of its own. The learner is fitted to its moves and their returns
(`cloning_loss`). Only the weights are carried over: the optimiser of the
reinforcement learning starts fresh.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from rich.progress import track
from sb3_contrib import MaskablePPO

from four_seasons_env.agents.learned.ppo import Ppo
from four_seasons_env.agents.registry import Agent, make_agent


@dataclass
class Demonstrations:
    """A teacher's observations, actions and returns; one row for each action."""

    observations: dict[str, NDArray[Any]]  # (n, ...) by name, see `_halved`; ALONE if one array
    masks: NDArray[np.bool_]  # (n, A)
    actions: NDArray[np.int64]  # (n,)
    returns: NDArray[np.float32]  # (n,), discounted

    def batch(self, rows: NDArray[np.int64], device: Any) -> tuple[Any, ...]:
        """Observations, masks, actions and returns of some rows: arguments of a cloning loss."""
        observations: Any = {}
        for name, each in self.observations.items():
            seen = torch.as_tensor(each[rows], device=device)
            observations[name] = seen.float() if seen.is_floating_point() else seen
        others = (self.masks, self.actions, self.returns)
        return (
            observations.get(ALONE, observations),
            *(torch.as_tensor(each[rows], device=device) for each in others),
        )


ALONE = "alone"


def _halved(observations: NDArray[Any]) -> NDArray[Any]:
    """Observations with 16-bit floats, to save memory; integers are unchanged."""
    halved: NDArray[Any] = (
        observations.astype(np.float16) if observations.dtype == np.float32 else observations
    )
    return halved


def demonstrate(learner: Ppo, teacher: Agent, actions: int) -> Demonstrations:
    """Let a teacher play training games, and record the actions of the games that it finished.

    The deals differ from those that the learner with this seed plays next. The teacher sees
    reshuffled stocks. Where actions are positions, the teacher's may not be among the candidates:
    then the game continues with the first candidate, and that decision is not recorded.
    """
    settings, games = learner.settings, learner.settings.games
    env = learner.make_games(seed=2**63 + learner.seed * games)
    rng = np.random.default_rng([learner.seed, 1])
    observations: Any = env.reset()
    steps: list[tuple[Any, ...]] = []
    longest = settings.max_moves if learner.unit == "moves" else LONGEST_GAME
    for _ in range(max(actions // games, longest)):
        masks = env.action_masks()
        chosen = learner.choice_of(teacher, env, rng)
        following, rewards, dones, _ = env.step(np.maximum(chosen, 0))
        named = observations if isinstance(observations, dict) else {ALONE: observations}
        halved = {name: _halved(each) for name, each in named.items()}
        steps.append((halved, masks, chosen, rewards, dones))
        observations = following
    shown, *columns = zip(*steps, strict=True)
    masks, chosen, rewards, dones = (np.stack(column) for column in columns)
    returns = np.zeros(rewards.shape, np.float32)
    finished = np.zeros(dones.shape, np.bool_)
    running = np.zeros(games, np.float32)
    ends = np.zeros(games, np.bool_)
    for t in range(len(rewards) - 1, -1, -1):
        running = rewards[t] + settings.gamma * np.where(dones[t], 0.0, running)
        ends |= dones[t]
        returns[t], finished[t] = running, ends
    recorded = finished & (chosen >= 0)
    seen = {name: np.stack([each[name] for each in shown])[recorded] for name in shown[0]}
    return Demonstrations(seen, masks[recorded], chosen[recorded], returns[recorded])


LONGEST_GAME = 60
"""Decisions within which most games end, where actions are positions."""


def clone(learner: Ppo, teacher: str = "heuristic") -> float:
    """Fit the weights of a fresh learner to a teacher; `cloning_*` of its settings apply.

    Args:
        learner: at its first step.
        teacher: a registered agent that needs no weights.

    Returns:
        The mean loss of the last epoch.
    """
    model, settings = learner.model, learner.settings
    player = make_agent(teacher, learner.rules)
    shown = demonstrate(learner, player, settings.cloning_moves)
    rng = np.random.default_rng([learner.seed, 2])
    optimizer = torch.optim.Adam(model.policy.parameters(), lr=settings.cloning_learning_rate)
    model.policy.set_training_mode(True)
    losses: list[float] = []
    for epoch in range(settings.cloning_epochs):
        losses = []
        order = np.array_split(
            rng.permutation(len(shown.actions)), max(len(shown.actions) // settings.batch_size, 1)
        )
        for rows in track(order, f"cloning {teacher}, {epoch + 1} of {settings.cloning_epochs}"):
            loss = cloning_loss(model, *shown.batch(rows, model.device))
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(model.policy.parameters(), settings.max_grad_norm)
            optimizer.step()
            losses.append(loss.item())
    return float(np.mean(losses))


def cloning_loss(
    model: MaskablePPO,
    observations: Any,
    masks: torch.Tensor,
    actions: torch.Tensor,
    returns: torch.Tensor,
) -> torch.Tensor:
    """The loss that fits the policy to a teacher's actions, and the values to their returns.

    Cross-entropy over the legal actions, plus squared error of the value network.

    Args:
        model: the learner.
        observations: as its policy takes them, n of each.
        masks: bool of shape (n, A).
        actions: int64 of shape (n,), the teacher's.
        returns: float32 of shape (n,), discounted.
    """
    values, log_probabilities, _ = model.policy.evaluate_actions(
        observations, actions, action_masks=masks
    )
    fit = torch.nn.functional.mse_loss(values.flatten(), returns)
    loss: torch.Tensor = model.vf_coef * fit - log_probabilities.mean()
    return loss
