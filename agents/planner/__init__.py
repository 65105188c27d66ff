"""`planner`: plans to the next deal, by a value that it has learned from its own games.

Between two deals nothing is hidden, so the agent searches the positions that it can reach before
the next card is turned (`search`) and plays to the one that it expects to win most often. That
expectation, the value of a position about to deal, is a network over positions
(`four_seasons_env.agents.network`), trained by TD(lambda) (`learner`) on the planner's own games
(`self_play`). Values of the position *after* a decision, before chance answers, made TD-Gammon and
the players of 2048 strong (Tesauro 1995; Szubert and Jaskowski 2014). `chances` and `luck` measure
by the same network.
"""
