"""`NextDealPlayer`: plays towards the candidates of the next-deal environment."""

from __future__ import annotations

import abc
from typing import Any

from numpy.typing import NDArray

from four_seasons_env.agents.agent import Actions, AnswerError, Masks, Positions, Rng
from four_seasons_env.agents.search.plans import PlanningAgent
from four_seasons_env.next_deal.next_deal_env import NextDealBatch, NextDealSettings
from four_seasons_env.rules import Rules


class NextDealPlayer(PlanningAgent):
    """Plays the moves that lead to the position that `choose` chooses, and turns the next card.

    It plays as in the environment with the same arguments, including endings. If the search finds
    no win in an ending, the heuristic plays the rest.

    Args:
        rules: the rule set to play.
        **arguments: of `four_seasons_env.next_deal.FourSeasonsNextDealVectorEnv`.

    Raises:
        ValueError: for an argument that is out of range.
        TypeError: for an unknown argument.
    """

    block = 100
    at_once = 256
    solves_endings = False  # the environment's search does, if its argument `endings` says so

    def __init__(self, rules: Rules, **arguments: Any) -> None:
        super().__init__(rules, 0)
        self.name = type(self).__name__
        settings = NextDealSettings(self.at_once, rules, **arguments)
        self._batch = NextDealBatch(settings)
        self.observation = f"{settings.observation} of candidates"

    @abc.abstractmethod
    def choose(self, observations: NDArray[Any], masks: Masks, rng: Rng) -> Actions:
        """The index of a candidate in each game, int64 of shape (n,).

        Args:
            observations: the candidates of n games, as the environment describes them.
            masks: int8 of shape (n, candidates), 1 where there is a candidate. There may be none,
                where nothing is left to choose.
            rng: the only source of random numbers.
        """

    def _decide(self, games: Positions, rng: Rng) -> None:
        """Plan each game up to the next card, or to its end if nothing is hidden.

        Raises:
            AnswerError: for a candidate that does not exist.
        """
        batch, n = self._batch, len(games)
        batch.consider(games)
        actions = self.choose(batch.observations[:n], batch.masks[:n], rng)
        for i, game in enumerate(games):
            if not batch.masks[i].any():
                self._plans.follow(game, batch.played_by(i))  # an ending that was searched
                continue
            try:
                moves = batch.moves_of(i, int(actions[i]))
            except ValueError as error:
                raise AnswerError(f"{self.name}: {error}") from None
            self._plans.follow(game, [move.number for move in moves])


class FirstCandidateAgent(NextDealPlayer):
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
        super().__init__(rules, expansions=expansions, ending_expansions=ending_expansions)

    def choose(self, observations: NDArray[Any], masks: Masks, rng: Rng) -> Actions:
        """The first candidate of each game."""
        first: Actions = masks.argmax(axis=1)
        return first
