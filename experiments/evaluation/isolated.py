"""Agents in a process of their own, for `four-seasons compare --isolate`.

The process is started anew, not forked, so it holds nothing of this one. It gets games in which
what is unseen is hidden, as every agent does, and answers with text: nothing that it sends is run.
"""

from __future__ import annotations

import json
import multiprocessing
import signal
import weakref
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.schemas import fitting
from four_seasons_env.experiments.command_line import one_line
from four_seasons_env.experiments.evaluation.players import Player, find_players
from four_seasons_env.rules import Rules


class Isolated:
    """A process that answers calls, one after the other, until it is closed."""

    def __init__(self, name: str, serve: Callable[..., None], *arguments: Any) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._name = name
        self._pipe, theirs = spawn.Pipe()
        self._process = spawn.Process(target=serve, args=(theirs, *arguments), daemon=True)
        self._process.start()
        theirs.close()
        self._end = weakref.finalize(self, _end, self._pipe, self._process)

    def send(self, value: Any) -> None:
        """Send a value to the process.

        Raises:
            RuntimeError: if it has ended.
        """
        try:
            self._pipe.send(value)
        except OSError:
            raise self._ended() from None

    def answer(self, schema: type[Any]) -> Any:
        """The next answer.

        Raises:
            RuntimeError: if the process reports an error, has ended, or answers something else.
        """
        try:
            told = json.loads(self._pipe.recv_bytes())
            if isinstance(told, dict) and "error" in told:
                raise RuntimeError(f"{self._name}, isolated: {told['error']}")
            return fitting(told, schema)
        except (EOFError, OSError):
            raise self._ended() from None
        except (ValueError, RecursionError) as error:
            raise RuntimeError(f"{self._name}, isolated, answers nonsense: {error}") from None

    def _ended(self) -> RuntimeError:
        self._process.join(5)
        status = self._process.exitcode
        return RuntimeError(f"the process of {self._name} has ended (exit status {status})")

    def close(self) -> None:
        """End the process."""
        self._end()


def _end(pipe: Connection, process: Any) -> None:
    pipe.close()
    process.kill()
    process.join()


class IsolatedAgent(Isolated):
    """An agent that runs in a process of its own, which ends with this object."""

    def __init__(self, player: Player, rules: Rules) -> None:
        super().__init__(player.name, _play, player, rules)
        self.mask: str = self.answer(str)

    def act(
        self, games: NDArray[Any], masks: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """The agent's moves; rng goes on from where the agent has left it."""
        self.send((games, masks, rng))
        moves, rng.bit_generator.state = self.answer(tuple[list[int], dict[str, Any]])
        return np.array(moves, np.int64)


@dataclass(frozen=True)
class IsolatedPlayer(Player):
    """A player whose agent runs in a process of its own."""

    def make(self, rules: Rules) -> IsolatedAgent:
        """The agent, in its process."""
        return IsolatedAgent(self, rules)


def find_isolated(
    names: Sequence[str], rules: str | Rules, plays: Sequence[str], trust: bool = False
) -> list[Player]:
    """`find_players` in a process of its own: their code is not even loaded in this one.

    Raises:
        RuntimeError: with the reason, where `find_players` has an error.
    """
    process = Isolated("the search for agents", _find, list(names), rules, list(plays), trust)
    try:
        players: list[Player] = process.answer(list[IsolatedPlayer])
    finally:
        process.close()
    return players


def _answers(pipe: Connection, function: Callable[[], Any]) -> None:
    """Send what a function returns, or its error, as JSON."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the command
    try:
        answer = function()
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {one_line(error)}"}
    pipe.send_bytes(json.dumps(answer).encode())


def _find(
    pipe: Connection, names: list[str], rules: str | Rules, plays: list[str], trust: bool
) -> None:
    _answers(pipe, lambda: [asdict(each) for each in find_players(names, rules, plays, trust)])


def _play(pipe: Connection, player: Player, rules: Rules) -> None:
    agents: list[Any] = []

    def make() -> str:
        agents.append(Player.make(player, rules))
        return str(agents[0].mask)

    def act() -> Any:
        games, masks, rng = pipe.recv()
        moves = np.asarray(agents[0].act(games, masks, rng), np.int64)
        return moves.tolist(), rng.bit_generator.state

    _answers(pipe, make)
    while agents:
        try:
            _answers(pipe, act)
        except (EOFError, OSError):
            return
