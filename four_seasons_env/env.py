"""`FourSeasonsEnv`: the game as a Gymnasium environment.

An environment is a thin layer over a batch of running games (`episodes.running`), which the vector
environments share. This file turns arguments, seeds and options into what the batch takes. It
turns what the batch leaves in its buffers into observations and infos.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import operator
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from four_seasons_env.arguments import check_number, names_nearest
from four_seasons_env.engine.deals import check_seed
from four_seasons_env.episodes.options import read_options
from four_seasons_env.episodes.running import Batch, RunningGames
from four_seasons_env.episodes.settings import Deals, MoveSettings, Starts, arguments_in
from four_seasons_env.game import MAX_MOVES, Game
from four_seasons_env.rewards import RewardFunction
from four_seasons_env.rules import Rules

if TYPE_CHECKING:
    from gymnasium.envs.registration import EnvSpec


class GameView:
    """One game of a batch, between reset and step: its position, mask and picture.

    Before the first reset, there is nothing to show: `gymnasium.error.ResetNeeded`.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4}
    _batch: RunningGames
    _index = 0

    @property
    def rules(self) -> Rules:
        """The rule set."""
        return self._batch.rules

    @property
    def render_mode(self) -> str | None:
        """What `render` returns."""
        return self._batch.settings.render_mode

    @property
    def game(self) -> Game:
        """A copy of the position, to inspect and to try moves on."""
        self._batch.check_started()
        return Game.from_own_record(self._batch.games[self._index], self.rules)

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions as a bool array of shape (A,), which sb3-contrib calls."""
        self._batch.check_started()
        masks: NDArray[np.bool_] = self._batch.masks[self._index].view(np.bool_)
        return masks.copy()

    def set_deals(self, deals: Deals | None) -> None:
        """Draw the deals of later episodes from these; None for all training deals.

        One game of a batch replaces the deals of all its games.

        Raises:
            ValueError: for anything that the argument `deals` refuses.
        """
        self._batch.set_deals(deals)

    def set_starts(self, starts: Starts | None, share: float = 1.0, reshuffle: bool = True) -> None:
        """Begin later episodes in these positions; None for deals alone.

        Options of a reset that say what to play come first. One game of a batch replaces the starts
        of all its games.

        Args:
            starts: a list of `Game`s or a `Games`, of which each episode draws one by the seed. A
                position that is there twice is drawn twice as often.
            share: share of the episodes that begin there, 0 to 1; the others begin with deals.
            reshuffle: put the unseen cards of each episode in a new order, each as likely as a
                player must expect (`Game.reshuffled`). `info["deal"]` is -1 then. With False the
                stock stays as it is, so the episodes of a position can be learned by heart.

        Raises:
            ValueError: without a position, for one that is over, of other rules, or of a test deal
                without `allow_test_deals=True`; for a share out of range.
            TypeError: for anything that is not a list of games or a `Games`.
        """
        self._batch.set_starts(starts, share, reshuffle)

    def render(self) -> Any:
        """The position as text (`"ansi"`) or as a picture, uint8 of shape (height, width, 3)."""
        if self.render_mode is None:
            return None
        if self.render_mode == "ansi":
            return str(self.game)
        from four_seasons_env.rendering.picture import paint  # with pygame-ce

        return paint(self.game)


class LimitInSpec:
    """For environments over a batch: `spec.max_episode_steps` is the `max_moves` of the games.

    The limit is not registered. Otherwise Gymnasium would wrap each environment in a `TimeLimit` of
    that many steps, whatever `max_moves` is, and would truncate games that are won with their last
    move. `gym.make(..., max_episode_steps=...)` adds a `TimeLimit` to this limit.
    """

    _batch: RunningGames
    _spec: EnvSpec | None = None

    @property
    def spec(self) -> Any:
        """The spec that `gym.make` or `gym.make_vec` has made this environment from, if any."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        if spec is not None:
            spec = dataclasses.replace(spec, max_episode_steps=self._batch.max_moves)
            spec.kwargs = {key: _plain(value) for key, value in spec.kwargs.items()}
        self._spec = spec


def _plain(argument: Any) -> Any:
    """An argument of an environment as `EnvSpec.to_json` can write it; functions stay as they are.

    `to_json` itself writes a `Rules` as its fields.
    """
    if isinstance(argument, gym.vector.AutoresetMode):
        return argument.value
    if isinstance(argument, range):  # not expanded: it may name billions of deals
        return {"start": argument.start, "stop": argument.stop, "step": argument.step}
    return np.asarray(argument).tolist() if hasattr(argument, "__array__") else argument


Kind = TypeVar("Kind", bound=type)


def fixed_arguments(kind: Kind, but: Collection[str] = ()) -> Kind:
    """Decorate an environment's class: to set an argument of its constructor raises AttributeError.

    Setting it would have no effect, or half of one. You can read the settings of the games, and
    the properties of the class. (Where nothing can be read, Gymnasium's `set_wrapper_attr`
    sets the attribute of a wrapper instead.)

    Args:
        kind: the class.
        but: arguments that a base class of another package sets.
    """
    for name in inspect.signature(kind).parameters.keys() - set(but):
        found = getattr(kind, name, None)
        if not callable(found):
            read: Any = found.fget if isinstance(found, property) else None
            # `set_deals` and `set_starts` may have replaced those.
            if read is None and name not in ("deals", "starts"):
                read = operator.attrgetter(f"_batch.settings.{name}")
            setattr(kind, name, property(read, functools.partial(refuse_setting, name)))
    return kind


def refuse_setting(name: str, *_: Any) -> NoReturn:
    """Refuse to set an argument of an environment, or an attribute of the games of one.

    Raises:
        AttributeError: always.
    """
    raise AttributeError(
        f"cannot set {name!r}: an environment keeps its arguments, except for deals and starts, "
        "which set_deals and set_starts replace; pass the argument to a new environment"
    )


class GameEnv(GameView, LimitInSpec, gym.Env[Any, Any]):  # type: ignore[override]
    """The part that the single environments share, whatever an action is."""

    def __init__(self, batch: RunningGames) -> None:
        self._batch = batch
        self.observation_space, self.action_space = batch.spaces()
        self._actions = np.zeros(1, np.int64)

    def _observation(self) -> Any:
        """The observation to return; the array is new at each step."""
        return self._observations[0]

    def _new_observations(self) -> NDArray[Any]:
        self._observations = np.empty_like(self._batch.observations)
        return self._observations

    def _info(self) -> dict[str, Any]:
        batch = self._batch
        episode = batch.episodes[0]
        info = {
            "action_mask": batch.masks[0].copy(),
            "cards_up": int(episode["cards_up"]),
            "won": bool(episode["won"]),
            "illegal": bool(episode["illegal"]),
        }
        if batch.settings.reveal_deal:
            info["deal"] = int(episode["deal"])
        return info

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode.

        Args:
            seed: start the sequence of training deals of this seed.
            options: `{"deal": number}` or `{"deck": text}` to play a certain deal, or
                `{"game": game}` to continue from the position of a `Game`. `max_moves` counts the
                moves of the episode, without those that the game has played before.

        Raises:
            ValueError: for an unknown option, a bad deal number, an invalid deck, or a game that is
                over or of other rules.
            TypeError: if the options are not a dictionary, or the game is not a `Game`.
        """
        # 1. Check everything before anything changes: a refused call leaves the episode as it is.
        batch = self._batch
        positions = read_options(options, self.rules)
        if seed is not None:
            seed = check_seed(seed)
        # 2. A seed starts a stream of training deals. The first reset needs one in any case.
        super().reset(seed=seed)
        if seed is not None:
            batch.seed(np.array([seed], np.uint64))
        elif not batch.seeded:
            batch.seed(self.np_random.integers(0, 2**63, 1, np.uint64))
        # 3. Start at the position of the options, or with the next deal of the stream.
        batch.reset(self._new_observations(), positions)
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take an action.

        Raises:
            gymnasium.error.ResetNeeded: before the first reset and after an episode's end.
            ValueError: for an action out of range.
            TypeError: for an action that is not an integer, such as "deal", True or an array of
                shape (1,).
            IllegalMove: for an illegal action where `illegal="raise"`.
        """
        batch = self._batch
        if not batch.started or batch.done[0]:
            raise gym.error.ResetNeeded("no episode is running: call reset() first")
        self._actions[0] = check_number("action", action, batch.masks.shape[1])
        # One compiled call (`episodes/stepping.py`) plays the move (`engine/kernel.py`), pays the
        # reward (`rewards.py`), marks the legal actions, and writes the observation.
        batch.step(self._actions, self._new_observations())
        info = self._info()
        if batch.done[0]:
            info["is_success"] = info["won"]  # Stable-Baselines3 averages it
        ends = bool(batch.terminated[0]), bool(batch.truncated[0])
        return self._observation(), float(batch.rewards[0]), *ends, info


@fixed_arguments
class FourSeasonsEnv(GameEnv):
    """The patience Four Seasons, and its family, for a player who sees only the cards on the table.

    ## Description
    A cross of five piles (north, west, centre, east, south) is drawn between four corners for the
    foundations. The sixth card's rank is the base from which all four foundations are built up in
    suit, going round from King to Ace. Piles are built down regardless of suit, one card at a time;
    a space takes any available card. The stock is dealt one by one to a single waste pile, once.
    The game is won when all cards are on the foundations. Other rule sets of the family (`rules`)
    change the tableau, packing, spaces or redeals (`four_seasons_env.rules`).

    ## Action Space
    `Discrete(A)`, A = 32 for five piles: `0` deal, `1` waste to foundation, then piles to
    foundation, waste to piles, piles to piles; the table is in `four_seasons_env.engine.moves`.
    `info["action_mask"]` and `action_masks()` mark those that the environment accepts: the legal
    ones, or fewer by the argument `mask`.

    Most moves can be undone. With `mask="no_repeats"`, no move leads back to a position that was
    seen since the last move that cannot be undone (a card from the stock or the waste, a card put
    on a foundation unless the rules let it come back). Positions are equal if they differ only in
    the order of their piles. So this mask depends on the episode's history, from its start or the
    position that it was reset to. It loses no win, because a shortest way to a win repeats nothing.

    ## Observation Space
    `Box(0, 1, (L,), float32)`. `"tops"` holds the top cards of piles and
    waste, foundation levels, pile heights, base and stock; `"cards"` holds everything that a player
    with perfect memory knows (Markov). `"places"` holds the same in a fraction of the memory:
    `Box(0, high, (2 N + 3,), uint8)`, where each of the N cards is and how many lie on it.
    `four_seasons_env.observations` documents each slot.

    ## Starting State
    A shuffled deck laid out by the rules. `reset(seed=...)` starts a sequence of training deals,
    `reset(options={"deal": 17})` lays out the deal of that number, and
    `reset(options={"deck": "QH 3D ... 5D"})` a deck given as text, first dealt first.
    `reset(options={"game": game})` starts from the position of a `Game`, such as one that
    `env.unwrapped.game` returned before, or of `Record.positions` (`four_seasons_env.records`).
    The argument `starts` does so in every episode.

    ## Rewards
    `"foundation"` (default): cards put up in this step / cards in the deck, plus 1 on winning.
    `"win"`: 1 on winning, else 0. A callable: see `four_seasons_env.rewards`. An illegal action
    costs 0.01 (`rewards.ILLEGAL_PENALTY`) and earns nothing else.

    ## Episode End
    Terminated when the game is won or lost. It is lost when all moves that are left only rename
    spaces (they move a pile's single card to an empty pile). With `mask="no_repeats"` it is also
    lost when every move leads back to a position that the player has already left, so that nothing
    new can be reached. `cards_up` is final in both cases.
    Truncated after `max_moves` actions, because cards can be moved back and forth without end
    between equal piles.

    ## Information
    From `reset` and `step`: `action_mask` (int8 of shape (A,), never all zero before the game
    ends), `deal` (int, -1 for a custom deck or a reshuffled stock), `cards_up` (int), `won` (bool),
    `illegal` (bool: the action was illegal, and the position stayed as it was). At an episode's end
    also `is_success`, the same as `won`, which Stable-Baselines3 averages as `success_rate`. `deal`
    is for the experimenter: a deal's number determines the order of all cards, so a policy must not
    see it. `reveal_deal=False` leaves it out.

    ## Advice for Training
    Use `mask="no_repeats"`: a learner that may move back wanders in circles, and mostly learns from
    them. Use `observation="places"` with `four_seasons_env.agents.network.places.MoveNetwork`, or
    `"cards"` with a multilayer perceptron. Use `gamma` below 1 and `max_moves=300`: an algorithm
    adds the value of the last position to the return of a truncated episode, so with `gamma=1` an
    agent can learn to play on until then. In `FourSeasonsNextDealEnv` an action is a position, and
    episodes of four-seasons have at most 45 actions with `endings="search"`.

    ## References
    Albert H. Morehead and Geoffrey Mott-Smith, *The Complete Book of Solitaire and Patience Games*
    (odds 1 in 10); William B. Dick, *Games of Patience* (1883).

    ## Version History
    - v0: first version.

    Examples:
        >>> env = FourSeasonsEnv(mask="no_repeats")
        >>> observation, info = env.reset(seed=7)
        >>> observation.shape, int(info["action_mask"].sum())
        ((179,), 5)
        >>> observation, reward, terminated, truncated, info = env.step(0)  # deal
        >>> env.game.waste
        ['2S']

    See Also:
        `FourSeasonsVectorEnv`: many of these games in one compiled call.
        `FourSeasonsNextDealEnv`: an action is the position in which the next card is turned.
        `Game`: the position alone, to read and to search.
    """

    @names_nearest
    def __init__(
        self,
        rules: str | Rules = "four-seasons",
        observation: str = "tops",
        *,
        mask: str = "legal",
        reward: str | RewardFunction = "foundation",
        illegal: str = "stay",
        render_mode: str | None = None,
        max_moves: int = MAX_MOVES,
        reveal_deal: bool = True,
        deals: Deals | None = None,
        starts: Starts | None = None,
        allow_test_deals: bool = False,
    ) -> None:
        """Make the environment.

        Args:
            rules: a rule set's name or a `Rules`.
            observation: `"tops"`, `"cards"` or `"places"` (`four_seasons_env.observations`).
            mask: `"legal"`: every legal move. `"distinct"`: without moves that only rename spaces.
                `"no_repeats"`: also without moves back to a position that was seen since the last
                move that cannot be undone; see Action Space. A move that the mask leaves out counts
                as illegal.
            reward: `"foundation"`, `"win"` or a callable (`four_seasons_env.rewards`).
            illegal: `"stay"` (an illegal action leaves the position as it is and costs 0.01) or
                `"raise"` (an `IllegalMove`, nothing changed).
            render_mode: `None`, `"ansi"` (`render` returns text) or `"rgb_array"` (a picture, which
                needs the extra `render`). `gym.make` also accepts `"human"`: Gymnasium then shows
                the pictures in a window.
            max_moves: moves until an episode is truncated. The default leaves room
                (`game.MAX_MOVES`). `spec.max_episode_steps` has the same value; Gymnasium's own
                `max_episode_steps` can only shorten it.
            reveal_deal: whether infos have `deal`.
            deals: numbers of deals to draw from for each episode, by the seed: a range, a list or a
                one-dimensional array-like, such as a pandas Series; None for all training deals.
                Repeat a number to draw it more often; `set_deals` replaces them between episodes.
                You cannot pass test deals without `allow_test_deals=True`.
            starts: positions of your own, a list of `Game`s or a `Games`; None for deals. Each
                episode begins in one of them, drawn by the seed, with its unseen cards in a new
                order, and `info["deal"]` is -1. `set_starts` replaces them between episodes, mixes
                them with deals, and can keep the order of the stock.
            allow_test_deals: whether `deals` and `starts` may hold test deals.

        Raises:
            ValueError: for an argument that is out of range, with the nearest valid one.
            TypeError: for an unknown argument, with the nearest one.
        """
        settings = MoveSettings(autoreset_mode="Disabled", **arguments_in(locals()))
        super().__init__(Batch(settings))
