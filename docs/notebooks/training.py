# %% [markdown]
# # Train an agent, with a learning curve
#
# MaskablePPO of sb3-contrib learns Four Seasons in minutes if an action is the position in which
# the next card is turned (`FourSeasonsNextDeal-v0`). This notebook trains such an agent and draws
# its learning curve on validation deals.

# %% [markdown]
# Install the package. The dot stands for a clone. Elsewhere, replace it with the name of the
# wheel.

# %%
# %pip install ".[train,experiments]"

# %%
import matplotlib.pyplot as plt
from sb3_contrib import MaskablePPO

from four_seasons_env.adapters.sb3 import FourSeasonsNextDealVecEnv
from four_seasons_env.agents.learned.candidates.encoders import TableEncoder
from four_seasons_env.agents.learned.candidates.policy import CandidatePolicy
from four_seasons_env.evaluation import evaluate
from four_seasons_env.next_deal.vector import FourSeasonsNextDealVectorEnv

# %% [markdown]
# ## The learner
#
# 256 games are played in lockstep. `CandidatePolicy` reads every candidate position with the same
# network.

# %%
GAMES, STEPS, ROUNDS, DEALS = 256, 16_384, 8, 200

env = FourSeasonsNextDealVecEnv(GAMES, seed=0)
model = MaskablePPO(
    CandidatePolicy,
    env,
    n_steps=32,
    batch_size=1024,
    learning_rate=1.4e-3,
    gamma=1.0,
    gae_lambda=0.9,
    policy_kwargs={"features_extractor_class": TableEncoder},
    seed=0,
)

# %% [markdown]
# ## Training and validation
#
# `evaluate` plays one game of each validation deal, with masks. Validation deals are never used
# for training.


# %%
def validate():
    """The share of validation deals that the policy wins."""
    envs = FourSeasonsNextDealVectorEnv(DEALS)

    def policy(observations, masks):
        return model.predict(observations, action_masks=masks, deterministic=True)[0]

    return evaluate(envs, policy).won


curve = [(0, validate())]
for _ in range(ROUNDS):
    model.learn(STEPS, reset_num_timesteps=False)
    curve.append((model.num_timesteps, validate()))
    print(f"{curve[-1][0]:,} decisions: {curve[-1][1]:.1%} of the validation deals won")

# %%
steps, won = zip(*curve, strict=True)
plt.plot(steps, won, "o-")
plt.xlabel("decisions")
plt.ylabel("validation deals won")
plt.xlim(0)
plt.ylim(0, 1)
plt.show()

# %% [markdown]
# `four-seasons train --agent next_deal_ppo --minutes 2 --out runs/first` trains the same algorithm
# with a schedule, checkpoints and a saved policy. It uses more candidates in play than in training,
# which wins more games.
