"""Games as bytes: a header that identifies the rules, and the record.

=====  ===========================================================
bytes  content
=====  ===========================================================
0-3    ``4SEA``
4-7    version of the format, 1; uint32
8-15   `Rules.digest`
16-    the GAME record (`engine.kernel` has a table of its fields)
=====  ===========================================================

Numbers are little-endian.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.kernel import GAME
from four_seasons_env.engine.validation import InvalidGame, check_games
from four_seasons_env.rules import RULES, Rules

MAGIC, VERSION = b"4SEA", 1

_STORED = np.dtype(
    [("magic", "S4"), ("version", "<u4"), ("digest", "V8"), ("game", GAME.newbyteorder("<"))]
)


def pack_game(games: NDArray[Any], rules: Rules) -> bytes:
    """The position in a GAME array of shape (1,) as bytes."""
    stored = np.zeros(1, _STORED)
    stored["magic"], stored["version"], stored["digest"] = MAGIC, VERSION, np.void(rules.digest)
    for name in GAME.names or ():  # field by field, so that padding stays 0
        stored["game"][name] = games[name]
    return stored.tobytes()


def unpack_game(data: bytes, rules: Rules) -> NDArray[Any]:
    """The position that `pack_game` has packed, as a GAME array of shape (1,).

    Raises:
        InvalidGame: naming what is wrong: the size, the header, the rules, or the position.
    """
    if len(data) != _STORED.itemsize:
        raise InvalidGame(
            f"a game is {_STORED.itemsize} bytes, not {len(data)}: was it written by to_bytes?"
        )
    (stored,) = np.frombuffer(data, _STORED)
    if stored["magic"] != MAGIC:
        raise InvalidGame(
            f"a game begins with {MAGIC!r}, not {data[:4]!r}: was it written by to_bytes?"
        )
    if stored["version"] != VERSION:
        raise InvalidGame(
            f"the game has version {stored['version']} of the format; expected {VERSION}"
        )
    digest = stored["digest"].tobytes()
    if digest != rules.digest:
        known = [repr(each.name) for each in RULES.values() if each.digest == digest]
        theirs = known[0] if known else f"of digest {digest.hex()}"
        raise InvalidGame(f"the game is of the rules {theirs}, not {rules.name!r}: name its rules")
    games = np.zeros(1, GAME)
    for name in GAME.names or ():
        games[name] = stored["game"][name]
    check_games(games, rules)
    return games
