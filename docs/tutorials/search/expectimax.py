"""One-card expectimax: the exact average over the next card, with playouts as values."""

import numpy as np

from four_seasons_env import Games
from four_seasons_env.agents import SearchAgent, make_agent


class Expectimax(SearchAgent):
    def __init__(self, rules, playouts=8):
        super().__init__(rules)
        self.playouts, self.player = playouts, make_agent("heuristic", rules)

    def choose(self, game, rng):
        stops = game.stops(20)[:8]
        outcomes = [stop.game.outcomes(stop.turn) for stop in stops]
        means, variances = self.values([each.game for some in outcomes for each in some], rng)
        chances = np.array([each.probability for some in outcomes for each in some])
        which = np.repeat(np.arange(len(stops)), [len(some) for some in outcomes])
        values = np.bincount(which, chances * means)
        errors = np.sqrt(np.bincount(which, chances**2 * variances))
        surely = values - values[0] - np.hypot(errors, errors[0])  # over the most promising stop
        surely[0] = 0
        return stops[surely.argmax()]

    def values(self, positions, rng):
        games = Games.of(positions, self.playouts)
        games.reshuffle(rng)
        games.play_out(self.player, rng)
        returns = (games.is_won + games.cards_up / games.rules.cards).reshape(-1, self.playouts)
        return returns.mean(axis=1), returns.var(axis=1) / self.playouts
