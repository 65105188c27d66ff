"""How fast are the environments, compared with those of other libraries?

    pip install open_spiel envpool pgx
    python experiments/studies/peers.py --out runs/peers.csv

Each ratio compares moves per CPU-second of random play; both environments take turns in one
process. Libraries that are not installed are left out. Writes a row for each, for docs/results.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from four_seasons_env.experiments.bench import Steps, rates_of, single_steps, vector_steps
from four_seasons_env.experiments.results.tables import write_csv

GAMES = 1024
"""Games of a batch."""


def blackjack() -> Steps:
    """Gymnasium's Blackjack-v1, one environment from Python."""
    import gymnasium as gym

    env = gym.make("Blackjack-v1")
    env.reset(seed=0)
    actions = np.random.default_rng(0).integers(0, 2, 4096).tolist()

    def play() -> int:
        for action in actions:
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
        return len(actions)

    return play


def klondike() -> Steps:
    """OpenSpiel's Klondike from Python; mask and observation are read at each move."""
    import pyspiel

    game, rng = pyspiel.load_game("solitaire"), np.random.default_rng(0)
    running: dict[str, Any] = {"state": game.new_initial_state()}

    def play() -> int:
        done = 0
        while done < 512:
            state = running["state"]
            if state.is_terminal():
                running["state"] = game.new_initial_state()
            elif state.is_chance_node():
                outcomes, weights = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(int(rng.choice(outcomes, p=weights)))
            else:
                mask = np.array(state.legal_actions_mask(0))
                state.observation_tensor(0)
                state.apply_action(int(rng.choice(np.flatnonzero(mask))))
                done += 1
        return done

    return play


def envpool_blackjack() -> Steps:
    """EnvPool's Blackjack-v1, a batch."""
    import envpool

    envs = envpool.make_gymnasium("Blackjack-v1", num_envs=GAMES, num_threads=1)
    envs.reset()
    actions = np.random.default_rng(0).integers(0, 2, (64, GAMES))

    def play() -> int:
        for each in actions:
            envs.step(each)
        return actions.size

    return play


def pgx_2048() -> Steps:
    """Pgx's 2048, a batch: random legal moves, compiled by JAX."""
    import jax
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make("2048")
    reset = jax.jit(jax.vmap(env.init))
    step = jax.vmap(auto_reset(env.step, env.init))

    def steps(states: Any, key: Any) -> Any:
        def one(carry: Any, key: Any) -> Any:
            keys = jax.random.split(key, GAMES + 1)
            logits = jax.numpy.log(carry.legal_action_mask.astype(float))
            actions = jax.random.categorical(keys[0], logits)
            return step(carry, actions, keys[1:]), None

        return jax.lax.scan(one, states, jax.random.split(key, 16))[0]

    compiled = jax.jit(steps)  # As a decorator, mypy refuses it where JAX is missing.
    running = {"states": reset(jax.random.split(jax.random.key(0), GAMES)), "calls": 0}

    def play() -> int:
        running["calls"] += 1
        states = compiled(running["states"], jax.random.key(running["calls"]))
        running["states"] = jax.block_until_ready(states)
        return 16 * GAMES

    return play


PEERS: dict[str, tuple[str, int, Callable[[], Steps]]] = {
    "one environment: FourSeasons-v0 / Blackjack-v1": ("gymnasium", 1, blackjack),
    "one environment: FourSeasons-v0 / Klondike": ("open_spiel", 1, klondike),
    f"{GAMES:,} games: FourSeasons-v0 / Blackjack-v1": ("envpool", GAMES, envpool_blackjack),
    f"{GAMES:,} games: FourSeasons-v0 / 2048": ("pgx", GAMES, pgx_2048),
}
"""The library that a comparison is with, the number of games, and the library's steps."""


def main() -> None:
    """Measure the peers whose libraries are installed, and write a ratio for each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=0.5, help="length of a window")
    run = parser.parse_args()
    rows = []
    for name, (library, games, peer) in PEERS.items():
        own = vector_steps("four-seasons", games, num_threads=1) if games > 1 else single_steps()
        try:
            every = own, peer()
        except ImportError as error:
            print(f"left out: {name}: {error}")
            continue
        ours, theirs = (float(np.median(rates[:, 1])) for rates in rates_of(every, run.seconds))
        unit = f"times ({library} {metadata.version(library)})"
        rows.append({"what": name, "value": ours / theirs, "unit": unit})
    write_csv(run.out, table := pd.DataFrame(rows))
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
