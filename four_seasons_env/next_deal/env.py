"""`FourSeasonsNextDealEnv`: the game as a choice among positions, as a Gymnasium environment."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from four_seasons_env.arguments import takes
from four_seasons_env.engine.moves import Move
from four_seasons_env.env import GameEnv
from four_seasons_env.next_deal.batch import NextDealBatch
from four_seasons_env.next_deal.settings import NextDealSettings


class FourSeasonsNextDealEnv(GameEnv):
    """Four Seasons, and its family, as a choice of the position in which the next card is turned.

    ## Description
    The game of `FourSeasonsEnv`, by the same rules and with the same deals, in larger steps.
    Between two cards of the stock nothing is hidden, so a player can examine every position that
    can be reached before the next card is turned. Those are the actions: the environment finds
    them, plays the moves that lead to the chosen one, and turns the card. An episode of
    four-seasons has at most 46 decisions, while the game has 200 to 300 moves.

    ## Action Space
    `Discrete(candidates)`: action k chooses candidate k of those that were found, the most
    promising first by `order`. `info["action_mask"]`, `action_masks()` and the observation's
    `action_mask` mark the valid ones. Positions that differ only in the order of their piles are
    one candidate. `moves_of(k)` returns the moves of an action. If a move turns a card
    automatically, such as filling a space from the stock, the decision ends with that move.

    ## Observation Space
    `Dict`:

    - `observation`: one row for each candidate, with what a player knows of that position; zeros
      where there is no candidate. With `"features"`, `Box(0, rows, (K, S), int16)`: row numbers of
      three tables, for networks that sum rows, and the cards of the waste
      (`four_seasons_env.positions.features`). With
      `"tops"` or `"cards"`, `Box(0, 1, (K, L), float32)`: the vectors of
      `four_seasons_env.observations`.
    - `action_mask`: `Box(0, 1, (K,), int8)`, 1 where there is a candidate.

    ## Starting State
    As in `FourSeasonsEnv`: the same seeds and options give the same deals.

    ## Rewards
    As in `FourSeasonsEnv`, for all moves of the action together.

    ## Episode End
    Terminated when won, or when nothing is left to decide. With `endings="search"` the environment
    plays the rest when nothing is hidden any more (at the last card of the stock): a search expands
    up to `ending_expansions` positions, and the environment plays the win that it finds, or the
    moves that lead to the most cards up. A game that this does not win counts as lost, even if it
    could be won. With `endings="policy"` the choice is among positions up to the next move that
    cannot be taken back, until the game is won or no such move is found. Truncated after
    `max_moves` moves of the game, or as many actions.

    ## Information
    As in `FourSeasonsEnv`, and `moves`: the numbers of the moves played by the last action, a tuple
    of ints, including those of an ending. Played in order on a `Game` of the same deal, they give
    the same game.

    ## Arguments
    See the constructor.

    ## References
    Positions after a decision and before chance answers ("afterstates"): Gerald Tesauro, "Temporal
    Difference Learning and TD-Gammon" (1995); Marcin Szubert and Wojciech Jaskowski, "Temporal
    Difference Learning of N-Tuple Networks for the Game 2048" (2014).

    ## Version History
    - v0: first version.
    """

    _batch: NextDealBatch

    @takes(NextDealSettings)
    def __init__(self, settings: NextDealSettings) -> None:
        super().__init__(NextDealBatch(settings))

    def moves_of(self, action: int) -> list[Move]:
        """The moves of an action, including the one that turns a card.

        After the step, `info["moves"]` also holds the moves of an ending, if there is one.

        Raises:
            ValueError: for an action that is not offered.
            gymnasium.error.ResetNeeded: before the first reset.
        """
        self._batch.check_started()
        return self._batch.moves_of(0, action)

    def _observation(self) -> dict[str, NDArray[Any]]:
        return {
            "observation": self._observations[0],
            "action_mask": self._batch.masks[0].copy(),
        }

    def _info(self) -> dict[str, Any]:
        return super()._info() | {"moves": tuple(self._batch.played_by(0))}
