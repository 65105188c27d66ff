"""The positions that can be reached before the next card is turned.

Between two cards of the stock nothing is hidden, so a player can examine all of these positions.
`search` finds them, `enumeration` orders them, and `features` describes each as numbers for
networks. The environment in `next_deal` offers them as its actions; agents search among them.

These functions take records that are positions: those from outside have been checked before
(`four_seasons_env.engine.validation`). `Game.stops` is for everybody.
"""
