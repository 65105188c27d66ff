"""Options of a reset: the deal, deck or position to play, the seeds, and the games to reset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.arguments import WrongType, nearest
from four_seasons_env.engine.deals import check_seed, deck_text, parse_deck
from four_seasons_env.game import Game, check_game
from four_seasons_env.games import Games
from four_seasons_env.rules import Rules

OPTIONS = ("deal", "deck", "game")
"""The options that say what to play."""

RESET_MASK = "reset_mask"
"""The option of vector environments that selects the games to reset."""


def read_options(
    options: dict[str, Any] | None, rules: Rules, count: int | None = None
) -> NDArray[Any] | None:
    """The positions that reset options ask for, as a GAME array of shape (n,).

    Args:
        options: see `GameEnv.reset` and `GameVectorEnv.reset`.
        rules: the rule set of the environment.
        count: number of games of a vector environment, whose options may also hold a list with a
            deal or a game for each, and a reset mask; None for a single environment.

    Returns:
        None if no option says what to play: then each game plays its next training deal.

    Raises:
        ValueError: for an unknown option, a bad deal, an invalid deck, or a game that is over or of
            other rules.
        TypeError: if the options are not a dictionary, or a game is not a `Game`.
    """
    if options is not None and not isinstance(options, Mapping):
        raise WrongType(f"options must be {{'deal': 17}} or {{'deck': text}}, not {options!r}")
    given = options or {}
    known = OPTIONS if count is None else (*OPTIONS, RESET_MASK)
    for key in given:
        if key not in known:
            raise ValueError(f"unknown option {key!r}: {nearest(key, known)}")
    named = [key for key in OPTIONS if key in given]
    if not named:
        return None
    if len(named) > 1:
        raise ValueError("give only one: a deal, a deck or a game")
    (name,) = named
    value = given[name]
    if name == "deck":
        # Read here, because `Game(deck=None)` would be deal 0.
        deck = deck_text(parse_deck(value, rules.ranks))
        positions = Game(rules, deck=deck).record
    else:
        values = list(value) if count is not None and _is_list(name, value, count) else [value]
        positions = Games(rules, values).records if name == "deal" else _read_games(values, rules)
    # One for all games, or one for each.
    return positions.repeat((count or 1) // len(positions))


def _is_list(name: str, value: Any, count: int) -> bool:
    """Whether an argument has a value for each game, and not one for all.

    Raises:
        ValueError: for another number of values.
    """
    is_array = isinstance(value, np.ndarray) and value.ndim > 0
    if not is_array and (isinstance(value, (str, bytes)) or not isinstance(value, Sequence)):
        return False
    if len(value) != count:
        raise ValueError(
            f"{name} must be one value or {count}, one for each game, not {len(value)}"
        )
    return True


def _read_games(games: list[Any], rules: Rules) -> NDArray[Any]:
    """The positions of games, a GAME array."""
    for game in games:
        if check_game(game).rules != rules:
            raise ValueError(f"the game's rules must be {rules.name!r}, not {game.rules.name!r}")
        if game.is_over:
            raise ValueError("the game is over: pass one that can continue")
    return np.concatenate([game.record for game in games])


def read_seeds(seed: Any, count: int) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """The seed of each game, and which games have one.

    Args:
        seed: a number for the first game, with consecutive numbers for the others; a sequence with
            a number or None for each game; or None.
        count: number of games.

    Raises:
        ValueError: for a sequence of another length, or an invalid seed.
    """
    seeds = np.zeros(count, np.uint64)
    given = np.zeros(count, np.bool_)
    if _is_list("seed", seed, count):
        for i, each in enumerate(seed):
            if each is not None:
                seeds[i] = check_seed(each)
                given[i] = True
    elif seed is not None:
        # Game i gets seed + i, which must not wrap around.
        first = check_seed(seed)
        if first > 2**64 - count:
            raise ValueError(f"seed must be 0 to 2^64 - {count} for {count} games, not {first}")
        seeds[:] = np.uint64(first) + np.arange(count, dtype=np.uint64)
        given[:] = True
    return seeds, given


def check_reset_mask(mask: Any, count: int) -> NDArray[np.bool_]:
    """The games to reset, as a bool array of shape (n,).

    Raises:
        WrongType: if the mask has another dtype.
        ValueError: if it has another shape, or selects no game.
    """
    chosen = np.asarray(mask)
    if chosen.dtype != np.bool_ or chosen.shape != (count,):
        kind = ValueError if chosen.dtype == np.bool_ else WrongType
        raise kind(
            f"reset_mask must be a bool array of shape ({count},), not {chosen.dtype} of shape "
            f"{chosen.shape}"
        )
    if not chosen.any():
        raise ValueError("reset_mask must name one game or more")
    return chosen
