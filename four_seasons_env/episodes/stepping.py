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
from four_seasons_env.observations import encode, refresh
from four_seasons_env.rewards import reward_of

EPISODE = np.dtype(
    [
        ("deal", "i8"),  # the deal's number, -1 for a deck of one's own
        ("steps", "i4"),  # actions taken, illegal ones too
        ("score", "f8"),  # sum of rewards
        ("cards_up", "u1"),
        ("won", "b1"),
        ("illegal", "b1"),  # the last action was illegal
        ("over", "b1"),  # nothing is left to do: won, or lost at a standstill
    ],
    align=True,
)
"""What the environments report of an episode, running or ended."""

DERIVED = ("deal", "cards_up", "won", "over")
"""Fields that follow from an episode's position."""

_NO_EPISODE = np.zeros(1, EPISODE)[0]


# Python callers pass both as one bundle of plain tuples, (Buffers, Settings), because Numba
# recognizes the type of a plain tuple faster than that of a NamedTuple.


class Settings(NamedTuple):
    """What does not change while games are played."""

    rules: NDArray[np.void]  # RULE (1,)
    distinct: bool  # masks leave out the moves that only rename spaces
    observation: int  # see `observations`
    reward: int  # see `rewards`
    penalty: float  # of an illegal action
    max_moves: int


class Buffers(NamedTuple):
    """The games and all that is written of them; a row a game."""

    games: NDArray[np.void]  # GAME (n,)
    episodes: NDArray[np.void]  # EPISODE (n,)
    words: NDArray[np.uint64]  # (n, words), masks as `kernel.legal` writes them
    masks: NDArray[np.int8]  # (n, actions), over the same memory
    shown: NDArray[np.void]  # SHOWN (n,)
    observations: NDArray[Any]  # float32 (n, slots)
    rewards: NDArray[np.float64]  # (n,)
    terminated: NDArray[np.bool_]  # (n,)
    truncated: NDArray[np.bool_]  # (n,)
    done: NDArray[np.bool_]  # (n,)


@inlined
def derive_episode(g, rule, episode):
    """Write the fields that follow from a position, all but ``over``."""
    episode.deal = g.deal
    episode.cards_up = g.cards_up
    episode.won = is_won(g, rule)


@inlined
def start_episode(g, rule, episode):
    """Set an episode's record to that of a fresh opening, all but ``over``."""
    derive_episode(g, rule, episode)
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
    spent = max(np.int64(g.moves), np.int64(episode.steps))
    return reward, spent >= settings.max_moves and not episode.over


@jit
def _begin(i, buffers, settings):
    """Start an episode at a fresh opening; write its mask and observation."""
    g, episode, rule = buffers.games[i], buffers.episodes[i], settings.rules[0]
    start_episode(g, rule, episode)
    episode.over = not legal(g, rule, settings.distinct, buffers.words[i])
    encode(g, rule, settings.observation, buffers.shown[i], buffers.observations[i])


@jit
def reset_all(bundle, chosen, streams):
    """Deal each chosen game anew, with the next deal of its stream."""
    buffers, settings = Buffers(*bundle[0]), Settings(*bundle[1])
    for i in range(len(chosen)):
        if chosen[i]:
            start(buffers.games[i], settings.rules[0], next_deal(streams, i))
            _begin(i, buffers, settings)


@jit
def reset_to(bundle, by_number):
    """Start each game at the deal in its ``deal`` field, or from the deck in its ``deck``."""
    buffers, settings = Buffers(*bundle[0]), Settings(*bundle[1])
    for i in range(len(buffers.games)):
        g = buffers.games[i]
        if by_number:
            start(g, settings.rules[0], g.deal)
        else:
            lay_out(g, settings.rules[0])
        _begin(i, buffers, settings)


@jit
def derive_all(bundle):
    """Write all that follows from the games: what belongs to steps and rewards stays."""
    buffers, settings = Buffers(*bundle[0]), Settings(*bundle[1])
    rule = settings.rules[0]
    for i in range(len(buffers.games)):
        g, episode = buffers.games[i], buffers.episodes[i]
        derive_episode(g, rule, episode)
        episode.over = not legal(g, rule, settings.distinct, buffers.words[i])
        encode(g, rule, settings.observation, buffers.shown[i], buffers.observations[i])


@jit
def first_refused(actions, masks, episodes, strict):
    """Index of the first action out of range, or where strict of the first illegal one; else -1."""
    for i in range(len(actions)):
        action = actions[i]
        if action < 0 or action >= masks.shape[1]:
            return i
        if strict and not masks[i, action] and not episodes[i].over:
            return i
    return -1


@jit
def step_all(bundle, actions):
    """Take one action in each game, which must be in range. Nothing is dealt anew.

    An illegal action leaves the position as it is and costs the penalty. A game that was over at
    its opening (a tiny deck can be) ends at its first step.

    Returns:
        How many episodes ended; ``done`` says which.
    """
    games, episodes, words, masks, shown, observations, rewards, terminated, truncated, done = (
        Buffers(*bundle[0])
    )
    settings = Settings(*bundle[1])
    rule, distinct, kind = settings.rules[0], settings.distinct, settings.observation
    ended = 0
    for i in range(len(games)):
        g = games[i]
        episode = episodes[i]
        before = np.int64(g.cards_up)
        episode.illegal = False
        episode.steps += 1
        if not episode.over:
            if masks[i, actions[i]]:
                play(g, rule, actions[i])
                episode.over = not legal(g, rule, distinct, words[i])
                episode.cards_up = g.cards_up
                refresh(g, rule, kind, shown[i], observations[i], actions[i])
            else:
                episode.illegal = True
        rewards[i], truncated[i] = end_step(g, rule, episode, before, settings)
        terminated[i] = episode.over
        done[i] = terminated[i] or truncated[i]
        ended += done[i]
    return ended


@jit
def keep_finals(done, episodes, masks, observations, final_episodes, final_masks, final_obs):
    """Copy what belongs to the ended episodes before the next ones take their place.

    The rows of all other games are 0; of them only those that an earlier step has filled are
    written, as an episode that has ended has taken a step or more.
    """
    for i in range(len(done)):
        if done[i]:
            final_episodes[i] = episodes[i]
            final_masks[i] = masks[i]
            final_obs[i] = observations[i]
        elif final_episodes[i].steps:
            final_episodes[i] = _NO_EPISODE
            final_masks[i] = 0
            final_obs[i] = 0.0
