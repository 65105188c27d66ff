"""Policies of any library as agents: they see and play the same as in their environment."""

import importlib
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pandas as pd
import pytest

from four_seasons_env.agents import make_agent, policy
from four_seasons_env.agents.learned.network_agent import NetworkAgent
from four_seasons_env.agents.names import split_name
from four_seasons_env.agents.policy_files import save_policy
from four_seasons_env.agents.registry import PLAYS, AnswerError
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.evaluation import evaluate
from four_seasons_env.experiments.compare import Compare, play_all
from four_seasons_env.experiments.comparison import read_manifest
from four_seasons_env.experiments.play import play_deals, play_game
from four_seasons_env.experiments.players import find_players
from four_seasons_env.experiments.workers import Workers
from four_seasons_env.rules import RULES
from tests.agents.policies import move_card, move_weights
from tests.helpers import ROOT, mostly_slow

CODE = '''
import random
import numpy as np
from four_seasons_env.agents import policy

def any_of(masks, numbers):
    return np.where(masks, numbers, -1).argmax(axis=1)

@policy("FourSeasons-v0", plays=("stochastic",), mask="distinct")
def drawn_by_torch(observations, masks, rng):
    import torch
    return any_of(masks, torch.rand(masks.shape).numpy())

@policy("FourSeasonsNextDeal-v0", plays="stochastic", candidates=8)
def drawn_by_rng(observations, masks, rng):
    assert observations["observation"].shape[:2] == masks.shape
    return any_of(masks, rng.random(masks.shape))

@policy("FourSeasonsNextDeal-v0", plays=("deterministic", "stochastic"), candidates=8)
def both(observations, masks, rng, deterministic):
    return masks.argmax(axis=1) if deterministic else any_of(masks, rng.random(masks.shape))

@policy("FourSeasons-v0", plays=("deterministic", "stochastic"), block=5)
def seeded(observations, masks, rng, deterministic, train_seed=0, width: float = 1):
    random_numbers = np.random.default_rng(train_seed) if deterministic else rng
    return any_of(masks, random_numbers.random(masks.shape) * width)

class Both:
    plays = ("deterministic", "stochastic")

    def __init__(self, deterministic):
        self.deterministic = deterministic

    def act(self, games, masks, rng):
        return masks.argmax(axis=1)

class Drawn:
    plays = "stochastic"

    def act(self, games, masks, rng):
        return any_of(masks, np.array([[random.random() for _ in row] for row in masks]))

def plain(observations, masks, rng):
    return masks.argmax(axis=1)

class First:
    def act(self, games, masks, rng):
        return self.first(games)

    def first(self, games):
        return {}["nobody"]

class Shuttle:
    """Moves a card back and forth as soon as it can, and ignores the mask."""

    def __init__(self, rules):
        from four_seasons_env.engine import kernel

        self.rules, self.rule = rules, kernel.compile_rules(rules)

    def act(self, games, masks, rng):
        from four_seasons_env.engine import kernel

        words, legal = kernel.new_masks(len(games), self.rules)
        kernel.legal_all(games, self.rule, False, words, np.zeros(len(games), bool))
        return legal.shape[1] - 1 - legal[:, ::-1].argmax(axis=1)

class Odd:
    plays = ("stochastc",)
'''


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module with players."""
    name = f"players_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(CODE)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def compared(out: Path, *names: str) -> pd.DataFrame:
    run = Compare(out, list(names), deals="10000-10004", workers=Workers(n_jobs=1))
    return play_all(run)


def by_sum(observations: Any, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """An action that depends on the observation alone."""
    seen = observations["observation"] if isinstance(observations, dict) else observations
    sums = np.array([int(np.rint(1000 * each.sum(dtype=np.float64))) for each in seen])
    numbers = (sums[:, None] * 7 + np.arange(masks.shape[1]) * 5) % 11
    return np.where(masks, numbers, -1).argmax(axis=1)


@pytest.mark.parametrize(
    ("env_id", "arguments"),
    [
        ("FourSeasons-v0", {"observation": "cards", "mask": "distinct"}),
        ("FourSeasons-v0", {"observation": "places"}),
        ("FourSeasons-v0", {}),
        ("FourSeasonsNextDeal-v0", {"candidates": 8, "expansions": 20}),
        ("FourSeasonsNextDeal-v0", {"endings": "policy", "observation": "tops"}),
    ],
)
def test_a_policy_plays_as_in_its_environment(env_id: str, arguments: dict[str, Any]) -> None:
    rules, deals = RULES["czarina"], range(10_000, 10_006)
    agent = policy(env_id, plays=("stochastic",), **arguments)(by_sum)(rules)  # type: ignore[operator]
    played = play_deals(agent, rules, deals)
    env = gym.make(env_id, rules=rules, **arguments)
    for deal, row in zip(deals, played.itertuples(), strict=True):
        observation, info = env.reset(options={"deal": deal})
        done = not info["action_mask"].any()
        while not done:
            seen = observation
            if not isinstance(seen, dict):
                seen = {"observation": seen}
            seen = {"observation": seen["observation"][None]}
            action = by_sum(seen, info["action_mask"][None], np.random.default_rng(0))[0]
            observation, _, terminated, truncated, info = env.step(int(action))
            done = terminated or truncated
        assert info["won"] == row.won
        if env.unwrapped.game.is_over:  # else the heuristic plays on where the environment ends
            assert env.unwrapped.game.moves_played == row.moves
            assert info["cards_up"] == row.cards_up


@pytest.mark.parametrize(
    "player", mostly_slow(["drawn_by_torch", "drawn_by_rng", "Drawn"], ("drawn_by_rng",))
)
def test_the_same_command_gives_the_same_games(module: str, player: str, tmp_path: Path) -> None:
    first, second = (compared(tmp_path / each, f"mine={module}:{player}") for each in "ab")
    pd.testing.assert_frame_equal(first.drop(columns="seconds"), second.drop(columns="seconds"))
    assert set(first["play"]) == {"stochastic"}
    assert first["cards_up"].nunique() > 1


def test_a_policy_may_play_both_ways(module: str, tmp_path: Path) -> None:
    results = compared(tmp_path / "out", f"mine={module}:both").set_index("play")
    assert set(results.index) == {"deterministic", "stochastic"}
    ways = [results.loc[play, "moves"].tolist() for play in ("deterministic", "stochastic")]
    assert ways[0] != ways[1]
    (mine, _) = find_players([split_name(f"{module}:both")], "four-seasons")
    assert (mine.kind, mine.observation) == ("learned + search", "features of candidates")


def test_evaluate_and_compare_play_the_same_games(tmp_path: Path) -> None:
    """A network on moves, with the mask of its environment, by each of the two ways."""
    folder = tmp_path / "policy"
    save_policy(folder, move_card(RULES["four-seasons"]), move_weights())
    network = NetworkAgent(
        RULES["four-seasons"], move_card(RULES["four-seasons"]), move_weights(), deterministic=True
    )
    envs = gym.make_vec("FourSeasons-v0", num_envs=60, observation="places", mask="no_repeats")

    def act(observations: Any, masks: Any) -> Any:
        return network.act(envs.unwrapped.games, masks, np.random.default_rng(0))

    result = evaluate(envs, act, deal=TRAIN_FROM)
    run = Compare(tmp_path / "x", [f"maskable_ppo:{folder}"], play=["deterministic"])
    run.deals = f"{TRAIN_FROM}-{TRAIN_FROM + 59}"
    played = play_all(run)
    assert (result.won, result.cards_up) == (played["won"].mean(), played["cards_up"].mean())
    (player,) = read_manifest(run.out).players["four-seasons"]
    assert (player.mask, player.observation) == ("no_repeats", "places")


def test_both_plays_outside_a_comparison(module: str) -> None:
    for name in (f"{module}:both", f"{module}:seeded"):
        rules, agents = RULES["czarina"], (make_agent(name), make_agent(name, deterministic=False))
        ways = [play_deals(each, rules, [10_000])["moves"].item() for each in agents]
        assert ways[0] != ways[1]
        games = [play_game(name, rules, 10_000, play) for play in PLAYS]
        assert games[0].moves != games[1].moves
    assert make_agent(f"{module}:Both").deterministic
    assert not make_agent(f"{module}:Both", deterministic=False).deterministic


def test_options_of_a_policy(module: str) -> None:
    names = [f"own={module}:seeded@train_seed={seed}" for seed in (3, 5)]
    players = find_players(map(split_name, names), "czarina", ["deterministic"])
    assert [(each.agent, each.train_seed, each.block) for each in players] == [
        ("own", 3, 5),
        ("own", 5, 5),
    ]
    games = [play_game(name, "czarina", 10_000) for name in (*names, names[0])]
    assert games[0] == games[2] != games[1]
    assert find_players([split_name(f"{module}:both")], "czarina")[0].block == 100


def test_a_policy_is_pickled_as_a_function_is(module: str) -> None:
    mine = importlib.import_module(module).seeded
    assert pickle.loads(pickle.dumps(mine)) is mine
    renamed = policy("FourSeasons-v0", plays="stochastic", mask="distinct")(by_sum)
    for agent in (mine(RULES["czarina"], train_seed=3), renamed(RULES["czarina"])):  # type: ignore[operator]
        twins = agent, pickle.loads(pickle.dumps(agent))
        one, other = (play_deals(each, RULES["czarina"], [7]) for each in twins)
        assert one["moves"].tolist() == other["moves"].tolist()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: policy("FourSeasonsNextDeal-v1", plays=()), "did you mean 'FourSeasonsNextDeal"),
        (lambda: _agent(lambda *_: [[1]]), r"must return integers of shape \(1,\), not int64 of"),
        (lambda: _agent(lambda *_: ([0], None)), r"\(1,\), not a tuple of unequal parts"),
        (lambda: _agent(lambda *_: [99], "FourSeasonsNextDeal-v0"), "action 99 is not offered"),
        (lambda: play_deals(Floats(), RULES["czarina"], [7]), "Floats must .*, not float64"),
        (lambda: policy("FourSeasons-v0", plays=(), observtion=""), "did you mean 'observation'"),
        (lambda: policy("FourSeasons-v0", plays=(), block=0), "block must be a positive integer"),
        (
            lambda: policy("FourSeasons-v0", plays=PLAYS)(by_sum),
            r"must decorate a function f\(observations, masks, rng, deterministic\), not",
        ),
        (lambda: _agent(5), r"must decorate a function f\(observations, masks, rng\), not 5"),
    ],
)
def test_a_policy_that_cannot_play_is_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError, AnswerError), match=message):
        make()


def _agent(function: Any, env: str = "FourSeasons-v0") -> Any:
    rules = RULES["four-seasons"]
    agent = policy(env, plays=("stochastic",))(function)(rules)
    return play_deals(agent, rules, [10_000])


class Floats:
    mask = "legal"

    def act(self, games: Any, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return masks.argmax(axis=1).astype(float)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("plain", "is a function of observations: say for which environment, with @policy"),
        ("Odd", "plays 'stochastc': did you mean 'stochastic'"),
        ("both@candidates=3", "has no option 'candidates': it takes none"),
        ("both@deterministic=False", "has no option 'deterministic': choose how .* with --play"),
        ("seeded@train_sed=3", "no option 'train_sed': did you mean 'train_seed'"),
        ("seeded@width=x", "width of agent .* must be a number, 0 or more, not 'x' .default 1"),
    ],
)
def test_a_player_is_refused_by_name(module: str, name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_agent(f"{module}:{name}")


def test_an_agent_of_main_is_refused() -> None:
    with pytest.raises(ValueError, match=r"save it in my_module\.py and write my_module:mine"):
        make_agent("__main__:mine")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "line", "own"),
    [
        ("First", "blocks failed", "in first\n    return {}["),
        ("Shuttle", "must choose by the masks: ", ""),
    ],
)
def test_traceback_of_a_player_is_shown(
    module: str, name: str, line: str, own: str, tmp_path: Path
) -> None:
    code = f"import sys; sys.path[0] = {str(ROOT)!r}; from four_seasons_env.__main__ import main"
    command = [sys.executable, "-c", f"{code}; main()"]
    flags = ["--deals", "10000-11001", "--n-jobs", "2", "--out", "out"]
    done = subprocess.run(
        [*command, "compare", "--agents", f"mine={module}:{name}", *flags],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    error, _, rest = done.stderr.partition("\n")
    assert error.startswith("error: ")
    assert line in error
    if not own:
        assert not rest
    else:
        assert rest.count(own) == 1
        assert rest.startswith("Traceback (most recent call last):\n")
        assert "joblib" not in rest
        assert "four_seasons_env/" not in rest.partition("KeyError")[0]
