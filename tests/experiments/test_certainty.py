"""The line below the table of a comparison: how certain it is."""

import re

import numpy as np
import pandas as pd

from four_seasons_env.experiments.results.summary import crossed_interval, what_is_certain


def games(**won: np.ndarray) -> pd.DataFrame:
    rows = [
        {"rules": "r", "agent": agent, "play": "p", "train_seed": None, "deal": deal, "won": each}
        for agent, all_won in won.items()
        for deal, each in enumerate(all_won)
    ]
    return pd.DataFrame(rows)


def test_the_line_shows_resolved_differences() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.random((2, 200)) < 0.5
    line = what_is_certain(games(a=first, b=second))
    low, high = crossed_interval(first.astype(float)[None] - second)
    width = 50 * (high - low)
    assert line.startswith(f"200 deals: differences under {width:.2g} points are within chance")
    needed = float(f"{200 * (width / 2) ** 2:.2g}")
    assert line.endswith(f"resolving 2 points takes about {needed:,.0f} deals")


def test_training_seeds_count() -> None:
    """The line agrees with the table's interval, and asks for seeds where deals do not help."""
    rng = np.random.default_rng(0)
    base = rng.random(300) < 0.1
    trained = [rng.random(300) < rate for rate in (0.15, 0.25, 0.35)]
    runs = [games(a=won).assign(train_seed=seed) for seed, won in enumerate(trained)]
    line = what_is_certain(pd.concat([games(heuristic=base), *runs]))
    low, high = crossed_interval(np.array(trained, float) - base)
    assert f"differences under {50 * (high - low):.2g} points are within chance" in line
    assert "2 points takes more training seeds, not more deals; 3 training seeds are few" in line
    alone = what_is_certain(pd.concat([games(heuristic=base), runs[0]]))
    assert re.search(
        r"takes about [\d,]+ deals; one training seed says how its weights play", alone
    )
    same = [games(a=trained[0]).assign(train_seed=seed) for seed in range(5)]
    assert what_is_certain(pd.concat([games(heuristic=base), *same])).endswith("deals")


def test_one_agent_or_few_deals() -> None:
    line = what_is_certain(games(a=np.arange(100) % 2 == 0))
    assert line.startswith("100 deals: the win rate is known to within 10 points; resolving 2")
    assert what_is_certain(games(a=np.ones(1, bool), b=np.ones(1, bool))).endswith(
        "too few to distinguish any agents"
    )
    near = games(a=np.arange(4000) % 2 == 0, b=np.arange(4000) % 100 < 1)
    assert "resolving 1 point takes" in what_is_certain(near)
