"""`RunningGames`: a batch of running games with the buffers that compiled code writes into.

Each environment has a batch, which seeds, resets and steps its games. The environment returns what
the batch leaves in its buffers. The actions of a `Batch` are moves.

A step, from `GameEnv.step` or `GameVectorEnv.step`:

1. `RunningGames.step` calls the compiled `advance` (`stepping`), in each thread for its games.
2. `advance` plays the actions (`kernel.play`), and writes masks (`engine.masks`), observations
   (`observations.refresh`), rewards (`rewards.reward_of`) and ends, in place.
3. It begins the next episode where one has ended, as the autoreset mode says.
4. A custom reward is called here, once for all games, and the episodes begin after it.
5. The environment copies what it returns from the arrays.
"""

from __future__ import annotations

import abc
import mmap
from dataclasses import replace
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from four_seasons_env.arguments import check_number
from four_seasons_env.engine.deals import new_streams
from four_seasons_env.engine.jit import announce, make_bundle
from four_seasons_env.engine.kernel import GAME, compile_rules, new_masks
from four_seasons_env.engine.masks import MASKS, History, new_history, with_room
from four_seasons_env.engine.moves import all_moves
from four_seasons_env.engine.threads import Threads, cores
from four_seasons_env.episodes import stepping
from four_seasons_env.episodes.settings import (
    AUTORESET,
    Deals,
    EnvSettings,
    MoveSettings,
    Starts,
    as_deals,
    as_starts,
)
from four_seasons_env.game import Game, IllegalMove
from four_seasons_env.observations import (
    KINDS,
    SHOWN,
    largest_counts,
    observation_space,
)
from four_seasons_env.rewards import ILLEGAL_PENALTY, RewardFunction, check_reward, earn
from four_seasons_env.rules import get_rules

_LARGE = 2**19
"""Arrays of at least this many bytes have a memory map of their own."""

_NO_ACTIONS = np.zeros(0, np.int64)


class RunningGames(abc.ABC):
    """Running games and their buffers, whatever an action is.

    Attributes:
        settings: the arguments of the environment.
        games: GAME array of shape (n,).
        episodes: `stepping.EPISODE` array of shape (n,).
        masks: int8 array of shape (n, A), 1 where an action may be taken.
        observations: array of shape (n, ...), for callers that need no array of their own.
        rewards: float64 array of shape (n,).
        terminated, truncated, done: bool arrays of shape (n,).

    Args:
        settings: the arguments of the environment.
    """

    # What a subclass adds. Its constructor ends with `_make_shared`.
    _compiled: Any
    """The module with `advance`."""
    _settings: Any
    """A NamedTuple of the settings of its kind, as compiled functions take them."""
    _buffers: Any
    """A NamedTuple of the arrays of its kind that compiled functions write into."""
    masks: NDArray[np.int8]
    observations: NDArray[Any]

    def __init__(self, settings: EnvSettings) -> None:
        count = settings.num_envs
        self.settings = settings
        self.rules = get_rules(settings.rules)
        self.rule = compile_rules(self.rules)
        steps = settings.max_episode_steps or settings.max_moves
        self.max_moves = int(min(settings.max_moves, steps))
        self._autoreset = AUTORESET[settings.mode]
        # None means as many threads as pay, and no more than there are cores.
        threads, least = settings.num_threads, 1 if settings.num_threads else self._least
        self._threads = Threads(max(min(threads or cores(), count // least), 1))
        announce(self._compiled.advance)
        # What compiled code writes into. A subclass adds masks and observations.
        self.games = np.zeros(count, GAME)
        self.episodes = np.zeros(count, stepping.EPISODE)
        self.rewards = np.zeros(count)
        self.terminated = np.zeros(count, np.bool_)
        self.truncated = np.zeros(count, np.bool_)
        self.done = np.zeros(count, np.bool_)
        self._all = np.ones(count, np.bool_)
        self._streams = np.zeros(count, np.uint64)
        self.seeded = False
        self.started = False
        self._choices = as_deals(settings.deals, settings.allow_test_deals)
        self._starts = as_starts(settings.starts, self.rules, settings.allow_test_deals)
        # The buffers hold them: a copy neither sends them twice nor checks them again.
        self.settings = replace(settings, deals=None, starts=None)
        self._contract = stepping.Contract(
            rules=self.rule,
            reward=check_reward(settings.reward),
            penalty=ILLEGAL_PENALTY,
            max_moves=self.max_moves,
            autoreset=self._autoreset,
            strict=settings.illegal == "raise",
        )

    _least = 2048
    """Games that are worth a thread."""

    @abc.abstractmethod
    def spaces(self) -> tuple[gym.Space[Any], gym.spaces.Discrete]:
        """The spaces of one game's observations and actions."""

    # --- episodes

    def seed(self, seeds: NDArray[np.uint64], chosen: NDArray[np.bool_] | None = None) -> None:
        """Start the stream of deals and starts of each, or each chosen, game from its seed."""
        where = self._all if chosen is None else chosen
        np.copyto(self._streams, new_streams(seeds), where=where)
        self.seeded = True

    def set_deals(self, deals: Deals | None) -> None:
        """Draw the deals of later episodes of all games from these.

        Raises:
            ValueError: see `settings.as_deals`.
        """
        choices = as_deals(deals, self.settings.allow_test_deals)
        self._bundle(self._shared._replace(choices=choices), self._buffers)

    def set_starts(self, starts: Starts | None, share: float = 1.0, reshuffle: bool = True) -> None:
        """Begin a share of the later episodes of all games in these positions.

        Raises:
            ValueError, TypeError: see `settings.as_starts`.
        """
        allowed = self.settings.allow_test_deals
        own = as_starts(starts, self.rules, allowed, share, reshuffle)
        self._bundle(self._shared._replace(starts=own), self._buffers)

    def reset(
        self,
        out: NDArray[Any],
        asked: NDArray[Any] | None = None,
        chosen: NDArray[np.bool_] | None = None,
    ) -> None:
        """Start an episode in every game, or in each chosen one.

        Callers choose only after a first reset of every game (`check_started`).

        Args:
            out: array for the observations of all games, of the shape of ``observations``.
            asked: what `options.read_options` returns; None for what the games' streams draw.
            chosen: bool of shape (n,).
        """
        chosen = self._all if chosen is None else chosen
        self.started = True
        self.done[chosen] = False  # else the first step would be refused, or would deal again
        if asked is not None:
            self.games[chosen] = asked[chosen]
        self._begin(chosen, stepping.FROM_STREAM if asked is None else stepping.GIVEN, out)

    def check_started(self) -> None:
        """Check that there has been a reset.

        Raises:
            gymnasium.error.ResetNeeded: if there has not.
        """
        if not self.started:
            raise gym.error.ResetNeeded("no episode has been started: call reset() first")

    def _begin(self, chosen: NDArray[np.bool_], source: int, out: NDArray[Any]) -> None:
        """Begin an episode in each chosen game; ``source`` is one of those of `stepping`."""
        self._shared.begins[:] = chosen
        self._advance(_NO_ACTIONS, source, out)

    def _advance(self, actions: NDArray[np.int64], source: int, out: NDArray[Any]) -> int:
        """Call `stepping.advance`, in all threads."""
        bundles, games = self._bundles, len(self.games)
        if len(bundles) == 1:
            return int(self._compiled.advance(bundles[0], actions, source, out, 0, games))
        # Checked for all games first: no thread may play if another refuses an action.
        if (refused := stepping.first_refused(bundles[0], actions)) >= 0:
            return -1 - int(refused)
        steps = [partial(self._compiled.advance, each, actions, source, out) for each in bundles]
        return self._threads.call(steps, games)

    def step(self, actions: NDArray[np.int64], out: NDArray[Any]) -> int:
        """Take one action in each game; returns how many episodes ended.

        Ended games get their next deals as the autoreset mode says.

        Args:
            actions: int64 of shape (n,).
            out: array for the observations, of the shape of ``observations``.

        Raises:
            ValueError: for an action out of range; then nothing has changed.
            IllegalMove: for an illegal action where `illegal="raise"`; then nothing has changed.
        """
        # A custom reward sees the positions before the step.
        reward = self.settings.reward if callable(self.settings.reward) else None
        before = self.games if reward is None else self.games.copy()
        # 1. Actions, and where no custom reward is in the way the episodes that begin.
        ended = self._advance(actions, stepping.FROM_STREAM, out)
        if ended < 0:
            self._refuse(-1 - ended, int(actions[-1 - ended]))
        # 2. The custom reward, and then these episodes.
        if reward is not None:
            try:
                self._pay(reward, before)
            finally:  # also if the reward raises: an ended game must not step again
                if self._shared.begins.any():
                    self._advance(_NO_ACTIONS, stepping.FROM_STREAM, out)
        return ended

    def _pay(self, reward: RewardFunction, before: NDArray[Any]) -> None:
        """Add a custom reward to the results of a step, before ended games are dealt again."""
        # Illegal actions earn nothing beyond their penalty; nor does a deal in place of a step.
        shared = self._shared
        rests = shared.begins if self._autoreset == stepping.NEXT_STEP else False
        after = self.games.view()
        after.flags.writeable = False  # the games play on from here
        earned = earn(reward, before, after, self.episodes["illegal"] | rests)
        self.rewards += earned
        self.episodes["score"] += earned
        np.copyto(shared.final_episodes["score"], self.episodes["score"], where=self.done)

    def finals(self, copy: bool) -> tuple[NDArray[Any], ...]:
        """Episodes, masks and observations of the episodes that ended in the last step.

        Args:
            copy: return new arrays, with zeros in the rows of other games; not the buffers.
        """
        shared = self._shared
        finals = shared.final_episodes, shared.final_masks, shared.final_observations
        if not copy:
            return finals
        rows = np.flatnonzero(self.done)
        new = tuple(map(_zeros_like, finals))
        for to, each in zip(new, finals, strict=True):
            to[rows] = each[rows]
        return new

    def consider(self, games: NDArray[Any]) -> None:
        """Write masks and observations of any positions into the first rows, for agents.

        In the next-deal environment, a position in which nothing is hidden has no candidates where
        endings are searched; then `NextDealBatch.played_by` returns the ending.

        Args:
            games: GAME array of shape (n,), no more than there are games here. The caller has
                checked that they are positions.
        """
        self.games[: len(games)] = games
        chosen = np.arange(len(self.games)) < len(games)
        self._begin(chosen, stepping.NO_EPISODE, self.observations)

    def close(self) -> None:
        """End the threads, if there are any."""
        self._threads.close()

    # --- refused actions

    def _refuse(self, index: int, action: int) -> None:
        """Raise the error for an action that is out of range, illegal, or for an ended game."""
        if self._autoreset == stepping.DISABLED and self.done[index]:
            raise gym.error.ResetNeeded(
                f"game {index} has ended: call "
                'reset(options={"reset_mask": terminated | truncated})'
            )
        # In the order in which `stepping.first_refused` refuses, so the reason is the right one.
        where = f" in game {index}" if len(self.games) > 1 else ""
        check_number(f"action{where}", action, self.masks.shape[1])
        self._refuse_illegal(index, action, where)

    @abc.abstractmethod
    def _refuse_illegal(self, index: int, action: int, where: str) -> None:
        """Raise the error for an illegal action."""

    # --- arguments of the compiled functions

    def _new_scratch(self) -> Any:
        """New scratch arrays for the compiled functions; no two threads share them."""
        return ()

    def _make_shared(self, buffers: Any) -> None:
        """Make the shared buffers, and bundle them with those of a kind of environment, once."""
        shared = stepping.Shared(
            games=self.games,
            episodes=self.episodes,
            masks=self.masks,
            rewards=self.rewards,
            terminated=self.terminated,
            truncated=self.truncated,
            done=self.done,
            begins=np.zeros_like(self.done),
            streams=self._streams,
            choices=self._choices,
            starts=self._starts,
            final_episodes=_zeros_like(self.episodes),
            final_masks=_zeros_like(self.masks),
            final_observations=_zeros_like(self.observations),
        )
        self._bundle(shared, buffers)

    def _bundle(self, shared: stepping.Shared, buffers: Any) -> None:
        """Bundle the buffers for each thread.

        A bundle holds the arrays of its time, so a buffer is written into, or replaced by another
        bundle.
        """
        bundles = [
            make_bundle(self._contract, shared, self._settings, buffers, self._new_scratch())
            for _ in range(self._threads.count)
        ]
        # Together: after Ctrl-C between them, compiled code would write past the end of arrays.
        self._shared, self._buffers, self._bundles = shared, buffers, bundles

    # --- copies

    def __reduce__(self) -> tuple[Any, ...]:
        """A new batch with the same settings, into which everything that changes is written."""
        changing = self._shared, self._buffers, self.seeded, self.started
        return type(self), (self.settings,), changing

    def __setstate__(self, changing: tuple[Any, ...]) -> None:
        """Continue like the original."""
        shared, buffers, self.seeded, self.started = changing
        self._bundle(_copied(self._shared, shared), _copied(self._buffers, buffers))


def _copied(own: Any, original: Any) -> Any:
    """A NamedTuple of one's own arrays with the content of an original's, and of NamedTuples.

    An array of another size is replaced. Others are written into, because views of them are in use.
    """
    if isinstance(own, tuple):
        return type(own)(*map(_copied, own, original))
    if own.shape != original.shape:
        return original.copy()
    own[...] = original
    return own


class Batch(RunningGames):
    """Running games whose actions are moves.

    Attributes:
        observations: array of shape (n, L).
    """

    _compiled = stepping
    settings: MoveSettings

    def __init__(self, settings: MoveSettings) -> None:
        super().__init__(settings)
        count, observation = len(self.games), settings.observation
        mask = MASKS.index(settings.mask)
        self._settings = stepping.CompiledSettings(
            mask=mask,
            observation=KINDS[observation],
            shares=(1 / largest_counts(self.rules, observation)).astype(np.float32),
        )
        # Observations are kept as counts, a byte each; a step ends by showing them.
        words, self.masks = new_masks(count, self.rules)  # the same memory
        self._surely_room = 0
        space = observation_space(self.rules, observation)
        shape = (count, *space.shape)
        self.observations = np.zeros(shape, space.dtype)
        buffers = stepping.Buffers(
            words=words,
            history=new_history(count, mask),
            shown=np.zeros(count, SHOWN),
            counts=np.zeros(shape, np.uint8),
        )
        self._make_shared(buffers)

    def step(self, actions: NDArray[np.int64], out: NDArray[Any]) -> int:
        """See `RunningGames.step`."""
        if isinstance(self._buffers.history, History):
            self._make_room(self._buffers.history)
        return super().step(actions, out)

    def _make_room(self, history: History) -> None:
        """Make room for a step in the history.

        A step adds one position to a run at most, so this looks at the runs once in many steps.
        """
        if not self._surely_room:
            if (larger := with_room(history)) is not history:
                self._bundle(self._shared, self._buffers._replace(history=larger))
            blocks, _, hashes = larger.seen.shape
            self._surely_room = blocks * hashes - int(history.runs["length"].max())
        self._surely_room -= 1

    def spaces(self) -> tuple[gym.Space[Any], gym.spaces.Discrete]:
        """See `RunningGames.spaces`."""
        actions = gym.spaces.Discrete(self.masks.shape[1])
        return observation_space(self.rules, self.settings.observation), actions

    def _refuse_illegal(self, index: int, action: int, where: str) -> None:
        game = Game.from_own_record(self.games[index], self.rules)
        raise IllegalMove(f"action {action}{where}: {why_left_out(game, action)}")


def _zeros_like(array: NDArray[Any]) -> NDArray[Any]:
    """A new array of zeros, whose pages take no time until they are used.

    For a large array, `np.zeros` would write them, and return the memory to the system afterwards:
    in a batch of 16,384 games that takes as long as the step.
    """
    if array.nbytes < _LARGE:
        return np.zeros(array.shape, array.dtype)
    own = mmap.mmap(-1, array.nbytes, access=mmap.ACCESS_COPY)  # not shared with forked processes
    return np.frombuffer(own, array.dtype).reshape(array.shape)


def why_left_out(game: Game, move: int) -> str:
    """Why a mask leaves a move out."""
    try:
        game.after(move)
    except IllegalMove as error:
        return str(error)
    text = all_moves(game.rules)[move].text
    if game.action_mask(distinct=True)[move]:
        return f"{text} is legal, but returns to an earlier position"
    return f"{text} is legal, but only renames spaces"
