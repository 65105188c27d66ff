"""Flat Monte Carlo: the stop after which the heuristic does best, in the same imagined worlds."""

from four_seasons_env import Games
from four_seasons_env.agents import SearchAgent, make_agent


class FlatMonteCarlo(SearchAgent):
    def __init__(self, rules, playouts=64):
        super().__init__(rules)
        self.playouts, self.player = playouts, make_agent("heuristic", rules)

    def choose(self, game, rng):
        worlds = [game.reshuffled(rng).stops(20)[:8] for _ in range(self.playouts)]
        games = Games.of([stop.game for stops in worlds for stop in stops])
        games.play_out(self.player, rng)
        returns = (games.is_won + games.cards_up / game.rules.cards).reshape(len(worlds), -1)
        gains = returns - returns[:, :1]  # over the most promising stop
        surely = gains.mean(axis=0) - gains.std(axis=0) / len(worlds) ** 0.5
        return worlds[0][surely.argmax()]
