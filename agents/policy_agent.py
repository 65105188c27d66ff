"""`policy`: turn a function of observations and masks into an agent.

A module with a network that was trained in one of the environments:

    model = MaskablePPO.load("four-seasons-ppo")

    @policy("FourSeasonsNextDeal-v0", plays=("stochastic",))
    def my_policy(observations, masks, rng):
        return model.predict(observations, action_masks=masks)[0]

`four-seasons compare --agents mine=my_module:my_policy` plays it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.agent import (
    Actions,
    Agent,
    Masks,
    Positions,
    Rng,
    annotated,
    as_actions,
    check_plays,
    takes_three,
)
from four_seasons_env.agents.search.next_deal import NextDealPlayer
from four_seasons_env.arguments import check_choice, check_positive
from four_seasons_env.engine.validation import checked
from four_seasons_env.episodes.running import Batch
from four_seasons_env.episodes.settings import MoveSettings
from four_seasons_env.next_deal.next_deal_env import NextDealSettings
from four_seasons_env.registration import NEXT_DEAL
from four_seasons_env.rules import Rules

_SETTINGS = {"FourSeasons-v0": MoveSettings, NEXT_DEAL: NextDealSettings}
"""The arguments of the environments of policies."""

_AT_A_TIME = 256
"""Games in one call of the function."""

_SEEN = ("observation", "mask", "candidates", "expansions", "endings", "ending_expansions", "order")
"""Arguments of environments that change what a function sees or may choose."""


def policy(
    env: str, *, plays: tuple[str, ...], block: int | None = None, **arguments: Any
) -> Callable[[Callable[..., Any]], type[Agent]]:
    """Turn a function `f(observations, masks, rng)` that returns actions into a class of agents.

    The function gets what the vector environment of the same arguments returns for n positions, at
    most 256: observations (an array, or the dictionary of the next-deal environment), masks
    (int8 of shape (n, A)) and a `numpy.random.Generator`. It returns integers of shape (n,). The
    masks are those of the argument `mask`; a comparison gives deterministic players `no_repeats`.
    In the next-deal environment a mask marks the candidates. The function is asked only about
    positions that have some, and its choice is played as the moves that lead there.

    Examples:
        >>> @policy("FourSeasons-v0", plays=("stochastic",), observation="cards")
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

    Returns:
        A decorator. What it returns is a subclass of `Agent` with the name of the function.

    Raises:
        ValueError: for an unknown environment or argument, for ``rules``, or a block that is not
            positive.
        TypeError: for anything but a function of three arguments, and `deterministic` with both
            plays; and for `plays` that is no tuple.

    See Also:
        `Agent`: for an agent that reads positions instead of observations.
        `SearchAgent`: for an agent that plans.
        `four_seasons_env.evaluate`: a quick check of a policy without a comparison.
    """
    check_choice("env", env, tuple(_SETTINGS))
    settings = inspect.signature(_SETTINGS[env]).parameters
    known = [each for each in _SEEN if each in settings]
    if "rules" in arguments:
        raise ValueError("policy takes no rules: choose those to play with `compare --rules`")
    for name in arguments:
        check_choice("argument", name, tuple(known))
    check_plays(plays, "made by policy(...)")
    base = NextDealPolicyAgent if env == NEXT_DEAL else PolicyAgent
    fields: dict[str, Any] = {"plays": plays, "arguments": arguments}
    if block is not None:
        fields["block"] = check_positive("block", block)

    def decorate(function: Callable[..., Any]) -> type[Agent]:
        # With both ways of playing, the function gets `deterministic`, too.
        both = {"deterministic": True} if len(plays) > 1 else {}
        if not takes_three(function, **both):
            raise TypeError(
                "policy(...) must decorate a function f(observations, masks, rng"
                f"{', deterministic' * bool(both)}), not {function}"
            )
        # A class like any other: in its module it has the function's name, by which it is pickled.
        name = getattr(function, "__name__", "policy")
        own = {
            "__module__": function.__module__,
            "__qualname__": getattr(function, "__qualname__", name),
            "__doc__": function.__doc__,
            "function": staticmethod(function),
        }
        return type(name, (base,), fields | own)

    return decorate


class _Policy(Agent):
    """What the agents of both environments share: a function, and options for it."""

    function: ClassVar[Callable[..., Any]]
    """Chooses the actions."""
    arguments: ClassVar[dict[str, Any]]
    """Arguments of its environment."""
    name: str
    """Of the class, for errors: `module:name`."""

    @classmethod
    def parameters(cls) -> Mapping[str, inspect.Parameter]:
        """See `Agent.parameters`: the rules, and what the function takes after the first three."""
        signature = inspect.signature(cls.function)
        first = signature.bind_partial(*range(3)).arguments
        found = annotated(signature, cls.function)
        rules = {"rules": inspect.Parameter("rules", inspect.Parameter.POSITIONAL_OR_KEYWORD)}
        return rules | {name: each for name, each in found.items() if name not in first}

    def _take(self, options: dict[str, Any]) -> None:
        """Keep the options, and the defaults of those that are missing.

        Raises:
            TypeError: for an option that the function does not take, or a missing one.
        """
        if len(self.plays) > 1:
            options = {"deterministic": True} | options
        inspect.signature(self.function).bind(*range(3), **options)
        defaults = {name: each.default for name, each in self.parameters().items()}
        self._options = {
            name: value for name, value in (defaults | options).items() if value is not _NONE
        }
        self.train_seed = self._options.get("train_seed")
        self.name = f"{type(self).__module__}:{type(self).__name__}"

    def _actions(self, observations: Any, masks: Masks, rng: Rng) -> Actions:
        """The function's actions, int64 of shape (n,).

        Raises:
            AnswerError: if they are not one integer for each position.
        """
        answer = self.function(observations, masks, rng, **self._options)
        return as_actions(answer, len(masks), self.name)


_NONE = inspect.Parameter.empty
"""Where a parameter has no default."""


class PolicyAgent(_Policy):
    """Plays the moves that a function returns.

    Args:
        rules: the rule set to play.
        **options: passed to the function.

    Raises:
        ValueError: for an argument of the environment that is out of range.
        TypeError: for an option that the function does not take, or a missing one.
    """

    kind = "learned"
    block = 1000

    def __init__(self, rules: Rules, **options: Any) -> None:
        self._take(options)
        self.rules = rules
        settings = MoveSettings(_AT_A_TIME, rules, **self.arguments)
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
            moves[part] = self._actions(observations, masks[part], rng)
        return moves


class NextDealPolicyAgent(_Policy, NextDealPlayer):
    """Plays the moves that lead to the positions that a function chooses; see `PolicyAgent`."""

    kind = "learned + search"

    def __init__(self, rules: Rules, **options: Any) -> None:
        NextDealPlayer.__init__(self, rules, **self.arguments)
        self._take(options)

    def choose(self, observations: NDArray[Any], masks: Masks, rng: Rng) -> Actions:
        """The function's actions; it is not called where there is no candidate."""
        actions, has_candidates = np.zeros(len(masks), np.int64), masks.any(axis=1)
        if has_candidates.any():
            masks = masks[has_candidates]
            seen = {"observation": observations[has_candidates], "action_mask": masks}
            actions[has_candidates] = self._actions(seen, masks, rng)
        return actions
