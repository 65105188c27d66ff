# %% [markdown]
# # Compare agents, with intervals
#
# All agents play the same deals. The comparison stores one row per game and computes intervals.

# %% [markdown]
# Install the package. The dot stands for a clone. Elsewhere, replace it with the name of the
# wheel.

# %%
# %pip install ".[experiments]"

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from four_seasons_env.experiments.compare import Compare, compare

# %% [markdown]
# ## A custom agent
#
# An agent is a class with `act(games, masks, rng)`. It must be in a file, because results are
# stored under a digest of that file.

# %%
Path("my_agent.py").write_text("""
import numpy as np


class MyAgent:
    kind = "rule of thumb"
    mask = "distinct"

    def __init__(self, rules):
        self.preference = np.full(32, 0.5)  # moves between piles come last
        self.preference[0] = 1  # deal
        self.preference[7:12] = 2  # waste to a pile
        self.preference[1:7] = 3  # to a foundation

    def act(self, games, masks, rng):
        return (masks * self.preference).argmax(axis=1)
""")

# %% [markdown]
# ## The comparison
#
# Deals 10,000-19,999 are for validation. Use the test deals 0-9,999 once, for the final report.

# %%
DEALS = "10000-10499"
agents = ["random", "greedy", "mine=my_agent:MyAgent", "heuristic"]
compare(Compare(agents=agents, deals=DEALS, out=Path("runs/notebook")))

# %%
summary = pd.read_csv("runs/notebook/summary.csv")
summary = summary[summary["agent"] != "ceiling"]
summary[["agent", "deals", "win_rate", "win_low", "win_high", "win_difference", "p_value"]]

# %% [markdown]
# ## Intervals
#
# The first plot shows Wilson's 95% intervals of the win rates. The second plot shows differences
# to the heuristic on the same deals; these decide which agent is better.

# %%
figure, (rates, differences) = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
y = np.arange(len(summary))
rates.hlines(y, summary["win_low"], summary["win_high"])
rates.plot(summary["win_rate"], y, "o")
rates.set_yticks(y, summary["agent"])
rates.set_xlabel("games won")
paired = summary.dropna(subset=["win_difference"])
y = np.arange(len(paired))
differences.hlines(y, paired["win_difference_low"], paired["win_difference_high"])
differences.plot(paired["win_difference"], y, "o")
differences.axvline(0, color="black", lw=1)
differences.set_yticks(y, paired["agent"])
differences.set_xlabel("difference to the heuristic")
plt.show()
