"""`check_masked_env`: checks the contract of an environment with masked actions.

It checks any Gymnasium environment with `Discrete` actions and masks in `info["action_mask"]`. For
environments of this package it also checks that hidden cards stay hidden. It needs no test
framework: a broken promise raises an AssertionError that says which one and where.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils.env_checker import data_equivalence
from numpy.typing import NDArray

from four_seasons_env.arguments import check_positive, check_type, whole_number

AnyEnv = gym.Env[Any, Any]
Answer = tuple[Any, dict[str, Any]]
"""An observation and an info."""


def check_masked_env(env: AnyEnv, steps: int = 200, seed: int = 0) -> None:
    """Play random legal actions and check masks, acceptance, seeds, copies and secrets.

    Examples:
        >>> check_masked_env(gym.make("FourSeasons-v0", mask="no_repeats"), steps=50)

    1. The mask is int8 or bool of shape (A,), and the same in `info`, from `action_masks()` and in
       the observation, if it has one. It is never all zero before an episode ends.
    2. An action is accepted if and only if the mask allows it (every action, in a copy). It is if
       it raises no ValueError and `info["illegal"]` is False; without that key, if the observation
       changes.
    3. The same seed and actions give the same episode.
    4. Copies and pickles continue like the original, and do not change it.
    5. In an environment with a `game` (those of this package), another order of the cards that are
       still hidden changes no observation and no mask.

    Args:
        env: the environment, as `gymnasium.make` returns it; it is reset.
        steps: actions to play, for each of the checks 1, 3 and 4.
        seed: seed of the resets and of the random actions.

    Raises:
        AssertionError: naming the first broken promise, and where.
    """
    check_type("env", env, gym.Env)
    check_positive("steps", steps)
    whole_number("seed", seed)
    if not isinstance(env.action_space, spaces.Discrete):
        raise AssertionError(f"actions must be Discrete, not {env.action_space}")
    _check_masks(env, steps, seed)
    _check_seeds(env, steps, seed)
    _check_copies(env, steps, seed)
    if hasattr(env.unwrapped, "game"):
        _check_secrets(env, seed)


def _check(kept: Any, broken: str) -> None:
    """Check a promise. Not by `assert`, which `python -O` leaves out."""
    if not kept:
        raise AssertionError(broken)


def _mask(env: AnyEnv, observation: Any, info: dict[str, Any], where: str) -> NDArray[np.bool_]:
    """The mask of an environment, checked for its form; bool of shape (A,)."""
    _check("action_mask" in info, f"{where}: info has no action_mask")
    mask = np.asarray(info["action_mask"])
    count = int(env.action_space.n)  # type: ignore[attr-defined]
    _check(mask.shape == (count,), f"{where}: the mask has shape {mask.shape}, not ({count},)")
    _check(
        mask.dtype in (np.int8, np.bool_), f"{where}: the mask is {mask.dtype}, not int8 or bool"
    )
    _check(set(np.unique(mask)) <= {0, 1}, f"{where}: the mask holds more than 0 and 1")
    method = getattr(env.unwrapped, "action_masks", None)
    if method is not None:
        returned = np.asarray(method())
        _check(
            (returned == mask).all(), f"{where}: action_masks() differs from info['action_mask']"
        )
    if isinstance(observation, dict) and "action_mask" in observation and mask.any():
        seen = np.asarray(observation["action_mask"])
        _check((seen == mask).all(), f"{where}: the mask in the observation differs from info's")
    return mask.astype(np.bool_)


def _check_masks(env: AnyEnv, steps: int, seed: int) -> None:
    """Promises 1 and 2."""
    rng = np.random.default_rng(seed)
    observation, info = env.reset(seed=seed)
    for step in range(steps):
        where = f"step {step}"
        mask = _mask(env, observation, info, where)
        _check(mask.any(), f"{where}: the episode has not ended, but no action is legal")
        # All actions are tried in copies, but not in each step: that would take long.
        if step % 10 == 0:
            for action in range(len(mask)):
                taken = _is_accepted(copy.deepcopy(env), action, observation)
                _check(
                    taken == mask[action],
                    f"{where}: action {action} is {'accepted' if taken else 'refused'}, "
                    f"but its mask is {int(mask[action])}",
                )
        action = int(rng.choice(np.flatnonzero(mask)))
        observation, _, terminated, truncated, info = env.step(action)
        _check(env.observation_space.contains(observation), f"{where}: not in observation_space")
        if terminated or truncated:
            _mask(env, observation, info, f"{where} (last of its episode)")
            observation, info = env.reset()


def _is_accepted(env: AnyEnv, action: int, before: Any) -> bool:
    """Whether an environment takes an action, after an observation."""
    try:
        after, _, _, _, info = env.step(action)
    except ValueError:  # raised with `illegal="raise"` and the like
        return False
    return not (info["illegal"] if "illegal" in info else data_equivalence(before, after))


def _check_seeds(env: AnyEnv, steps: int, seed: int) -> None:
    """Promise 3."""
    first, _ = _play(env, env.reset(seed=seed), steps, seed)
    again, _ = _play(env, env.reset(seed=seed), steps, seed)
    _assert_alike(first, again, "after a reset with the same seed")


def _check_copies(env: AnyEnv, steps: int, seed: int) -> None:
    """Promise 4, in the middle of an episode."""
    duplicates: dict[str, Callable[[AnyEnv], AnyEnv]] = {
        "deepcopy": copy.deepcopy,
        "pickle": lambda each: pickle.loads(pickle.dumps(each)),
    }
    for name, duplicate in duplicates.items():
        _, now = _play(env, env.reset(seed=seed), min(10, steps), seed)
        # The copy plays first: the original must not notice.
        twin = duplicate(env)
        theirs, _ = _play(twin, now, steps, seed)
        ours, _ = _play(env, now, steps, seed)
        _assert_alike(ours, theirs, f"in a copy made by {name}")


def _play(env: AnyEnv, now: Answer, steps: int, seed: int) -> tuple[list[Any], Answer]:
    """Take random legal actions of a seed, over ends of episodes.

    Args:
        env: the environment, in an episode.
        now: its last observation and info.
        steps: number of actions.
        seed: of the actions.

    Returns:
        What it returned, and its last observation and info.
    """
    rng = np.random.default_rng(seed)
    observation, info = now
    history: list[Any] = []
    for _ in range(steps):
        action = int(rng.choice(np.flatnonzero(np.asarray(info["action_mask"]))))
        observation, reward, terminated, truncated, info = env.step(action)
        history.append((observation, reward, terminated, truncated, info["action_mask"]))
        if terminated or truncated:
            observation, info = env.reset()
            history.append((observation, info["action_mask"]))
    return history, (observation, info)


def _assert_alike(first: list[Any], second: list[Any], where: str) -> None:
    for step, (one, other) in enumerate(zip(first, second, strict=False)):
        _check(data_equivalence(one, other), f"{where}, step {step} differs")
    _check(len(first) == len(second), f"{where}, episodes end elsewhere")


def _check_secrets(env: AnyEnv, seed: int) -> None:
    """Promise 5: the same actions over decks that differ in what is still hidden at the end."""
    from four_seasons_env.game import Game

    unwrapped: Any = env.unwrapped
    rng = np.random.default_rng(seed)
    for length in (1, 5, 15, 30):
        # 1. Play some moves of a deal, to know the cards that are still hidden then.
        observation, info = env.reset(seed=seed + length)
        opening = unwrapped.game
        shown, actions = [(observation, info["action_mask"])], list[int]()
        for _ in range(length):
            actions.append(int(rng.choice(np.flatnonzero(info["action_mask"]))))
            observation, _, terminated, truncated, info = env.step(actions[-1])
            shown.append((observation, info["action_mask"]))
            if terminated or truncated:
                break
        # 2. Shuffle those, and play the same moves.
        record, dealt = opening.record.copy(), unwrapped.game.record["dealt"][0]
        hidden = record["deck"][0, dealt : record["deck_size"][0]]
        rng.shuffle(hidden)
        twin = Game.from_record(record, opening.rules)
        observation, info = env.reset(options={"game": twin})
        again = [(observation, info["action_mask"])]
        for action in actions:
            observation, *_, info = env.step(action)
            again.append((observation, info["action_mask"]))
        _assert_alike(shown, again, f"with the last {len(hidden)} cards in another order")
