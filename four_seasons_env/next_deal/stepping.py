"""Episodes whose actions are positions, compiled: reset and step for a batch of games.

`episodes.stepping` has the stages of a step, and what both kinds of environment share. A decision
(`_decide`) is what takes the time here: a search for the positions at which the next card may be
turned (`positions`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.jit import by_type, internal, is_a, jit, merged
from four_seasons_env.engine.kernel import legal, new_masks, nothing_hidden, play
from four_seasons_env.engine.moves import DEAL
from four_seasons_env.episodes import stepping as episodes
from four_seasons_env.observations import KINDS as VECTOR_KINDS
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
from four_seasons_env.rewards import CUSTOM
from four_seasons_env.rules import Rules

ENDINGS = ("search", "policy")
SEARCH, POLICY = range(len(ENDINGS))

MOVES_PER_ACTION = 2 * (DEEPEST + 2)
"""Maximum number of moves of one action: to a position, the next deal, and an ending."""


class Features(NamedTuple):
    """The observation `features`, for compiled functions: a variant (`engine.jit`)."""


KINDS = {"features": Features(), **VECTOR_KINDS}
"""The observations as compiled functions take them."""


class CompiledNextDealSettings(NamedTuple):
    """The settings of next-deal games as compiled functions take them."""

    no_refills: NDArray[np.void]  # RULE (1,), under which moves turn no cards
    observation: Any  # one of `KINDS`
    order: int  # one of `enumeration.ORDERS`, by number
    expansions: int  # positions that an enumeration may expand
    endings: int  # one of `ENDINGS`, by number
    ending_expansions: int  # positions that a search for a win may expand


class NextDealBuffers(NamedTuple):
    """What else is written about next-deal games; one row for each game."""

    observations: NDArray[Any]  # (n, candidates, slots)
    rows: NDArray[np.int16]  # (n, candidates), each candidate's row in the enumeration
    then_deals: NDArray[np.bool_]  # (n, candidates), whether a deal follows the moves to it
    parents: NDArray[np.int16]  # (n, held), `Search.parents` of the enumeration
    moves: NDArray[np.uint8]  # (n, held), `Search.moves` of the enumeration
    played: NDArray[np.int16]  # (n, MOVES_PER_ACTION), moves of the last action, then -1


class Scratch(NamedTuple):
    """Buffers whose content is not needed after a call; one for each thread."""

    search: Search
    shown: NDArray[Any]  # SHOWN (1,)
    words: NDArray[np.uint64]  # (1, words)
    chosen: NDArray[np.int64]  # (candidates,)
    path: NDArray[np.int64]  # (MOVES_PER_ACTION,)


def new_scratch(rules: Rules, candidates: int, expansions: int) -> Scratch:
    """Buffers for searches of up to this many expansions."""
    return Scratch(
        new_search(rules, max(int(HELD * expansions), 2)),
        np.zeros(1, SHOWN),
        new_masks(1, rules)[0],
        np.zeros(candidates, np.int64),
        np.zeros(MOVES_PER_ACTION, np.int64),
    )


@jit
def advance(bundle, actions, source, out, first, last):
    """See `episodes.stepping.advance`."""
    if last - first == len(actions):
        refused = episodes.first_refused(bundle, actions)
        if refused >= 0:
            return -1 - refused
    ended = 0
    for i in range(first, last):
        ended += _advance_game(i, bundle, actions, source, out)
    return ended


@merged
def _advance_game(i, bundle, actions, source, out):
    """`advance` for a game; returns whether its episode ended."""
    contract, shared, buffers = bundle.contract, bundle.shared, bundle.buffers
    ended, begins = False, shared.begins[i]
    # 1. The action.
    if len(actions):
        buffers.played[i] = -1  # reported also where the action ends the episode
        if not episodes.deals_instead(i, shared, contract.autoreset):
            ended = _take_action(i, bundle, actions[i])
            if ended:
                episodes.end_episode(i, shared, contract.autoreset)
                _copy(i, buffers.observations, shared.final_observations)
        # A custom reward sees the last positions first; then the caller begins the episodes.
        begins = shared.begins[i] and contract.reward != CUSTOM
    # 2. The episode that begins.
    if begins:
        _begin(i, bundle, source)
    # 3. The observation. Where the caller asked for no copies, ``out`` is the buffer itself.
    if out.ctypes.data != buffers.observations.ctypes.data:
        _copy(i, buffers.observations, out)
    return np.int64(ended)


@merged
def _begin(i, bundle, source):
    """Begin an episode with its first decision."""
    shared, rule = bundle.shared, bundle.contract.rules[0]
    if source == episodes.FROM_STREAM:
        episodes.draw_position(i, shared, rule)
    if source != episodes.NO_EPISODE:
        episodes.start_episode(shared.games[i], rule, shared.episodes[i])
    _decide(i, bundle, source != episodes.NO_EPISODE)


@merged
def _take_action(i, bundle, action):
    """Take the action of a game; returns whether its episode ended."""
    shared, contract = bundle.shared, bundle.contract
    rule = contract.rules[0]
    g, episode = shared.games[i], shared.episodes[i]
    # 1. The record of the step.
    before = np.int64(g.cards_up)  # the cards that this step puts up earn the reward
    episode.illegal = False
    episode.steps += 1
    # 2. The moves, and the next decision, which plays the ending if one has begun.
    if not episode.over:
        if shared.masks[i, action]:
            _play_to_candidate(i, action, bundle)
            _decide(i, bundle, False)
        else:
            episode.illegal = True
    # 3. The reward and the end.
    episode.cards_up = g.cards_up
    shared.rewards[i], shared.truncated[i] = episodes.end_step(g, rule, episode, before, contract)
    shared.terminated[i] = episode.over
    shared.done[i] = episode.over or shared.truncated[i]
    return shared.done[i]


@internal
def _decide(i, bundle, opening):
    """Write the next decision of a game. Play a game in which nothing is hidden to its end.

    That happens only where endings are searched. A game that is at its opening is not played by
    `reset`: its only candidate is the opening itself, and the first step plays it.
    """
    shared, settings, buffers = bundle.shared, bundle.settings, bundle.buffers
    scratch, g = bundle.scratch, shared.games[i]
    rule = bundle.contract.rules[0]
    count = 0
    # 1. The candidates. If only moves that rename spaces are left, the game is over.
    if legal(g, rule, True, scratch.words[0]):
        if settings.endings == SEARCH and nothing_hidden(g, rule):
            if opening:
                count = 1
                buffers.rows[i, 0] = 0
                buffers.then_deals[i, 0] = False
                _observe(g, rule, settings.observation, scratch, buffers.observations[i, 0])
            else:  # no candidates are left then, so the episode ends below
                _play_ending(i, bundle)
        else:
            count = _offer(i, bundle)
    # 2. The mask. Candidates come first, so only rows that the last decision used and this one does
    # not are cleared: most decisions have far fewer candidates than there is room for.
    before = 0
    for k in range(shared.masks.shape[1]):
        before += shared.masks[i, k]
        shared.masks[i, k] = k < count
    for k in range(count, before):
        buffers.observations[i, k] = 0
    shared.episodes[i].over = count == 0


@merged
def _offer(i, bundle):
    """Write the candidates of a game that is not over; returns how many there are."""
    settings, buffers, scratch = bundle.settings, bundle.buffers, bundle.scratch
    g, rule = bundle.shared.games[i], bundle.contract.rules[0]
    search = scratch.search
    all_seen = nothing_hidden(g, rule)
    until = UNTIL_PROGRESS if all_seen else UNTIL_HIDDEN
    # 1. Find the positions, and choose the candidates among them.
    held, complete = enumerate_positions(
        g,
        rule,
        settings.no_refills[0],
        until,
        settings.order,
        np.int64(HELD * settings.expansions),
        settings.expansions,
        search,
    )
    # A search that was cut off may have met no position at which to stop. It offers positions on
    # the way then, because a game without candidates would count as lost.
    room = bundle.shared.masks.shape[1]
    count = best_stops(held, search, scratch.chosen, room, not complete)
    # 2. Describe them.
    for k in range(count):
        row = scratch.chosen[k]
        buffers.rows[i, k] = row
        # Before a hidden card is dealt, the candidate is the position and the deal is added. Once
        # all is seen, the path to the candidate has any deal in it.
        buffers.then_deals[i, k] = not all_seen and turn_at(search, row)[1] == 0
        _observe(
            search.positions[row], rule, settings.observation, scratch, buffers.observations[i, k]
        )
    # 3. Keep how they are reached: the search is shared by all games of a thread. Two small numbers
    # a row are enough; the positions would take fifty times the memory.
    if count:
        for row in range(held):
            buffers.parents[i, row] = search.parents[row]
            buffers.moves[i, row] = search.moves[row]
    return count


@by_type
def _observe(g, rule, kind, scratch, out):
    """Write a candidate's observation."""
    if is_a(kind, Features):
        return lambda g, rule, kind, scratch, out: write_row(g, rule, out)
    return lambda g, rule, kind, scratch, out: encode(g, rule, kind, scratch.shown[0], out)


@merged
def _play_ending(i, bundle):
    """Play a game in which nothing is hidden to a win, or to the most cards up that were found."""
    settings, scratch = bundle.settings, bundle.scratch
    g, rule = bundle.shared.games[i], bundle.contract.rules[0]
    search = scratch.search
    expansions = settings.ending_expansions
    row = find_win(g, rule, settings.order, np.int64(HELD * expansions), expansions, search)
    # Played move by move, not copied from the search: the environment reports the moves.
    length = write_path(row, search.parents, search.moves, scratch.path)
    for k in range(length):
        _play(g, i, rule, scratch.path[k], bundle.buffers)


@merged
def _play_to_candidate(i, action, bundle):
    """Play the moves that lead to a candidate, and the deal that follows them."""
    buffers, scratch = bundle.buffers, bundle.scratch
    g, rule = bundle.shared.games[i], bundle.contract.rules[0]
    row = np.int64(buffers.rows[i, action])
    then_deals = buffers.then_deals[i, action]
    length = write_path(row, buffers.parents[i], buffers.moves[i], scratch.path)
    # Under the full rules: where the search left a refill out, it turns its card now.
    for k in range(length):
        _play(g, i, rule, scratch.path[k], buffers)
    if then_deals:
        _play(g, i, rule, DEAL, buffers)


@internal
def _play(g, i, rule, move, buffers):
    """Play a move, and add it to the moves of this action."""
    at = 0  # ends at the first -1, behind the moves so far
    played = buffers.played[i]
    while played[at] >= 0:
        at += 1
    played[at] = move
    play(g, rule, move)


@internal
def _copy(i, observations, out):
    """Copy the observation of a game."""
    for k in range(observations.shape[1]):
        for slot in range(observations.shape[2]):
            out[i, k, slot] = observations[i, k, slot]
