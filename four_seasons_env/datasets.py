"""Recorded games as transitions, for imitation and for offline reinforcement learning.

Three sets of 10,000 games of `four-seasons` are the same for everybody:

| name     | players                                                                  |
| -------- | ------------------------------------------------------------------------ |
| `expert` | `planner`, the best agent                                                |
| `medium` | `heuristic`, a rule of thumb                                             |
| `mixed`  | `random`, `greedy`, `heuristic` and `maskable_ppo`, 2,500 games of each  |

Their deals are training deals, and no deal is in two sets. A set is two files in `data/datasets`:
NAME.npz has the moves, and its card NAME.json says how they were made, with the SHA-256 of the
games. `load` plays the moves again in `FourSeasonsVectorEnv`, so the transitions are what this
environment gives for the same moves, with any observation, mask and reward.

| array     | dtype and shape    | meaning                                    |
| --------- | ------------------ | ------------------------------------------ |
| `deals`   | int64 (2,)         | the first deal, and the one after the last |
| `lengths` | uint16 (games,)    | moves of each game                         |
| `moves`   | uint8 (all moves,) | their numbers, one game after the other    |
| `won`     | bool (games,)      | whether each game was won                  |
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.arguments import check_choice, check_positive, names_nearest, nearest
from four_seasons_env.engine.masks import MASKS
from four_seasons_env.engine.moves import find_move
from four_seasons_env.episodes.running import why_left_out
from four_seasons_env.files import expanded
from four_seasons_env.game import MAX_MOVES, Game
from four_seasons_env.records import Record, read_records
from four_seasons_env.rewards import RewardFunction
from four_seasons_env.rules import Rules, get_rules
from four_seasons_env.vector import FourSeasonsVectorEnv

DATASETS = ("expert", "medium", "mixed")
"""The sets that come with the package, the best player first."""

FOLDER = Path(__file__).parent / "data" / "datasets"
"""Where they are."""

UNFINISHED = ("truncated", "terminated", "left_out")
"""What a game can count as that stops although the environment would go on."""

_TOGETHER = 1024
"""Games that are played side by side."""


@dataclass(frozen=True, eq=False)
class Transitions:
    """Transitions of games, in the order in which they were played, one game after the other.

    ``data[rows]`` are the transitions of some rows: a slice, numbers or a bool array.
    """

    observation: NDArray[Any]
    """What the player saw: float32, or uint8 for `places`, of shape (n, slots)."""
    mask: NDArray[np.int8]
    """The moves that could be played, of shape (n, A)."""
    action: NDArray[np.int64]
    """The move that was played, of shape (n,)."""
    reward: NDArray[np.float64]
    """What it earned, of shape (n,)."""
    next_observation: NDArray[Any]
    """What the player saw after it; at the end of a game, of its last position."""
    next_mask: NDArray[np.int8]
    """The moves that could be played next; all zeros where the game has terminated."""
    terminated: NDArray[np.bool_]
    """Whether the game is over: nothing follows."""
    truncated: NDArray[np.bool_]
    """Whether the record ends although the game goes on: the value of what follows is unknown."""
    episode: NDArray[np.int64]
    """Number of the game in the recorded set, counted from 0 whatever is left out."""
    deal: NDArray[np.int64]
    """Number of the deal, -1 for a deck of one's own. For the experimenter, to split the games: it
    determines all hidden cards, so no policy may see it."""

    def __len__(self) -> int:
        return len(self.action)

    def __getitem__(self, rows: slice | Sequence[int] | NDArray[Any]) -> Transitions:
        return Transitions(**{name: array[rows] for name, array in vars(self).items()})


@dataclass(frozen=True, eq=False)
class Recorded:
    """Recorded games of one rule set."""

    rules: Rules
    deals: NDArray[np.int64]  # (games,), -1 for a deck
    lengths: NDArray[np.int64]  # (games,), their moves
    moves: NDArray[np.integer[Any]]  # (all moves,), one game after the other
    won: NDArray[np.bool_]  # (games,)
    players: NDArray[np.str_]  # (games,), their labels
    openings: Sequence[Game] = ()
    """Where they start, if some have decks."""

    def starts(self, games: NDArray[np.int64]) -> dict[str, Any]:
        """The option of `reset` with which some games start."""
        if self.openings:
            return {"game": [self.openings[i] for i in games]}
        return {"deal": self.deals[games].tolist()}


@names_nearest
def load(
    source: str | Path,
    *,
    rules: str | Rules | None = None,
    agent: str | None = None,
    observation: str = "places",
    mask: str = "no_repeats",
    reward: str | RewardFunction = "foundation",
    max_moves: int = MAX_MOVES,
    unfinished: str = "truncated",
    won_only: bool = False,
    games: int | None = None,
) -> Transitions:
    """Recorded games as transitions, as `FourSeasonsEnv` gives them for the same moves.

    A transition takes about 310 bytes with the observation `places`, and 5.7 KB with `cards`: load
    fewer `games` where that is too much.

    Examples:
        >>> data = load("medium", games=100)
        >>> data.observation.shape, data.next_mask.shape, int(data.terminated.sum())
        ((10873, 107), (10873, 32), 100)

    Args:
        source: the name of a set, `"expert"`, `"medium"` or `"mixed"`; a folder of
            `four-seasons compare --record`, or one of its folders in `parts`; or a file of records,
            such as `games.jsonl.gz` (`four_seasons_env.records`).
        rules: the rule set whose games are taken; None: the only one of the source.
        agent: the label of the player whose games are taken; None: all players. Of a comparison,
            these are its games of every training seed and way of playing.
        observation: `"tops"`, `"cards"` or `"places"`, as in `FourSeasonsEnv`.
        mask: `"legal"`, `"distinct"` or `"no_repeats"`, likewise. The players of the three sets
            played with `no_repeats`, so no mask leaves out a move that they chose.
        reward: `"foundation"`, `"win"` or a callable, likewise.
        max_moves: moves until an episode is truncated; later moves of a game are left out.
        unfinished: how a game counts whose record stops although the environment would go on.
            `"truncated"`: its last position has a value. `"terminated"`: the player gave up.
            `"left_out"`: none of its transitions is returned.
        won_only: whether only games are taken that were won, within ``max_moves``.
        games: how many games to take, the first ones; None: all. More than there are is an error.
            The players of a set follow one another, so the first games of `mixed` are all of
            `random`: name the `agent`, too.

    Raises:
        ValueError: for an argument that is out of range, with the nearest valid one; for a file
            that is damaged or was changed; if there is no game; or if the mask leaves out a move
            that was played, naming the game, the move and the reason.
        FileNotFoundError: if there is no such set, file or folder.

    See Also:
        `four_seasons_env.records.read_records`: the games themselves, move by move.
    """
    check_choice("mask", mask, MASKS)
    check_choice("unfinished", unfinished, UNFINISHED)
    check_choice("won_only", won_only, (True, False))
    check_positive("max_moves", max_moves)
    # 1. The games that are asked for.
    recorded = _shipped(str(source)) if source in DATASETS else _from_files(source, rules)
    if rules is not None and recorded.rules != get_rules(rules):
        name = get_rules(rules).name
        raise ValueError(f"rules of {str(source)!r} must be {recorded.rules.name!r}, not {name!r}")
    chosen = np.flatnonzero(recorded.lengths)  # a game without a move has no transition
    if agent is not None:
        check_choice("agent", agent, tuple(dict.fromkeys(recorded.players.tolist())))
        chosen = chosen[recorded.players[chosen] == agent]
    if won_only:
        chosen = chosen[(recorded.won & (recorded.lengths <= max_moves))[chosen]]
    if not len(chosen):
        raise ValueError(f"{source} has no game {'that was won' if won_only else 'with a move'}")
    if games is not None:
        chosen = chosen[: check_positive("games", games, len(chosen))]
    # 2. Their transitions.
    kwargs = {"observation": observation, "mask": mask, "reward": reward, "max_moves": max_moves}
    return _replay(recorded, chosen, unfinished, kwargs)


# --- recorded games -----------------------------------------------------------------------------


def digest_of(arrays: Any) -> str:
    """The SHA-256, in hex, of the games of a set: of its arrays in the order of the table above."""
    digest = hashlib.sha256()
    for name, dtype in (("deals", "<i8"), ("lengths", "<u2"), ("moves", "u1"), ("won", "?")):
        digest.update(np.ascontiguousarray(arrays[name], dtype).tobytes())
    return digest.hexdigest()


def packed(records: Sequence[Record]) -> tuple[bytes, dict[str, Any]]:
    """Games of consecutive deals as the content of a set's file, and what its card says of them.

    Raises:
        ValueError: if they are not games of one rule set and of consecutive deals.
    """
    rules, deals = {each.rules for each in records}, [each.deal for each in records]
    first = deals[0] if deals else None
    if len(rules) != 1 or first is None or deals != [*range(first, first + len(deals))]:
        raise ValueError("the games of a set must be of one rule set and of consecutive deals")
    recorded = _of_records(records)
    arrays: dict[str, Any] = {
        "deals": np.array([first, first + len(deals)], np.int64),
        "lengths": recorded.lengths.astype(np.uint16),
        "moves": recorded.moves.astype(np.uint8),
        "won": recorded.won,
    }
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    about = {
        "rules": rules.pop(),
        "deals": f"{first}-{first + len(deals) - 1}",
        "games": len(deals),
        "transitions": len(recorded.moves),
        "won": float(recorded.won.mean()),
        "sha256": digest_of(arrays),
    }
    return file.getvalue(), about


def _shipped(name: str) -> Recorded:
    """The games of a set of the package."""
    path = FOLDER / f"{name}.npz"
    content, about = path.read_bytes(), path.with_suffix(".json").read_bytes()
    try:
        card = json.loads(about)
        with np.load(io.BytesIO(content)) as file:
            arrays = dict(file)
        digest, expected, rules = digest_of(arrays), card["sha256"], get_rules(card["rules"])
        labels, counts = ([each[key] for each in card["players"]] for key in ("agent", "games"))
        players = np.repeat(labels, counts)
    except (
        *(ValueError, KeyError, TypeError, EOFError, NotImplementedError),
        *(zipfile.BadZipFile, zlib.error),
    ) as error:
        raise ValueError(f"{path}, or its card, is damaged: {error}") from None
    if digest != expected:
        raise ValueError(
            f"the SHA-256 of the games in {path} must be that of its card, {expected}, not {digest}"
        )
    deals, lengths = np.arange(*arrays["deals"]), arrays["lengths"].astype(np.int64)
    return Recorded(rules, deals, lengths, arrays["moves"], arrays["won"], players)


def _from_files(source: str | Path, rules: str | Rules | None) -> Recorded:
    """The games of a file of records, or of all such files in a folder."""
    path = expanded(source)
    files = sorted([*path.rglob("*.jsonl"), *path.rglob("*.jsonl.gz")]) if path.is_dir() else [path]
    if not path.exists():
        hint = nearest(str(source), DATASETS)
        raise FileNotFoundError(f"there is no data set, file or folder {str(source)!r}: {hint}")
    if not files:
        raise FileNotFoundError(f"{path} has no recorded games: compare with --record")
    records = [record for file in files for record in read_records(file)]
    if rules is not None:
        name = get_rules(rules).name
        records = [each for each in records if get_rules(each.rules).name == name]
    several = dict.fromkeys(get_rules(each.rules).name for each in records)
    if len(several) > 1:
        raise ValueError(f"rules must name one of the rule sets of {path}: {', '.join(several)}")
    if not records:
        raise ValueError(f"{path} has no game{f' of {name}' if rules else ''}")
    return _of_records(records)


def _of_records(records: Sequence[Record]) -> Recorded:
    """Records of one rule set."""
    rules = get_rules(records[0].rules)
    deals = np.array([-1 if each.deal is None else each.deal for each in records], np.int64)
    lengths = np.array([len(each.moves) for each in records], np.int64)
    moves = [find_move(rules, move).number for each in records for move in each.moves]
    won = np.array([each.end.won for each in records])
    openings = [each.start() for each in records] if -1 in deals else []
    players = np.array([each.player for each in records])
    return Recorded(rules, deals, lengths, np.array(moves, np.int64), won, players, openings)


# --- replay -------------------------------------------------------------------------------------


def _replay(
    recorded: Recorded, chosen: NDArray[np.int64], unfinished: str, kwargs: dict[str, Any]
) -> Transitions:
    """Play chosen games again, many side by side, and note each transition.

    Args:
        recorded: the games.
        chosen: numbers of those that are played.
        unfinished: one of `UNFINISHED`.
        kwargs: arguments of the environment.
    """
    # 1. A row for each move.
    lengths = np.minimum(recorded.lengths[chosen], kwargs["max_moves"])
    first, count = lengths.cumsum() - lengths, int(lengths.sum())
    spaces = FourSeasonsVectorEnv(1, recorded.rules, **kwargs)
    slots: Any = spaces.single_observation_space
    moves: Any = spaces.single_action_space
    rows = Transitions(
        observation=np.empty((count, *slots.shape), slots.dtype),
        mask=np.empty((count, moves.n), np.int8),
        action=np.empty(count, np.int64),
        reward=np.empty(count),
        next_observation=np.empty((count, *slots.shape), slots.dtype),
        next_mask=np.empty((count, moves.n), np.int8),
        terminated=np.empty(count, np.bool_),
        truncated=np.empty(count, np.bool_),
        episode=chosen.repeat(lengths),
        deal=recorded.deals[chosen].repeat(lengths),
    )
    before = recorded.lengths.cumsum() - recorded.lengths  # moves of the games before each
    rows.action[:] = recorded.moves[(before[chosen] - first).repeat(lengths) + np.arange(count)]
    # 2. Games of similar length are played together, so that few have to wait.
    order = np.argsort(-lengths, kind="stable")
    for i in range(0, len(order), _TOGETHER):
        some = order[i : i + _TOGETHER]
        env = FourSeasonsVectorEnv(
            len(some), recorded.rules, **kwargs, autoreset_mode="NextStep", copy=False
        )
        start = env.reset(seed=0, options=recorded.starts(chosen[some]))
        _play(env, *start, lengths[some], first[some], rows)
    # 3. What follows a move is what the next one begins with, but for the last of a game.
    last = first + lengths - 1
    pairs = (rows.observation, rows.next_observation), (rows.mask, rows.next_mask)
    for seen, next_seen in pairs:
        finals = next_seen[last]
        next_seen[:-1] = seen[1:]
        next_seen[last] = finals
    # 4. The last rows of games that the environment would continue.
    last = last[~(rows.terminated[last] | rows.truncated[last])]
    if unfinished == "left_out":
        return rows[~np.isin(rows.episode, rows.episode[last])]
    getattr(rows, unfinished)[last] = True
    if unfinished == "terminated":
        rows.next_mask[last] = 0  # nothing follows
    return rows


def _play(
    env: FourSeasonsVectorEnv,
    observations: NDArray[Any],
    infos: dict[str, Any],
    lengths: NDArray[np.int64],
    first: NDArray[np.int64],
    rows: Transitions,
) -> None:
    """Play the actions of some games, and write what the environment says into their rows.

    What follows a move is written for the last of each game only.

    Args:
        env: with a game for each.
        observations, infos: what its reset has returned.
        lengths: moves of each game, the longest game first.
        first: the first row of each game.
        rows: the rows of all games, whose actions are given.

    Raises:
        ValueError: for a move that the mask leaves out.
    """
    actions = np.zeros(len(lengths), np.int64)
    over = np.zeros(len(lengths), np.bool_)
    on = len(lengths)
    for move in range(lengths[0]):
        # 1. What the player sees, in the games that have this move: the first ones.
        at, masks = first[:on] + move, infos["action_mask"]
        rows.observation[at], rows.mask[at] = observations[:on], masks[:on]
        # 2. Its move.
        actions[:on] = rows.action[at]
        refused = over[:on] | (masks[np.arange(on), actions[:on]] == 0)
        if refused.any():
            game = int(refused.argmax())
            reason = f"it is over after {move} moves"
            if not over[game]:
                position = Game.from_own_record(env.games[game], env.rules)
                reason = f"{why_left_out(position, int(actions[game]))} (move {move + 1})"
            raise ValueError(
                f"mask must leave in all moves, but in game {rows.episode[at[game]]} {reason}"
            )
        # 3. What it earns. Games that have ended go on with other deals, which nobody reads.
        observations, rewards, terminated, truncated, infos = env.step(actions)
        rows.reward[at] = rewards[:on]
        rows.terminated[at], rows.truncated[at] = terminated[:on], truncated[:on]
        over = terminated
        # 4. What the player sees last, in the games whose last move this was.
        longer = int(np.searchsorted(-lengths, -(move + 1)))
        last = slice(longer, on)
        rows.next_observation[at[last]] = observations[last]
        rows.next_mask[at[last]] = infos["action_mask"][last]
        on = longer
