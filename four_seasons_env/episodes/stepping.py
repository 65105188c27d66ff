"""Episodes on top of the game, compiled: reset and step for a batch of games.

The single environment is a batch of one, the vector environment a batch of many: both run this
code, so they cannot differ. All results go into buffers that the caller owns.
"""

from __future__ import annotations

import numpy as np

from four_seasons_env.engine.deals import next_deal
from four_seasons_env.engine.jit import jit
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
"""What the environments tell of an episode, running or ended."""

_NO_EPISODE = np.zeros(1, EPISODE)[0]


@jit
def _begin(g, rule, distinct, kind, episode, words, shown, observation):
    """Start an episode's books at a fresh opening; write its mask and observation."""
    episode.deal = g.deal
    episode.steps = 0
    episode.score = 0.0
    episode.cards_up = g.cards_up
    episode.won = is_won(g, rule)
    episode.illegal = False
    episode.over = not legal(g, rule, distinct, words)
    encode(g, rule, kind, shown, observation)


@jit
def reset_all(games, rules, chosen, streams, distinct, kind, episodes, words, shown, observations):
    """Deal each chosen game anew, with the next deal of its stream."""
    rule = rules[0]
    for i in range(len(games)):
        if chosen[i]:
            start(games[i], rule, next_deal(streams, i))
            _begin(games[i], rule, distinct, kind, episodes[i], words[i], shown[i], observations[i])


@jit
def reset_to(games, rules, by_number, distinct, kind, episodes, words, shown, observations):
    """Start each game at the deal in its ``deal`` field, or from the deck in its ``deck``."""
    rule = rules[0]
    for i in range(len(games)):
        if by_number:
            start(games[i], rule, games[i].deal)
        else:
            lay_out(games[i], rule)
        _begin(games[i], rule, distinct, kind, episodes[i], words[i], shown[i], observations[i])


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
def step_all(
    games,
    rules,
    actions,
    distinct,
    kind,
    reward_kind,
    penalty,
    max_moves,
    episodes,
    words,
    masks,
    shown,
    observations,
    rewards,
    terminated,
    truncated,
    done,
):
    """Take one action in each game, which must be in range. Nothing is dealt anew.

    An illegal action leaves the position as it is and costs the penalty. A game that was over at
    its opening (a tiny deck can be) ends at its first step.

    Returns:
        How many episodes ended; ``done`` says which.
    """
    rule = rules[0]
    ended = 0
    for i in range(len(games)):
        g = games[i]
        episode = episodes[i]
        before = np.int64(g.cards_up)
        reward = 0.0
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
                reward = -penalty
        episode.won = is_won(g, rule)
        reward += reward_of(reward_kind, rule, np.int64(g.cards_up) - before, episode.won)
        episode.score += reward
        rewards[i] = reward
        terminated[i] = episode.over
        truncated[i] = episode.steps >= max_moves and not episode.over
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
