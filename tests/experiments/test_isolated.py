"""Agents in a process of their own play the same games, and cannot read this one's memory."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.compare import Compare, play_all
from four_seasons_env.experiments.evaluation.isolated import (
    IsolatedAgent,
    IsolatedPlayer,
    find_isolated,
)
from four_seasons_env.experiments.parallel.workers import Workers
from four_seasons_env.rules import RULES

pytestmark = pytest.mark.slow

SECRET = {"deals": "unknown"}
RULE_SET = RULES["four-seasons"]
PLACE = "tests.experiments.test_isolated"


class Base:
    mask = "legal"

    def act(self, games: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return masks.argmax(axis=1)


class Spy(Base):
    """Tells what it finds in this module's memory."""

    def act(self, games: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        assert set(games["deal"]) == {-1}
        raise ValueError(SECRET["deals"])


class Crasher(Base):
    def act(self, games: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        os._exit(7)


def isolated(name: str) -> IsolatedAgent:
    player = IsolatedPlayer(name, f"{PLACE}:{name}", "deterministic", None, "-", "")
    return player.make(RULE_SET)


def test_the_process_knows_nothing_of_this_one(monkeypatch) -> None:
    monkeypatch.setitem(SECRET, "deals", "0-9999")
    masks = np.ones((2, 3), np.int8)
    games = np.zeros(2, [("deal", np.int64)])
    games["deal"] = -1
    agent = isolated("Spy")
    with pytest.raises(RuntimeError, match=r"Spy, isolated: ValueError: unknown"):
        agent.act(games, masks, np.random.default_rng(0))


def test_a_process_that_ends_is_an_error() -> None:
    agent = isolated("Crasher")
    with pytest.raises(RuntimeError, match=r"Crasher has ended \(exit status 7\)"):
        agent.act(np.zeros(1), np.ones((1, 3)), np.random.default_rng(0))


def test_an_agent_that_cannot_be_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="did you mean 'heuristic'"):
        find_isolated(["heuristik"], "four-seasons", ["deterministic"])


def test_the_results_are_the_same_bit_for_bit(tmp_path: Path) -> None:
    """Of agents that draw random numbers too: the harness's go on where the agent's ended."""
    deals = f"{TRAIN_FROM}-{TRAIN_FROM + 19}"
    results = []
    for isolate in (False, True):
        run = Compare(
            tmp_path / str(isolate),
            ["random", "heuristic", f"mine={PLACE}:Base"],
            deals=deals,
            isolate=isolate,
            workers=Workers(n_jobs=1),
        )
        results.append(play_all(run).drop(columns="seconds"))
    pd.testing.assert_frame_equal(*results)
    assert len(results[0]) == 60
