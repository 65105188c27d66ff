"""How fast are environments of other libraries, compared with this package?

    pip install open_spiel
    python experiments/studies/peers.py --out runs/peers.csv
    python docs/tables.py --add runs/peers.csv docs/results/peers.csv

The ratios compare moves per CPU-second of random legal play; the environments take turns in one
process.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from four_seasons_env.experiments.bench import SINGLE, Player, cpu_name, measure, single_player
from four_seasons_env.experiments.reporting.tables import print_table
from four_seasons_env.experiments.results.tables import write_csv


def blackjack() -> Player:
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


def open_spiel_solitaire() -> Player:
    """OpenSpiel's Klondike from Python; mask and observation are read at each move."""
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


PEERS: dict[str, Callable[[], Player]] = {
    "gymnasium Blackjack-v1": blackjack,
    "OpenSpiel solitaire (Klondike)": open_spiel_solitaire,
}


def main() -> None:
    """Measure the peers whose libraries are installed, and write a ratio for each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=0.5, help="length of a window")
    run = parser.parse_args()
    rows = []
    for name, make in PEERS.items():
        try:
            players = [single_player(), make()]
        except ImportError as error:
            print(f"{name} is left out: {error}")
            continue
        own, other = (np.median(rates[:, 1]) for rates in measure(players, run.seconds))
        row = {"what": f"{SINGLE} / {name}", "machine": cpu_name(), "value": own / other}
        rows.append(row)
    write_csv(run.out, table := pd.DataFrame(rows))
    print_table(table.map(str), "moves per CPU-second", run.out)


if __name__ == "__main__":
    main()
