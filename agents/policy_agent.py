"""`policy`: turn a function of observations and masks into an agent.

A module with a network that was trained in one of the environments:

    model = MaskablePPO.load("four-seasons-ppo")

    @policy("FourSeasonsNextDeal-v0", plays=("stochastic",))
    def my_policy(observations, masks, rng):
        return model.predict(observations, action_masks=masks)[0]

`four-seasons compare --agents mine=my_module:my_policy` plays it.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents import registry
from four_seasons_env.agents.registry import Actions, Agent, Masks, Positions, Rng
from four_seasons_env.agents.search.next_deal import NextDealPlayer
from four_seasons_env.arguments import check_choice, check_positive
from four_seasons_env.engine.validation import checked
from four_seasons_env.episodes.running import Batch
from four_seasons_env.episodes.settings import MoveSettings
from four_seasons_env.next_deal.next_deal_env import NextDealSettings
from four_seasons_env.registration import NEXT_DEAL
from four_seasons_env.rules import Rules

SETTINGS = {"FourSeasons-v0": MoveSettings, NEXT_DEAL: NextDealSettings}
"""The arguments of the environments of policies."""

_AT_A_TIME = 256
"""Games in one call of the function."""

_SEEN = ("observation", "mask", "candidates", "expansions", "endings", "ending_expansions", "order")
"""Arguments of environments that change what a function sees or may choose."""


def policy(
    env: str, *, plays: str | tuple[str, ...], block: int | None = None, **arguments: Any
) -> Callable[[Callable[..., Any]], Policy]:
    """Turn a function `f(observations, masks, rng)` that returns actions into an agent.

    The function gets what the vector environment of the same arguments returns for n positions, at
    most 256: observations (an array, or the dictionary of the next-deal environment), masks
    (int8 of shape (n, A)) and a `numpy.random.Generator`. It returns integers of shape (n,). The
    masks are those of the argument `mask`; a comparison gives deterministic players `no_repeats`.
    In the next-deal environment a mask marks the candidates. The function is asked only about
    positions that have some, and its choice is played as the moves that lead there.

    Examples:
        >>> @policy("FourSeasons-v0", plays="stochastic", observation="cards")
        ... def drawn(observations, masks, rng):
        ...     return np.where(masks, rng.random(masks.shape), -1).argmax(axis=1)
        >>> agent = drawn(RULES["czarina"])
        >>> agent.act(games, masks, rng).shape, agent.observation
        ((4,), 'cards')

    Args:
        env: the environment of the policy, "FourSeasons-v0" or "FourSeasonsNextDeal-v0".
        plays: how the function plays: ("deterministic",) if equal observations always give equal
            actions, ("stochastic",) if it draws actions at random. With both, it is also called
            with `deterministic`, a bool.
        block: number of deals that a comparison plays at once; it always plays whole blocks. The
            default, 1000 or 100 in the next-deal environment, suits functions of arrays, which are
            faster with many rows; 10 suits a function that takes seconds.
        **arguments: of the environment: `observation`, `mask`, and what concerns candidates.

    Further arguments of the function are options of the agent's name: "my_module:my_policy@width=3"
    calls it with `width=3`. An option `train_seed` is also the agent's training seed.

    Raises:
        ValueError: for an unknown environment or argument, for ``rules``, or a block that is not
            positive.
        TypeError: for anything but a function of three arguments, and `deterministic` with both
            plays.
    """
    check_choice("env", env, tuple(SETTINGS))
    settings = inspect.signature(SETTINGS[env]).parameters
    known = [each for each in _SEEN if each in settings]
    if "rules" in arguments:
        raise ValueError("policy takes no rules: choose those to play with `compare --rules`")
    for name in arguments:
        check_choice("argument", name, tuple(known))
    if block is None:
        block = 100 if env == NEXT_DEAL else 1000
    check_positive("block", block)
    return functools.partial(Policy, env=env, plays=plays, block=block, arguments=arguments)


@dataclass(eq=False)
class Policy:
    """A function with its environment; called with the rule set and options, it makes the agent."""

    function: Callable[..., Any]
    env: str
    plays: str | tuple[str, ...]
    block: int
    arguments: dict[str, Any]

    def __post_init__(self) -> None:
        # With both ways of playing, the function gets `deterministic`, too.
        both = {} if isinstance(self.plays, str) or len(self.plays) < 2 else {"deterministic": True}
        if not registry.takes_three(self.function, **both):
            raise TypeError(
                "policy(...) must decorate a function f(observations, masks, rng"
                f"{', deterministic' * bool(both)}), not {self.function}"
            )
        functools.update_wrapper(self, self.function, updated=())
        self.__signature__ = _signature(self.function, both)

    def __reduce__(self) -> str | tuple[Any, ...]:
        """By its name, as a function is pickled, if it has the function's name in its module."""
        name = getattr(self, "__qualname__", "")
        if getattr(sys.modules.get(self.__module__), name, None) is self:
            return str(name)
        return Policy, (self.function, self.env, self.plays, self.block, self.arguments)

    def __call__(self, rules: Rules, **options: Any) -> Agent:
        """The agent, whose function is also called with these options.

        Raises:
            TypeError: for an option that the function does not take, or a missing one.
        """
        bound = self.__signature__.bind(rules, **options)
        bound.apply_defaults()
        del bound.arguments["rules"]
        kind = NextDealPolicyAgent if self.env == NEXT_DEAL else PolicyAgent
        return kind(rules, self, bound.arguments)

    @property
    def place(self) -> str:
        """Its name for errors."""
        return f"{self.__module__}:{getattr(self, '__name__', 'policy')}"

    def actions(
        self, observations: Any, masks: Masks, rng: Rng, options: Mapping[str, Any]
    ) -> Actions:
        """The function's actions, int64 of shape (n,).

        Raises:
            AnswerError: if they are not one integer for each position.
        """
        answer = self.function(observations, masks, rng, **options)
        return registry.as_actions(answer, len(masks), self.place)


def _signature(function: Callable[..., Any], both: Mapping[str, bool]) -> inspect.Signature:
    """The arguments of a `Policy`: the rules, those in ``both``, and more of its function."""
    # 1. What the agent is made with: the rules, and how it plays.
    named = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("rules", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    parameters += [inspect.Parameter(key, named, default=value) for key, value in both.items()]
    # 2. The function's arguments after the first three: they are options of the agent's name.
    signature = inspect.signature(function)
    given = {"deterministic", *signature.bind_partial(*range(3)).arguments}
    parameters += [
        each.replace(kind=named)
        for each in signature.parameters.values()
        if each.name not in given and each.kind in (each.POSITIONAL_OR_KEYWORD, named)
    ]
    return inspect.Signature(parameters)


class PolicyAgent(Agent):
    """Plays the moves that a function returns.

    Args:
        rules: the rule set to play.
        policy: its function chooses.
        options: passed to the function.

    Raises:
        ValueError: for an argument of the environment that is out of range.
    """

    kind = "learned"

    def __init__(self, rules: Rules, policy: Policy, options: Mapping[str, Any]) -> None:
        self.rules, self._policy, self._options = rules, policy, options
        self.train_seed = options.get("train_seed")
        settings = MoveSettings(_AT_A_TIME, rules, **policy.arguments)
        self._batch = Batch(settings)
        self.mask, self.observation = settings.mask, settings.observation

    @checked
    def act(self, games: Positions, masks: Masks, rng: Rng) -> Actions:
        """The function's moves."""
        moves = np.zeros(len(games), np.int64)
        for first in range(0, len(games), _AT_A_TIME):
            part = slice(first, first + _AT_A_TIME)
            # As the environment would show these positions; masks are the comparison's.
            self._batch.consider(games[part])
            observations = self._batch.observations[: len(games[part])].copy()
            moves[part] = self._policy.actions(observations, masks[part], rng, self._options)
        return moves


class NextDealPolicyAgent(NextDealPlayer):
    """Plays the moves that lead to the positions that a function chooses; see `PolicyAgent`."""

    kind = "learned + search"

    def __init__(self, rules: Rules, policy: Policy, options: Mapping[str, Any]) -> None:
        super().__init__(rules, **policy.arguments)
        self._policy, self._options, self.name = policy, options, policy.place
        self.train_seed = options.get("train_seed")

    def choose(self, observations: NDArray[Any], masks: Masks, rng: Rng) -> Actions:
        """The function's actions; it is not called where there is no candidate."""
        actions, has_candidates = np.zeros(len(masks), np.int64), masks.any(axis=1)
        if has_candidates.any():
            masks = masks[has_candidates]
            seen = {"observation": observations[has_candidates], "action_mask": masks}
            actions[has_candidates] = self._policy.actions(seen, masks, rng, self._options)
        return actions
