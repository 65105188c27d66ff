"""A batch of running games with the buffers that the compiled code writes into.

The environments hold one: it checks their arguments, seeds, resets and steps. What it leaves in its
buffers is what they give out. `Batch` is for those whose actions are moves; what it shares with
others is in `RunningGames`.
"""

from __future__ import annotations

import abc
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, TypeVar

import gymnasium as gym
import numpy as np
from numpy.typing import DTypeLike, NDArray

from four_seasons_env.engine.bundles import Bundle, make_bundle
from four_seasons_env.engine.cards import NO_CARD, parse_deck
from four_seasons_env.engine.deals import check_deal, start_streams
from four_seasons_env.engine.jit import announce
from four_seasons_env.engine.kernel import GAME, compile_rules, new_masks
from four_seasons_env.engine.moves import all_moves
from four_seasons_env.engine.validation import check_games
from four_seasons_env.episodes import stepping
from four_seasons_env.game import Game, IllegalMove
from four_seasons_env.observations import (
    SHOWN,
    check_dtype,
    check_observation,
    largest_counts,
    observation_space,
    show_all,
)
from four_seasons_env.rewards import (
    CUSTOM,
    ILLEGAL_PENALTY,
    RewardFunction,
    check_earned,
    check_reward,
)
from four_seasons_env.rules import Rules, get_rules, nearest

T = TypeVar("T")

MASKS = ("legal", "distinct")
ILLEGAL = ("stay", "raise")
OPTIONS = ("deal", "deck")

MAX_MOVES = 500
"""Default length of an episode: the longest of some 300 known solutions took 320 moves."""


def check_choice(name: str, value: T, choices: tuple[T, ...]) -> T:
    """An argument's value, if it is one of its choices.

    Raises:
        ValueError: if it is not, with the nearest one.
    """
    if value not in choices:
        known = [str(choice) for choice in choices]
        raise ValueError(f"unknown {name} {value!r}: {nearest(str(value), known)}")
    return value


def check_positive(name: str, value: Any) -> int:
    """An argument that counts something.

    Raises:
        ValueError: if it is not a positive integer.
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{name} must be a positive integer, not {value!r}")
    return int(value)


class RunningGames(abc.ABC):
    """Running games and their buffers, whatever an action is.

    Attributes:
        games: GAME array of shape (n,).
        episodes: `stepping.EPISODE` array of shape (n,).
        masks: int8 array of shape (n, A), 1 where an action may be taken.
        observations: array of shape (n, ...), for those who need none of their own.
        rewards: float64 array of shape (n,).
        terminated, truncated, done: bool arrays of shape (n,).

    Args:
        count: number of games.
        rules: the rule set.
        reward: see `rewards`.
        illegal: one of `ILLEGAL`.
        max_moves: moves until an episode is truncated.
        threads: that share the games.
        autoreset: `stepping.SAME_STEP`, `NEXT_STEP` or `DISABLED`.

    Raises:
        ValueError: for an argument that is unknown or out of range, naming the nearest valid one.
    """

    _compiled: Any
    """The module with `reset_all`, `reset_to`, `step_all`, `deal_ended` and `derive_all`."""
    observation_space: gym.Space[Any]
    action_space: gym.spaces.Discrete
    _settings: Any
    masks: NDArray[np.int8]
    observations: NDArray[Any]

    def __init__(
        self,
        count: int,
        rules: str | Rules,
        reward: str | RewardFunction,
        illegal: str,
        max_moves: int,
        threads: int,
        autoreset: int,
    ) -> None:
        check_positive("max_moves", max_moves)
        check_positive("num_threads", threads)
        self._threads = min(int(threads), count)
        self._pool: ThreadPoolExecutor | None = None
        self._pool_process = 0
        self.rules = get_rules(rules)
        self.rule = compile_rules(self.rules)
        self._strict = check_choice("illegal", illegal, ILLEGAL) == "raise"
        self._reward = reward
        self._reward_kind = check_reward(reward)
        self._autoreset = autoreset
        self.max_moves = int(max_moves)
        self.games = np.zeros(count, GAME)
        self.episodes = np.zeros(count, stepping.EPISODE)
        self.rewards = np.zeros(count)
        self.terminated = np.zeros(count, np.bool_)
        self.truncated = np.zeros(count, np.bool_)
        self.done = np.zeros(count, np.bool_)
        self._all = np.ones(count, np.bool_)
        self._streams = np.zeros(count, np.uint64)
        self.seeded = False
        self._started = False

    def _share_buffers(self) -> None:
        """Bundle the buffers and each thread's share of them, once."""
        edges = np.linspace(0, len(self.games), self._threads + 1).astype(int).tolist()
        self._shares = [slice(first, last) for first, last in pairwise(edges)]
        self._bundles = [self._bundle(share) for share in self._shares]
        alone = self._threads == 1
        self._whole = self._bundles[0] if alone else self._bundle(slice(None))

    def _bundle(self, part: slice) -> Bundle:
        """What the compiled functions take for a stretch of the games."""
        return make_bundle(self._buffers(part), self._settings, self._new_scratch())

    def _new_scratch(self) -> Any:
        """Arrays of which the compiled functions need some for each thread."""
        return ()

    @abc.abstractmethod
    def _buffers(self, part: slice) -> Any:
        """A stretch of the games and of all that is written of them, as a NamedTuple of arrays."""

    def state(self) -> dict[str, NDArray[Any]]:
        """The arrays, by name, that the games to come depend on; not copies."""
        arrays: dict[str, NDArray[Any]] = self._buffers(slice(None))._asdict()
        return arrays

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from a `state`, whose arrays have the names, shapes and dtypes of those here.

        What follows from the games is worked out from them again, and must be as the state has it.

        Raises:
            ValueError: if it is not, or a game is no position; nothing has changed then.
        """
        check_games(state["games"], self.rules)
        before = {name: array.copy() for name, array in self.state().items()}
        self._write(state)
        self._derive()
        now = self.state()
        wrong: list[str] = [
            name
            for name in ("games", "masks", "counts", "observations")
            if name in now and not np.array_equal(now[name], state[name])
        ]
        told, here = state["episodes"], self.episodes
        wrong += [name for name in stepping.DERIVED if not np.array_equal(told[name], here[name])]
        if wrong:
            self._write(before)
            raise ValueError(f"in the state, {', '.join(wrong)} do not belong to the games")
        self.seeded = self._started = True

    def _write(self, state: dict[str, NDArray[Any]]) -> None:
        for name, array in self.state().items():
            array[...] = state[name]

    def _derive(self) -> None:
        """Write anew what follows from the games, each of which waits for an action."""
        self._compiled.derive_all(self._whole)

    def seed(self, seeds: NDArray[np.uint64], chosen: NDArray[np.bool_] | None = None) -> None:
        """Start the stream of training deals of each game, or each chosen one, from its seed."""
        streams = np.empty_like(self._streams)
        start_streams(seeds, streams)
        np.copyto(self._streams, streams, where=self._all if chosen is None else chosen)
        self.seeded = True

    def read_options(
        self, options: dict[str, Any] | None, known: tuple[str, ...] = OPTIONS, one: bool = False
    ) -> NDArray[Any] | None:
        """The games that reset options ask for, as GAME records whose deal or deck is set.

        Args:
            options: of which those of `OPTIONS` are read.
            known: options that there are.
            one: take a single deal only, no list with one deal for each game.

        Returns:
            None without options: then each game's stream says what is dealt.

        Raises:
            ValueError: for an unknown option, a bad deal or a deck that is not one.
            TypeError: for options that are no dictionary.
        """
        if options is not None and not isinstance(options, Mapping):
            raise TypeError(f"options are {{'deal': 17}} or {{'deck': text}}, not {options!r}")
        if not options:
            return None
        for key in options:
            if key not in known:
                raise ValueError(f"unknown option {key!r}: {nearest(key, known)}")
        options = {key: options[key] for key in OPTIONS if key in options}
        if not options:
            return None
        if len(options) > 1:
            raise ValueError("give a deal or a deck, not both")
        asked = np.zeros(len(self.games), GAME)
        if "deal" in options:
            deals = options["deal"]
            many = not one and isinstance(deals, (Sequence, np.ndarray)) and np.ndim(deals) > 0
            if many and len(deals) != len(asked):
                raise ValueError(f"{len(asked)} games take as many deals, not {len(deals)}")
            asked["deal"] = [check_deal(deal) for deal in deals] if many else check_deal(deals)
        else:
            asked["deal"] = -1
            asked["deck"] = NO_CARD
            asked["deck"][:, : self.rules.cards] = parse_deck(options["deck"], self.rules.ranks)
        return asked

    def reset(
        self, asked: NDArray[Any] | None = None, chosen: NDArray[np.bool_] | None = None
    ) -> None:
        """Start an episode in every game, or in each chosen one.

        Args:
            asked: what `read_options` returns; None for the next training deals.
            chosen: bool of shape (n,).

        Raises:
            gymnasium.error.ResetNeeded: if the first reset is not of all games.
        """
        if chosen is None:
            chosen = self._all
        elif not chosen.all():
            self.check_started()
        self._started = True
        self.done[chosen] = False
        if asked is None:
            self.deal_anew(chosen)
            return
        self.games[chosen] = asked[chosen]
        self._share_out(self._compiled.reset_to, chosen)

    def deal_anew(self, chosen: NDArray[np.bool_]) -> None:
        """Start an episode in each chosen game with its stream's next deal."""
        self._share_out(self._compiled.reset_all, chosen)

    @abc.abstractmethod
    def _refuse_illegal(self, index: int, action: int, where: str) -> None:
        """Raise the error for an illegal action."""

    def check_started(self) -> None:
        """Refuse to go on before the first reset.

        Raises:
            gymnasium.error.ResetNeeded: if there has been none.
        """
        if not self._started:
            raise gym.error.ResetNeeded("no episode has been started: call reset() first")

    def step(
        self,
        actions: NDArray[np.int64],
        finals: stepping.Finals | tuple[()] = (),
        *,
        out: NDArray[Any],
    ) -> int:
        """Take one action in each game; returns how many episodes ended.

        Args:
            actions: int64 of shape (n,).
            finals: for what belongs to the ended episodes, of which the next ones start then; ()
                to leave them as they are.
            out: for the observations, of the shape of ``observations``.

        Raises:
            ValueError: for an action out of range; nothing has changed then.
            IllegalMove: for an illegal action where `illegal="raise"`; likewise.
        """
        custom = self._reward_kind == CUSTOM
        before = self.games.copy() if custom else self.games
        anew = custom and self._autoreset == stepping.NEXT_STEP and self.done.copy()
        if self._threads == 1:
            ended = self._compiled.step_all(self._whole, actions, out)
        else:  # no thread plays if an action of another's games is refused
            ended = -1 - stepping.first_refused(self._whole, actions)
            ended = ended or self._share_out(self._compiled.step_all, actions, out)
        if ended < 0:
            self._refuse(-1 - ended, int(actions[-1 - ended]))
        if custom:
            earned = check_earned(self._reward(before, self.games), len(before))  # type: ignore[operator]
            earned = np.where(self.episodes["illegal"] | anew, 0.0, earned)
            self.rewards += earned
            self.episodes["score"] += earned
        if ended and finals:
            self._compiled.deal_ended(self._whole, out, *finals)
        return int(ended)

    def observe(self, out: NDArray[Any]) -> None:
        """Write the observation of each game into an array of the shape of ``observations``."""
        if out is not self.observations:
            out[...] = self.observations

    def new_finals(self) -> stepping.Finals:
        """Arrays of zeros for what belongs to ended episodes.

        Not by `np.zeros_like`, which writes them: these take no memory where no episode has ended.
        """
        like = (self.episodes, self.masks, self.observations, self.done)
        return stepping.Finals(*[np.zeros(array.shape, array.dtype) for array in like])

    def _share_out(self, call: Callable[..., int | None], *arrays: NDArray[Any]) -> int:
        """Call a function in each thread, for its share of the games.

        Games do not depend on each other, so the results are those of one thread.

        Args:
            call: takes a bundle and the arrays.
            *arrays: of shape (n, ...).

        Returns:
            The sum of what the calls return, if these are numbers.
        """
        if self._threads == 1:
            return call(self._whole, *arrays) or 0
        if self._pool is None or self._pool_process != os.getpid():  # a fork has no threads
            self._pool = ThreadPoolExecutor(self._threads - 1)
            self._pool_process = os.getpid()
        first, *others = [
            (bundle, *[array[share] for array in arrays])
            for bundle, share in zip(self._bundles, self._shares, strict=True)
        ]
        pending = [self._pool.submit(call, *each) for each in others]
        return (call(*first) or 0) + sum(each.result() or 0 for each in pending)

    def close(self) -> None:
        """End the threads, if there are any."""
        if self._pool is not None and self._pool_process == os.getpid():
            self._pool.shutdown()
        self._pool = None

    def __getstate__(self) -> dict[str, Any]:
        """All that a copy needs to play on as the original would.

        Threads, bundles of views and compiled rules are made anew.
        """
        state = vars(self) | {"_pool": None, "rule": None}
        state["_settings"] = self._settings._replace(**dict.fromkeys(self._compiled_rules()))
        del state["_bundles"], state["_whole"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Become a copy."""
        vars(self).update(state)
        self.rule = compile_rules(self.rules)
        self._settings = self._settings._replace(**self._compiled_rules())

    def _compiled_rules(self) -> dict[str, NDArray[np.void]]:
        """The fields of the settings that are compiled rules."""
        return {"rules": self.rule}

    def _refuse(self, index: int, action: int) -> None:
        """Raise the error for an action that is out of range, illegal, or for an ended game."""
        if self._autoreset == stepping.DISABLED and self.done[index]:
            ended = np.flatnonzero(self.done)
            raise gym.error.ResetNeeded(
                f"{len(ended)} games have ended, game {ended[0]} first: call "
                'reset(options={"reset_mask": terminated | truncated})'
            )
        actions = self.masks.shape[1]
        where = f" in game {index}" if len(self.games) > 1 else ""
        if not 0 <= action < actions:
            raise ValueError(
                f"action {action}{where} is out of range: {self.rules.name!r} has actions 0 to "
                f"{actions - 1}"
            )
        self._refuse_illegal(index, action, where)


class Batch(RunningGames):
    """Running games whose actions are moves.

    Attributes:
        observations: array of shape (n, L).

    Args:
        observation: one of `observations.OBSERVATIONS`.
        mask: one of `MASKS`.
        dtype: of observations, one of `observations.DTYPES`.

    The other arguments are those of `RunningGames`.
    """

    _compiled = stepping

    def __init__(
        self,
        count: int,
        rules: str | Rules,
        observation: str,
        reward: str | RewardFunction,
        mask: str,
        illegal: str,
        max_moves: int,
        threads: int = 1,
        *,
        dtype: DTypeLike = "float32",
        autoreset: int = stepping.SAME_STEP,
    ) -> None:
        super().__init__(count, rules, reward, illegal, max_moves, threads, autoreset)
        announce(stepping.reset_all)
        self._settings = stepping.Settings(
            rules=self.rule,
            distinct=check_choice("mask", mask, MASKS) == "distinct",
            observation=check_observation(observation),
            reward=self._reward_kind,
            penalty=ILLEGAL_PENALTY,
            max_moves=self.max_moves,
            autoreset=self._autoreset,
            strict=self._strict,
            shares=(1 / largest_counts(self.rules, observation)).astype(np.float32),
        )
        self.observation_space = observation_space(self.rules, observation, check_dtype(dtype))
        self.action_space = gym.spaces.Discrete(len(all_moves(self.rules)))
        self._words, self.masks = new_masks(count, self.rules)  # the same memory
        self._shown = np.zeros(count, SHOWN)
        shape = (count, *self.observation_space.shape)
        self._counts = np.zeros(shape, np.uint8)
        self.observations = np.zeros(shape, self.observation_space.dtype)
        self._share_buffers()

    def __getstate__(self) -> dict[str, Any]:
        """All but the masks, which are in the words."""
        state = super().__getstate__()
        del state["masks"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Become a copy, whose masks are views of its own words."""
        super().__setstate__(state)
        self.masks = self._words.view(np.int8)[:, : len(all_moves(self.rules))]
        self._share_buffers()

    def _buffers(self, part: slice) -> stepping.Buffers:
        return stepping.Buffers(
            self.games[part],
            self.episodes[part],
            self._words[part],
            self.masks[part],
            self._shown[part],
            self._counts[part],
            self.rewards[part],
            self.terminated[part],
            self.truncated[part],
            self.done[part],
            self._streams[part],
        )

    def observe(self, out: NDArray[Any]) -> None:
        """See `RunningGames.observe`."""
        show_all(self._counts, self._settings.shares, out)

    def _refuse_illegal(self, index: int, action: int, where: str) -> None:
        try:
            Game.from_record(self.games[index], self.rules).play(action)
        except IllegalMove as error:
            raise IllegalMove(f"action {action}{where}: {error}") from None
        raise IllegalMove(
            f"action {action}{where} only renames spaces, which mask='distinct' leaves out"
        )
