"""`Games`: many positions of one rule set, to plan with, without a Python loop for each game.

And `stock_order`, what is hidden in them, for critics in training.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from four_seasons_env.arguments import (
    WrongType,
    check_choice,
    check_integers,
    check_positive,
    check_type,
)
from four_seasons_env.engine import kernel
from four_seasons_env.engine.deals import NO_CARD, TRAIN_FROM, read_deals
from four_seasons_env.engine.moves import all_moves
from four_seasons_env.engine.validation import check_games, unchecked
from four_seasons_env.game import MAX_MOVES, MOST_MOVES, Game, IllegalMove, check_game, legal_masks
from four_seasons_env.observations import OBSERVATIONS, observations_of_own
from four_seasons_env.rules import Rules, get_rules


class Games:
    """Games of one rule set, stepped, copied, reshuffled and played out together.

    Examples:
        How often the rule of thumb wins from a position, whatever the order of the unseen cards:

        >>> from four_seasons_env.agents import make_agent
        >>> rng = np.random.default_rng(0)
        >>> games = Games.of(Game(deal=10_000), 1000)
        >>> games.reshuffle(rng)
        >>> games.play_out(make_agent("heuristic"), rng)
        >>> float(games.is_won.mean())
        0.405

    Args:
        rules: a rule set's name or a `Rules`.
        deals: how many training deals, from the first one on; or the deals' numbers, as a range, a
            list or a one-dimensional array-like.

    Raises:
        ValueError: for unknown rules, a count that is not positive, or a bad deal number.

    See Also:
        `Game`: one position, with its cards as text.
        `FourSeasonsVectorEnv`: a batch with rewards, for training.
    """

    def __init__(self, rules: str | Rules = "four-seasons", deals: ArrayLike = 1) -> None:
        self.rules = get_rules(rules)
        if isinstance(deals, (int, np.integer)):
            count = check_positive("deals", deals, 2**31 - 1)
            chosen = np.arange(TRAIN_FROM, TRAIN_FROM + count)
        else:
            chosen = np.array(read_deals(deals), np.int64)
        self._records = np.zeros(len(chosen), kernel.GAME)
        kernel.start_all(self._records, self._rule, chosen)

    @classmethod
    def of(cls, games: Game | Sequence[Game], copies: int = 1) -> Games:
        """Copies of one game, or of several, all copies of a game in a row.

        Examples:
            >>> len(Games.of([Game(deal=10_000), Game(deal=10_001)], copies=3))
            6

        Raises:
            ValueError: without games, if they are of several rule sets, or for copies below 1.
            TypeError: if one is not a `Game`.
        """
        check_positive("copies", copies)
        several = list(games) if isinstance(games, Iterable) else [games]
        if len({check_game(game).rules for game in several}) != 1:
            raise ValueError("the games must be one or more of the same rule set")
        records = np.concatenate([game.record for game in several])
        return cls._at(records.repeat(copies), several[0].rules)

    @classmethod
    def from_records(cls, records: NDArray[Any], rules: str | Rules = "four-seasons") -> Games:
        """Games at copies of the positions of a GAME array of shape (n,), as agents get them.

        Raises:
            InvalidGame: if one is not a position of these rules, with the reason.
        """
        known = get_rules(rules)
        copied = np.array(records)
        check_games(copied, known)
        return cls._at(copied, known)

    @classmethod
    def _at(cls, records: NDArray[Any], rules: Rules) -> Games:
        """The games that own this GAME array of shape (n,), already checked."""
        games = cls.__new__(cls)
        games.rules, games._records = rules, records
        return games

    @property
    def _rule(self) -> NDArray[np.void]:
        return kernel.compile_rules(self.rules)

    def __len__(self) -> int:
        return len(self._records)

    @overload
    def __getitem__(self, rows: int) -> Game: ...
    @overload
    def __getitem__(self, rows: slice | Sequence[int] | NDArray[Any]) -> Games: ...
    def __getitem__(self, rows: Any) -> Game | Games:
        """A copy of one game, or of the games of several rows: a slice, numbers or a bool array.

        Raises:
            IndexError: for a row without a game, or rows that are not of shape (n,).
        """
        if isinstance(rows, (int, np.integer)) and not isinstance(rows, bool):
            return Game.from_own_record(self._records[rows], self.rules)
        chosen = rows if isinstance(rows, slice) else np.asarray(rows)
        if not isinstance(chosen, slice) and chosen.ndim != 1:
            raise IndexError(f"rows must be a number, a slice or of shape (n,), not {rows!r:.60}")
        return Games._at(self._records[chosen].copy(), self.rules)

    # --- the positions

    @property
    def records(self) -> NDArray[Any]:
        """The positions: a read-only GAME array of shape (n,)."""
        view = self._records.view()
        view.flags.writeable = False
        return view

    @property
    def cards_up(self) -> NDArray[np.int64]:
        """Cards on the foundations, int64 of shape (n,)."""
        return self._records["cards_up"].astype(np.int64)

    @property
    def is_won(self) -> NDArray[np.bool_]:
        """Whether all cards are up, bool of shape (n,)."""
        won: NDArray[np.bool_] = self._records["cards_up"] == self.rules.cards
        return won

    @property
    def is_over(self) -> NDArray[np.bool_]:
        """Whether each is won, or only moves that rename spaces are left; bool of shape (n,)."""
        return ~legal_masks(self._records, self.rules)[1]

    def action_masks(self, distinct: bool = False) -> NDArray[np.int8]:
        """The legal moves, int8 of shape (n, A): the mask `legal` of an environment.

        There is no mask `no_repeats`: it depends on the moves that led to a position, which a
        record does not hold.

        Args:
            distinct: leave out moves that only rename spaces: the mask `distinct`.
        """
        return legal_masks(self._records, self.rules, distinct)[0]

    def observations(self, kind: str = "tops") -> NDArray[Any]:
        """What the player sees, as an environment gives it: an array of shape (n, slots).

        Examples:
            >>> Games(deals=8).observations("places").shape
            (8, 107)

        Args:
            kind: `"tops"` or `"cards"`, float32; or `"places"`, uint8
                (`four_seasons_env.observations`).

        Raises:
            ValueError: for an unknown kind, with the nearest one.
        """
        check_choice("kind", kind, OBSERVATIONS)
        return observations_of_own(self._records, self.rules, kind)

    # --- playing

    def play(self, moves: NDArray[np.integer[Any]] | Sequence[int]) -> None:
        """Play a move in each game.

        Examples:
            >>> games = Games(deals=[10_000, 10_001])
            >>> games.play([0, -1])  # deal in the first game
            >>> games.records["moves"].tolist()
            [1, 0]

        Args:
            moves: the moves' numbers, of shape (n,); -1 leaves a game as it is.

        Raises:
            IllegalMove: naming the first game in which the move is not legal; then none has moved.
            ValueError: for moves of another shape.
            TypeError: for moves that are not integers.
        """
        numbers = check_integers("moves", moves, len(self))
        rows = np.flatnonzero(numbers != -1)
        chosen, legal = numbers[rows], self.action_masks()[rows]
        # Before any game moves: a move that does not exist is looked up as move 0, and refused.
        in_range = (chosen >= 0) & (chosen < legal.shape[1])
        allowed = in_range & (legal[np.arange(len(rows)), np.where(in_range, chosen, 0)] == 1)
        if not allowed.all():
            wrong = int(np.flatnonzero(~allowed)[0])
            number = int(chosen[wrong])
            text = all_moves(self.rules)[number].text if in_range[wrong] else f"move {number}"
            raise IllegalMove(f"{text} is not legal in game {rows[wrong]}")
        playing = self._records[rows]
        kernel.play_each(playing, self._rule, chosen)
        self._records[rows] = playing

    def reshuffle(self, rng: np.random.Generator) -> None:
        """Put the unseen cards of each game in another order; see `Game.reshuffled`."""
        check_type("rng", rng, np.random.Generator)
        seeds = rng.integers(0, 2**63, len(self), np.uint64)
        self._records = kernel.public_copy(self._records, self._rule, seeds)

    def play_out(
        self, player: object, rng: np.random.Generator, max_moves: int = MAX_MOVES
    ) -> None:
        """Play each game to its end, or until a deterministic player goes round in circles.

        Args:
            player: an agent of the same rules with `play_out(games, max_moves, rng)`, which plays a
                GAME array to its end, in place: `make_agent("heuristic", rules)`, greedy or random.
                If it is of a class of your own, the positions that it leaves are checked.
            rng: for players that draw their moves.
            max_moves: maximum number of moves of a game, including moves already played; a million
                at most, because nothing stops a playout before it.

        Raises:
            TypeError: for a player that cannot play in compiled code.
            ValueError: for a player of other rules, or moves that are not a positive integer.
            InvalidGame: if a player of your own leaves something that is not a position; then no
                game has moved.
        """
        check_type("rng", rng, np.random.Generator)
        check_positive("max_moves", max_moves, MOST_MOVES)
        play_out = getattr(player, "play_out", None)
        if play_out is None:
            raise TypeError(
                f"{type(player).__name__} has no play_out: heuristic, greedy and random have it"
            )
        rules = get_rules(getattr(player, "rules", self.rules))
        if rules != self.rules:
            raise ValueError(f"the player's rules must be {self.rules.name!r}, not {rules.name!r}")
        ours = unchecked(play_out)
        if ours is not play_out:
            ours(self._records, max_moves, rng)
            return
        played = self._records.copy()
        play_out(played, max_moves, rng)
        check_games(played, self.rules)
        self._records = played


def stock_order(games: Games | NDArray[Any]) -> NDArray[np.uint8]:
    """The order of the stock of each position, which is hidden from the player.

    For critics in training, which may see more than the policy whose moves they judge. A saved
    policy never reads it. Read it *before* a step: after the step, the next deal may stand in the
    row of a game that has ended. State its use in a paper.

    Examples:
        >>> stock_order(Games(deals=[10_000]))[0, :4]  # 52 where there is no card
        array([39, 44, 34, 42], dtype=uint8)

    Args:
        games: a `Games`, or a GAME array of shape (n,), such as the `games` of a vector environment
            or of `FourSeasonsVecEnv`.

    Returns:
        uint8 of shape (n, 52): the cards as numbers (`engine.deals`), next card first, then 52.

    Raises:
        TypeError: for anything else.
    """
    records = games.records if isinstance(games, Games) else games
    if getattr(records, "dtype", None) != kernel.GAME or records.ndim != 1:
        hint = ": pass game.record" if isinstance(games, Game) else ""
        raise WrongType(
            f"games must be a Games or a GAME array of shape (n,), not {reprlib.repr(games)}{hint}"
        )
    places = records["dealt"][:, None] + np.arange(NO_CARD)
    cards = np.take_along_axis(records["deck"], np.minimum(places, NO_CARD - 1), axis=1)
    in_stock = places < records["deck_size"][:, None]
    return np.where(in_stock, cards, np.uint8(NO_CARD))
