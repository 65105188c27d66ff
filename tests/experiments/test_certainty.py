"""The line below the table of a comparison: how certain it is."""

import numpy as np
import pandas as pd

from four_seasons_env.experiments.results.certainty import what_is_certain


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
    spread = np.std(first.astype(float) - second, ddof=1)
    width = 196 * spread / np.sqrt(200)
    assert line.startswith(f"200 deals: differences under {width:.2g} points are within chance")
    assert line.endswith(
        f"resolving 2 points takes about {float(f'{200 * (width / 2) ** 2:.2g}'):,.0f} deals"
    )


def test_one_agent_or_few_deals() -> None:
    line = what_is_certain(games(a=np.arange(100) % 2 == 0))
    assert line.startswith("100 deals: the win rate is known to within 9.8 points; resolving 2")
    assert what_is_certain(games(a=np.ones(1, bool), b=np.ones(1, bool))).endswith(
        "too few to distinguish any agents"
    )
    many = games(a=np.arange(40_000) % 2 == 0, b=np.arange(40_000) % 4 < 2)
    assert "differences under 0.69 points" in what_is_certain(many)
    assert "resolving 0.5 points" in what_is_certain(many)
