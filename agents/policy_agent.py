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
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.registry import AnswerError, as_actions, plays, takes_three
from four_seasons_env.agents.search.plans import Plans
from four_seasons_env.arguments import check_choice, check_positive
from four_seasons_env.engine.kernel import compile_rules, nothing_hidden
from four_seasons_env.next_deal.next_deal_env import FourSeasonsNextDealVectorEnv
from four_seasons_env.rules import Rules
from four_seasons_env.vector import FourSeasonsVectorEnv

NEXT_DEAL = "FourSeasonsNextDeal-v0"
ENVIRONMENTS = {"FourSeasons-v0": FourSeasonsVectorEnv, NEXT_DEAL: FourSeasonsNextDealVectorEnv}
"""The environments of policies."""

_AT_A_TIME = 256
"""Games in one call of the function."""

_OWN = ("num_envs", "rules")
"""Arguments of the environment that the agent sets."""


def policy(
    env: str,
    *,
    plays: str | tuple[str, ...],
    block: int | None = None,
    **arguments: Any,
) -> Callable[[Callable[..., Any]], Policy]:
    """Turn a function `f(observations, masks, rng)` that returns actions into an agent.

    The function gets what the vector environment of the same arguments returns in n positions, n
    up to 256: observations (an array, or the dictionary of the next-deal environment), masks
    (int8 of shape (n, A)) and a `numpy.random.Generator`. It returns integers of shape (n,). The
    masks are those of the argument `mask`; a comparison gives deterministic players `no_repeats`.

    Args:
        env: the environment of the policy, "FourSeasons-v0" or "FourSeasonsNextDeal-v0".
        plays: how the function plays: ("deterministic",) if equal observations always give equal
            actions, ("stochastic",) if it draws actions at random. With both, it is also called
            with `deterministic`, a bool.
        block: number of deals that a comparison plays at once; it always plays whole blocks. The
            default, 1000 or 100 in the next-deal environment, suits functions of arrays, which are
            faster with many rows; 10 suits a function that takes seconds.
        **arguments: of the environment, such as `observation` or `candidates`, but not `rules`.

    Further arguments of the function are options of the agent's name: "my_module:my_policy@width=3"
    calls it with `width=3`. An option `train_seed` is also the agent's training seed.

    Raises:
        ValueError: for an unknown environment or argument, or a block that is not positive.
        TypeError: for anything but a function of three arguments, and `deterministic` with both
            plays.
    """
    check_choice("env", env, tuple(ENVIRONMENTS))
    known = [each for each in inspect.signature(ENVIRONMENTS[env]).parameters if each not in _OWN]
    for name in arguments:
        check_choice("argument", name, tuple(known))
    if block is None:
        block = 100 if env == NEXT_DEAL else 1000
    check_positive("block", block)
    return lambda function: Policy(function, env, plays, block, arguments)


@dataclass(eq=False)
class Policy:
    """A function with its environment; called with the rule set and options, it makes the agent."""

    function: Callable[..., Any]
    env: str
    plays: str | tuple[str, ...]
    block: int
    arguments: dict[str, Any]

    def __post_init__(self) -> None:
        both = {"deterministic": True} if len(plays(self)) > 1 else {}
        if not takes_three(self.function, **both):
            raise TypeError(
                "policy(...) must decorate a function f(observations, masks, rng"
                f"{', deterministic' * bool(both)}), not {self.function}"
            )
        functools.update_wrapper(self, self.function, updated=())
        self.__signature__ = _signature(self.function, both)

    def __call__(self, rules: Rules, **options: Any) -> PolicyAgent:
        """The agent, whose function is also called with these options.

        Raises:
            TypeError: for an option that the function does not take, or a missing one.
        """
        bound = self.__signature__.bind(rules, **options)
        bound.apply_defaults()
        del bound.arguments["rules"]
        kind = NextDealPolicyAgent if self.env == NEXT_DEAL else PolicyAgent
        return kind(rules, self, self.arguments, bound.arguments)


def _signature(function: Callable[..., Any], both: Mapping[str, bool]) -> inspect.Signature:
    """The arguments of a `Policy`: the rules, those in ``both``, and more of its function."""
    named = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("rules", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    parameters += [inspect.Parameter(key, named, default=value) for key, value in both.items()]
    signature = inspect.signature(function)
    given = {"deterministic", *signature.bind_partial(*range(3)).arguments}
    parameters += [
        each.replace(kind=named)
        for each in signature.parameters.values()
        if each.name not in given and each.kind in (each.POSITIONAL_OR_KEYWORD, named)
    ]
    return inspect.Signature(parameters)


class PolicyAgent:
    """Plays the moves that a function returns.

    Args:
        rules: the rule set to play.
        policy: its function chooses.
        arguments: of the environment.
        options: passed to the function.

    Raises:
        ValueError: for an argument that is out of range.
        TypeError: for an unknown argument.
    """

    kind = "learned"
    _env: Any = FourSeasonsVectorEnv

    def __init__(
        self,
        rules: Rules,
        policy: Policy,
        arguments: dict[str, Any],
        options: Mapping[str, Any],
    ) -> None:
        self._policy, self._options = policy, options
        self._name = f"{policy.__module__}:{getattr(policy, '__name__', 'policy')}"
        self.train_seed = options.get("train_seed")
        self._batch = self._env(num_envs=_AT_A_TIME, rules=rules, **arguments)._batch
        self.mask = getattr(self._batch.settings, "mask", "distinct")
        self.observation = self._batch.settings.observation

    def act(
        self, games: NDArray[Any], masks: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """The function's moves."""
        moves = np.zeros(len(games), np.int64)
        for first in range(0, len(games), _AT_A_TIME):
            part = slice(first, first + _AT_A_TIME)
            self._batch.consider(games[part])
            observations = self._batch.observations[: len(games[part])].copy()
            moves[part] = self._choose(observations, masks[part], rng)
        return moves

    def _choose(
        self, observations: Any, masks: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """The function's actions.

        Raises:
            AnswerError: if they are not one integer for each position.
        """
        answer = self._policy.function(observations, masks, rng, **self._options)
        return as_actions(answer, len(masks), self._name)


class NextDealPolicyAgent(PolicyAgent):
    """Plays the moves that lead to the positions that a function chooses.

    It plays as in the environment with the same arguments, including endings. If the search finds
    no win in an ending, the heuristic plays the rest.
    """

    kind = "learned + search"
    _env = FourSeasonsNextDealVectorEnv

    def __init__(self, rules: Rules, *policy_and_options: Any) -> None:
        super().__init__(rules, *policy_and_options)
        self.observation = f"{self.observation} of candidates"
        self._searches = self._batch.settings.endings == "search"
        self._rule = compile_rules(rules)[0]
        self._plans = Plans(rules, 0)

    def act(
        self, games: NDArray[Any], masks: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """The next move towards the position chosen in each game."""
        return self._plans.act(games, masks, rng, self._decide, _AT_A_TIME)

    def _decide(self, games: NDArray[Any], rng: np.random.Generator) -> None:
        """Plan each game up to the next card, or to its end if nothing is hidden.

        Raises:
            AnswerError: for an action that is not offered.
        """
        batch = self._batch
        batch.consider(games)
        masks = batch.masks[: len(games)]
        asked = masks.any(axis=1)
        actions = np.zeros(len(games), np.int64)
        if asked.any():
            own = masks[asked]
            seen = {"observation": batch.observations[: len(games)][asked], "action_mask": own}
            actions[asked] = self._choose(seen, own.copy(), rng)
        for i, game in enumerate(games):
            moves: list[int] = []
            if asked[i]:
                try:
                    moves = [move.number for move in batch.moves_of(i, int(actions[i]))]
                except ValueError as error:
                    raise AnswerError(f"{self._name}: {error}") from None
            elif self._searches and nothing_hidden(game, self._rule):
                moves = batch.played_by(i)
            self._plans.follow(game, moves)


class FirstCandidateAgent(NextDealPolicyAgent):
    """Moves to the first position that the next-deal environment lists, and turns the next card.

    It learns nothing. The order of the positions, written by hand (`four_seasons_env.positions`),
    and the search for a win once nothing is hidden decide its games. Its win rate is what they
    alone explain of a result in that environment.

    Args:
        rules: the rule set to play.
        expansions: maximum number of positions that the search for candidates expands.
        ending_expansions: the same for the search for a win once nothing is hidden.

    Raises:
        ValueError: for an option out of range.
    """

    kind = "rule of thumb + search"

    def __init__(self, rules: Rules, expansions: int = 400, ending_expansions: int = 5000) -> None:
        arguments = {"expansions": expansions, "ending_expansions": ending_expansions}
        super().__init__(rules, _first, arguments, {})


@policy(NEXT_DEAL, plays="deterministic")
def _first(
    observations: Any, masks: NDArray[np.int8], rng: np.random.Generator
) -> NDArray[np.int64]:
    first: NDArray[np.int64] = masks.argmax(axis=1)
    return first
