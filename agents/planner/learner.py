"""`PlannerLearner`: learns the planner's values by TD(lambda), from games that it plays itself.

What it does, and why:

1. It values *afterstates*: positions after a decision, before chance turns a card. The chance of
   winning from there does not depend on the other candidates, so it is learned in narrow searches
   and still guides wide ones. TD-Gammon and the players of 2048 do the same.
2. Workers play `games` games with the network as it is; this process learns from the games of the
   update before at the same time (`update`). The games are at most one update old, so no correction
   is needed.
3. Each position's target is its *lambda-return* (`self_play`): mostly the game's outcome at first,
   because the values are poor; mostly later values at the end, because they vary less.
4. The loss is the cross-entropy of the chance of winning. Each position is learned from once: the
   network overfits to single games, and new games are cheap (`_learn`).
5. The optimiser is AdamW, whose weight decay helps against overfitting; to try another, change
   `_optimizer` in `PlannerLearner.__init__`. Its rate falls by equal factors to the end of the run.
6. There is no target network: targets come from games that were finished before the step, not from
   the weights that change.
7. Nothing is added for exploration: as in TD-Gammon, chance brings the variety.
8. What is validated and saved is a *mean of weights* over the last part of the run (`training`,
   Polyak and Juditsky 1992), because single batches of games move the latest weights too much.
9. A run ends at its first limit of steps or time (`experiments.monitor.Limits`), not when results
   stall: learning rate, lambda and the mean follow the share of the run that is done. The policy of
   the best validation is kept.

`docs/results/ideas.csv` has trials of what helped and what did not, `planner.yaml` the numbers.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import binary_cross_entropy_with_logits

from four_seasons_env.agents.network.module import PositionNetwork
from four_seasons_env.agents.planner.best_stop import AGENT, HEADS
from four_seasons_env.agents.planner.self_play import PlannerSettings, Played, Task, play_part
from four_seasons_env.agents.training import LOSS, GamePool, Learner, Update, arrays_of
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.rules import Rules

_DEALS_A_SEED = 2**40  # so that no two seeds share a training deal,
_SEEDS = 2**23  # unless they differ by a multiple of this, because there are no more deals
_PARTS = 4
"""Parts of a batch whose rows are summed at once. Their number is the same on all machines, because
the last bits of the gradients depend on it."""


class PlannerLearner(Learner):
    """The planner's learner; a step is a game."""

    name = AGENT
    schema = PlannerSettings
    unit = "games"
    run_steps = "300k"
    log_steps = 2560
    uses_workers = True
    smallest = {
        "positions": 2,
        "expansions": 1,
        "ending_positions": 2,
        "ending_expansions": 1,
        "batch_size": 2,
        "learning_rate": 1e-9,
    }

    def __init__(
        self, rules: Rules, settings: PlannerSettings, seed: int, pool: GamePool | None = None
    ) -> None:
        super().__init__(rules, settings, seed, pool)
        torch.manual_seed(self.seed)
        self.module = PositionNetwork(settings.layers, HEADS)
        self.module.parts = _PARTS
        self._played: Played | None = None  # the games to learn from next
        self._optimizer = torch.optim.AdamW(
            self.module.parameters(), weight_decay=settings.weight_decay, fused=True
        )

    def update(self, done: float) -> Update:
        """See `Learner.update`."""
        # 1. The first update has no games to learn from yet: play some.
        games, rate = self.settings.games, self.settings.rate(done)
        weights = arrays_of(self.module.state_dict(), self.played_weights)
        task = Task(self.rules, self.settings, self.settings.lambda_at(done))
        if self._played is None:
            self._played = self._play(task, weights, self.steps)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        # 2. Workers play the next games while this process learns from the last.
        with ThreadPoolExecutor(1) as beside:
            following = beside.submit(self._play, task, weights, self.steps + games)
            records = self._learn(self._played) | {"train/learning_rate": rate}
            won, self._played = self._played.won, following.result()
        # 3. The mean of weights, and what is logged.
        self.steps += games
        self.average.update(self.module, self.steps)
        return Update([True] * won + [False] * (games - won), [], records)

    def _play(self, task: Task, weights: dict[str, NDArray[np.float32]], first: int) -> Played:
        """Play the games that follow this number of games."""
        start = TRAIN_FROM + self.seed % _SEEDS * _DEALS_A_SEED + first
        deals = start + np.arange(self.settings.games)
        parts = self.pool.over_deals(play_part, task, deals, weights)
        rows, targets, won = zip(*parts, strict=True)
        return Played(np.concatenate(rows), np.concatenate(targets), sum(won))

    def _learn(self, played: Played) -> dict[str, float]:
        """Learn from positions in random order, once each; an incomplete last batch is left out.

        Returns:
            For the log, the mean cross-entropy in nats, if there was a batch.
        """
        rows, targets = torch.from_numpy(played.rows), torch.from_numpy(played.targets)
        size = self.settings.batch_size
        rng = np.random.default_rng((self.seed, self.steps))
        order = torch.from_numpy(rng.permutation(len(rows)))
        losses = []
        for first in range(0, len(order) // size * size, size):
            batch = order[first : first + size]
            odds = self.module(rows, batch, batch)[:, 0]  # each position is its own decision
            loss = binary_cross_entropy_with_logits(odds, targets[batch])
            self._optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            self._optimizer.step()
            losses.append(loss.item())
        return {LOSS: float(np.mean(losses))} if losses else {}

    def card_fields(self) -> dict[str, Any]:
        """See `Learner.card_fields`."""
        return {"observation": "features", "mask": "distinct"}

    @property
    def playing_options(self) -> dict[str, Any]:
        """The search limits of training, and no votes."""
        settings = self.settings
        return {"positions": settings.positions, "expansions": settings.expansions, "votes": 0}

    def state(self) -> dict[str, Any]:
        """See `Learner.state`."""
        assert self._played  # after the first update
        rows, targets, won = self._played
        return {
            "network": self.module.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "played": (torch.from_numpy(rows), torch.from_numpy(targets), won),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """See `Learner.restore`."""
        self.module.load_state_dict(state["network"])
        self._optimizer.load_state_dict(state["optimizer"])
        rows, targets, won = state["played"]  # the network checks rows
        if not ((targets >= 0) & (targets <= 1)).all() or not 0 <= won <= self.settings.games:
            raise ValueError("the games of a checkpoint must have targets of 0 to 1")
        self._played = Played(rows.numpy(), targets.numpy(), won)
