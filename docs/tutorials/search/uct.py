"""UCT with chance nodes: stops are chosen by their upper confidence bounds, cards are drawn."""

import numpy as np

from four_seasons_env import Games
from four_seasons_env.agents import SearchAgent, make_agent


class Node:
    """A decision: the stops to choose among, and the results of each."""

    def __init__(self, game):
        self.stops = game.stops(20)[:8]
        self.visits, self.won = np.zeros((2, len(self.stops)))


class Uct(SearchAgent):
    def __init__(self, rules, iterations=60, playouts=16, exploration=0.3):
        super().__init__(rules)
        self.iterations, self.playouts, self.exploration = iterations, playouts, exploration
        self.player = make_agent("heuristic", rules)

    def choose(self, game, rng):
        self.nodes = {}  # the decision of each position, by its key
        root = Node(game)
        for _ in range(self.iterations):
            self.descend(root, rng)
        return root.stops[root.visits.argmax()]

    def descend(self, node, rng):
        tried = np.maximum(node.visits, 1)
        bounds = node.won / tried + self.exploration * np.sqrt(
            np.log(node.visits.sum() + 1) / tried
        )
        best = np.where(node.visits == 0, np.inf, bounds).argmax()
        stop = node.stops[best]
        game = stop.game.reshuffled(rng).after(stop.turn)  # a card by its probability
        below = self.nodes.get(game.key())
        if below is None:
            below = self.nodes[game.key()] = Node(game)
            result = self.value(game, rng)
        else:
            result = self.descend(below, rng) if below.stops else self.value(game, rng)
        node.visits[best] += 1
        node.won[best] += result
        return result

    def value(self, game, rng):
        games = Games.of(game, self.playouts)
        games.reshuffle(rng)
        games.play_out(self.player, rng)
        return (games.is_won.mean() + games.cards_up.mean() / game.rules.cards) / 2
