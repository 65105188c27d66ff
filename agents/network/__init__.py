"""One network over positions: trained in torch, evaluated in compiled code without torch.

A position is a row of features (`four_seasons_env.positions.features`). The table rows of each suit
are summed, those of each pile, and those of the game and of the pairs of cards in its waste. After
a ReLU, the sums of the suits are added up, then those of the piles. A dense layer with a ReLU
follows, and linear heads: the planner's has a value, that of `next_deal_ppo` a score and a value.

Summing rows takes about a fifteenth of the time of a dense layer over the same features, and
positions that follow one another share most rows, so that only the differences are added and
subtracted (Nasu 2018, "NNUE"). `sums` does that, `module` trains it, and `evaluation` evaluates it.
"""
