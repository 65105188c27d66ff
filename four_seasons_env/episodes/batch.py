"""A batch of running games with the buffers that the compiled code writes into.

Each environment has a batch, which seeds, resets and steps its games. The environment returns what
the batch leaves in its buffers. `Batch` is for actions that are moves; `RunningGames` is what it
shares with `next_deal.batch.NextDealBatch`.
"""

from __future__ import annotations

import abc
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from four_seasons_env.arguments import nearest
from four_seasons_env.engine.bundles import Bundle, make_bundle
from four_seasons_env.engine.cards import NO_CARD, parse_deck
from four_seasons_env.engine.deals import TRAIN_FROM, check_deal, start_streams
from four_seasons_env.engine.jit import announce
from four_seasons_env.engine.kernel import GAME, compile_rules, new_masks
from four_seasons_env.engine.moves import all_moves
from four_seasons_env.engine.validation import check_games
from four_seasons_env.episodes import stepping
from four_seasons_env.episodes.autoreset import COMPILED, check_autoreset_mode
from four_seasons_env.episodes.settings import (
    EnvSettings,
    MoveSettings,
    VectorSettings,
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
from four_seasons_env.rewards import CUSTOM, ILLEGAL_PENALTY, check_earned, check_reward
from four_seasons_env.rules import get_rules

OPTIONS = ("deal", "deck", "game")


class RunningGames(abc.ABC):
    """Running games and their buffers, whatever an action is.

    Attributes:
        settings: of the environment.
        games: GAME array of shape (n,).
        episodes: `stepping.EPISODE` array of shape (n,).
        masks: int8 array of shape (n, A), 1 where an action may be taken.
        observations: array of shape (n, ...), for callers that need no array of their own.
        rewards: float64 array of shape (n,).
        terminated, truncated, done: bool arrays of shape (n,).

    Args:
        settings: of the environment.
    """

    _compiled: Any
    """The module with `write_all` and `step_all`."""
    observation_space: gym.Space[Any]
    action_space: gym.spaces.Discrete
    _settings: Any
    masks: NDArray[np.int8]
    observations: NDArray[Any]

    def __init__(self, settings: EnvSettings) -> None:
        announce(self._compiled.write_all)
        many = settings if isinstance(settings, VectorSettings) else VectorSettings()
        count = many.num_envs
        self.settings = settings
        self._threads = min(many.num_threads, count)
        self._pool: ThreadPoolExecutor | None = None
        self._pool_process = 0
        self.rules = get_rules(settings.rules)
        self.rule = compile_rules(self.rules)
        self._is_custom = check_reward(settings.reward) == CUSTOM
        self._autoreset = COMPILED[check_autoreset_mode(many.autoreset_mode)]
        self.max_moves = int(min(settings.max_moves, many.max_episode_steps or settings.max_moves))
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
        self.set_deals(settings.deals)
        self.settings = replace(settings, deals=None)  # an iterator could not be copied

    def _common_settings(self) -> dict[str, Any]:
        """The fields that the compiled settings of all environments have."""
        return {
            **self._compiled_rules(),
            "reward": check_reward(self.settings.reward),
            "penalty": ILLEGAL_PENALTY,
            "max_moves": self.max_moves,
            "autoreset": self._autoreset,
            "strict": self.settings.illegal == "raise",
        }

    def _share_buffers(self) -> None:
        """Bundle the buffers and each thread's share of them, once.

        The bundles hold views, so a buffer must be written into and never be replaced.
        """
        # A share is a run of neighbouring games, so threads share cache lines only at its edges.
        edges = np.linspace(0, len(self.games), self._threads + 1).astype(int).tolist()
        self._shares = [slice(first, last) for first, last in pairwise(edges)]
        self._bundles = [self._bundle(share) for share in self._shares]
        alone = self._threads == 1
        # All games at once, for what one thread does: checks, finals, restoring.
        self._whole = self._bundles[0] if alone else self._bundle(slice(None))

    def _bundle(self, part: slice) -> Bundle:
        """The argument of the compiled functions for some of the games."""
        return make_bundle(self._buffers(part), self._settings, self._new_scratch())

    def _new_scratch(self) -> Any:
        """Scratch arrays of the compiled functions, which each thread has its own of."""
        return ()

    @abc.abstractmethod
    def _buffers(self, part: slice) -> Any:
        """Some of the games and what is written about them, as a NamedTuple of arrays."""

    def state(self) -> dict[str, NDArray[Any]]:
        """The arrays, by name, on which all further games depend; not copies."""
        arrays: dict[str, NDArray[Any]] = self._buffers(slice(None))._asdict()
        return arrays

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Continue from a `state`, whose arrays have the names, shapes and dtypes of those here.

        Everything that follows from the games is computed again and compared with the state.

        Raises:
            ValueError: if the two differ, or a game is not a position; then nothing has changed.
        """
        check_games(state["games"], self.rules)
        # Derived fields are computed in the buffers themselves, so the state is written first and
        # taken back if it is wrong.
        before = {name: array.copy() for name, array in self.state().items()}
        self._write(state)
        self._derive()
        now = self.state()
        # The games are compared too: the next-deal environment plays endings while it derives, and
        # a state that it has saved has none left to play.
        wrong: list[str] = [
            name
            for name in ("games", "masks", "counts", "observations")
            if name in now and not np.array_equal(now[name], state[name])
        ]
        given, here = state["episodes"], self.episodes
        wrong += [name for name in stepping.DERIVED if not np.array_equal(given[name], here[name])]
        if wrong:
            self._write(before)
            raise ValueError(f"in the state, {', '.join(wrong)} do not belong to the games")
        self.seeded = self._started = True

    def _write(self, state: dict[str, NDArray[Any]]) -> None:
        for name, array in self.state().items():
            array[...] = state[name]

    def _derive(self) -> None:
        """Write everything that follows from the games, each of which waits for an action."""
        self._compiled.write_all(self._whole, self._all, stepping.RESTORE)

    def seed(self, seeds: NDArray[np.uint64], chosen: NDArray[np.bool_] | None = None) -> None:
        """Start the stream of training deals of each game, or of each chosen one, from its seed."""
        streams = np.empty_like(self._streams)
        start_streams(seeds, streams)
        np.copyto(self._streams, streams, where=self._all if chosen is None else chosen)
        self.seeded = True

    def read_options(
        self, options: dict[str, Any] | None, known: tuple[str, ...] = OPTIONS, one: bool = False
    ) -> NDArray[Any] | None:
        """The games that reset options ask for, as GAME records.

        Only the deal's number of a record is set, or its deck; or it is a position.

        Args:
            options: those of `OPTIONS` are read.
            known: the options that exist.
            one: accept a single deal only, not a list with one deal for each game.

        Returns:
            None without options: then the next deal of each game's stream is played.

        Raises:
            ValueError: for an unknown option, a bad deal, an invalid deck, or a game of other rules
                or that is over.
            TypeError: if the options are not a dictionary, or a game is not a `Game`.
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
            raise ValueError("give a deal, a deck or a game, not several of them")
        asked = np.zeros(len(self.games), GAME)
        if "game" in options:
            asked[:] = self._read_games(options["game"], one)
            return asked
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

    def _read_games(self, value: Any, one: bool) -> NDArray[Any]:
        """The positions of a game, or of one for each game here; GAME array of shape (1,) or (n,).

        Raises:
            ValueError: see `read_options`.
            TypeError: likewise.
        """
        games = [value] if one or not isinstance(value, Iterable) else list(value)
        if len(games) not in (1, len(self.games)):
            raise ValueError(f"{len(self.games)} games start from as many, not {len(games)}")
        for game in games:
            if not isinstance(game, Game):
                raise TypeError(f"a game is a four_seasons_env.Game, not {game!r}")
            if game.rules != self.rules:
                raise ValueError(f"the game is of {game.rules.name!r}, not {self.rules.name!r}")
            if game.is_over:
                raise ValueError("no episode starts from a game that is over")
        return np.concatenate([game.record for game in games])

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
        if chosen is None or chosen.all():
            chosen = self._all
        else:
            self.check_started()
        self._started = True
        self.done[chosen] = False  # else the first step would be refused, or would deal again
        if asked is None:
            self.deal_anew(chosen)
            return
        # Of these records only the deal or the deck counts, unless they are positions.
        self.games[chosen] = asked[chosen]
        is_position = asked["deck_size"] > 0
        stepping.lay_out_asked(self.games, self.rule, chosen & ~is_position)
        self._begin(chosen)

    def deal_anew(self, chosen: NDArray[np.bool_]) -> None:
        """Start an episode in each chosen game with its stream's next deal."""
        stepping.deal_all(self.games, self.rule, self._streams, chosen)
        if self._drawn_from is not None:  # the streams' training deals select one of the deals
            drawn = self.games["deal"][chosen] - TRAIN_FROM
            self.games["deal"][chosen] = self._drawn_from[drawn % len(self._drawn_from)]
            stepping.lay_out_asked(self.games, self.rule, chosen)
        self._begin(chosen)

    def _begin(self, chosen: NDArray[np.bool_]) -> None:
        """Start an episode at the position of each chosen game."""
        write_all = self._compiled.write_all
        self._share_out(lambda bundle, part: write_all(bundle, part, stepping.BEGIN), chosen)

    def set_deals(self, deals: Iterable[int] | None) -> None:
        """Draw the deals of later episodes from these; None for all training deals.

        Raises:
            ValueError: see `settings.check_deals`.
        """
        allow = self.settings.allow_test_deals
        self._drawn_from = None if deals is None else check_deals(deals, allow)

    @abc.abstractmethod
    def _refuse_illegal(self, index: int, action: int, where: str) -> None:
        """Raise the error for an illegal action."""

    def check_started(self) -> None:
        """Check that there has been a reset.

        Raises:
            gymnasium.error.ResetNeeded: if there has not.
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
            finals: arrays for the results of ended episodes, whose games are then dealt again; ()
                to leave ended games as they are.
            out: for the observations, of the shape of ``observations``.

        Raises:
            ValueError: for an action out of range; then nothing has changed.
            IllegalMove: for an illegal action where `illegal="raise"`; likewise.
        """
        # A reward function sees the positions before the step. It is not asked about games that
        # this step deals again, nor about illegal actions.
        custom = self._is_custom
        before = self.games.copy() if custom else self.games
        anew: Any = self._autoreset == stepping.NEXT_STEP and self.done.copy()
        if self._threads == 1:
            ended = self._compiled.step_all(self._whole, actions, out)
        else:  # checked for all games first: no thread may play if another refuses an action
            ended = -1 - stepping.first_refused(self._whole, actions)  # 0 if none is refused
            ended = ended or self._share_out(self._compiled.step_all, actions, out)
        if ended < 0:
            self._refuse(-1 - ended, int(actions[-1 - ended]))
        # A custom reward is Python code, so it is called once for all games: after the compiled
        # step, which has written 0 or the penalty, and before ended games are dealt again.
        if custom:
            reward = self.settings.reward
            earned = check_earned(reward(before, self.games), len(before))  # type: ignore[operator]
            earned = np.where(self.episodes["illegal"] | anew, 0.0, earned)
            self.rewards += earned
            self.episodes["score"] += earned
        if ended and finals:
            stepping.keep_finals(self.done, self.episodes, self.masks, out, *finals)
            self._deal_again(self.done, out)
        elif anew is not False and anew.any():
            self._deal_again(anew, out)
        return int(ended)

    def _deal_again(self, chosen: NDArray[np.bool_], out: NDArray[Any]) -> None:
        """Start an episode in each chosen game after a step, and write its observation."""
        self.deal_anew(chosen)
        self._observe_some(chosen, out)

    def observe(self, out: NDArray[Any]) -> None:
        """Write the observation of each game into an array of the shape of ``observations``."""
        if out is not self.observations:
            out[...] = self.observations

    def _observe_some(self, chosen: NDArray[np.bool_], out: NDArray[Any]) -> None:
        """Write the observations of the chosen games likewise."""
        if out is not self.observations:
            out[chosen] = self.observations[chosen]

    def consider(self, games: NDArray[Any]) -> None:
        """Write masks and observations of any positions into the first rows, for agents.

        In the next-deal environment, a position in which nothing is hidden has no candidates where
        endings are searched; then `NextDealBatch.played_by` returns the ending.

        Args:
            games: GAME array of shape (n,), n at most the number of games here.
        """
        self.games[: len(games)] = games
        self._compiled.write_all(
            self._whole, np.arange(len(self.games)) < len(games), stepping.CONSIDER
        )
        self.observe(self.observations)

    def new_finals(self) -> stepping.Finals:
        """Arrays of zeros for the results of ended episodes.

        Not made by `np.zeros_like`, which writes the zeros: `np.zeros` takes no memory for rows of
        games that never end.
        """
        like = (self.episodes, self.masks, self.observations)
        return stepping.Finals(*[np.zeros(array.shape, array.dtype) for array in like])

    def _share_out(self, call: Callable[..., int | None], *arrays: NDArray[Any]) -> int:
        """Call a function in each thread, for its share of the games.

        Games do not depend on each other, so the results do not depend on the number of threads.

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
        # The calling thread works on the first share; it would only wait otherwise. The compiled
        # functions release the GIL.
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
        """Everything that a copy needs to continue like the original.

        Threads, bundles of views and compiled rules are left out; the copy makes its own.
        """
        state = vars(self) | {"_pool": None, "rule": None}
        # Compiled rules are large and follow from the rules; bundles cannot be pickled at all.
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
        # In the order in which `stepping.first_refused` refuses, so the reason is the right one.
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
    """

    _compiled = stepping

    def __init__(self, settings: MoveSettings) -> None:
        super().__init__(settings)
        count, observation = len(self.games), settings.observation
        self._settings = stepping.CompiledSettings(
            **self._common_settings(),
            distinct=settings.mask == "distinct",
            observation=KINDS[observation],
            shares=(1 / largest_counts(self.rules, observation)).astype(np.float32),
        )
        self.observation_space = observation_space(self.rules, observation)
        self.action_space = gym.spaces.Discrete(len(all_moves(self.rules)))
        self._words, self.masks = new_masks(count, self.rules)  # the same memory
        self._shown = np.zeros(count, SHOWN)
        shape = (count, *self.observation_space.shape)
        self._counts = np.zeros(shape, np.uint8)
        self.observations = np.zeros(shape, np.float32)
        self._share_buffers()

    def __getstate__(self) -> dict[str, Any]:
        """The state without the masks, which are views of the words."""
        state = super().__getstate__()
        del state["masks"]  # pickled apart from the words, it would be memory of its own
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

    def _observe_some(self, chosen: NDArray[np.bool_], out: NDArray[Any]) -> None:
        stepping.show_some(self._counts, self._settings.shares, out, chosen)

    def _deal_again(self, chosen: NDArray[np.bool_], out: NDArray[Any]) -> None:
        if self._drawn_from is None:  # one call takes less time than several
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
