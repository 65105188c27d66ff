"""Policies of any library as agents: they see and play the same as in their environment."""

import pickle
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pandas as pd
import pytest

from four_seasons_env.agents import Agent, make_agent, policy
from four_seasons_env.agents.agent import PLAYS
from four_seasons_env.agents.learned.network_agent import NetworkAgent
from four_seasons_env.agents.policy_files import save_policy
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.evaluation import evaluate
from four_seasons_env.experiments.compare import Compare, compare
from four_seasons_env.experiments.comparison import read_manifest
from four_seasons_env.experiments.play import play_deals, play_game
from four_seasons_env.experiments.players import find_players
from four_seasons_env.experiments.workers import Workers
from four_seasons_env.rules import RULES
from tests.agents.fakes import HERE, move_card, move_weights, seeded
from tests.helpers import mostly_slow, run_python


def compared(out: Path, *names: str) -> pd.DataFrame:
    run = Compare(out, list(names), deals="10000-10004", workers=Workers(n_jobs=1))
    return compare(run)


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
            seen = observation["observation"] if isinstance(observation, dict) else observation
            action = by_sum(seen[None], info["action_mask"][None], np.random.default_rng(0))[0]
            observation, _, terminated, truncated, info = env.step(int(action))
            done = terminated or truncated
        assert info["won"] == row.won
        if env.unwrapped.game.is_over:  # else the heuristic plays on where the environment ends
            assert env.unwrapped.game.moves_played == row.moves
            assert info["cards_up"] == row.cards_up


@pytest.mark.parametrize(
    "player", mostly_slow(["drawn_by_torch", "drawn_by_rng", "Drawn"], ("drawn_by_rng",))
)
def test_the_same_command_gives_the_same_games(player: str, tmp_path: Path) -> None:
    first, second = (compared(tmp_path / each, f"mine={HERE}:{player}") for each in "ab")
    pd.testing.assert_frame_equal(first.drop(columns="seconds"), second.drop(columns="seconds"))
    assert set(first["play"]) == {"stochastic"}
    assert first["cards_up"].nunique() > 1


@pytest.mark.parametrize("player", ["both", "seeded"])
def test_a_policy_may_play_both_ways(player: str, tmp_path: Path) -> None:
    """In a comparison, as an agent, and in a single game."""
    name, rules = f"{HERE}:{player}", RULES["czarina"]
    results = compared(tmp_path / "out", f"mine={name}").set_index("play")
    by_play = [results.loc[play, "moves"].tolist() for play in PLAYS]
    agents = make_agent(name, rules), make_agent(name, rules, deterministic=False)
    by_agent = [play_deals(each, rules, [10_000])["moves"].item() for each in agents]
    by_game = [play_game(name, rules, 10_000, play).moves for play in PLAYS]
    for first, second in (by_play, by_agent, by_game):
        assert first != second
    assert make_agent(f"{HERE}:Both").deterministic
    assert not make_agent(f"{HERE}:Both", deterministic=False).deterministic


def test_evaluate_and_compare_play_the_same_games(tmp_path: Path) -> None:
    """A network on moves, with the mask of its environment, by each of the two ways."""
    folder = tmp_path / "policy"
    rules = RULES["four-seasons"]
    save_policy(folder, move_card(rules, seed=3), move_weights())
    network = NetworkAgent(rules, move_card(rules), move_weights(), deterministic=True)
    envs = gym.make_vec("FourSeasons-v0", num_envs=60, observation="places", mask="no_repeats")

    def act(observations: Any, masks: Any) -> Any:
        return network.act(envs.unwrapped.games, masks, np.random.default_rng(0))

    result = evaluate(envs, act, deal=TRAIN_FROM)
    run = Compare(tmp_path / "x", [f"maskable_ppo:{folder}"], play=["deterministic"])
    run.deals = f"{TRAIN_FROM}-{TRAIN_FROM + 59}"
    played = compare(run)
    assert (result.won, result.cards_up) == (played["won"].mean(), played["cards_up"].mean())
    (player,) = read_manifest(run.out).players["four-seasons"]
    assert (player.mask, player.observation, player.train_seed) == ("no_repeats", "places", 3)


def test_options_and_descriptions_of_players() -> None:
    names = [f"own={HERE}:seeded@train_seed={seed}" for seed in (3, 5)]
    players = find_players(names, "czarina", ["deterministic"])
    described = [(each.agent, each.train_seed, each.block) for each in players]
    assert described == [("own", 3, 5), ("own", 5, 5)]
    games = [play_game(name, "czarina", 10_000) for name in (*names, names[0])]
    assert games[0] == games[2] != games[1]
    first, last, both, _ = find_players(
        [f"{HERE}:{each}" for each in ("First", "Last", "both")], "czarina"
    )
    assert [each.kind for each in (first, last, both)] == ["-", "rule of thumb", "learned + search"]
    assert [each.block for each in (first, last, both)] == [10, 10, 100]
    assert both.observation == "features of candidates"


@pytest.mark.parametrize("env_id", ["FourSeasons-v0", "FourSeasonsNextDeal-v0"])
def test_an_option_train_seed_is_the_training_seed(env_id: str) -> None:
    def trained(observations: Any, masks: Any, rng: Any, train_seed: int) -> Any: ...

    assert (
        policy(env_id, plays=("stochastic",))(trained)(RULES["czarina"], train_seed=3).train_seed
        == 3
    )


def test_a_policy_is_a_class_of_agents() -> None:
    """Of the function's name, by which it is pickled."""
    assert issubclass(seeded, Agent) and seeded.__name__ == "seeded"
    assert pickle.loads(pickle.dumps(seeded)) is seeded
    agent = seeded(RULES["czarina"], train_seed=3)
    twins = agent, pickle.loads(pickle.dumps(agent))
    one, other = (play_deals(each, RULES["czarina"], [7]) for each in twins)
    assert one["moves"].tolist() == other["moves"].tolist()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "line", "own"),
    [("Failing", "block parts/", True), ("Shuttle", "must choose by the masks: ", False)],
)
def test_traceback_of_a_player_is_shown(name: str, line: str, own: bool, tmp_path: Path) -> None:
    """From a worker."""
    flags = ["--agents", f"mine={HERE}:{name}", "--deals", "10000-11001", "--n-jobs", "2"]
    command = ["-m", "four_seasons_env", "compare", *flags, "--out", "out"]
    error, _, rest = run_python(*command, cwd=tmp_path, status=2).partition("\n")
    assert error.startswith("error: ") and line in error
    assert rest.count("in first\n    return {}[") == own
    assert rest.startswith("Traceback (most recent call last):\n") == bool(rest) == own
    assert "joblib" not in rest
