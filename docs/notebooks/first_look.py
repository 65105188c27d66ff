# %% [markdown]
# # A first look at Four Seasons
#
# This notebook plays a few games. It shows positions, action masks, and how many games different
# agents win.

# %% [markdown]
# Install the package. The dot stands for a clone. Elsewhere, replace it with the name of the
# wheel.

# %%
# %pip install ".[agents,render]"

# %%
import gymnasium as gym
import matplotlib.pyplot as plt
import numpy as np

import four_seasons_env
from four_seasons_env import Game
from four_seasons_env.agents import make_agent

# %% [markdown]
# ## A position
#
# A deal number determines the order of the cards. A cell that ends with a game draws it.

# %%
game = Game("four-seasons", deal=17)
game

# %%
print(game.legal_moves())
game.play(game.legal_moves()[0])
print(game)

# %% [markdown]
# ## The environment and its action mask
#
# Observations are vectors, actions are numbers. `info["action_mask"]` marks the legal actions.

# %%
env = gym.make("FourSeasons-v0", render_mode="rgb_array")
observation, info = env.reset(options={"deal": 17})
print(observation.shape, env.action_space, np.flatnonzero(info["action_mask"]))

# %%
rng = np.random.default_rng(0)
done = False
while not done:
    action = rng.choice(np.flatnonzero(info["action_mask"]))
    observation, reward, terminated, truncated, info = env.step(action)
    done = terminated or truncated
print("cards on the foundations:", info["cards_up"], "won:", info["won"])
plt.imshow(env.render())
plt.axis("off")
plt.show()

# %% [markdown]
# ## Agents
#
# An agent chooses actions for many games at once. Here each agent plays the same validation deals.

# %%
DEALS = range(10_000, 10_050)


def play(agent, deal):
    """Play one deal with an agent, and return whether it won."""
    game, rng = Game("four-seasons", deal=deal), np.random.default_rng(deal)
    while not game.is_over and game.moves_played < 500:
        mask = game.action_mask(distinct=True)[None]
        game.play(agent.act(game.record, mask, rng)[0])
    return game.is_won


for name in ("random", "greedy", "heuristic"):
    agent = make_agent(name)
    print(name, np.mean([play(agent, deal) for deal in DEALS]))

# %% [markdown]
# The intervals of these shares are wide. The notebook on benchmarking shows how to compare agents.
