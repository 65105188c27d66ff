"""Episodes on top of the game, compiled: reset and step for a batch of games.

The single environment is a batch of one, the vector environment a batch of many: both run this
code, so they cannot differ. All results go into buffers, which `running.RunningGames` owns.
Compiled code runs without the GIL, so several threads can call `advance`, each for its own games.

One compiled function, `advance`, does both. It could be two, `begin` and `step`, but both need the
legal moves and the observation, and each would compile these for itself: the first step would
take a fifth longer (8.1 and 9.9 seconds of processor time, measured), and Ctrl-C between the two
could leave an ended game that is not dealt again. So a call has two stages:

1. Take an action in each game, if there are actions.
2. Begin an episode in each game that is marked in ``begins``. `reset` marks games, and so does
   autoreset in the first stage (`deals_instead`, `end_episode`).

`next_deal.stepping` does the same where actions are positions. Both share the first half of this
file.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.deals import GAMMA, TRAIN_FROM, draw_below, mix, next_deal
from four_seasons_env.engine.jit import inlined, internal, jit, merged
from four_seasons_env.engine.kernel import is_won, legal, reshuffle_unseen, start
from four_seasons_env.engine.masks import LEGAL, History, NoHistory, play_on, start_run, write_mask
from four_seasons_env.observations import encode, refresh, show_all
from four_seasons_env.rewards import CUSTOM, reward_of

EPISODE = np.dtype(
    [
        ("deal", "i8"),  # the deal's number, -1 for a custom deck or a reshuffled stock
        ("steps", "i4"),  # actions taken, illegal ones too
        ("moves_before", "u4"),  # moves that the game had played at the start
        ("score", "f8"),  # sum of rewards
        ("cards_up", "i8"),
        ("won", "b1"),
        ("illegal", "b1"),  # the last action was illegal
        ("over", "b1"),  # nothing is left to do: won, or lost
    ],
    align=True,
)
"""Results that the environments report, of running and ended episodes."""

SAME_STEP, NEXT_STEP, DISABLED = range(3)
"""When the next episode starts: in the step that ends one, in the step after it, or by `reset`.

The names are Gymnasium's (`gymnasium.vector.AutoresetMode`).
"""


RANGE = 3
"""Numbers that describe a range in `Shared.choices`: its first number, its step and its length."""

FROM_STREAM, GIVEN, NO_EPISODE = range(3)
"""What an episode begins with: the deal or the start that the game's stream draws, or the position
that is in ``games``. Or none begins, because an agent asks for mask and observation of it."""

_32 = np.uint64(32)


# --- what all environments share --------------------------------------------------------------


class Contract(NamedTuple):
    """The settings that all environments share, as compiled functions take them."""

    rules: NDArray[np.void]  # RULE (1,)
    reward: int  # see `rewards`
    penalty: float  # cost of an illegal action
    max_moves: int
    autoreset: int  # SAME_STEP, NEXT_STEP or DISABLED
    strict: bool  # illegal actions are refused


class OwnStarts(NamedTuple):
    """Positions of one's own in which episodes begin."""

    games: NDArray[np.void]  # GAME (m,); (0,) for deals alone
    share: NDArray[np.float64]  # (1,), of the episodes that begin there
    reshuffle: NDArray[np.bool_]  # (1,), the unseen cards get another order in each episode


class Shared(NamedTuple):
    """The games and what every environment writes about them; one row for each game."""

    games: NDArray[np.void]  # GAME (n,)
    episodes: NDArray[np.void]  # EPISODE (n,)
    masks: NDArray[np.int8]  # (n, actions)
    rewards: NDArray[np.float64]  # (n,)
    terminated: NDArray[np.bool_]  # (n,)
    truncated: NDArray[np.bool_]  # (n,)
    done: NDArray[np.bool_]  # (n,)
    begins: NDArray[np.bool_]  # (n,), games that begin an episode
    streams: NDArray[np.uint64]  # (n,), of the deals and starts to come
    # Deals to draw from: (0,) for all training deals; (RANGE,) for those of a range; for a list the
    # range of its places in this array, and then the list, (RANGE + m,).
    choices: NDArray[np.int64]
    starts: OwnStarts
    final_episodes: NDArray[np.void]  # as `episodes`, of each game's last episode that has ended
    final_masks: NDArray[np.int8]
    final_observations: NDArray[Any]  # (n, ...)


@merged
def start_episode(g, rule, episode):
    """Set an episode's record to that of its first position, all but ``over``."""
    episode.deal = g.deal
    episode.cards_up = g.cards_up
    episode.won = is_won(g, rule)
    episode.steps = 0
    episode.moves_before = g.moves
    episode.score = 0.0
    episode.illegal = False


@inlined
def end_step(g, rule, episode, cards_before, contract):
    """Update an episode's record after an action.

    Args:
        cards_before: cards that were up before the action.
        contract: a `Contract`.

    Returns:
        The reward, and whether the episode is truncated.
    """
    episode.won = is_won(g, rule)
    reward = -contract.penalty if episode.illegal else 0.0
    reward += reward_of(contract.reward, rule, np.int64(g.cards_up) - cards_before, episode.won)
    episode.score += reward
    # An action of the next-deal environment plays several moves; an illegal action plays none, and
    # a policy that repeats one must come to an end too.
    spent = max(np.int64(g.moves) - episode.moves_before, np.int64(episode.steps))
    # A game that ends at the limit has terminated: a learner must not bootstrap from its end.
    return reward, spent >= contract.max_moves and not episode.over


@merged
def draw_position(i, shared, rule):
    """Set a game to what its stream draws: one of `starts`, or a deal.

    That is the next deal of the stream, or the one of `choices` that its number selects.
    """
    from_deal = True
    if len(shared.starts.games):
        from_deal = not _start_anywhere(i, shared.streams, shared.starts, shared.games, rule)
    if from_deal:
        deal = next_deal(shared.streams, i)
        choices = shared.choices
        if len(choices):
            deal = choices[0] + choices[1] * ((deal - TRAIN_FROM) % choices[2])
            if len(choices) > RANGE:
                deal = choices[deal]
        start(shared.games[i], rule, deal)


@internal
def _start_anywhere(i, streams, starts, games, rule):
    """Set a game to one of `starts`, if its stream draws that; returns whether it does.

    The numbers come from the stream, not from a deal's number, with which they would select decks.
    """
    streams[i] += GAMMA
    if (mix(streams[i]) >> _32) >= starts.share[0] * 2.0**32:
        return False
    streams[i] += GAMMA
    games[i] = starts.games[draw_below(streams[i], len(starts.games))]
    if starts.reshuffle[0]:
        streams[i] += GAMMA
        reshuffle_unseen(games[i], rule, mix(streams[i]))
    return True


@merged
def deals_instead(i, shared, autoreset):
    """Autoreset before a step: whether a game begins an episode in place of taking the action.

    With NEXT_STEP, a game that ended in the last step does. It earns nothing, and does not end.
    """
    shared.begins[i] = autoreset == NEXT_STEP and shared.done[i]
    if shared.begins[i]:
        shared.rewards[i] = 0.0
        shared.terminated[i] = False
        shared.truncated[i] = False
        shared.done[i] = False
    return shared.begins[i]


@merged
def end_episode(i, shared, autoreset):
    """Autoreset after a step: keep what an ended game shows last; with SAME_STEP, begin another.

    The caller keeps the observation.
    """
    shared.final_episodes[i] = shared.episodes[i]
    for k in range(shared.masks.shape[1]):  # the assignment of an array compiles for a second
        shared.final_masks[i, k] = shared.masks[i, k]
    shared.begins[i] = autoreset == SAME_STEP


@jit
def first_refused(bundle, actions):
    """Index of the first game that cannot take its action; -1 if there is none.

    An action out of range is refused, and an illegal one if the settings are strict. With DISABLED,
    every action of an ended game is refused. With NEXT_STEP an ended game is dealt again, so its
    action does not matter.
    """
    shared, contract = bundle.shared, bundle.contract
    masks, episodes, done = shared.masks, shared.episodes, shared.done
    autoreset, strict = contract.autoreset, contract.strict
    for i in range(len(actions)):
        action = actions[i]
        if autoreset != SAME_STEP and done[i]:
            if autoreset == DISABLED:
                return i
            continue
        # Compiled code does not check indices: such an action would read memory of other arrays.
        if action < 0 or action >= masks.shape[1]:
            return i
        # A game that was over at its opening has an empty mask, and any action ends it.
        if strict and not masks[i, action] and not episodes[i].over:
            return i
    return -1


# --- games whose actions are moves ------------------------------------------------------------


class CompiledSettings(NamedTuple):
    """The settings of move-level games as compiled functions take them."""

    mask: int  # LEGAL, DISTINCT or NO_REPEATS of `engine.masks`
    observation: Any  # one of `observations.KINDS`
    shares: NDArray[np.float32]  # (slots,), what a count of 1 is in an observation


class Buffers(NamedTuple):
    """What else is written about move-level games; one row for each game."""

    words: NDArray[np.uint64]  # (n, words), masks as `kernel.legal` writes them, over their memory
    history: History | NoHistory  # the runs of moves, see `engine.masks`
    shown: NDArray[np.void]  # SHOWN (n,)
    counts: NDArray[np.uint8]  # (n, slots), observations as counts


@jit
def advance(bundle, actions, source, out, first, last):
    """Take one action in each game, if there are actions, and begin the episodes that are due.

    An illegal action leaves the position as it is and costs the penalty. A game that was over at
    its opening (with a tiny deck) ends at its first step.

    Args:
        actions: int64 (n,); or (0,) to begin episodes where `Shared.begins` is True, and no more.
        source: FROM_STREAM, GIVEN or NO_EPISODE, for these episodes. FROM_STREAM with actions.
        out: float32 (n, slots), or uint8 for `places`; the observations.
        first, last: games first to last - 1. Before a part of the games, the caller checks the
            actions of all of them (`first_refused`).

    Returns:
        How many episodes ended; ``done`` says which. Or -1 - i if game i is the first that cannot
        take its action: then no game has moved.
    """
    # All actions are checked before any is taken, so a refused step leaves every game as it was.
    if last - first == len(actions):
        refused = first_refused(bundle, actions)
        if refused >= 0:
            return -1 - refused
    # Unsigned, as indices that cannot count from the end: the loops are a tenth faster.
    first, last = np.uintp(first), np.uintp(last)
    # Taken out once: each time, all arrays are counted as used, which compiles to much code.
    contract, shared = bundle.contract, bundle.shared
    settings, buffers = bundle.settings, bundle.buffers
    ended, any_begins = 0, True
    if len(actions):
        ended, begun = _take_actions(contract, shared, settings, buffers, first, last, actions)
        # A custom reward sees the last positions first; then the caller begins the episodes.
        any_begins = begun > 0 and contract.reward != CUSTOM
    if any_begins:
        for i in range(first, last):
            if shared.begins[i]:
                _begin(i, contract, shared, settings, buffers, source)
    # One pass over all games is faster than one for each.
    show_all(buffers.counts[first:last], settings.shares, out[first:last])
    return ended


@merged
def _begin(i, contract, shared, settings, buffers, source):
    """Begin an episode, and write what follows from its position: mask and observation."""
    rule = contract.rules[0]
    g, episode = shared.games[i], shared.episodes[i]
    if source == FROM_STREAM:
        draw_position(i, shared, rule)
    if source != NO_EPISODE:
        start_episode(g, rule, episode)
    start_run(i, buffers.history)
    # At the beginning of a run nothing repeats. The masks are views of the words.
    episode.over = not legal(g, rule, settings.mask != LEGAL, buffers.words[i])
    # Written in full: the buffers still show the last game, so `refresh` would not be enough.
    encode(g, rule, settings.observation, buffers.shown[i], buffers.counts[i])


@merged
def _take_actions(contract, shared, settings, buffers, first, last, actions):
    """Take the actions of games first to last - 1.

    Returns:
        How many episodes ended, and how many games begin an episode.
    """
    # Taken out of the tuples once: inside the loop that costs time.
    games, episodes, masks = shared.games, shared.episodes, shared.masks
    rewards, done, begins = shared.rewards, shared.done, shared.begins
    terminated, truncated = shared.terminated, shared.truncated
    words, history, shown, counts = buffers.words, buffers.history, buffers.shown, buffers.counts
    rule, mask, kind = contract.rules[0], settings.mask, settings.observation
    autoreset = contract.autoreset
    # Rare cases have their own loops, before and after: the loop of the steps is faster then. The
    # form of this first one was measured: a sum in place of the branch costs 4% of a step.
    begun = 0
    for i in range(first, last):
        if deals_instead(i, shared, autoreset):
            begun += 1
    ended = 0
    for i in range(first, last):
        if begins[i]:
            continue
        g = games[i]
        episode = episodes[i]
        before = np.int64(g.cards_up)  # the cards that this step puts up earn the reward
        episode.illegal = False
        episode.steps += 1
        if not episode.over:
            if masks[i, actions[i]]:  # the last step or reset has written this mask
                play_on(g, rule, actions[i], i, history)
                episode.over = not write_mask(g, rule, mask, i, history, words[i])
                episode.cards_up = g.cards_up
                # Writes only the slots that the move has changed; `shown` says what they held.
                refresh(g, rule, kind, shown[i], counts[i], actions[i])
            else:
                episode.illegal = True
        rewards[i], truncated[i] = end_step(g, rule, episode, before, contract)
        terminated[i] = episode.over
        done[i] = terminated[i] or truncated[i]
        ended += done[i]
    if ended:
        for i in range(first, last):
            if done[i]:
                end_episode(i, shared, autoreset)
                begun += begins[i]
                final = shared.final_observations[i : i + 1]
                show_all(counts[i : i + 1], settings.shares, final)
    return ended, begun
