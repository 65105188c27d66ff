"""Warm starts: behaviour cloning of a teacher, before reinforcement learning begins.

The teacher plays training games of its own; the learner is fitted to its moves, and to what they
earned, with its algorithm's `cloning_loss`. The weights are all that is left of it: the optimiser
of the learning proper starts fresh.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from rich.progress import track

from agents.algorithms import Algorithm
from agents.registry import Agent, make_agent
from agents.settings import Settings
from four_seasons_env import kernel
from four_seasons_env.adapters.sb3 import FourSeasonsVecEnv
from four_seasons_env.rules import Rules


@dataclass
class Demonstrations:
    """What a teacher saw, did and earned; a row a move."""

    observations: NDArray[np.float32]  # (n, L)
    masks: NDArray[np.bool_]  # (n, A)
    moves: NDArray[np.int64]  # (n,)
    returns: NDArray[np.float32]  # (n,), discounted


def demonstrate(
    teacher: Agent, rules: Rules, settings: Settings, seed: int, moves: int
) -> Demonstrations:
    """Let a teacher play training games, and keep the moves of those that it finished.

    The games are those of a learner with this seed at another offset, so that their deals are not
    the ones that it meets next. The teacher is shown reshuffled stocks, as everywhere.
    """
    games = settings.games
    env = FourSeasonsVecEnv(
        games,
        seed=2**63 + seed * games,
        rules=rules,
        observation=settings.observation,
        mask=settings.mask,
        reward=settings.reward,
        max_moves=settings.max_moves,
    )
    rng = np.random.default_rng([seed, 1])
    rule = kernel.compile_rules(rules)
    observations: Any = env.reset()
    steps: list[tuple[Any, ...]] = []
    for _ in range(max(moves // games, settings.max_moves)):
        masks = env.action_masks()
        shown = env.venv.games.copy()
        kernel.reshuffle_unseen_all(shown, rule, rng.integers(0, 2**63, games, np.uint64))
        chosen = teacher.act(shown, masks.view(np.int8), rng)
        following, rewards, dones, _ = env.step(chosen)
        # A byte a slot keeps a million moves in less than a gigabyte; see MaskableReplayBuffer.
        steps.append((np.rint(observations * rules.cards).astype(np.uint8), masks, chosen))
        steps[-1] += (rewards, dones)
        observations = following
    seen, masks, chosen, rewards, dones = (np.stack(column) for column in zip(*steps, strict=True))
    returns = np.zeros(rewards.shape, np.float32)
    finished = np.zeros(dones.shape, np.bool_)
    running = np.zeros(games, np.float32)
    ends = np.zeros(games, np.bool_)
    for t in range(len(rewards) - 1, -1, -1):
        running = rewards[t] + settings.gamma * np.where(dones[t], 0.0, running)
        ends |= dones[t]
        returns[t], finished[t] = running, ends
    return Demonstrations(seen[finished], masks[finished], chosen[finished], returns[finished])


def clone(
    model: Any,
    algorithm: Algorithm,
    settings: Settings,
    rules: Rules,
    seed: int,
    teacher: str = "heuristic",
) -> float:
    """Fit a fresh model to a teacher.

    Args:
        model: of the algorithm; its weights change.
        algorithm: for its loss.
        settings: hyperparameters; `cloning_*` are for this.
        rules: the rule set.
        seed: of the teacher's games and of the order in which the moves are shown.
        teacher: a registered agent that needs no weights.

    Returns:
        The mean loss of the last epoch.
    """
    player = make_agent(teacher, rules)
    shown = demonstrate(player, rules, settings, seed, settings.cloning_moves)
    rng = np.random.default_rng([seed, 2])
    optimizer = torch.optim.Adam(model.policy.parameters(), lr=settings.cloning_learning_rate)
    model.policy.set_training_mode(True)
    losses: list[float] = []
    for epoch in range(settings.cloning_epochs):
        losses = []
        order = np.array_split(
            rng.permutation(len(shown.moves)), max(len(shown.moves) // settings.batch_size, 1)
        )
        for rows in track(order, f"cloning {teacher}, {epoch + 1} of {settings.cloning_epochs}"):
            observations = torch.as_tensor(shown.observations[rows], device=model.device)
            loss = algorithm.cloning_loss(
                model,
                observations.float() * (1.0 / rules.cards),
                torch.as_tensor(shown.masks[rows], device=model.device),
                torch.as_tensor(shown.moves[rows], device=model.device),
                torch.as_tensor(shown.returns[rows], device=model.device),
            )
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(model.policy.parameters(), settings.max_grad_norm)
            optimizer.step()
            losses.append(loss.item())
    if hasattr(model, "q_net_target"):
        model.q_net_target.load_state_dict(model.q_net.state_dict())
    return float(np.mean(losses))
