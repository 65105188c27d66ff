"""Episodes on top of the game, compiled: reset and step for a batch of games.

The single environment is a batch of one, the vector environment a batch of many: both run this
code, so they cannot differ. All results go into buffers that the caller owns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.deals import next_deal
from four_seasons_env.engine.jit import inlined, jit
from four_seasons_env.engine.kernel import is_won, lay_out, legal, play, start
from four_seasons_env.observations import encode, refresh, show_all
from four_seasons_env.rewards import reward_of

EPISODE = np.dtype(
    [
        ("deal", "i8"),  # the deal's number, -1 for a custom deck
        ("steps", "i4"),  # actions taken, illegal ones too
        ("score", "f8"),  # sum of rewards
        ("cards_up", "i8"),
        ("won", "b1"),
        ("illegal", "b1"),  # the last action was illegal
        ("over", "b1"),  # nothing is left to do: won, or lost at a standstill
    ],
    align=True,
)
"""Results that the environments report, of running and ended episodes."""

SAME_STEP, NEXT_STEP, DISABLED = range(3)
"""When the next episode starts: in the step that ends one, in the step after it, or by `reset`.

The names are Gymnasium's (`gymnasium.vector.AutoresetMode`).
"""


BEGIN, CONSIDER, CONTINUE = range(3)
"""Why a decision is written (`write_all`): an episode begins, an agent asks about any position, or
an action has been taken. The environment of moves does not need the last."""


class CompiledSettings(NamedTuple):
    """The settings of move-level games as compiled functions take them."""

    rules: NDArray[np.void]  # RULE (1,)
    distinct: bool  # masks leave out the moves that only rename spaces
    observation: int | None  # one of `observations.KINDS`
    reward: int  # see `rewards`
    penalty: float  # cost of an illegal action
    max_moves: int
    autoreset: int  # SAME_STEP, NEXT_STEP or DISABLED
    strict: bool  # illegal actions are refused
    shares: NDArray[np.float32]  # (slots,), what a count of 1 is in an observation


class Buffers(NamedTuple):
    """The games and everything that is written about them; one row for each game."""

    games: NDArray[np.void]  # GAME (n,)
    episodes: NDArray[np.void]  # EPISODE (n,)
    words: NDArray[np.uint64]  # (n, words), masks as `kernel.legal` writes them
    masks: NDArray[np.int8]  # (n, actions), over the same memory
    shown: NDArray[np.void]  # SHOWN (n,)
    counts: NDArray[np.uint8]  # (n, slots), observations as counts
    rewards: NDArray[np.float64]  # (n,)
    terminated: NDArray[np.bool_]  # (n,)
    truncated: NDArray[np.bool_]  # (n,)
    done: NDArray[np.bool_]  # (n,)
    streams: NDArray[np.uint64]  # (n,), of the deals to come


class Finals(NamedTuple):
    """The results of episodes that have ended, one row for each game; zeros for other games."""

    episodes: NDArray[np.void]  # EPISODE (n,)
    masks: NDArray[np.int8]  # (n, actions)
    observations: NDArray[Any]  # (n, ...)


@inlined
def start_episode(g, rule, episode):
    """Set an episode's record to that of a fresh opening, all but ``over``."""
    episode.deal = g.deal
    episode.cards_up = g.cards_up
    episode.won = is_won(g, rule)
    episode.steps = 0
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
    spent = max(np.int64(g.moves), np.int64(episode.steps))
    # A game that ends at the limit has terminated: a learner must not bootstrap from its end.
    return reward, spent >= settings.max_moves and not episode.over


@jit
def deal_all(games, rules, streams, chosen):
    """Lay out the next deal of each chosen game's stream."""
    for i in range(len(chosen)):
        if chosen[i]:
            start(games[i], rules[0], next_deal(streams, i))


@jit
def lay_out_asked(games, rules, chosen):
    """Lay out the deal in each chosen game's ``deal`` field; if that is -1, its deck."""
    for i in range(len(chosen)):
        if chosen[i]:
            if games[i].deal >= 0:
                start(games[i], rules[0], games[i].deal)
            else:  # `parse_deck` has checked the deck
                lay_out(games[i], rules[0])


@jit
def write_all(bundle, chosen, why):
    """Write what follows from the position of each chosen game: its mask and observation.

    Args:
        chosen: bool (n,).
        why: BEGIN also starts the episode.
    """
    buffers, settings = bundle.buffers, bundle.settings
    rule = settings.rules[0]
    for i in range(len(chosen)):
        if not chosen[i]:
            continue
        g, episode = buffers.games[i], buffers.episodes[i]
        if why == BEGIN:
            start_episode(g, rule, episode)
        # `legal` writes the mask, too: the masks are views of the words.
        episode.over = not legal(g, rule, settings.distinct, buffers.words[i])
        # Written in full: the buffers still show the last game, so `refresh` would not be enough.
        encode(g, rule, settings.observation, buffers.shown[i], buffers.counts[i])


@inlined
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
    masks, episodes, done = bundle.buffers.masks, bundle.buffers.episodes, bundle.buffers.done
    autoreset, strict = bundle.settings.autoreset, bundle.settings.strict
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
def step_all(bundle, actions, out):
    """Take one action in each game, if none of them is refused, and write the observations.

    An illegal action leaves the position as it is and costs the penalty. A game that was over at
    its opening (with a tiny deck) ends at its first step. With NEXT_STEP, a game that has ended
    takes no step; the caller deals it again.

    Args:
        actions: int64 (n,).
        out: float32 (n, slots), or uint8 for `places`.

    Returns:
        How many episodes ended; ``done`` says which. Or -1 - i if game i is the first that cannot
        take its action: then no game has moved.
    """
    # All actions are checked before any is taken, so a refused step leaves every game as it was.
    refused = first_refused(bundle, actions)
    if refused >= 0:
        return -1 - refused
    buffers, settings = bundle.buffers, bundle.settings
    # Taken out of the tuple once: inside the loop that costs time.
    games, episodes, words, masks, shown, counts, rewards, terminated, truncated, done, _ = buffers
    rule, distinct, kind = settings.rules[0], settings.distinct, settings.observation
    ended = 0
    for i in range(len(games)):
        if settings.autoreset == NEXT_STEP and done[i]:  # the caller deals it again
            no_step(i, buffers)
            continue
        g = games[i]
        episode = episodes[i]
        before = np.int64(g.cards_up)  # the cards that this step puts up earn the reward
        episode.illegal = False
        episode.steps += 1
        if not episode.over:
            if masks[i, actions[i]]:  # the last step or reset has written this mask
                play(g, rule, actions[i])
                episode.over = not legal(g, rule, distinct, words[i])
                episode.cards_up = g.cards_up
                # Writes only the slots that the move has changed; `shown` says what they held.
                refresh(g, rule, kind, shown[i], counts[i], actions[i])
            else:
                episode.illegal = True
        rewards[i], truncated[i] = end_step(g, rule, episode, before, settings)
        terminated[i] = episode.over
        done[i] = terminated[i] or truncated[i]
        ended += done[i]
    show_all(counts, settings.shares, out)  # one pass over all games is faster than one for each
    return ended


@jit
def show_some(counts, shares, out, chosen):
    """Write the observations of the chosen games."""
    for i in range(len(chosen)):
        if chosen[i]:
            show_all(counts[i : i + 1], shares, out[i : i + 1])


@jit
def deal_again(bundle, out, chosen):
    """Start each chosen game with its stream's next deal, and write its observation."""
    buffers, settings = bundle.buffers, bundle.settings
    deal_all(buffers.games, settings.rules, buffers.streams, chosen)
    write_all(bundle, chosen, BEGIN)
    show_some(buffers.counts, settings.shares, out, chosen)


@jit
def keep_finals(
    done,
    episodes,
    masks,
    observations,
    final_episodes,
    final_masks,
    final_observations,
):
    """Copy the results of the episodes that have ended, before their games are dealt again.

    Args:
        final_episodes: a field of `Finals`; the arguments after it are its other fields.
    """
    for i in range(len(done)):
        if done[i]:
            final_episodes[i] = episodes[i]
            final_masks[i] = masks[i]
            final_observations[i] = observations[i]
