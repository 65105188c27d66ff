"""`Agent`, the base class of all players, and checks of what they return."""

from __future__ import annotations

import abc
import inspect
import typing
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.arguments import as_int64, check_choice, check_positive

Positions = NDArray[Any]
"""A GAME array of shape (n,)."""
Masks = NDArray[np.int8]
"""int8 of shape (n, A), 1 where an action is allowed."""
Actions = NDArray[np.int64]
"""int64 of shape (n,), the numbers of moves; of candidates for a `policy` that chooses them."""
Rng = np.random.Generator

PLAYS = ("deterministic", "stochastic")
"""How agents can play."""


class Agent(abc.ABC):
    """A player of many games at once. Derive your agent from it; only `act` has no default.

    The attributes of the class describe it. They are checked when the class is written. An agent
    may set `mask`, `kind`, `observation`, `train_seed` and a part of `plays` for itself, where they
    depend on its options.

    The parameters of ``__init__`` are the options of the agent's name, as in
    "my_module:Mine@depth=2"; their annotations say how the text is converted. Four names are
    reserved: an agent gets `rules`, `deterministic`, `card` and `weights` if it has parameters of
    these names.

    Examples:
        >>> class First(Agent):
        ...     kind = "rule of thumb"
        ...     def act(self, games, masks, rng):
        ...         return masks.argmax(axis=1)
        >>> First().act(games, masks, rng)
        array([0, 0, 0, 0])
        >>> First.block, First.mask
        (10, 'legal')
        >>> class Wrong(First):
        ...     mask = "distnict"
        Traceback (most recent call last):
        ...
        ValueError: unknown mask of agent Wrong 'distnict': did you mean 'distinct'? known: ...

    Raises:
        TypeError: when the class is written, for an attribute of a wrong type, or an `act` that
            does not take three arguments.
        ValueError: when the class is written, for a wrong value, naming the nearest.
    """

    mask: str = "legal"
    """The mask that it plays with (`four_seasons_env.FourSeasonsEnv`): "legal", "distinct" or
    "no_repeats". In a comparison, deterministic players always get "no_repeats"."""
    plays: tuple[str, ...] = ("deterministic",)
    """How it can play. ("stochastic",) if it draws its moves at random. With both, the class is
    also called with `deterministic`, a bool, which a comparison chooses (`--play`)."""
    block: int = 10
    """Deals that a comparison plays in lockstep. Few for slow agents, up to 1,000 for fast ones. A
    block begins at a multiple of its size and is always played whole, also for one of its deals.
    Its games share the agent's random numbers, so an agent that draws some plays other games if
    the size changes."""
    kind: str = "-"
    """Its method, for tables: "chance", "rule of thumb", "search", "learned", or several."""
    observation: str = "all that is public"
    """What it observes, for tables."""
    train_seed: int | None = None
    """The seed that it was trained with. None: agents under one label of a comparison are numbered
    0, 1, ... in their order."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        check_agent(cls, cls.__name__)
        check_positive(f"block of agent {cls.__name__}", cls.block)
        if not takes_three(cls.act, bound=False):
            raise TypeError(f"act of agent {cls.__name__} must take games, masks and rng")

    @abc.abstractmethod
    def act(self, games: Positions, masks: Masks, rng: Rng) -> Actions:
        """Choose a legal move in each game.

        Anybody may call the agents of this package: they check games and masks that do not come
        from a comparison (`four_seasons_env.engine.validation.checked`), and raise `InvalidGame`,
        `ValueError` or `TypeError`. Your own agent need not check them: a comparison passes valid
        positions, and functions of this package that take positions check them again.

        Args:
            games: GAME array of shape (n,), a copy that the agent may change. The unseen part of
                the stock has been reshuffled, so its order says nothing about the real one.
            masks: int8 array of shape (n, A), 1 where a move is legal. For agents that choose
                among positions before the next card, see `SearchAgent` and `policy`.
            rng: the only source of random numbers.

        Returns:
            Move numbers, int64 of shape (n,).
        """

    @classmethod
    def parameters(cls) -> Mapping[str, inspect.Parameter]:
        """What it is made with, by name; annotations are types, or `inspect.Parameter.empty`."""
        return annotated(inspect.signature(cls), cls.__init__)


def annotated(signature: inspect.Signature, function: Any) -> dict[str, inspect.Parameter]:
    """The parameters of a signature, with the types that the function's annotations name."""
    hints: dict[str, Any] = {}
    with suppress(NameError, TypeError):  # a name for type checkers only; an object without hints
        hints = typing.get_type_hints(function)
    empty = inspect.Parameter.empty
    return {
        name: each.replace(annotation=hints.get(name, empty))
        for name, each in signature.parameters.items()
    }


# --- checks of an agent, and of what it returns --------------------------------------------------


class AnswerError(RuntimeError):
    """Actions that cannot be played: wrong in number, type or value."""


def check_agent(agent: Agent | type[Agent], name: str) -> None:
    """Check the attributes that describe an agent, or its class, for tables and for masks.

    Raises:
        TypeError: for `plays` that is no tuple, or a description that is not text.
        ValueError: for an unknown way of playing or mask, naming the nearest.
    """
    from four_seasons_env.engine.masks import MASKS  # compiled code, which takes time to load

    check_plays(agent.plays, name)
    check_choice(f"mask of agent {name}", agent.mask, MASKS)
    for attribute in ("kind", "observation"):
        text = getattr(agent, attribute)
        if not isinstance(text, str):
            raise TypeError(f"{attribute} of agent {name} must be a text, not {text!r}")


def check_plays(plays: Any, name: str) -> None:
    """Check how an agent says that it plays.

    Raises:
        TypeError: for what is no tuple.
        ValueError: for an unknown way, naming the nearest; for none, or one twice.
    """
    if not isinstance(plays, tuple):
        written = f'("{plays}",)' if plays in PLAYS else f"a tuple of {' and '.join(PLAYS)}"
        raise TypeError(f"plays of agent {name} must be {written}, not {plays!r}")
    for play in plays:
        check_choice(f"play of agent {name}", play, PLAYS)
    if not plays or len({*plays}) < len(plays):
        raise ValueError(f"plays of agent {name} must be one or both of {PLAYS}, not {plays}")


def as_actions(answer: Any, count: int, name: str) -> Actions:
    """The actions that an agent or policy returned, int64 of shape (count,).

    Args:
        answer: what it returned.
        count: how many games there are.
        name: of the agent or policy, for the message.

    Raises:
        AnswerError: unless they are one integer for each game.
    """
    try:
        actions = np.asarray(answer)
        found = "None" if answer is None else f"{actions.dtype} of shape {actions.shape}"
    except ValueError:  # such as the pair that SB3's `predict` returns
        actions = np.empty(0)
        found = f"a {type(answer).__name__} of unequal parts"
    if actions.shape != (count,) or actions.dtype.kind not in "iu":
        raise AnswerError(f"{name} must return integers of shape ({count},), not {found}")
    try:
        return as_int64(f"moves of {name}", actions)
    except ValueError as error:
        raise AnswerError(str(error)) from None


def takes_three(function: Any, bound: bool = True, **named: Any) -> bool:
    """Whether something can be called with three arguments, or more, and these named ones.

    Args:
        function: to call. Some that are not written in Python do not say what they take.
        bound: False for a method that also takes its object.
        **named: arguments by name.
    """
    try:
        inspect.signature(function).bind_partial(*range(3 if bound else 4), **named)
    except (TypeError, ValueError):
        return False
    return True


@contextmanager
def blamed(place: str) -> Iterator[None]:
    """Turn an error of an agent into one line.

    Raises:
        RuntimeError: whose cause is the error.
    """
    try:
        yield
    except Exception as error:
        raise RuntimeError(f"agent {place!r} failed: {type(error).__name__}: {error}") from error
