"""What every environment, wrapper and agent promises, said once for all of them.

- A mask marks exactly the actions that are accepted.
- A batch plays as single environments, ends included: final observation, mask and info.
- A copy goes on as its original, and the same seed gives the same games.
- Writing into answers changes nothing.
- The order of hidden cards changes nothing that a player sees or an agent does.

For single environments `check_masked_env` says so; `test_testing.py` shows that it finds faults.
"""

import copy
import gc
import pickle
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pandas as pd
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from hypothesis import assume, given
from hypothesis import strategies as st

from four_seasons_env import (
    FourSeasonsEnv,
    FourSeasonsNextDealEnv,
    FourSeasonsNextDealVectorEnv,
    FourSeasonsVectorEnv,
    Game,
)
from four_seasons_env.agents import make_agent
from four_seasons_env.agents.learned.network_agent import NetworkAgent
from four_seasons_env.agents.learned.next_deal_agent import NextDealAgent
from four_seasons_env.agents.planner.agent import PlannerAgent
from four_seasons_env.engine import kernel
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.play import play_deals
from four_seasons_env.next_deal.next_deal_env import OBSERVATIONS as OF_POSITIONS
from four_seasons_env.observations import OBSERVATIONS
from four_seasons_env.registration import ENVS, NEXT_DEAL, SMALL_ENVS, SMALL_NEXT_DEAL, TEXT
from four_seasons_env.rendering import draw_svg
from four_seasons_env.rules import RULES, Rules
from four_seasons_env.solver import fair_value
from four_seasons_env.testing import check_masked_env
from four_seasons_env.text import FourSeasonsTextEnv
from four_seasons_env.wrappers import MaskInObservation, VectorMaskInObservation
from tests.agents import fakes
from tests.helpers import (
    REPRESENTATIVES,
    ROOT,
    load,
    midgame,
    mostly_slow,
    observe,
    played_on,
    positions,
    random_steps,
    restocked,
    same,
    small,
    stock_codes,
)

FEW = {"candidates": 12, "expansions": 20, "ending_expansions": 60}
"""Limits of a quick search for positions."""

# --- single environments ------------------------------------------------------------------------

IDS = [*ENVS, NEXT_DEAL, *SMALL_ENVS, *SMALL_NEXT_DEAL]
FAST = {"FourSeasons-v0", "Corners-v0", NEXT_DEAL, *SMALL_ENVS, *SMALL_NEXT_DEAL}
CHOICES = [
    {"observation": "cards", "mask": "distinct", "render_mode": "ansi"},
    {"observation": "places", "rules": "pysolfc/florentine"},
    {"observation": "cards", "rules": small("pysolfc/corners"), "reward": "win", "max_moves": 20},
    {"mask": "no_repeats", "rules": "pysolfc/simplicity"},
    {"mask": "no_repeats", "rules": "four-seasons-1883"},
]


def name_of(settings: dict[str, Any]) -> str:
    values = [getattr(value, "__name__", value) for value in settings.values()]
    values = ["own starts" if value is STARTS else value for value in values]
    return ", ".join(str(getattr(value, "name", value)) for value in values)


def accepted_by_gymnasium(env_id: str, **kwargs: Any) -> None:
    """Run Gymnasium's own checks, in which warnings are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gym.make(env_id, disable_env_checker=True, **kwargs).unwrapped)


@pytest.mark.parametrize("env_id", mostly_slow(IDS, FAST))
def test_each_id_keeps_the_contract(env_id: str) -> None:
    accepted_by_gymnasium(env_id)
    check_masked_env(gym.make(env_id), steps=60)


@pytest.mark.parametrize("kwargs", CHOICES, ids=name_of)
def test_each_choice_keeps_the_contract(kwargs: dict[str, Any]) -> None:
    accepted_by_gymnasium("FourSeasons-v0", **kwargs)
    check_masked_env(gym.make("FourSeasons-v0", **kwargs), steps=60)


@pytest.mark.parametrize("unit", ["move", "position"])
def test_gymnasium_accepts_text(unit: str) -> None:
    accepted_by_gymnasium(TEXT, unit=unit)


def test_wrapped_and_foreign_environments_keep_the_contract() -> None:
    for env_id in ("FourSeasons-v0", NEXT_DEAL):
        check_masked_env(MaskInObservation(gym.make(env_id)), steps=40)
    taxi = max(name for name in gym.registry if name.startswith("Taxi-v"))
    check_masked_env(gym.make(taxi), steps=40)


# --- batches play as single environments --------------------------------------------------------


def waste_grown(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """A custom reward: cards that went to the waste."""
    grown: np.ndarray = after["height"][:, 12].astype(float) - before["height"][:, 12]
    return grown


GAMES = 5
SETTINGS: list[dict[str, Any]] = [
    {"rules": "four-seasons", "max_moves": 40, "deals": range(10_000, 10_003)},
    {"rules": small("four-seasons"), "observation": "cards", "mask": "distinct"},
    {"rules": small("four-seasons-1883", piles=1), "reward": "win"},
    {"rules": small("pysolfc/simplicity", piles=4), "mask": "no_repeats", "max_moves": 25},
    {"rules": small("czarina", ranks=4), "reward": waste_grown, "max_moves": 12},
    {"rules": small("pysolfc/florentine"), "observation": "places", "max_moves": 30},
    {"rules": "simplicity", "max_moves": 1},
    {"rules": small("four-seasons"), "candidates": 4, "expansions": 10, "max_moves": 30},
    {"rules": "czarina", "candidates": 4, "expansions": 10, "observation": "cards"},
    {"rules": small("four-seasons"), "wrap": {"keys": "rllib"}},
    {"candidates": 4, "expansions": 10, "wrap": {"keys": "tianshou", "flatten": True}},
]
STARTS = list(played_on(RULES["four-seasons"], 3, 60, 50))
"""Positions in which episodes begin."""
SETTINGS += [
    {"starts": STARTS, "mask": "no_repeats", "max_moves": 12},
    {"starts": STARTS, "candidates": 4, "expansions": 10, "max_moves": 12},
]
KEYS = ("deal", "cards_up", "won", "illegal")


def both(settings: dict[str, Any], mode: AutoresetMode, **how: Any) -> tuple[Any, Any]:
    """A native batch, and Gymnasium's over single environments with the same arguments."""
    arguments = {key: value for key, value in settings.items() if key != "wrap"}
    native: Any = FourSeasonsVectorEnv
    single: Any = FourSeasonsEnv
    if "candidates" in settings:
        native, single = FourSeasonsNextDealVectorEnv, FourSeasonsNextDealEnv

    def one() -> Any:
        env = single(**arguments)
        wrapped = MaskInObservation(env, **settings["wrap"]) if "wrap" in settings else env
        return gym.wrappers.RecordEpisodeStatistics(wrapped)

    many = native(GAMES, **arguments, **how, autoreset_mode=mode)
    if "wrap" in settings:
        many = VectorMaskInObservation(many, **settings["wrap"])
    return many, gym.vector.SyncVectorEnv([one] * GAMES, autoreset_mode=mode)


def some_actions(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Mostly legal actions, and more often one of the first: moves up are among them."""
    scores = rng.random(masks.shape) - 0.8 * (masks == 0)
    scores[:, 1:6] += 0.3
    return scores.argmax(axis=1)


def row(value: Any, index: int) -> Any:
    """One game's row of observations or infos."""
    if isinstance(value, dict):
        return {key: row(each, index) for key, each in value.items()}
    return value[index]


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("how", [{}, {"copy": False, "num_threads": 3}], ids=["", "threads"])
@pytest.mark.parametrize("settings", SETTINGS, ids=name_of)
def test_a_batch_plays_as_single_environments(
    settings: dict[str, Any], how: dict[str, Any], mode: AutoresetMode
) -> None:
    """Bit for bit as Gymnasium's vector environment over single ones, in each mode."""
    native, sync = both(settings, mode, **how)
    assert native.unwrapped.autoreset_mode is native.metadata["autoreset_mode"] is mode
    assert native.observation_space == sync.observation_space
    assert native.action_space == sync.action_space
    one, two = native.reset(seed=3), sync.reset(seed=3)
    rng, ended = np.random.default_rng(0), 0
    done = np.zeros(GAMES, np.bool_)
    for _ in range(120):
        assert same(one[0], two[0])
        for key in ("action_mask", *KEYS):
            assert (one[-1][key] == np.stack(list(two[-1][key]))).all()
            assert one[-1][f"_{key}"].all()
        if mode is AutoresetMode.SAME_STEP and "moves" in one[-1]:
            for i in np.flatnonzero(~done):  # Gymnasium's has none after a reset
                ours = one[-1]["moves"][i]
                assert ours[ours >= 0].tolist() == list(two[-1]["moves"][i])
        masks = one[-1]["action_mask"].copy()
        assert same(native.unwrapped.action_masks(), masks.view(np.bool_))
        actions = some_actions(masks, rng)
        two = sync.step(actions)
        if mode is AutoresetMode.NEXT_STEP:
            actions[done] = -1  # these games are dealt again, whatever their actions
        one = native.step(actions)
        for i in range(1, 4):
            assert (one[i] == two[i]).all()
        done = one[2] | one[3]
        ended += done.sum()
        if mode is AutoresetMode.SAME_STEP:
            check_finals(one[4], two[4], done)
            if not how and done.any():  # without copies, these rows mean nothing
                assert not one[4]["final_info"]["action_mask"][~done].any()
        else:
            for key in ("is_success", "_is_success"):
                assert same(one[4].get(key), two[4].get(key))
        if mode is AutoresetMode.DISABLED and done.any():
            assert same(one[0], two[0])
            masks = one[4]["action_mask"].copy()
            infos = {key: one[4][key].copy() for key in KEYS}
            one, two = (env.reset(options={"reset_mask": done}) for env in (native, sync))
            assert one[1]["_deal"].tolist() == done.tolist()
            one[1].update({f"_{key}": np.ones(GAMES, np.bool_) for key in ("action_mask", *KEYS)})
            # Gymnasium returns nothing for games that were not reset.
            two[1]["action_mask"][~done] = masks[~done]
            for key in KEYS:
                two[1][key] = np.where(done, two[1][key], infos[key])
    assert ended >= GAMES


def check_finals(ours: dict[str, Any], theirs: dict[str, Any], done: np.ndarray) -> None:
    assert ("final_info" in ours) == ("final_obs" in ours) == done.any()
    if not done.any():
        return
    final = ours["final_info"]
    assert ours["_final_obs"].tolist() == ours["_final_info"].tolist() == done.tolist()
    for key in [*KEYS, "is_success", "action_mask", "episode"]:
        assert final[f"_{key}"].tolist() == done.tolist()
    for i in np.flatnonzero(done):
        assert same(row(ours["final_obs"], i), row(theirs["final_obs"], i))
        expected = theirs["final_info"]
        assert same(final["action_mask"][i], expected["action_mask"][i])
        for key in [*KEYS, "is_success"]:
            assert final[key][i] == expected[key][i]
        for key in ("r", "l"):
            assert final["episode"][key][i] == expected["episode"][key][i]


# --- copies and seeds ---------------------------------------------------------------------------


def of_stable_baselines3() -> Any:
    from four_seasons_env.adapters.sb3 import FourSeasonsVecEnv

    return FourSeasonsVecEnv(4, max_moves=40)


def with_starts() -> FourSeasonsVectorEnv:
    env = FourSeasonsVectorEnv(6, max_moves=9)
    env.set_starts(STARTS, share=0.5)
    return env


BATCHES: dict[str, Callable[[], Any]] = {
    "moves": lambda: FourSeasonsVectorEnv(6, "czarina", num_threads=2, max_moves=60),
    "moves, no repeats": lambda: FourSeasonsVectorEnv(3, mask="no_repeats", max_moves=2000),
    "moves, some deals": lambda: FourSeasonsVectorEnv(6, deals=range(10_000, 10_007), max_moves=9),
    "moves, own starts": with_starts,
    "positions": lambda: FourSeasonsNextDealVectorEnv(40, num_threads=2, **FEW),
    "with masks": lambda: VectorMaskInObservation(FourSeasonsVectorEnv(3, max_moves=60)),
    "of Stable-Baselines3": of_stable_baselines3,
}
COPIERS = {"deepcopy": copy.deepcopy, "pickle": lambda env: pickle.loads(pickle.dumps(env))}


def from_the_start(env: Any, steps: int) -> list[Any]:
    """The first answers after a reset with a seed."""
    if hasattr(env, "seed"):  # as Stable-Baselines3 has it
        env.seed(5)
        return [env.reset(), *random_steps(env, steps)]
    return [env.reset(seed=5), *random_steps(env, steps)]


def wander(env: FourSeasonsVectorEnv) -> None:
    """Play until a game's run of moves between piles is long, and has outgrown its first room."""
    rng, lengths = np.random.default_rng(0), np.zeros(env.num_envs, int)
    while lengths.max() < 40:
        weights = env.action_masks() * rng.random((env.num_envs, env.single_action_space.n))
        weights[:, :12] *= 1e-6  # moves between piles first
        chosen = weights.argmax(axis=1)
        env.step(chosen)
        lengths = np.where(chosen < 12, 0, lengths + 1)


@pytest.mark.parametrize("how", COPIERS)
@pytest.mark.parametrize("name", mostly_slow(BATCHES, [*BATCHES][:-1]))
def test_copies_and_seeds_of_batches_go_on_alike(name: str, how: str) -> None:
    env = BATCHES[name]()
    first = from_the_start(env, 100)
    if name == "moves, no repeats":
        wander(env)
    other, twin = (COPIERS[how](env) for _ in range(2))
    ahead = random_steps(other, 100, 1)
    assert same(ahead, random_steps(env, 100, 1))  # the original did not notice
    del env, other
    gc.collect()  # a copy needs no memory of its original
    assert same(ahead, random_steps(twin, 100, 1))
    assert same(from_the_start(twin, 100), first)


# --- answers belong to the caller --------------------------------------------------------------


def spoil(thing: Any) -> None:
    """Write into all arrays of an answer."""
    if isinstance(thing, np.ndarray) and thing.flags.writeable:
        thing[...] = 0
    elif isinstance(thing, dict | tuple | list):
        for part in thing.values() if isinstance(thing, dict) else thing:
            spoil(part)


@pytest.mark.parametrize(
    "make",
    [
        FourSeasonsEnv,
        FourSeasonsNextDealEnv,
        partial(FourSeasonsVectorEnv, 3, max_moves=5),
        partial(FourSeasonsNextDealVectorEnv, 3, max_moves=5),
    ],
)
def test_writing_into_answers_changes_nothing(make: Callable[[], Any]) -> None:
    env, twin = make(), make()
    answers = [each.reset(seed=1) for each in (env, twin)]
    kept = []
    for _ in range(12):
        assert same(*answers)
        spoil([answers[0], env.action_masks()])
        kept.append((answers[1], copy.deepcopy(answers[1])))
        answers = [each.step(each.action_masks().argmax(axis=-1)) for each in (env, twin)]
    assert all(same(*each) for each in kept)  # no later step has written into them


# --- hidden is hidden ---------------------------------------------------------------------------


def text_of(unit: str) -> Callable[[Game], Any]:
    return lambda game: FourSeasonsTextEnv(game.rules, unit).reset(options={"game": game})[0]


def offers_of(kind: str) -> Callable[[Game], Any]:
    def offers(game: Game) -> Any:
        env = FourSeasonsNextDealEnv(game.rules, endings="policy", observation=kind, **FEW)
        seen, info = env.reset(options={"game": game})
        return seen, [env.moves_of(int(each)) for each in np.flatnonzero(info["action_mask"])]

    return offers


def episode_from(game: Game) -> Any:
    """An episode that begins there: its stock is shuffled anew, so all of it is the same."""
    env = FourSeasonsEnv(game.rules, starts=[game], max_moves=8)
    answers = [env.reset(seed=1)]
    while not env._batch.done[0]:
        answers.append(env.step(int(env.action_masks().argmax())))
    return answers


def fair_bounds(game: Game) -> Any:
    found = fair_value(game, max_positions=300) if game.stock_size < 19 else None
    return found and (found.low, found.high, found.decisions, found.nodes)


VIEWS: dict[str, Callable[[Game], Any]] = {
    **{kind: lambda game, kind=kind: observe(game, kind) for kind in OBSERVATIONS},
    "masks": lambda game: [game.action_mask(distinct) for distinct in (False, True)],
    "key": lambda game: game.key(),
    "drawings": lambda game: (str(game), draw_svg(game, unseen=True, legal=True)),
    "fair bounds": fair_bounds,
    "episode from a start": episode_from,
    **{f"text of a {unit}": text_of(unit) for unit in ("move", "position")},
    **{f"offers, {kind}": offers_of(kind) for kind in OF_POSITIONS},
}
"""What is made of a position for a player to see."""


@pytest.mark.parametrize("view", VIEWS)
@given(game=positions(), rng=st.randoms(use_true_random=False))
def test_the_order_of_hidden_cards_shows_nowhere(view: str, game: Game, rng: Any) -> None:
    assume(game.redeals_left == game.rules.redeals and not game.is_over)
    hidden = stock_codes(game)
    rng.shuffle(hidden)
    assert same(VIEWS[view](restocked(game, hidden)), VIEWS[view](game))


# --- agents -------------------------------------------------------------------------------------

DEFAULT = RULES["four-seasons"]


def planner(rules: Rules, **options: int) -> PlannerAgent:
    limits = {"positions": 50, "ending_positions": 200, "worlds": 1}
    return PlannerAgent(
        rules, fakes.planner_card(rules), fakes.value_weights(), **limits, **options
    )


def candidates(rules: Rules) -> NextDealAgent:
    return NextDealAgent(rules, fakes.candidate_card(rules, "policy"), fakes.candidate_weights())


def of_the_tutorial(file: str, name: str, **options: int) -> Callable[[Rules], Any]:
    path = ROOT / "docs" / "tutorials" / "search" / f"{file}.py"
    return lambda rules: getattr(load(path), name)(rules, **options)


def named(name: str) -> Callable[[Rules], Any]:
    return lambda rules: make_agent(name, rules)


PLAYERS: dict[str, Callable[[Rules], Any]] = {
    **{name: named(name) for name in ("random", "heuristic", "greedy")},
    "rollout": named("rollout@worlds=2,moves=2"),
    "rollout with searches": named("rollout@worlds=2,moves=2,expansions=20"),
    "finisher": named("finisher@base=random,ending_positions=2000"),
    "first_candidate": named("first_candidate@expansions=20"),
    "policy": lambda rules: NetworkAgent(rules, fakes.move_card(rules), fakes.move_weights()),
    "candidates": candidates,
    "planner": lambda rules: planner(rules, lookahead=1, votes=0),
    "planner with votes": lambda rules: planner(rules, votes=40),
    "flat Monte Carlo": of_the_tutorial("flat_monte_carlo", "FlatMonteCarlo", playouts=4),
    "expectimax": of_the_tutorial("expectimax", "Expectimax", playouts=1),
    "UCT": of_the_tutorial("uct", "Uct", iterations=10, playouts=1),
}
QUICK = [name for name in PLAYERS if name != "rollout with searches"]  # which compiles for long


@pytest.mark.parametrize("player", mostly_slow(PLAYERS, QUICK))
@pytest.mark.parametrize(
    "name",
    mostly_slow([*REPRESENTATIVES, "simplicity", "czarina-1898"], ("pysolfc/florentine",)),
)
def test_agents_play_legal_moves_and_again_the_same(player: str, name: str) -> None:
    rules, deals = RULES[name], range(TRAIN_FROM, TRAIN_FROM + 2)
    first, again = (play_deals(PLAYERS[player](rules), rules, deals, seed=1) for _ in "ab")
    pd.testing.assert_frame_equal(first.drop(columns="seconds"), again.drop(columns="seconds"))
    assert (first["moves"] > 0).all()
    assert first["cards_up"].between(0, rules.cards).all()


@pytest.mark.parametrize("player", mostly_slow(PLAYERS, QUICK))
def test_the_order_of_hidden_cards_changes_no_move(player: str) -> None:
    agent = PLAYERS[player](DEFAULT)
    # Late positions have few cards hidden: there a vote takes each of their orders once.
    parts = [midgame(count, moves, agent.mask) for count, moves in ((48, 25), (32, 120))]
    games, masks = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    moves = agent.act(games.copy(), masks, np.random.default_rng(1))
    seeds = np.arange(len(games), dtype=np.uint64)
    shuffled = kernel.public_copy(games, kernel.compile_rules(DEFAULT), seeds)
    other = PLAYERS[player](DEFAULT)  # a new agent, because the first one keeps its plans
    again = other.act(shuffled, masks, np.random.default_rng(1))
    np.testing.assert_array_equal(moves, again)
