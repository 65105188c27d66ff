"""rl_zoo3: its training command with MaskablePPO added, and an evaluation with masks."""

import json
import sys
from pathlib import Path

import gymnasium as gym
import rl_zoo3
import rl_zoo3.train
from sb3_contrib import MaskablePPO

import four_seasons_env  # noqa: F401  registers the environments
from four_seasons_env.evaluation import evaluate

ID, KWARGS = "FourSeasonsNextDeal-v0", {"observation": "tops", "candidates": 16}

hyperparams = {
    ID: {
        "env_kwargs": KWARGS | {"illegal": "raise"},
        "n_envs": 8,
        "n_timesteps": 12_288,
        "policy": "MultiInputPolicy",
        "n_steps": 128,
        "batch_size": 256,
        "n_epochs": 4,
        "learning_rate": 1e-3,
        "gamma": 1.0,
        "gae_lambda": 0.9,
    }
}
"""The file for `--conf-file`: rl_zoo3 reads hyperparameters from here."""

if __name__ == "__main__":
    # rl_zoo3 does not list MaskablePPO
    rl_zoo3.ALGOS["ppo_mask"] = MaskablePPO
    rl_zoo3.train.ALGOS = rl_zoo3.ALGOS
    command = f"train --algo ppo_mask --env {ID} --seed 1 --log-folder logs --device cpu"
    command += f" --conf-file {__file__} --eval-freq -1"  # its evaluations drop the masks
    sys.argv = command.split()
    rl_zoo3.train.train()
    newest = max(Path("logs").glob(f"ppo_mask/*/{ID}.zip"), key=lambda path: path.stat().st_mtime)
    model = MaskablePPO.load(newest)

    def policy(observations, masks):
        """The most likely of the legal candidates."""
        return model.predict(observations, action_masks=masks, deterministic=True)[0]

    result = evaluate(gym.make_vec(ID, num_envs=100, **KWARGS), policy)
    assert result.illegal == 0
    print(json.dumps({"environment": ID, "steps": model.num_timesteps, **result._asdict()}))
