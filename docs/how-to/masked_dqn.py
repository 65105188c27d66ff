"""DQN of Stable-Baselines3 with masks, as a learner of `four-seasons train`."""

from dataclasses import dataclass, field

import numpy as np
from gymnasium import spaces
from stable_baselines3 import DQN
from stable_baselines3.common.utils import ConstantSchedule
from stable_baselines3.common.vec_env import VecEnvWrapper
from stable_baselines3.dqn.policies import DQNPolicy

from four_seasons_env.adapters.sb3 import FourSeasonsVecEnv
from four_seasons_env.agents import Agent
from four_seasons_env.agents.learned.sb3_learner import Sb3Learner
from four_seasons_env.observations import observations_of


class MaskAppended(VecEnvWrapper):
    """The mask follows the observation, so the replay buffer has the next mask, too."""

    def __init__(self, venv):
        slots = venv.observation_space.shape[0] + venv.action_space.n
        super().__init__(venv, spaces.Box(0, 1, (slots,), np.float32))

    def with_masks(self, observations):
        masks = self.venv.env_method("action_masks")
        return np.hstack([observations, masks], dtype=np.float32, casting="unsafe")

    def reset(self):
        return self.with_masks(self.venv.reset())

    def step_wait(self):
        observations, rewards, dones, infos = self.venv.step_wait()
        for i in np.flatnonzero(dones):
            end = infos[i]["terminal_observation"], infos[i]["terminal_action_mask"]
            infos[i]["terminal_observation"] = np.hstack(end).astype(np.float32)
        return self.with_masks(observations), rewards, dones, infos


def legal_only(network, inputs, values):
    """The least value for illegal moves: finite, because 0 times infinity is NaN at the end."""
    return values.masked_fill(inputs[0][:, -values.shape[1] :] == 0, -1e9)


class MaskedPolicy(DQNPolicy):
    def make_q_net(self):
        network = super().make_q_net()
        network.register_forward_hook(legal_only)  # of the target network, too
        return network


class LegalExploration:
    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        actions, state = super().predict(observation, state, episode_start, deterministic=True)
        if not deterministic:  # explore by legal moves
            masks = observation[:, -self.action_space.n :]
            rng = np.random.default_rng([self.seed, self.num_timesteps])
            drawn = (masks * rng.random(masks.shape)).argmax(axis=1)
            explores = rng.random(len(actions)) < self.exploration_rate
            actions = np.where(explores, drawn, actions)
        return actions, state


class MaskedModel(LegalExploration, DQN):
    pass


class DqnAgent(Agent):
    """Plays the move of the highest value, without torch."""

    kind, block = "learned", 1000

    def __init__(self, rules, card, weights):
        self.rules, self.train_seed = rules, card.training.get("seed")
        self.mask, self.observation = card.mask, card.observation
        layers = range(0, 2 * len(card.layers) + 1, 2)  # an activation lies between two
        self.layers = [(weights[f"{i}.weight"], weights[f"{i}.bias"]) for i in layers]

    def act(self, games, masks, rng):
        values = np.hstack([observations_of(games, self.rules, self.observation), masks])
        for weight, bias in self.layers:
            values = np.maximum(values, 0) @ weight.T + bias  # no input is below 0
        return np.where(masks, values, -np.inf).argmax(axis=1)


@dataclass
class DqnSettings:
    games: int = 64
    learning_rate: float = 5e-4
    layers: list[int] = field(default_factory=lambda: [256, 128])


class MaskedDqn(Sb3Learner):
    schema, player, unit, update_steps = DqnSettings, DqnAgent, "moves", 4096
    played_weights = {"q_net.q_net.": ""}
    seen = {"observation": "cards", "mask": "no_repeats"}

    def new_model(self):
        env = FourSeasonsVecEnv(self.settings.games, rules=self.rules, **self.seen)
        how = {"batch_size": 256, "buffer_size": 500_000, "learning_starts": 0, "train_freq": 1}
        how |= {"gradient_steps": 2, "target_update_interval": 10_000, "seed": self.seed}
        how |= {"learning_rate": self.settings.learning_rate}
        layers = {"net_arch": self.settings.layers}
        return MaskedModel(MaskedPolicy, MaskAppended(env), policy_kwargs=layers, **how)

    def schedule(self, done):
        self.model.exploration_schedule = ConstantSchedule(max(1 - 2 * done, 0.02))

    def warm_start(self, start):
        super().warm_start(start)
        self.module.q_net_target.load_state_dict(self.module.q_net.state_dict())

    def card_fields(self):
        return self.seen
