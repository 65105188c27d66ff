"""Episodes whose actions are positions, compiled: reset and step for a batch of games.

The single environment is a batch of one, the vector environment a batch of many: both run this
code, so they cannot differ. All results go into buffers that the caller owns (`NextDealBuffers`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from four_seasons_env.engine.jit import by_type, internal, jit, merged
from four_seasons_env.engine.kernel import legal, new_masks, nothing_hidden, play
from four_seasons_env.episodes.stepping import (
    CONSIDER,
    DEAL,
    END,
    NEXT_STEP,
    SAME_STEP,
    STEP,
    deal_next,
    end_step,
    first_refused,
    keep_final,
    no_step,
    start_episode,
)
from four_seasons_env.observations import SHOWN, encode
from four_seasons_env.positions.enumeration import HELD, best_stops, enumerate_positions, find_win
from four_seasons_env.positions.features import write_row
from four_seasons_env.positions.search import (
    DEEPEST,
    UNTIL_HIDDEN,
    UNTIL_PROGRESS,
    Search,
    new_search,
    turn_at,
    write_path,
)
from four_seasons_env.rules import Rules

ENDINGS = ("search", "policy")
SEARCH, POLICY = range(len(ENDINGS))

LONGEST = 2 * (DEEPEST + 2)
"""Maximum number of moves of one action: to a position, the next deal, and an ending."""


class CompiledNextDealSettings(NamedTuple):
    """The settings of next-deal games as compiled functions take them."""

    rules: NDArray[np.void]  # RULE (1,)
    free: NDArray[np.void]  # RULE (1,), without refills, under which moves turn no cards
    observation: int | None  # one of `observations.KINDS`; None also for features
    order: int  # one of `enumeration.ORDERS`, by number
    expansions: int  # positions that an enumeration may expand
    endings: int  # one of `ENDINGS`, by number
    ending_expansions: int  # positions that a search for a win may expand
    reward: int  # see `rewards`
    penalty: float  # cost of an illegal action
    max_moves: int
    autoreset: int  # one of those of `episodes.stepping`
    deals_again: bool  # a step deals ended games again, unless the caller does
    strict: bool  # actions that are not offered are refused


class NextDealBuffers(NamedTuple):
    """The games and everything that is written about them; one row for each game."""

    games: NDArray[Any]  # GAME (n,)
    episodes: NDArray[Any]  # EPISODE (n,)
    masks: NDArray[np.int8]  # (n, candidates), 1 where there is a candidate
    observations: NDArray[Any]  # (n, candidates, slots)
    rewards: NDArray[np.float64]  # (n,)
    terminated: NDArray[np.bool_]  # (n,)
    truncated: NDArray[np.bool_]  # (n,)
    done: NDArray[np.bool_]  # (n,)
    rows: NDArray[np.int16]  # (n, candidates), each candidate's row in the enumeration
    deals: NDArray[np.bool_]  # (n, candidates), whether a deal follows the moves that lead there
    parents: NDArray[np.int16]  # (n, held), `Search.parents` of the enumeration
    moves: NDArray[np.uint8]  # (n, held), `Search.moves` of the enumeration
    played: NDArray[np.int16]  # (n, LONGEST), moves of the last action, then -1
    streams: NDArray[np.uint64]  # these five as in `episodes.stepping.Buffers`
    choices: NDArray[np.int64]
    final_episodes: NDArray[np.void]
    final_masks: NDArray[np.int8]
    final_observations: NDArray[Any]


class Scratch(NamedTuple):
    """Buffers whose content is not needed after a call; one for each thread."""

    search: Search
    shown: NDArray[Any]  # SHOWN (1,)
    words: NDArray[np.uint64]  # (1, words)
    chosen: NDArray[np.int64]  # (candidates,)
    path: NDArray[np.int64]  # (LONGEST,)


def new_scratch(rules: Rules, candidates: int, expansions: int) -> Scratch:
    """Buffers for searches of up to this many expansions."""
    return Scratch(
        new_search(rules, max(int(HELD * expansions), 2)),
        np.zeros(1, SHOWN),
        new_masks(1, rules)[0],
        np.zeros(candidates, np.int64),
        np.zeros(LONGEST, np.int64),
    )


@by_type
def _observe(g, rule, kind, scratch, out):
    """Write a candidate's observation; ``kind`` does not matter for sparse features."""
    return _write_features if out.dtype == types.int16 else _write_vector


def _write_features(g, rule, kind, scratch, out):
    write_row(g, rule, out)


def _write_vector(g, rule, kind, scratch, out):
    encode(g, rule, kind, scratch.shown[0], out)


@merged
def _offer(g, i, buffers, settings, scratch):
    """Write the candidates of a game that is not over; returns how many there are."""
    rule = settings.rules[0]
    search = scratch.search
    all_seen = nothing_hidden(g, rule)
    until = UNTIL_PROGRESS if all_seen else UNTIL_HIDDEN
    count, complete = enumerate_positions(
        g,
        rule,
        settings.free[0],
        until,
        settings.order,
        np.int64(HELD * settings.expansions),
        settings.expansions,
        search,
    )
    most = buffers.masks.shape[1]
    # A search that was cut off may have met no position at which to stop. It offers positions on
    # the way then, because a game without candidates would count as lost.
    found = best_stops(count, search, scratch.chosen, most, not complete)
    for k in range(found):
        row = scratch.chosen[k]
        buffers.rows[i, k] = row
        # Before a hidden card is dealt, the candidate is the position and the deal is added. Once
        # all is seen, the path to the candidate has any deal in it.
        buffers.deals[i, k] = not all_seen and turn_at(search, row)[1] == 0
        _observe(
            search.positions[row], rule, settings.observation, scratch, buffers.observations[i, k]
        )
    # The search is shared by all games of a thread, so each game keeps how its rows are reached.
    # Two small numbers a row are enough; the positions would take fifty times the memory.
    if found:
        for row in range(count):
            buffers.parents[i, row] = search.parents[row]
            buffers.moves[i, row] = search.moves[row]
    return found


@internal
def _advance(i, bundle, opening):
    """Write the next decision of a game. Play a game in which nothing is hidden to its end.

    That happens only where endings are searched. A game that is at its opening is not played by
    `reset`: its only candidate is the opening itself, and the first step plays it.
    """
    buffers, settings, scratch = bundle.buffers, bundle.settings, bundle.scratch
    g = buffers.games[i]
    rule = settings.rules[0]
    found = 0
    # If only moves that rename spaces are left, the game is over.
    if legal(g, rule, True, scratch.words[0]):
        if settings.endings == SEARCH and nothing_hidden(g, rule):
            if opening:
                found = 1
                buffers.rows[i, 0] = 0
                buffers.deals[i, 0] = False
                _observe(g, rule, settings.observation, scratch, buffers.observations[i, 0])
            else:  # no candidates are left then, so the episode ends below
                _finish(g, i, buffers, settings, scratch)
        else:
            found = _offer(g, i, buffers, settings, scratch)
    episode = buffers.episodes[i]
    # Candidates come first, so only rows that the last decision used and this one does not are
    # cleared: most decisions have far fewer candidates than there is room for.
    before = 0
    for k in range(buffers.masks.shape[1]):
        before += buffers.masks[i, k]
        buffers.masks[i, k] = k < found
    for k in range(found, before):
        buffers.observations[i, k] = 0
    episode.over = found == 0


@merged
def _finish(g, i, buffers, settings, scratch):
    """Play a game in which nothing is hidden to a win, or to the most cards up that were found."""
    rule = settings.rules[0]
    search = scratch.search
    expansions = settings.ending_expansions
    row = find_win(g, rule, settings.order, np.int64(HELD * expansions), expansions, search)
    # Played move by move, not copied from the search: the environment reports the moves.
    length = write_path(row, search.parents, search.moves, scratch.path)
    for k in range(length):
        _play(g, i, rule, scratch.path[k], buffers)


@internal
def _play(g, i, rule, move, buffers):
    """Play a move, and add it to the moves of this action."""
    at = 0  # will be the first free entry: moves come first, then -1
    played = buffers.played[i]
    while played[at] >= 0:
        at += 1
    played[at] = move
    play(g, rule, move)


@merged
def _take(i, action, buffers, rule, scratch):
    """Play the moves that lead to a candidate, and the deal that follows them."""
    g = buffers.games[i]
    row = np.int64(buffers.rows[i, action])
    deals = buffers.deals[i, action]
    length = write_path(row, buffers.parents[i], buffers.moves[i], scratch.path)
    # Under the full rules: where the search left a refill out, it turns its card now.
    for k in range(length):
        _play(g, i, rule, scratch.path[k], buffers)
    if deals:
        _play(g, i, rule, 0, buffers)  # move 0 is the deal


@internal
def _copy(i, observations, out):
    """Copy the observation of a game."""
    for k in range(observations.shape[1]):
        for slot in range(observations.shape[2]):
            out[i, k, slot] = observations[i, k, slot]


@merged
def _write(i, bundle, what):
    """Write the next decision of a game; see `episodes.stepping.step_all`."""
    buffers, rule = bundle.buffers, bundle.settings.rules[0]
    if what == END:
        keep_final(i, buffers)
        _copy(i, buffers.observations, buffers.final_observations)
    if what in (DEAL, END):
        deal_next(i, buffers, rule)
    if what != END:  # with the end of an episode, the moves of its last action are reported
        buffers.played[i] = -1
    if what != CONSIDER:
        start_episode(buffers.games[i], rule, buffers.episodes[i])
    _advance(i, bundle, what != CONSIDER)


@jit
def step_all(bundle, what, actions, out, first, last):
    """See `episodes.stepping.step_all`."""
    if what == STEP and last - first == len(actions):
        refused = first_refused(bundle, actions)
        if refused >= 0:
            return -1 - refused
    ended = 0
    for i in range(first, last):
        ended += _step(i, bundle, what, actions, out)
    return ended


@merged
def _step(i, bundle, what, actions, out):
    """`step_all` for a game; returns whether its episode ended."""
    buffers, settings = bundle.buffers, bundle.settings
    ended = False
    writes, why = actions[i] != 0, what
    if what == STEP:
        buffers.played[i] = -1
        if settings.autoreset == NEXT_STEP and buffers.done[i]:
            no_step(i, buffers)
            writes, why = settings.deals_again, DEAL
        else:
            ended = _take_action(i, bundle, actions[i])
            writes = ended and settings.autoreset == SAME_STEP and settings.deals_again
            why = END
    if writes:
        _write(i, bundle, why)
    # Where the caller asked for no copies, ``out`` is the buffer itself.
    if what == STEP and out.ctypes.data != buffers.observations.ctypes.data:
        _copy(i, buffers.observations, out)
    return np.int64(ended)


@merged
def _take_action(i, bundle, action):
    """Take the action of a game; returns whether its episode ended."""
    buffers, settings, scratch = bundle.buffers, bundle.settings, bundle.scratch
    rule = settings.rules[0]
    g, episode = buffers.games[i], buffers.episodes[i]
    before = np.int64(g.cards_up)
    episode.illegal = False
    episode.steps += 1
    if not episode.over:
        if buffers.masks[i, action]:
            _take(i, action, buffers, rule, scratch)
            _advance(i, bundle, False)
        else:
            episode.illegal = True
    episode.cards_up = g.cards_up
    buffers.rewards[i], buffers.truncated[i] = end_step(g, rule, episode, before, settings)
    buffers.terminated[i] = episode.over
    buffers.done[i] = episode.over or buffers.truncated[i]
    return buffers.done[i]
