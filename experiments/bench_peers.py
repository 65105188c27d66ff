"""Environments of other libraries, for `four-seasons bench --peers`: random legal play.

They are not among the project's dependencies: `pip install .[peers]` installs them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Stepper = Callable[[], int]
"""Plays some moves, and returns how many."""


def blackjack() -> Stepper:
    """Gymnasium's Blackjack-v1, one environment from Python."""
    import gymnasium as gym

    env = gym.make("Blackjack-v1")
    env.reset(seed=0)
    actions = np.random.default_rng(0).integers(0, 2, 4096).tolist()

    def steps() -> int:
        for action in actions:
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
        return len(actions)

    return steps


def open_spiel_solitaire() -> Stepper:
    """OpenSpiel's Klondike from Python, legal-move mask and observation read at each move."""
    import pyspiel

    game = pyspiel.load_game("solitaire")
    rng = np.random.default_rng(0)
    running: dict[str, Any] = {"state": game.new_initial_state()}

    def steps() -> int:
        done = 0
        while done < 512:
            state = running["state"]
            if state.is_terminal():
                running["state"] = game.new_initial_state()
                continue
            if state.is_chance_node():
                outcomes, weights = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(int(rng.choice(outcomes, p=weights)))
                continue
            mask = np.array(state.legal_actions_mask(0))
            state.observation_tensor(0)
            state.apply_action(int(rng.choice(np.flatnonzero(mask))))
            done += 1
        return done

    return steps


def pgx_leduc(games: int = 4096, moves: int = 64) -> Stepper:
    """pgx's Leduc hold'em in JAX: a batch on the CPU, stepped and reset in one compiled loop."""
    import jax
    import jax.numpy as jnp
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make("leduc_holdem")
    step = jax.vmap(auto_reset(env.step, env.init))

    def one(carry: Any, key: Any) -> Any:
        state = carry
        draw, again = jax.random.split(key)
        logits = jnp.log(state.legal_action_mask.astype(jnp.float32))
        actions = jax.random.categorical(draw, logits, axis=-1)
        return step(state, actions, jax.random.split(again, games)), state.observation.sum()

    many = jax.jit(lambda state, key: jax.lax.scan(one, state, jax.random.split(key, moves)))
    running = {
        "state": jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), games)),
        "key": jax.random.PRNGKey(1),
    }

    def steps() -> int:
        running["key"], key = jax.random.split(running["key"])
        running["state"], sums = many(running["state"], key)
        jax.block_until_ready(sums)
        return games * moves

    return steps


PEERS: dict[str, tuple[Callable[[], Stepper], int]] = {
    "gymnasium Blackjack-v1": (blackjack, 1),
    "OpenSpiel solitaire (Klondike)": (open_spiel_solitaire, 1),
    "pgx leduc_holdem (JAX)": (pgx_leduc, 4096),
}
"""Each peer's maker, and how many games it steps at a time."""
