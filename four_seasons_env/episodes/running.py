"""`RunningGames`: a batch of running games with the buffers that compiled code writes into.

Each environment has a batch, which seeds, resets and steps its games. The environment returns what
the batch leaves in its buffers. The actions of a `Batch` are moves. `Threads` share its games.
"""

from __future__ import annotations

import abc
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from four_seasons_env.arguments import check_number, whole_number
from four_seasons_env.engine.deals import TRAIN_FROM, start_streams
from four_seasons_env.engine.jit import Bundle, announce, make_bundle
from four_seasons_env.engine.kernel import GAME, compile_rules, new_masks
from four_seasons_env.episodes import stepping
from four_seasons_env.episodes.settings import (
    AUTORESET,
    EnvSettings,
    MoveSettings,
    VectorSettings,
    check_autoreset_mode,
    check_deals,
)
from four_seasons_env.game import Game, IllegalMove
from four_seasons_env.observations import (
    KINDS,
    SHOWN,
    largest_counts,
    observation_space,
    show_all,
)
from four_seasons_env.rewards import ILLEGAL_PENALTY, check_reward, earn
from four_seasons_env.rules import get_rules


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
        drawn_from: deals to draw from, each array with the games that do, bool of shape (n,).
        finals: the results of the episodes that ended in the last step, in new arrays, where games
            restart in the same step; else None.

    Args:
        settings: the arguments of the environment.
    """

    # What a subclass adds. Its constructor ends with `_share_buffers`.
    _compiled: Any
    """The module with `write_all` and `step_all`."""
    _settings: Any
    """A NamedTuple of the settings, as compiled functions take them."""
    _buffers: Any
    """A NamedTuple of the arrays that compiled functions write into."""
    masks: NDArray[np.int8]
    observations: NDArray[Any]

    def __init__(self, settings: EnvSettings) -> None:
        announce(self._compiled.write_all)
        alone = VectorSettings(autoreset_mode="Disabled")  # a single environment resets its game
        many = settings if isinstance(settings, VectorSettings) else alone
        count = many.num_envs
        self.settings = settings
        self.rules = get_rules(settings.rules)
        self.rule = compile_rules(self.rules)
        self.max_moves = int(min(settings.max_moves, many.max_episode_steps or settings.max_moves))
        self._autoreset = AUTORESET[check_autoreset_mode(many.autoreset_mode)]
        self._threads = Threads(min(many.num_threads, count), count)
        self.games = np.zeros(count, GAME)
        self.episodes = np.zeros(count, stepping.EPISODE)
        self.rewards = np.zeros(count)
        self.terminated = np.zeros(count, np.bool_)
        self.truncated = np.zeros(count, np.bool_)
        self.done = np.zeros(count, np.bool_)
        self.finals: stepping.Finals | None = None
        self._all = np.ones(count, np.bool_)
        self._streams = np.zeros(count, np.uint64)
        self.seeded = False
        self.started = False
        self.drawn_from: list[tuple[NDArray[np.bool_], NDArray[np.int64]]] = []
        self.set_deals(settings.deals)
        self.settings = replace(settings, deals=None)  # an iterator could not be copied

    @abc.abstractmethod
    def spaces(self) -> tuple[gym.Space[Any], gym.spaces.Discrete]:
        """The spaces of one game's observations and actions."""

    # --- episodes

    def seed(self, seeds: NDArray[np.uint64], chosen: NDArray[np.bool_] | None = None) -> None:
        """Start the stream of training deals of each game, or of each chosen one, from its seed."""
        streams = np.empty_like(self._streams)
        start_streams(seeds, streams)
        np.copyto(self._streams, streams, where=self._all if chosen is None else chosen)
        self.seeded = True

    def set_deals(self, deals: Iterable[int] | None, indices: Sequence[int] | None = None) -> None:
        """Draw the deals of later episodes of these games, by default all, from these.

        Raises:
            ValueError: see `settings.check_deals`.
            IndexError: for an index without a game.
        """
        chosen = np.zeros_like(self._all)
        count = len(chosen)
        for index in range(count) if indices is None else indices:
            if not -count <= whole_number("index", index) < count:
                raise IndexError(f"index must be 0 to {count - 1}, not {index}")
            chosen[index] = True
        numbers = None if deals is None else check_deals(deals, self.settings.allow_test_deals)
        others = [(games & ~chosen, drawn_from) for games, drawn_from in self.drawn_from]
        self.drawn_from = [each for each in others if each[0].any()]
        if numbers is not None:
            self.drawn_from.append((chosen, numbers))

    def reset(
        self, asked: NDArray[Any] | None = None, chosen: NDArray[np.bool_] | None = None
    ) -> None:
        """Start an episode in every game, or in each chosen one.

        Args:
            asked: what `options.read_options` returns; None for the next training deals.
            chosen: bool of shape (n,).

        Raises:
            gymnasium.error.ResetNeeded: if the first reset is not of all games.
        """
        if chosen is None or chosen.all():
            chosen = self._all
        else:
            self.check_started()
        self.started = True
        self.done[chosen] = False  # else the first step would be refused, or would deal again
        if asked is None:
            self.deal_next(chosen)
            return
        # Only the deal or the deck of a record counts, unless it is a position.
        self.games[chosen] = asked[chosen]
        is_position = asked["deck_size"] > 0
        stepping.lay_out_asked(self.games, self.rule, chosen & ~is_position)
        self._begin(chosen)

    def check_started(self) -> None:
        """Check that there has been a reset.

        Raises:
            gymnasium.error.ResetNeeded: if there has not.
        """
        if not self.started:
            raise gym.error.ResetNeeded("no episode has been started: call reset() first")

    def deal_next(self, chosen: NDArray[np.bool_]) -> None:
        """Start an episode in each chosen game with its stream's next deal."""
        stepping.deal_all(self.games, self.rule, self._streams, chosen)
        for games, deals in self.drawn_from:  # the streams' training deals select one of these
            those = chosen & games
            drawn = self.games["deal"][those] - TRAIN_FROM
            self.games["deal"][those] = deals[drawn % len(deals)]
            stepping.lay_out_asked(self.games, self.rule, those)
        self._begin(chosen)

    def _begin(self, chosen: NDArray[np.bool_]) -> None:
        """Start an episode at the position of each chosen game."""
        write_all = self._compiled.write_all
        self._threads.call(
            lambda bundle, part: write_all(bundle, part, stepping.BEGIN), self._bundles, chosen
        )

    def step(self, actions: NDArray[np.int64], out: NDArray[Any]) -> int:
        """Take one action in each game; returns how many episodes ended.

        Ended games are dealt again as the autoreset mode says.

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
        dealt: Any = self._autoreset == stepping.NEXT_STEP and self.done.copy()
        if len(self._bundles) == 1:
            ended = self._compiled.step_all(self._whole, actions, out)
        else:  # checked for all games first: no thread may play if another refuses an action
            ended = -1 - stepping.first_refused(self._whole, actions)  # 0 if none is refused
            ended = ended or self._threads.call(
                self._compiled.step_all, self._bundles, actions, out
            )
        if ended < 0:
            self._refuse(-1 - ended, int(actions[-1 - ended]))
        # Called after the compiled step, which has written 0 or the penalty, and before ended games
        # are dealt again. Illegal actions earn nothing, and neither does a deal in place of a step.
        if reward is not None:
            earned = earn(reward, before, self.games, self.episodes["illegal"] | dealt)
            self.rewards += earned
            self.episodes["score"] += earned
        self.finals = None
        if ended and self._autoreset == stepping.SAME_STEP:
            self.finals = self._new_finals()
            stepping.keep_finals(self.done, self.episodes, self.masks, out, *self.finals)
            self._deal_again(self.done, out)
        elif dealt is not False and dealt.any():
            self._deal_again(dealt, out)
        return int(ended)

    def _deal_again(self, chosen: NDArray[np.bool_], out: NDArray[Any]) -> None:
        """Start an episode in each chosen game after a step, and write its observation."""
        self.deal_next(chosen)
        self._observe_some(chosen, out)

    def _new_finals(self) -> stepping.Finals:
        """Arrays of zeros for the results of ended episodes, which the caller of `step` may keep.

        Not made by `np.zeros_like`, which writes the zeros: `np.zeros` takes no memory for rows of
        games that have not ended.
        """
        like = (self.episodes, self.masks, self.observations)
        return stepping.Finals(*[np.zeros(array.shape, array.dtype) for array in like])

    def observe(self, out: NDArray[Any]) -> None:
        """Write the observation of each game into an array of the shape of ``observations``."""
        if out is not self.observations:
            out[...] = self.observations

    def _observe_some(self, chosen: NDArray[np.bool_], out: NDArray[Any]) -> None:
        """Write the observations of the chosen games."""
        if out is not self.observations:
            out[chosen] = self.observations[chosen]

    def consider(self, games: NDArray[Any]) -> None:
        """Write masks and observations of any positions into the first rows, for agents.

        In the next-deal environment, a position in which nothing is hidden has no candidates where
        endings are searched; then `NextDealBatch.played_by` returns the ending.

        Args:
            games: GAME array of shape (n,), no more than there are games here.
        """
        self.games[: len(games)] = games
        self._compiled.write_all(
            self._whole, np.arange(len(self.games)) < len(games), stepping.CONSIDER
        )
        self.observe(self.observations)

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

    def _common_settings(self) -> dict[str, Any]:
        """The fields that the compiled settings of all environments have."""
        return {
            "rules": self.rule,
            "reward": check_reward(self.settings.reward),
            "penalty": ILLEGAL_PENALTY,
            "max_moves": self.max_moves,
            "autoreset": self._autoreset,
            "strict": self.settings.illegal == "raise",
        }

    def _common_buffers(self) -> dict[str, NDArray[Any]]:
        """The buffers that all environments have."""
        return {
            "games": self.games,
            "episodes": self.episodes,
            "masks": self.masks,
            "rewards": self.rewards,
            "terminated": self.terminated,
            "truncated": self.truncated,
            "done": self.done,
            "streams": self._streams,
        }

    def _share_buffers(self) -> None:
        """Bundle the buffers and each thread's share of them, once.

        The bundles hold views, so a buffer must be written into and never be replaced.
        """
        self._bundles = [self._bundle(share) for share in self._threads.shares]
        # All games at once, for what one thread does: checks and finals.
        alone = len(self._bundles) == 1
        self._whole = self._bundles[0] if alone else self._bundle(slice(None))

    def _bundle(self, part: slice) -> Bundle:
        """The argument of the compiled functions for some of the games."""
        views = type(self._buffers)(*[array[part] for array in self._buffers])
        return make_bundle(views, self._settings, self._new_scratch())

    # --- copies

    def __reduce__(self) -> tuple[Any, ...]:
        """A new batch with the same settings, into which everything that changes is written."""
        changing = tuple(self._buffers), self.drawn_from, self.seeded, self.started
        return type(self), (self.settings,), changing

    def __setstate__(self, changing: tuple[Any, ...]) -> None:
        """Continue like the original."""
        arrays, self.drawn_from, self.seeded, self.started = changing
        for buffer, array in zip(self._buffers, arrays, strict=True):
            buffer[...] = array
        self.observe(self.observations)


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
        self._settings = stepping.CompiledSettings(
            **self._common_settings(),
            distinct=settings.mask == "distinct",
            observation=KINDS[observation],
            shares=(1 / largest_counts(self.rules, observation)).astype(np.float32),
        )
        words, self.masks = new_masks(count, self.rules)  # the same memory
        space = observation_space(self.rules, observation)
        shape = (count, *space.shape)
        self.observations = np.zeros(shape, space.dtype)
        self._buffers = stepping.Buffers(
            **self._common_buffers(),
            words=words,
            shown=np.zeros(count, SHOWN),
            counts=np.zeros(shape, np.uint8),
        )
        self._share_buffers()

    def spaces(self) -> tuple[gym.Space[Any], gym.spaces.Discrete]:
        """See `RunningGames.spaces`."""
        actions = gym.spaces.Discrete(self.masks.shape[1])
        return observation_space(self.rules, self.settings.observation), actions

    def observe(self, out: NDArray[Any]) -> None:
        """See `RunningGames.observe`."""
        show_all(self._buffers.counts, self._settings.shares, out)

    def _observe_some(self, chosen: NDArray[np.bool_], out: NDArray[Any]) -> None:
        stepping.show_some(self._buffers.counts, self._settings.shares, out, chosen)

    def _deal_again(self, chosen: NDArray[np.bool_], out: NDArray[Any]) -> None:
        if not self.drawn_from:  # one call takes less time than several
            stepping.deal_again(self._whole, out, chosen)
        else:
            super()._deal_again(chosen, out)

    def _refuse_illegal(self, index: int, action: int, where: str) -> None:
        # The game knows why a move breaks the rules. If it plays the move, then only the mask has
        # left it out.
        try:
            Game.from_own_record(self.games[index], self.rules).play(action)
        except IllegalMove as error:
            raise IllegalMove(f"action {action}{where}: {error}") from None
        raise IllegalMove(
            f"action {action}{where} only renames spaces, which mask='distinct' leaves out"
        )


class Threads:
    """Threads that share the games of a batch: compiled calls, each for its share of the games.

    Games do not depend on each other, so the results do not depend on the number of threads.

    Attributes:
        shares: each thread's games.

    Args:
        count: number of threads.
        games: number of games.
    """

    def __init__(self, count: int, games: int) -> None:
        # A share is a run of neighbouring games, so threads share cache lines only at its edges.
        edges = np.linspace(0, games, count + 1).astype(int).tolist()
        self.shares = [slice(first, last) for first, last in pairwise(edges)]
        self._pool: ThreadPoolExecutor | None = None
        self._process = 0

    def call(
        self, function: Callable[..., int | None], bundles: Sequence[Bundle], *arrays: NDArray[Any]
    ) -> int:
        """Call a function once for each share.

        Args:
            function: takes a bundle and the arrays.
            bundles: one for each share.
            *arrays: of shape (n, ...).

        Returns:
            The sum of what the calls return, if these are numbers.
        """
        first, *others = [
            (bundle, *[array[share] for array in arrays])
            for bundle, share in zip(bundles, self.shares, strict=True)
        ]
        # The calling thread works on the first share; it would only wait otherwise. The compiled
        # functions release the GIL.
        pending = [self._started().submit(function, *each) for each in others]
        return (function(*first) or 0) + sum(each.result() or 0 for each in pending)

    def _started(self) -> ThreadPoolExecutor:
        if self._pool is None or self._process != os.getpid():  # a fork has no threads
            self._pool = ThreadPoolExecutor(len(self.shares) - 1)
            self._process = os.getpid()
        return self._pool

    def close(self) -> None:
        """End the threads, if there are any."""
        if self._pool is not None and self._process == os.getpid():
            self._pool.shutdown()
        self._pool = None
