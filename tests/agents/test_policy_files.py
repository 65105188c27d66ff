"""Policies on disk: saved and loaded; damaged or foreign ones are refused by name."""

import json
from pathlib import Path

import numpy as np
import pytest

from four_seasons_env.agents import make_agent
from four_seasons_env.agents.learned.network_agent import NetworkAgent
from four_seasons_env.agents.policy_files import (
    CARD_FILE,
    WEIGHTS_FILE,
    PolicyFileError,
    load_policy,
    save_policy,
)
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.play import play_deals
from four_seasons_env.rules import RULES, Rules
from tests.agents.policies import candidate_card, candidate_weights, move_card, move_weights

DEFAULT = RULES["four-seasons"]


def saved(folder: Path, rules: Rules = DEFAULT) -> Path:
    save_policy(folder, move_card(rules, seed=3), move_weights())
    return folder


def test_a_saved_policy_plays_the_same_moves(tmp_path: Path) -> None:
    deals = range(TRAIN_FROM, TRAIN_FROM + 20)
    agent = make_agent(f"maskable_ppo:{saved(tmp_path / 'p')}", deterministic=True)
    here = play_deals(agent, DEFAULT, deals).drop(columns="seconds")
    same = NetworkAgent(DEFAULT, move_card(DEFAULT), move_weights(), deterministic=True)
    there = play_deals(same, DEFAULT, deals)
    assert here.equals(there.drop(columns="seconds"))
    assert agent.train_seed == 3


def test_weights_of_other_rules_or_agents(tmp_path: Path) -> None:
    folder = saved(tmp_path / "q", RULES["florentine"])
    with pytest.raises(PolicyFileError, match=r"reserve=True \(here False\)"):
        load_policy(folder, "maskable_ppo", RULES["pysolfc/florentine"])
    folder = saved(tmp_path / "p", RULES["czarina"])
    with pytest.raises(PolicyFileError, match=r"limited_redeal=False \(here True\)"):
        load_policy(folder, "maskable_ppo", RULES["czarina-1898"])
    with pytest.raises(PolicyFileError, match=r"other rules than 'four-seasons'.*spaces"):
        make_agent(f"maskable_ppo:{folder}")
    with pytest.raises(PolicyFileError, match="must be of 'next_deal_ppo', not 'maskable_ppo'"):
        make_agent(f"next_deal_ppo:{folder}", "czarina")


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def flip(data: bytes) -> bytes:
    """One bit of the last weight: the file is as long as before, and still safetensors."""
    return data[:-1] + bytes([data[-1] ^ 1])


@pytest.mark.parametrize("damage", [cut, flip, lambda _: b""])
@pytest.mark.parametrize("name", [WEIGHTS_FILE, CARD_FILE])
def test_damaged_files(name: str, damage, tmp_path: Path) -> None:
    folder = saved(tmp_path / "p")
    path = folder / name
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(PolicyFileError, match=rf"p/{name} is"):
        load_policy(folder, "maskable_ppo", DEFAULT)


def test_weights_must_be_finite(tmp_path: Path) -> None:
    weights = move_weights()
    next(iter(weights.values()))[0, 0] = np.nan
    save_policy(tmp_path / "p", move_card(DEFAULT), weights)
    with pytest.raises(PolicyFileError, match="must have finite numbers"):
        make_agent(f"maskable_ppo:{tmp_path / 'p'}")


@pytest.mark.parametrize(
    ("agent", "field", "value", "message"),
    [
        ("maskable_ppo", "layers", [8, 32, 8], r"dense.weight must be of shape \(40, 8\), not"),
        ("maskable_ppo", "layers", [8, 8, 8], "the second a multiple of 16"),
        ("maskable_ppo", "colour", "red", "unknown 'colour'"),
        ("maskable_ppo", "layers", 5, r"Expected `array`, got `int` - at `\$.layers`"),
        ("maskable_ppo", "mask", "../x", r"legal\|distinct.* - at `\$.mask`"),
        ("next_deal_ppo", "layers", [8, 4, 8, 9], r"must be of shape \(9, 20\), not \(8, 20\)"),
        ("next_deal_ppo", "decisions", {"endings": "search"}, "must be .*'candidates', "),
    ],
)
def test_weights_must_fit_the_card(
    agent: str, field: str, value: object, message: str, tmp_path: Path
) -> None:
    folder = saved(tmp_path / "p")
    if agent == "next_deal_ppo":
        save_policy(folder, candidate_card(DEFAULT), candidate_weights())
    card = json.loads((folder / CARD_FILE).read_text())
    card[field] = value
    (folder / CARD_FILE).write_text(json.dumps(card))
    with pytest.raises(PolicyFileError, match=message):
        make_agent(f"{agent}:{folder}")
