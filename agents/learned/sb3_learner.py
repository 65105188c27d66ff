"""`Sb3Learner`: an algorithm of Stable-Baselines3 as a learner of `four-seasons train`."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np
from stable_baselines3.common.logger import Logger

from four_seasons_env.agents.training import GamePool, Learner, Update
from four_seasons_env.rules import Rules


class Sb3Learner(Learner):
    """A model of Stable-Baselines3. It trains on the CPU: use more cores for more seeds.

    A class derived from it has what every `Learner` has (`schema`, `unit`, `card_fields`, and for
    one of your own `player`), and `new_model`.

    Attributes:
        model: that learns.
    """

    run_steps = "20M"
    log_steps = 32_768
    update_steps = 1
    """Steps of an update, at least; Stable-Baselines3 adds those that complete a rollout."""
    sizes = ("ranks", "piles")  # the observations of other sizes mean something else

    def __init__(
        self, rules: Rules, settings: Any, seed: int, pool: GamePool | None = None
    ) -> None:
        super().__init__(rules, settings, seed, pool)
        self.model = self.new_model()
        self.module = self.model.policy
        self.model.set_logger(Logger(None, []))

    @abc.abstractmethod
    def new_model(self) -> Any:
        """The model, with its environment of `settings.games` games, the rules and `self.seed`."""

    def schedule(self, done: float) -> None:
        """Set what changes in the course of a run, such as the learning rate, before an update.

        Stable-Baselines3's own schedules do not know when the run ends: it is told one update after
        the other. Give it constants, such as `ConstantSchedule`.

        Args:
            done: share of the run that is done, 0 to 1, by its limits of steps and time.
        """

    def update(self, done: float) -> Update:
        """Some steps in each game, and what is learned from them."""
        self.schedule(done)
        ended: list[dict[str, Any]] = []

        def note_ends(step: dict[str, Any], _: Any) -> bool:
            ended.extend(step["infos"][i] for i in np.flatnonzero(step["dones"]))
            return True

        # 1. Stable-Baselines3 plays, and learns.
        self.model.learn(self.update_steps, note_ends, log_interval=None, reset_num_timesteps=False)
        # 2. The mean of weights, and what is logged.
        self.steps = self.model.num_timesteps
        self.average.update(self.module, self.steps)
        return Update(
            [bool(info["is_success"]) for info in ended],
            [int(info["cards_up"]) for info in ended],
            dict(self.model.logger.name_to_value),
        )

    def warm_up(self) -> None:
        """See `Learner.warm_up`: one step needs all that thousands need."""
        self.update_steps = 1
        super().warm_up()

    def state(self) -> dict[str, Any]:
        """See `Learner.state`; without the games that are being played, or a replay buffer."""
        return {"parameters": self.model.get_parameters()}

    def restore(self, state: dict[str, Any]) -> None:
        """See `Learner.restore`; the next update starts new episodes."""
        self.model.num_timesteps = self.steps
        self.model.set_parameters(state["parameters"], device="cpu")
        # By the seed of the run alone, the first deals would be learned from again.
        seed = np.random.SeedSequence([self.seed, self.steps]).generate_state(1)[0]
        self.model.set_random_seed(int(seed))
