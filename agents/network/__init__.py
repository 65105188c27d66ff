"""The two networks of the project. Torch trains them on any device, compiled code plays them.

| file | network | written in | what |
| --- | --- | --- | --- |
| `sums.py` | over positions | compiled | the first layer: sums of table rows, and their gradients |
| `module.py` | over positions | torch | `PositionNetwork`, which trains |
| `evaluation.py` | over positions | compiled | `apply_network`, which plays, without torch |
| `rows.py` | over moves | compiled | the first layer and the scores, and their gradients |
| `places.py` | over moves | torch | `MoveNetwork`, which trains |
| `checks.py` | both | compiled | checks of arrays before compiled code uses them as indices |

**The network over positions** values a position in which the next card is turned: the planner's has
a value, that of `next_deal_ppo` a score and a value. A position is a row of features
(`four_seasons_env.positions.features`). The table rows of each suit are summed, those of each pile,
and those of the game and of the pairs of cards in its waste. After a ReLU, the sums of the suits
are added up, then those of the piles. A dense layer with a ReLU follows, and linear heads. Summing
rows takes about a fifteenth of the time of a dense layer over the same features, and positions that
follow one another share most rows, so that only the differences are added and subtracted: an
accumulator, as in the networks of chess engines (Nasu 2018, "NNUE").

**The network over moves** scores the moves of a position: that of `maskable_ppo`. It reads the
observation `places`. A position is the sum of its rows, a move the sum of its own; both meet in one
ReLU, and a dot product gives the score. `agents/learned/network_agent.py` plays it.
"""
