"""The environments whose actions are positions: arguments, one game, many games, their batch.

Between two cards of the stock nothing is hidden, so a player decides in which position the next
card is turned. `four_seasons_env.positions` finds these positions and describes them, and
`stepping` plays episodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from four_seasons_env.arguments import check_choice, check_positive, names_nearest, whole_number
from four_seasons_env.engine.kernel import compile_rules
from four_seasons_env.engine.moves import DEAL, Move, all_moves
from four_seasons_env.env import GameEnv, fixed_arguments
from four_seasons_env.episodes.running import RunningGames
from four_seasons_env.episodes.settings import Deals, EnvSettings, Starts, arguments_in
from four_seasons_env.game import MAX_MOVES, IllegalMove
from four_seasons_env.next_deal import stepping
from four_seasons_env.next_deal.stepping import ENDINGS
from four_seasons_env.observations import VECTORS, observation_length
from four_seasons_env.positions.enumeration import HELD, LARGEST_SEARCH, ORDERS
from four_seasons_env.positions.features import GAME_ROWS, PILE_ROWS, SUIT_ROWS, row_length
from four_seasons_env.positions.search import write_path
from four_seasons_env.rewards import RewardFunction
from four_seasons_env.rules import Rules
from four_seasons_env.vector import GameVectorEnv

OBSERVATIONS = ("features", *VECTORS)

LARGEST = {
    "candidates": int(HELD * LARGEST_SEARCH),
    "expansions": LARGEST_SEARCH,
    "ending_expansions": LARGEST_SEARCH,
}
"""The largest values of some arguments."""


@dataclass(frozen=True, kw_only=True)
class NextDealSettings(EnvSettings):
    """The arguments of the environments whose actions are positions, checked.

    `FourSeasonsNextDealEnv` says what each means, and for batches `FourSeasonsVectorEnv`.
    """

    candidates: int = 32
    expansions: int = 60
    endings: str = "search"
    ending_expansions: int = 400
    order: str = "advice"
    observation: str = "features"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, largest in LARGEST.items():
            check_positive(name, getattr(self, name), largest)
        check_choice("endings", self.endings, ENDINGS)
        check_choice("order", self.order, ORDERS)
        check_choice("observation", self.observation, OBSERVATIONS)


@fixed_arguments
class FourSeasonsNextDealEnv(GameEnv):
    """Four Seasons, and its family, as a choice of the position in which the next card is turned.

    ## Description
    The game of `FourSeasonsEnv`, by the same rules and with the same deals, in larger steps.
    Between two cards of the stock nothing is hidden, so a player can examine every position that
    can be reached before the next card is turned. Those are the actions: the environment finds
    them, plays the moves that lead to the chosen one, and turns the card. The stock of
    four-seasons has 46 cards, the last of which is no secret. So an episode with
    `endings="search"` has at most 45 decisions, while the game often has more than 200 moves.

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

    ## References
    Positions after a decision and before chance answers ("afterstates"): Gerald Tesauro, "Temporal
    Difference Learning and TD-Gammon" (1995); Marcin Szubert and Wojciech Jaskowski, "Temporal
    Difference Learning of N-Tuple Networks for the Game 2048" (2014).

    ## Version History
    - v0: first version.

    Examples:
        >>> env = FourSeasonsNextDealEnv()
        >>> observation, info = env.reset(options={"deal": 17})
        >>> [env.moves_of(action) for action in range(info["action_mask"].sum())]
        [[T3>T0, T4>T1, deal], [T3>T0, deal], [T4>T1, deal], [deal]]
        >>> env.step(0)[-1]["moves"]  # the numbers of these moves
        (24, 29, 0)

    See Also:
        `FourSeasonsEnv`: an action is a move.
        `Game.stops`: all positions in which the next card can be turned.
        `four_seasons_env.agents.CandidatePolicy`: a network of Stable-Baselines3 for candidates.
    """

    _batch: NextDealBatch

    @names_nearest
    def __init__(
        self,
        rules: str | Rules = "four-seasons",
        candidates: int = 32,
        expansions: int = 60,
        endings: str = "search",
        ending_expansions: int = 400,
        order: str = "advice",
        observation: str = "features",
        *,
        reward: str | RewardFunction = "foundation",
        illegal: str = "stay",
        render_mode: str | None = None,
        max_moves: int = MAX_MOVES,
        reveal_deal: bool = True,
        deals: Deals | None = None,
        starts: Starts | None = None,
        allow_test_deals: bool = False,
    ) -> None:
        """Make the environment; `FourSeasonsEnv` says more about the arguments that it has, too.

        Args:
            rules: a rule set's name or a `Rules`.
            candidates: maximum number of positions offered. Four decisions in five have fewer
                candidates than the default.
            expansions: maximum number of positions that the search for candidates expands; it holds
                2.5 times as many.
            endings: `"search"` (the environment plays the rest once nothing is hidden) or
                `"policy"`.
            ending_expansions: maximum number of positions that the search for a win expands.
            order: `"advice"`, a hand-made score, or `"breadth"`, the number of moves that lead to a
                position, which uses no knowledge of the game. It decides which positions are found
                and offered if there are more than the limits allow, and guides the search for a
                win.
            observation: `"features"`, `"tops"` or `"cards"`.
            reward: `"foundation"`, `"win"` or a callable.
            illegal: `"stay"` or `"raise"`.
            render_mode: None, `"ansi"` or `"rgb_array"`.
            max_moves: moves until an episode is truncated.
            reveal_deal: whether infos have `deal`.
            deals: numbers of deals to draw from; None for all training deals.
            starts: positions in which episodes begin, a list of games or a `Games`; None for deals.
            allow_test_deals: whether `deals` and `starts` may hold test deals.

        Raises:
            ValueError: for an argument that is out of range, with the nearest valid one.
            TypeError: for an unknown argument, with the nearest one.
        """
        settings = NextDealSettings(autoreset_mode="Disabled", **arguments_in(locals()))
        super().__init__(NextDealBatch(settings))

    def moves_of(self, action: int) -> list[Move]:
        """The moves of an action, including the one that turns a card.

        After the step, `info["moves"]` also holds the moves of an ending, if there is one.

        Raises:
            ValueError: for an action that is not offered.
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


@fixed_arguments
class FourSeasonsNextDealVectorEnv(GameVectorEnv):
    """Many games of `FourSeasonsNextDealEnv`, stepped in one call, without Python per game.

    Seeds, `final_obs` and `final_info` are as in `FourSeasonsVectorEnv`. Observations are
    dictionaries of arrays, `infos["moves"]` is int16 of shape (n, longest): the moves of each
    game's last action, then -1.

    Examples:
        >>> envs = FourSeasonsNextDealVectorEnv(64)
        >>> observations, infos = envs.reset(seed=7)
        >>> observations["observation"].shape, observations["action_mask"].shape
        ((64, 32, 268), (64, 32))
    """

    _batch: NextDealBatch

    @names_nearest
    def __init__(
        self,
        num_envs: int = 1,
        rules: str | Rules = "four-seasons",
        candidates: int = 32,
        expansions: int = 60,
        endings: str = "search",
        ending_expansions: int = 400,
        order: str = "advice",
        observation: str = "features",
        *,
        reward: str | RewardFunction = "foundation",
        illegal: str = "stay",
        render_mode: str | None = None,
        max_moves: int = MAX_MOVES,
        reveal_deal: bool = True,
        deals: Deals | None = None,
        starts: Starts | None = None,
        allow_test_deals: bool = False,
        autoreset_mode: str | AutoresetMode = "SameStep",
        copy: bool = True,
        num_threads: int | None = 1,
        max_episode_steps: int | None = None,
    ) -> None:
        """Make the environment.

        `FourSeasonsNextDealEnv`, `FourSeasonsEnv` and `FourSeasonsVectorEnv` say more about the
        arguments that they have, too.

        Args:
            num_envs: number of games.
            rules: a rule set's name or a `Rules`.
            candidates: maximum number of positions offered.
            expansions: maximum number of positions that the search for candidates expands.
            endings: `"search"` or `"policy"`.
            ending_expansions: maximum number of positions that the search for a win expands.
            order: `"advice"` or `"breadth"`.
            observation: `"features"`, `"tops"` or `"cards"`.
            reward: `"foundation"`, `"win"` or a callable.
            illegal: `"stay"` or `"raise"`.
            render_mode: None, `"ansi"` or `"rgb_array"`.
            max_moves: moves until an episode is truncated.
            reveal_deal: whether infos have `deal`.
            deals: numbers of deals to draw from; None for all training deals.
            starts: positions in which episodes begin, a list of games or a `Games`; None for deals.
            allow_test_deals: whether `deals` and `starts` may hold test deals.
            autoreset_mode: `"SameStep"`, `"NextStep"` or `"Disabled"`.
            copy: return copies, not views of buffers that the next step overwrites.
            num_threads: threads that share the games; None for as many as pay.
            max_episode_steps: as `max_moves`, by Gymnasium's name; the smaller of the two counts.

        Raises:
            ValueError: for an argument that is out of range, with the nearest valid one.
            TypeError: for an unknown argument, with the nearest one.
        """
        super().__init__(NextDealBatch(NextDealSettings(**arguments_in(locals()))))

    def moves_of(self, index: int, action: int) -> list[Move]:
        """The moves behind an action of a game; see `FourSeasonsNextDealEnv.moves_of`."""
        self._batch.check_started()
        return self._batch.moves_of(index, action)

    def _as_observations(
        self, observations: NDArray[Any], masks: NDArray[np.int8]
    ) -> dict[str, NDArray[Any]]:
        return {"observation": observations, "action_mask": self._give(masks)}

    def _info_arrays(self) -> dict[str, NDArray[Any]]:
        return super()._info_arrays() | {"moves": self._batch.played}


class NextDealBatch(RunningGames):
    """Running games whose actions are positions."""

    _compiled = stepping
    _least = 16

    def __init__(self, settings: NextDealSettings) -> None:
        super().__init__(settings)
        self._settings = stepping.CompiledNextDealSettings(
            no_refills=compile_rules(self.rules.without_refills),
            observation=stepping.KINDS[settings.observation],
            order=ORDERS.index(settings.order),
            expansions=int(settings.expansions),
            endings=stepping.ENDINGS.index(settings.endings),
            ending_expansions=int(settings.ending_expansions),
        )
        # What a player sees: masks (n, K) and a description of each candidate (n, K, S).
        count, k = len(self.games), int(settings.candidates)
        self.masks = np.zeros((count, k), np.int8)
        if settings.observation == "features":
            self.observations = np.zeros((count, k, row_length(self.rules.piles)), np.int16)
        else:
            length = observation_length(self.rules, settings.observation)
            self.observations = np.zeros((count, k, length), np.float32)
        self.played = np.full((count, stepping.MOVES_PER_ACTION), -1, np.int16)
        # The tree of the last search in each game, from which `moves_of` reads the way to a
        # candidate. int16 and uint8 are wide enough: a search holds at most 2^14 positions
        # (`search.new_search`), and no rule set has 256 moves.
        held = int(HELD * settings.expansions) + 1
        buffers = stepping.NextDealBuffers(
            observations=self.observations,
            rows=np.zeros((count, k), np.int16),
            then_deals=np.zeros((count, k), np.bool_),
            parents=np.zeros((count, held), np.int16),
            moves=np.zeros((count, held), np.uint8),
            played=self.played,
        )
        self._make_shared(buffers)

    def spaces(self) -> tuple[gym.Space[Any], gym.spaces.Discrete]:
        """See `RunningGames.spaces`."""
        rows = self.observations
        largest = max(SUIT_ROWS, PILE_ROWS, GAME_ROWS) if rows.dtype == np.int16 else 1
        masks = gym.spaces.Box(0, 1, self.masks.shape[1:], np.int8)
        candidates = gym.spaces.Box(0, largest, rows.shape[1:], rows.dtype.type)
        both = gym.spaces.Dict({"observation": candidates, "action_mask": masks})
        return both, gym.spaces.Discrete(self.masks.shape[1])

    def _new_scratch(self) -> stepping.Scratch:
        settings = self._settings
        # One search serves both purposes in turn: offering candidates, and playing endings.
        largest = max(settings.expansions, settings.ending_expansions)
        return stepping.new_scratch(self.rules, self.masks.shape[1], largest)

    def _begin(self, chosen: NDArray[np.bool_], source: int, out: NDArray[Any]) -> None:
        self.played[chosen] = -1
        super()._begin(chosen, source, out)

    def played_by(self, index: int) -> list[int]:
        """The moves of a game's last action."""
        played = self.played[index]
        return [int(move) for move in played[played >= 0]]

    def moves_of(self, index: int, action: int) -> list[Move]:
        """The moves of an action of a game, including the deal that ends it.

        Raises:
            ValueError: for an action that is not offered.
            TypeError: for an action that is not an integer.
        """
        action = whole_number("action", action)
        if not 0 <= action < self.masks[index].sum():
            raise ValueError(self._not_offered(index, action, ""))
        # The search has left a tree: the parent of each position, and the move that leads to it.
        path = np.zeros(stepping.MOVES_PER_ACTION, np.int64)
        buffers = self._buffers
        row = int(buffers.rows[index, action])
        length = write_path(row, buffers.parents[index], buffers.moves[index], path)
        moves = all_moves(self.rules)
        deal = [moves[DEAL]] if buffers.then_deals[index, action] else []
        return [moves[number] for number in path[:length]] + deal

    def _refuse_illegal(self, index: int, action: int, where: str) -> None:
        raise IllegalMove(self._not_offered(index, action, where))

    def _not_offered(self, index: int, action: int, where: str) -> str:
        offered = int(self.masks[index].sum())
        there = "is 1 candidate" if offered == 1 else f"are {offered} candidates"
        return f"action {action}{where} is not offered: there {there}"
