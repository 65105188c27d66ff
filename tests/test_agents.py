"""The agents: legal and fair on every rule set, better than random where they claim to be."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from agents import AGENTS, make_agent
from agents.heuristic import FEATURES, read_weights
from agents.maskable_ppo import Hyperparameters, PolicyAgent, make_card, read_hyperparameters
from agents.policy_files import CARD, WEIGHTS, PolicyFileError, load_policy, save_policy
from experiments.play import play_deals
from four_seasons_env import kernel
from four_seasons_env.deals import TRAIN_FROM
from four_seasons_env.moves import all_moves
from four_seasons_env.observations import observation_length
from four_seasons_env.rules import RULES, Rules

DEFAULT = RULES["four-seasons"]
SMALL = Hyperparameters(layers=[8], observation="tops")


def untrained(rules: Rules, settings: Hyperparameters = SMALL) -> dict[str, torch.Tensor]:
    """Weights of a network that has learned nothing."""
    generator = torch.Generator().manual_seed(0)
    sizes = [observation_length(rules, settings.observation), *settings.layers]
    weights = {}
    for i, (fan_in, fan_out) in enumerate(pairwise(sizes)):
        name = f"mlp_extractor.policy_net.{2 * i}"
        weights[f"{name}.weight"] = torch.randn(fan_out, fan_in, generator=generator)
        weights[f"{name}.bias"] = torch.zeros(fan_out)
    moves = len(all_moves(rules))
    weights["action_net.weight"] = torch.randn(moves, sizes[-1], generator=generator)
    weights["action_net.bias"] = torch.zeros(moves)
    return weights


def policy(rules: Rules = DEFAULT, greedy: bool = False) -> PolicyAgent:
    return PolicyAgent(make_card(SMALL, rules, {}), untrained(rules), rules, greedy)


PLAYERS = {
    "random": lambda rules: make_agent("random", rules),
    "heuristic": lambda rules: make_agent("heuristic", rules),
    "policy": policy,
}


def midgame(rules: Rules, count: int = 64, moves: int = 25) -> np.ndarray:
    """Positions some random moves after the opening."""
    games = np.zeros(count, kernel.GAME)
    rule = kernel.compile_rules(rules)
    kernel.start_all(games, rule, np.arange(TRAIN_FROM, TRAIN_FROM + count))
    words, masks = kernel.new_masks(count, rules)
    goes_on = np.zeros(count, np.bool_)
    rng = np.random.default_rng(0)
    for _ in range(moves):
        kernel.legal_all(games, rule, False, words, goes_on)
        drawn = np.where(masks, rng.random(masks.shape), -1).argmax(axis=1)
        playing = games[goes_on]
        kernel.play_all(playing, rule, drawn[goes_on])
        games[goes_on] = playing
    return games


@pytest.mark.parametrize("rules", RULES.values(), ids=lambda rules: rules.name)
@pytest.mark.parametrize("player", PLAYERS)
def test_plays_legal_moves_in_every_rule_set(player: str, rules: Rules) -> None:
    played = play_deals(PLAYERS[player](rules), rules, range(TRAIN_FROM, TRAIN_FROM + 5))
    assert (played["moves"] > 0).all()
    assert played["cards_up"].between(0, rules.cards).all()


@pytest.mark.parametrize("rules", RULES.values(), ids=lambda rules: rules.name)
def test_heuristic_beats_random(rules: Rules) -> None:
    deals = range(TRAIN_FROM, TRAIN_FROM + 150)
    better, worse = (
        play_deals(make_agent(name, rules), rules, deals)["cards_up"]
        for name in ("heuristic", "random")
    )
    difference = better - worse
    assert difference.mean() > 3 * difference.std() / np.sqrt(len(deals))


def test_heuristic_beats_the_textbook() -> None:
    """1 in 10 on deals that it was not tuned on; three standard errors of 600 games are 0.04."""
    deals = range(TRAIN_FROM + 10**6, TRAIN_FROM + 10**6 + 600)
    played = play_deals(make_agent("heuristic"), DEFAULT, deals)
    assert played["won"].mean() > 0.1 + 0.04


@pytest.mark.parametrize("rules", [DEFAULT, RULES["czarina"], RULES["florentine"]], ids=str)
@pytest.mark.parametrize("player", PLAYERS)
def test_the_order_of_the_unseen_stock_changes_no_move(player: str, rules: Rules) -> None:
    agent = PLAYERS[player](rules)
    games = midgame(rules)
    rule = kernel.compile_rules(rules)
    words, masks = kernel.new_masks(len(games), rules)
    goes_on = np.zeros(len(games), np.bool_)
    kernel.legal_all(games, rule, agent.mask == "distinct", words, goes_on)
    games, masks = games[goes_on], masks[goes_on]
    moves = agent.act(games.copy(), masks, np.random.default_rng(1))
    shuffled = games.copy()
    kernel.reshuffle_unseen_all(shuffled, rule, np.arange(len(games), dtype=np.uint64))
    again = agent.act(shuffled, masks, np.random.default_rng(1))
    if rules.spaces == "auto_stock" and player == "heuristic":
        # It looks at what a space is refilled with: its own reshuffle's card, not the true one.
        assert (moves == again).mean() > 0.5
    else:
        np.testing.assert_array_equal(moves, again)


def test_heuristic_weights_are_complete() -> None:
    assert read_weights().shape == (2, len(FEATURES))


def test_unknown_agents_get_the_nearest() -> None:
    with pytest.raises(ValueError, match="did you mean 'heuristic'"):
        make_agent("heuristik")
    with pytest.raises(ValueError, match="has no weights"):
        make_agent("random:runs/x")
    with pytest.raises(FileNotFoundError, match="no weights at runs/nowhere"):
        make_agent("maskable_ppo:runs/nowhere")


def test_registry_tells_which_agents_learn() -> None:
    assert [name for name, entry in AGENTS.items() if entry.learns] == ["maskable_ppo"]


def test_kept_weights_play() -> None:
    deals = range(TRAIN_FROM, TRAIN_FROM + 200)
    played = play_deals(make_agent("maskable_ppo"), DEFAULT, deals)
    floor = play_deals(make_agent("random"), DEFAULT, deals)
    assert played["cards_up"].mean() > floor["cards_up"].mean() + 5


# --- policies on disk


def saved(folder: Path, rules: Rules = DEFAULT) -> Path:
    save_policy(folder, make_card(SMALL, rules, {"seed": 3}), untrained(rules))
    return folder


def test_a_saved_policy_plays_the_same_moves(tmp_path: Path) -> None:
    deals = range(TRAIN_FROM, TRAIN_FROM + 20)
    agent = make_agent(f"maskable_ppo:{saved(tmp_path)}", greedy=True)
    here = play_deals(agent, DEFAULT, deals).drop(columns="seconds")
    there = play_deals(policy(greedy=True), DEFAULT, deals).drop(columns="seconds")
    assert here.equals(there)
    assert agent.train_seed == 3


def test_weights_of_other_rules_are_refused(tmp_path: Path) -> None:
    saved(tmp_path, RULES["czarina"])
    with pytest.raises(PolicyFileError, match=r"other rules than 'four-seasons'.*spaces"):
        make_agent(f"maskable_ppo:{tmp_path}")


def test_damaged_files_are_refused_by_name(tmp_path: Path) -> None:
    saved(tmp_path)
    whole = (tmp_path / WEIGHTS).read_bytes()
    (tmp_path / WEIGHTS).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(PolicyFileError, match=WEIGHTS):
        load_policy(tmp_path, "maskable_ppo", DEFAULT)
    (tmp_path / CARD).write_text("{")
    with pytest.raises(PolicyFileError, match=CARD):
        load_policy(tmp_path, "maskable_ppo", DEFAULT)


def test_weights_that_do_not_fit_the_card_are_refused(tmp_path: Path) -> None:
    saved(tmp_path)
    card = json.loads((tmp_path / CARD).read_text())
    card["layers"] = [16]
    (tmp_path / CARD).write_text(json.dumps(card))
    with pytest.raises(PolicyFileError, match="do not fit"):
        make_agent(f"maskable_ppo:{tmp_path}")


def test_hyperparameters_are_checked(tmp_path: Path) -> None:
    assert read_hyperparameters().games > 0
    (tmp_path / "x.yaml").write_text("learning_rat: 1\n")
    with pytest.raises(ValueError, match="did you mean 'learning_rate'"):
        read_hyperparameters(tmp_path / "x.yaml")
    (tmp_path / "x.yaml").write_text("learning_rate: fast\n")
    with pytest.raises(ValueError, match="learning_rate must be a float"):
        read_hyperparameters(tmp_path / "x.yaml")
