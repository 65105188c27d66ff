"""`TrainingCallback`: connects the `Monitor` of a run to Stable-Baselines3."""

from __future__ import annotations

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback

from four_seasons_env.agents.learned.sb3_internals import schedule_by
from four_seasons_env.experiments.training.average import WeightAverage
from four_seasons_env.experiments.training.monitor import Monitor


class TrainingCallback(BaseCallback):
    """Reports games and rollouts to the monitor, and stops the model when the monitor says so.

    Args:
        monitor: of the run.
        average: of the model's weights.
    """

    def __init__(self, monitor: Monitor, average: WeightAverage) -> None:
        super().__init__()
        self._monitor = monitor
        self._average = average
        self._stops = False

    def _on_training_start(self) -> None:
        # Stable-Baselines3 lets learning rate and exploration fall with the steps; here they fall
        # with the clock, for runs that are given a time.
        schedule_by(self.model, lambda: 1.0 - self._monitor.clock.done)

    def _on_step(self) -> bool:
        self._monitor.clock.done_steps = self.num_timesteps
        ended = [self.locals["infos"][i] for i in np.flatnonzero(self.locals["dones"])]
        self._monitor.add_games(
            [info["is_success"] for info in ended], [info["cards_up"] for info in ended]
        )
        return not self._stops

    def _on_rollout_start(self) -> None:
        self._average.update(self.model, self.model.num_timesteps)
        self._stops = self._monitor.between_updates()
