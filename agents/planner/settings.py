"""The planner's hyperparameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from four_seasons_env.schemas import Amount, Positive, Rate, Share


@dataclass(kw_only=True)
class PlannerSettings:
    """How the planner learns: the hyperparameters in `planner.yaml`."""

    layers: Annotated[list[Positive], Meta(min_length=4, max_length=4)]
    """Widths of the network; see `four_seasons_env.agents.network.sums.Widths`."""
    games: Positive
    """Games between two updates."""
    positions: Positive
    """Positions that a search holds at most, while cards are hidden."""
    expansions: Positive
    """Positions that a search expands at most, while cards are hidden."""
    ending_positions: Positive
    """Positions that a search for a win holds at most, once nothing is hidden."""
    ending_expansions: Positive
    td_lambda: Share
    """Weight of the later values in a target at first; it changes evenly to the final one."""
    final_td_lambda: Share
    """Late in a run the values are good, and a target that relies on them varies less."""
    batch_size: Positive
    learning_rate: Rate
    """The learning rate of AdamW at first; falls by equal factors to the final one over the run."""
    final_learning_rate: Rate
    weight_decay: Amount
    """Decay of the weights by AdamW; without it the network learns single games by heart."""
    averaging: Share
    """The saved network is a mean over about this share of the games so far (Polyak and Juditsky
    1992)."""

    def rate(self, done: float) -> float:
        """The learning rate when this share of the run is done, 0 to 1."""
        fall = self.final_learning_rate / self.learning_rate
        return float(self.learning_rate * fall**done)

    def lambda_at(self, done: float) -> float:
        """`td_lambda` when this share of the run is done, 0 to 1."""
        return self.td_lambda + done * (self.final_td_lambda - self.td_lambda)
