"""Episodes on top of the game, compiled: reset and step for a batch of games.

The single environment is a batch of one, the vector environment a batch of many: both run this
code, so they cannot differ. All results go into buffers that the caller owns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.deals import TRAIN_FROM, next_deal
from four_seasons_env.engine.jit import inlined, jit, merged
from four_seasons_env.engine.kernel import is_won, start
from four_seasons_env.engine.masks import play_on, start_run, write_mask
from four_seasons_env.observations import encode, refresh, show_all
from four_seasons_env.rewards import reward_of

EPISODE = np.dtype(
    [
        ("deal", "i8"),  # the deal's number, -1 for a custom deck
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
"""Numbers that describe a range in `Buffers.choices`: its first number, its step and its length."""

STEP, BEGIN, DEAL, END, CONSIDER = range(5)
"""What `step_all` does: take an action in each game; or write a decision, because an episode begins
at a position; or with the next deal of its stream; or so, after one whose results are kept; or
because an agent asks about any position."""


class CompiledSettings(NamedTuple):
    """The settings of move-level games as compiled functions take them."""

    rules: NDArray[np.void]  # RULE (1,)
    mask: int  # LEGAL, DISTINCT or NO_REPEATS of `engine.masks`
    observation: int | None  # one of `observations.KINDS`
    reward: int  # see `rewards`
    penalty: float  # cost of an illegal action
    max_moves: int
    autoreset: int  # SAME_STEP, NEXT_STEP or DISABLED
    deals_again: bool  # a step deals ended games again, unless the caller does
    strict: bool  # illegal actions are refused
    shares: NDArray[np.float32]  # (slots,), what a count of 1 is in an observation


class Buffers(NamedTuple):
    """The games and everything that is written about them; one row for each game."""

    games: NDArray[np.void]  # GAME (n,)
    episodes: NDArray[np.void]  # EPISODE (n,)
    words: NDArray[np.uint64]  # (n, words), masks as `kernel.legal` writes them
    masks: NDArray[np.int8]  # (n, actions), over the same memory
    runs: NDArray[np.void]  # RUN (n,)
    seen: NDArray[np.uint64]  # (blocks, n, 8), positions of the runs; see `engine.masks`
    shown: NDArray[np.void]  # SHOWN (n,)
    counts: NDArray[np.uint8]  # (n, slots), observations as counts
    dealt: NDArray[np.bool_]  # (n,), games that are dealt again in place of this step
    rewards: NDArray[np.float64]  # (n,)
    terminated: NDArray[np.bool_]  # (n,)
    truncated: NDArray[np.bool_]  # (n,)
    done: NDArray[np.bool_]  # (n,)
    streams: NDArray[np.uint64]  # (n,), of the deals to come
    # Deals to draw from: (0,) for all training deals; (RANGE,) for those of a range; for a list the
    # range of its places in this array, and then the list, (RANGE + m,).
    choices: NDArray[np.int64]
    final_episodes: NDArray[np.void]  # as `episodes`, of each game's last episode that has ended
    final_masks: NDArray[np.int8]
    final_observations: NDArray[Any]  # (n, slots)


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
def end_step(g, rule, episode, cards_before, settings):
    """Update an episode's record after an action.

    Args:
        cards_before: cards that were up before the action.
        settings: with the fields ``reward``, ``penalty`` and ``max_moves``.

    Returns:
        The reward, and whether the episode is truncated.
    """
    episode.won = is_won(g, rule)
    reward = -settings.penalty if episode.illegal else 0.0
    reward += reward_of(settings.reward, rule, np.int64(g.cards_up) - cards_before, episode.won)
    episode.score += reward
    # An action of the next-deal environment plays several moves; an illegal action plays none, and
    # a policy that repeats one must come to an end too.
    spent = max(np.int64(g.moves) - episode.moves_before, np.int64(episode.steps))
    # A game that ends at the limit has terminated: a learner must not bootstrap from its end.
    return reward, spent >= settings.max_moves and not episode.over


@merged
def deal_next(i, buffers, rule):
    """Lay out the next deal of a game's stream, or the choice that its number selects."""
    deal = next_deal(buffers.streams, i)
    choices = buffers.choices
    if len(choices):
        deal = choices[0] + choices[1] * ((deal - TRAIN_FROM) % choices[2])
        if len(choices) > RANGE:
            deal = choices[deal]
    start(buffers.games[i], rule, deal)


@merged
def _write(i, buffers, settings, what):
    """Write what follows from the position of a game: its mask and observation."""
    rule = settings.rules[0]
    g, episode = buffers.games[i], buffers.episodes[i]
    if what == END:
        keep_final(i, buffers)
        show_all(buffers.counts[i : i + 1], settings.shares, buffers.final_observations[i : i + 1])
    if what in (DEAL, END):
        deal_next(i, buffers, rule)
    if what != CONSIDER:
        start_episode(g, rule, episode)
    start_run(i, buffers.runs, buffers.seen)
    # The masks are views of the words.
    episode.over = not write_mask(
        g, rule, settings.mask, i, buffers.runs, buffers.seen, buffers.words[i]
    )
    # Written in full: the buffers still show the last game, so `refresh` would not be enough.
    encode(g, rule, settings.observation, buffers.shown[i], buffers.counts[i])


@merged
def keep_final(i, buffers):
    """Keep episode and mask of a game that has ended; the caller keeps the observation."""
    buffers.final_episodes[i] = buffers.episodes[i]
    for k in range(buffers.masks.shape[1]):  # the assignment of an array compiles for a second
        buffers.final_masks[i, k] = buffers.masks[i, k]


@merged
def no_step(i, buffers):
    """Write the results of a game that is dealt again in place of a step: no reward, no end."""
    buffers.rewards[i] = 0.0
    buffers.terminated[i] = False
    buffers.truncated[i] = False
    buffers.done[i] = False


@jit
def first_refused(bundle, actions):
    """Index of the first game that cannot take its action; -1 if there is none.

    An action out of range is refused, and an illegal one if the settings are strict. With DISABLED,
    every action of an ended game is refused. With NEXT_STEP an ended game is dealt again, so its
    action does not matter.
    """
    buffers, settings = bundle.buffers, bundle.settings
    masks, episodes, done = buffers.masks, buffers.episodes, buffers.done
    autoreset, strict = settings.autoreset, settings.strict
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


@jit
def step_all(bundle, what, actions, out, first, last):
    """Take one action in each game, if none of them is refused, and write the observations.

    An illegal action leaves the position as it is and costs the penalty. A game that was over at
    its opening (with a tiny deck) ends at its first step. With NEXT_STEP, a game that has ended
    takes no step; it is dealt again.

    Or write the decisions of chosen games. One function does both, so that the code that they share
    is compiled once.

    Args:
        what: STEP; or BEGIN, DEAL, END or CONSIDER.
        actions: int64 (n,); or 1 for each chosen game, 0 for the others.
        out: float32 (n, slots), or uint8 for `places`; written for STEP.
        first, last: games first to last - 1. Before a part of the games, the caller checks the
            actions of all of them (`first_refused`).

    Returns:
        How many episodes ended; ``done`` says which. Or -1 - i if game i is the first that cannot
        take its action: then no game has moved.
    """
    # All actions are checked before any is taken, so a refused step leaves every game as it was.
    if what == STEP and last - first == len(actions):
        refused = first_refused(bundle, actions)
        if refused >= 0:
            return -1 - refused
    # Unsigned, as indices that cannot count from the end: the loops are a tenth faster.
    first, last = np.uintp(first), np.uintp(last)
    # Taken out once: each time, all arrays are counted as used, which compiles to much code.
    buffers, settings = bundle.buffers, bundle.settings
    at_once = settings.autoreset == SAME_STEP
    ended, idle = 0, 0
    if what == STEP:
        ended, idle = _take_actions(buffers, settings, first, last, actions)
    # There is one call of `_write`, because it takes the longest to compile.
    why = what if what != STEP else END if at_once else DEAL
    ends = buffers.done if at_once else buffers.dealt
    if what != STEP or (settings.deals_again and (ended if at_once else idle)):
        for i in range(first, last):
            if ends[i] if what == STEP else actions[i]:
                _write(i, buffers, settings, why)
    if what == STEP:  # one pass over all games is faster than one for each
        show_all(buffers.counts[first:last], settings.shares, out[first:last])
    return ended


@merged
def _take_actions(buffers, settings, first, last, actions):
    """Take the actions of games first to last - 1.

    Returns:
        How many episodes ended, and how many games took no action, because they had ended before.
    """
    # Taken out of the tuple once: inside the loop that costs time.
    games, episodes, words, masks = buffers.games, buffers.episodes, buffers.words, buffers.masks
    runs, seen, shown, counts = buffers.runs, buffers.seen, buffers.shown, buffers.counts
    rewards, done, dealt = buffers.rewards, buffers.done, buffers.dealt
    terminated, truncated = buffers.terminated, buffers.truncated
    rule, mask, kind = settings.rules[0], settings.mask, settings.observation
    idle = 0
    for i in range(first, last):
        dealt[i] = settings.autoreset == NEXT_STEP and done[i]
        if dealt[i]:
            no_step(i, buffers)
            idle += 1
    ended = 0
    for i in range(first, last):  # rare cases have their own loops: this one is faster
        if dealt[i]:
            continue
        g = games[i]
        episode = episodes[i]
        before = np.int64(g.cards_up)  # the cards that this step puts up earn the reward
        episode.illegal = False
        episode.steps += 1
        if not episode.over:
            if masks[i, actions[i]]:  # the last step or reset has written this mask
                play_on(g, rule, actions[i], i, runs, seen)
                episode.over = not write_mask(g, rule, mask, i, runs, seen, words[i])
                episode.cards_up = g.cards_up
                # Writes only the slots that the move has changed; `shown` says what they held.
                refresh(g, rule, kind, shown[i], counts[i], actions[i])
            else:
                episode.illegal = True
        rewards[i], truncated[i] = end_step(g, rule, episode, before, settings)
        terminated[i] = episode.over
        done[i] = terminated[i] or truncated[i]
        ended += done[i]
    return ended, idle
