"""`planner`: plans to the next deal, by a value that it has learned from its own games.

Between two deals nothing is hidden, so the player looks at the positions that it can reach before
the next card is turned (`reach`) and picks the one from which it expects to win most often. That
expectation, the value of a position about to deal, is a small network (`network`) over sparse
features (`features`), trained by TD(lambda) on games that it plays against itself (`self_play`).
Values of the position *after* a decision, before chance answers, are what made TD-Gammon and the
players of 2048 strong (Tesauro 1995; Szubert and Jaskowski 2014); summing table rows for sparse
features, as chess engines do (Nasu 2018, "NNUE"), makes one cost a few microseconds.
"""
