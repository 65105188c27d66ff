"""Players that search: `SearchAgent`, the base for your own, and `FinisherAgent`.

A `SearchAgent` searches for the position in which to turn the next card. `FinisherAgent` lets any
agent play until nothing is hidden, then the solver.
"""

from __future__ import annotations

import abc

from four_seasons_env.agents.agent import (
    PLAYS,
    Actions,
    Agent,
    Masks,
    Positions,
    Rng,
    as_actions,
)
from four_seasons_env.agents.names import make_to_play
from four_seasons_env.agents.search.plans import ENDING_POSITIONS, PlanningAgent, Plans
from four_seasons_env.engine.validation import checked, unchecked
from four_seasons_env.game import Game, Stop
from four_seasons_env.rules import Rules


class SearchAgent(PlanningAgent):
    """Asks `choose` once for each card of the stock, and plays the moves that lead there.

    Once at most one card is unseen, the solver plays the win that it finds; the heuristic plays
    where there is none, and where no card can be turned.

    Args:
        rules: the rule set to play.

    See Also:
        `four_seasons_env.Game.stops`: what `choose` chooses from.
        `four_seasons_env.Games`: many imagined worlds at once, with playouts.
    """

    kind = "rule of thumb + search"
    plays = ("stochastic",)

    def __init__(self, rules: Rules) -> None:
        super().__init__(rules, ENDING_POSITIONS)

    @abc.abstractmethod
    def choose(self, game: Game, rng: Rng) -> Stop | None:
        """Choose one of the game's `Game.stops`; None leaves the next move to the heuristic.

        Args:
            game: the position, with the unseen cards in a random order.
            rng: the only source of random numbers.
        """

    def _decide(self, games: Positions, rng: Rng) -> None:
        """Plan each game up to the next card."""
        for record in games:
            stop = self.choose(Game.from_own_record(record, self.rules), rng)
            way = [] if stop is None else [*stop.moves, stop.turn]
            self._plans.follow(record, [move.number for move in way])


class FinisherAgent(Agent):
    """Lets another agent play, and the solver once the last card is known.

    It plays as the other agent can: deterministically, by chance, or both ways.

    Args:
        rules: the rule set to play.
        base: name of the other agent; it plays the rest if the solver finds no win.
        ending_positions: positions that the solver may visit.
        deterministic: how the other agent plays, if it can play both ways.
    """

    plays: tuple[str, ...] = PLAYS

    def __init__(
        self,
        rules: Rules,
        base: str = "heuristic",
        ending_positions: int = ENDING_POSITIONS,
        deterministic: bool = True,
    ) -> None:
        play = "deterministic" if deterministic else "stochastic"
        self.rules, self._base, self._name = rules, make_to_play(base, rules, play), base
        self.mask, self.plays = self._base.mask, self._base.plays
        methods = self._base.kind.split(" + ")
        self.kind = " + ".join(dict.fromkeys([*methods, "search"]))
        self._plans = Plans(rules, ending_positions)

    @checked
    def act(self, games: Positions, masks: Masks, rng: Rng) -> Actions:
        """The other agent's move in each game, or the solver's."""
        self._plans.tidy()
        planned = self._plans.endings(games)
        rest = planned < 0
        if rest.any():
            chosen = unchecked(self._base.act)(games[rest], masks[rest], rng)
            planned[rest] = as_actions(chosen, int(rest.sum()), self._name)
        return planned
