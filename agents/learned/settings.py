"""Hyperparameters: one YAML file for each algorithm, checked against a dataclass before a run.

The dataclass is the schema (`four_seasons_env.agents.schemas`): it names every key, its type and
its bounds, and holds no values. The values come from the algorithm's file; flags such as
``learning_rate=1e-3`` override them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from msgspec import Meta

from four_seasons_env.agents.network.evaluation import widths_of
from four_seasons_env.agents.schemas import Amount, Positive, Share, check_fields, fitting, one_of
from four_seasons_env.agents.yaml_values import parse_yaml, read_yaml
from four_seasons_env.arguments import nearest
from four_seasons_env.episodes.settings import MASKS
from four_seasons_env.next_deal.stepping import ENDINGS
from four_seasons_env.observations import OBSERVATIONS
from four_seasons_env.positions.enumeration import ORDERS
from four_seasons_env.rewards import REWARDS

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

HERE = Path(__file__).parent


@dataclass(kw_only=True)
class PpoSettings:
    """Hyperparameters of MaskablePPO for any action space; named as in Stable-Baselines3."""

    reward: Annotated[str, one_of(REWARDS)]
    max_moves: Positive
    """Longest training episode, in moves."""
    games: Positive
    """Games played in parallel."""
    n_steps: Positive
    n_epochs: Positive
    batch_size: Annotated[int, Meta(ge=2)]
    learning_rate: Amount
    """At the start; falls linearly to a twentieth, which it reaches before the end of the run."""
    gamma: Share
    gae_lambda: Share
    clip_range: Amount
    ent_coef: Amount
    vf_coef: Amount
    max_grad_norm: Amount
    layers: Annotated[list[Positive], Meta(min_length=1)]
    """Units of the hidden layers."""

    def rate(self, done: float) -> float:
        """The learning rate when this share of the run is done, 0 to 1."""
        return self.learning_rate * max(1 - done, 0.05)


@dataclass(kw_only=True)
class MaskablePpoSettings(PpoSettings):
    """The hyperparameters in `maskable_ppo.yaml`."""

    observation: Annotated[str, one_of(OBSERVATIONS)]
    mask: Annotated[str, one_of(MASKS)]


@dataclass(kw_only=True)
class NextDealPpoSettings(PpoSettings):
    """The hyperparameters in `next_deal_ppo.yaml`."""

    candidates: Positive
    expansions: Positive
    order: Annotated[str, one_of(ORDERS)]
    endings: Annotated[str, one_of(ENDINGS)]
    ending_expansions: Positive
    averaging: Share
    """The policy that is validated and saved is the mean of the weights over this last share of
    the run so far; 0: the latest weights."""
    play_candidates: Positive
    play_expansions: Positive
    play_ending_expansions: Positive
    value_weight: Amount
    """A player without chance decides for the most score + value_weight x value."""

    def __post_init__(self) -> None:
        """Check the number of layers.

        Raises:
            ValueError: unless there are four.
        """
        widths_of(self.layers)


S = TypeVar("S", bound="DataclassInstance")


def read_settings(
    schema: type[S],
    agent: str,
    overrides: Iterable[str] = (),
    folder: Path = HERE,
) -> S:
    """The hyperparameters of an algorithm.

    Args:
        schema: the algorithm's dataclass.
        agent: its name, which is also the name of its YAML file.
        overrides: strings such as "gamma=0.99", which override the file.
        folder: of the file.

    Raises:
        ValueError: for an unknown key, naming the nearest one, or a value of a wrong type.
    """
    values: dict[str, Any] = read_yaml(folder / f"{agent}.yaml")
    for text in overrides:
        key, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"hyperparameters are set as key=value, not {text!r}")
        values[key.strip()] = parse_yaml(value, key)
    return make_settings(schema, values, agent)


def make_settings(schema: type[S], values: dict[str, Any], agent: str) -> S:
    """Hyperparameters from a dictionary, checked.

    Raises:
        ValueError: for an unknown or missing key, or a value of a wrong type or out of bounds.
    """
    known = [each.name for each in dataclasses.fields(schema)]
    for key in values:
        if key not in known:
            raise ValueError(f"unknown hyperparameter {key!r} of {agent}: {nearest(key, known)}")
    check_fields(values, schema)
    try:
        # Not strict, as YAML 1.1 reads "1e-3" as text because it has no dot.
        return fitting(values, schema, strict=False)
    except ValueError as error:
        raise ValueError(f"hyperparameters of {agent}: {error}") from None
