"""Games kept as bytes: a header that says which rules they are of, and the record.

=====  ===========================================================
bytes  content
=====  ===========================================================
0-3    ``4SEA``
4-7    version of the format, 1; uint32
8-15   `Rules.digest`
16-    the GAME record, in the order that docs/architecture.md lists
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

_KEPT = np.dtype(
    [("magic", "S4"), ("version", "<u4"), ("digest", "V8"), ("game", GAME.newbyteorder("<"))]
)


def pack_game(games: NDArray[Any], rules: Rules) -> bytes:
    """The position in a GAME array of shape (1,) as bytes."""
    kept = np.zeros(1, _KEPT)
    kept["magic"], kept["version"], kept["digest"] = MAGIC, VERSION, np.void(rules.digest)
    for name in GAME.names or ():  # field by field: what lies between them stays 0
        kept["game"][name] = games[name]
    return kept.tobytes()


def unpack_game(data: bytes, rules: Rules) -> NDArray[Any]:
    """The position that `pack_game` has kept, as a GAME array of shape (1,).

    Raises:
        InvalidGame: naming what is wrong: the size, the header, the rules, or the position.
    """
    if len(data) != _KEPT.itemsize:
        raise InvalidGame(
            f"a game is {_KEPT.itemsize} bytes, not {len(data)}: was it kept by to_bytes?"
        )
    (kept,) = np.frombuffer(data, _KEPT)
    if kept["magic"] != MAGIC:
        raise InvalidGame(
            f"a game begins with {MAGIC!r}, not {data[:4]!r}: was it kept by to_bytes?"
        )
    if kept["version"] != VERSION:
        raise InvalidGame(
            f"the game is of version {kept['version']} of the format, and this is {VERSION}"
        )
    digest = kept["digest"].tobytes()
    if digest != rules.digest:
        known = [repr(each.name) for each in RULES.values() if each.digest == digest]
        theirs = known[0] if known else f"of digest {digest.hex()}"
        raise InvalidGame(f"the game is of the rules {theirs}, not {rules.name!r}: name its rules")
    games = np.zeros(1, GAME)
    for name in GAME.names or ():
        games[name] = kept["game"][name]
    check_games(games, rules)
    return games
