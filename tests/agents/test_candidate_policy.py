"""Policies over candidates in torch: sums and their gradients, and heads."""

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO

from four_seasons_env import FourSeasonsNextDealVectorEnv
from four_seasons_env.adapters.sb3 import FourSeasonsNextDealVecEnv
from four_seasons_env.agents import CandidatePolicy, TableEncoder
from four_seasons_env.agents.network.module import SumRows
from four_seasons_env.positions.features import (
    GAME_SLOTS,
    PILE_SLOTS,
    SUIT_SLOTS,
    TABLES,
    WASTE_SLOTS,
)
from tests.agents.test_network import plain_pairs
from tests.helpers import random_steps

pytestmark = pytest.mark.slow  # torch alone takes seconds to import
ENCODER = {"features_extractor_class": TableEncoder}


def observed(rules: str = "four-seasons", games: int = 20, steps: int = 15) -> dict:
    """Observations of random play."""
    env = FourSeasonsNextDealVectorEnv(games, rules)
    env.reset(seed=0)
    observations, *_ = random_steps(env, steps)[-1]
    return {name: torch.from_numpy(each) for name, each in observations.items()}


def plain(rows: torch.Tensor, chosen: torch.Tensor, tables: list[torch.Tensor]) -> torch.Tensor:
    """`SumRows` again, written with torch's own functions."""
    suits, piles, game = (
        torch.cat((torch.zeros(1, each.shape[1], dtype=each.dtype), each)) for each in tables[:3]
    )
    seen = rows.long()[chosen]
    own = seen[:, : 4 * SUIT_SLOTS].reshape(len(chosen), 4, SUIT_SLOTS)
    rest = seen[:, 4 * SUIT_SLOTS : -WASTE_SLOTS]
    of_piles = rest[:, :-GAME_SLOTS].reshape(len(chosen), -1, PILE_SLOTS)
    pairs = torch.from_numpy(np.array([plain_pairs(each) for each in seen.numpy()])).float()
    return torch.cat(
        (
            suits[own].sum(dim=2).relu().sum(dim=1),
            piles[of_piles].sum(dim=2).relu().sum(dim=1),
            (game[rest[:, -GAME_SLOTS:]].sum(dim=1) + pairs @ tables[3]).relu(),
        ),
        dim=1,
    )


@pytest.mark.parametrize(
    ("rules", "mixed", "parts"),
    [("four-seasons", False, 1), ("pysolfc/czarina", True, 1), ("simplicity", False, 3)],
    ids=["decisions", "mixed", "parts"],
)
def test_sums_and_gradients_are_those_of_torch(rules: str, mixed: bool, parts: int) -> None:
    """Positions of one decision may have nothing in common, or be summed in several parts."""
    seen = observed(rules)
    decisions, numbers = seen["action_mask"].nonzero().T
    rows = seen["observation"].flatten(0, 1)
    chosen = decisions * 32 + numbers
    if mixed:
        chosen = chosen[torch.randperm(len(chosen), generator=torch.manual_seed(1))]
        decisions = torch.arange(len(chosen)) // 7
    widths = {"suits": 7, "piles": 3, "game": 5, "pairs": 5}
    torch.manual_seed(0)
    tables = [torch.randn(n, widths[name], requires_grad=True) for name, n in TABLES.items()]
    ours = SumRows.apply(rows, decisions, chosen, parts, *tables)
    theirs = plain(rows, chosen, tables)
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)
    slopes = torch.randn_like(ours)
    got = torch.autograd.grad(ours, tables, slopes)
    expected = torch.autograd.grad(theirs, tables, slopes)
    for mine, other in zip(got, expected, strict=True):
        assert other.abs().sum() > 0
        torch.testing.assert_close(mine, other, rtol=1e-3, atol=1e-3)


@pytest.fixture(scope="module")
def policy():
    """Its heads have learned something."""
    settings = {"n_steps": 4, "batch_size": 8, "device": "cpu"}
    env = FourSeasonsNextDealVecEnv(6, seed=0)
    made = MaskablePPO(CandidatePolicy, env, policy_kwargs=ENCODER, **settings).policy
    torch.manual_seed(1)
    for head in (made.mlp_extractor.score, made.mlp_extractor.value):
        torch.nn.init.normal_(head.weight)
    return made


@pytest.fixture(scope="module")
def seen() -> dict:
    """Six decisions."""
    return observed(games=6)


def masks_of(seen: dict) -> np.ndarray:
    return seen["action_mask"].numpy().astype(bool)


def chances(policy, seen: dict) -> torch.Tensor:
    return policy.get_distribution(seen, masks_of(seen)).distribution.probs


def values_of(policy, seen: dict) -> torch.Tensor:
    """The value of each candidate."""
    return policy.mlp_extractor.value(policy.features_extractor(seen)[..., :-1]).squeeze(-1)


def close(one: torch.Tensor, other: torch.Tensor) -> None:
    torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


def test_candidates_are_read_separately(policy, seen) -> None:
    order = torch.randperm(32)
    moved = {name: each[:, order] for name, each in seen.items()}
    close(chances(policy, seen)[:, order], chances(policy, moved))
    close(policy.predict_values(seen), policy.predict_values(moved))


def test_value_of_a_decision_is_a_mean(policy, seen) -> None:
    """Of the candidates' values, weighted by how likely each is chosen."""
    mean = (chances(policy, seen) * values_of(policy, seen)).sum(dim=1)
    close(policy.predict_values(seen)[:, 0], mean)


def test_chosen_candidates_are_learned(policy, seen) -> None:
    chosen, games = seen["action_mask"].argmax(dim=1), torch.arange(6)
    values, log_probabilities, _ = policy.evaluate_actions(seen, chosen, masks_of(seen))
    close(values[:, 0], values_of(policy, seen)[games, chosen])
    close(log_probabilities, chances(policy, seen)[games, chosen].log())


def test_scaled_candidates_are_refused(policy, seen) -> None:
    for wrong in (seen["observation"] / 3, seen["observation"] - 500):
        with pytest.raises(ValueError, match=r"VecNormalize|rows\[0, 0\] must be 0 to 448"):
            policy(seen | {"observation": wrong}, action_masks=masks_of(seen))


def test_values_are_float32(policy, seen) -> None:
    """Also where autocast makes the layers bfloat16."""
    with torch.autocast("cpu", torch.bfloat16):
        assert policy(seen, action_masks=masks_of(seen))[1].dtype == torch.float32


def test_a_saved_model_plays_with_more_candidates(tmp_path) -> None:
    env = FourSeasonsNextDealVecEnv(6, seed=0)
    model = MaskablePPO(CandidatePolicy, env, policy_kwargs=ENCODER, seed=0)
    model.save(tmp_path / "model")
    values = []
    for candidates in (32, 80):
        env = FourSeasonsNextDealVecEnv(6, seed=0, candidates=candidates, expansions=20)
        spaces = {"observation_space": env.observation_space, "action_space": env.action_space}
        model = MaskablePPO.load(tmp_path / "model", custom_objects=spaces)
        observations, masks = env.reset(), env.action_masks()
        assert masks[range(6), model.predict(observations, action_masks=masks)[0]].all()
        values.append(model.policy.predict_values(model.policy.obs_to_tensor(observations)[0]))
    torch.testing.assert_close(*values)  # of the same candidates


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_model_trained_on_a_gpu_plays_on_the_cpu(tmp_path) -> None:
    """After two updates of a small model."""
    env = FourSeasonsNextDealVecEnv(4, seed=0, expansions=10)
    settings = {"n_steps": 4, "batch_size": 8, "n_epochs": 1, "seed": 0, "device": "auto"}
    model = MaskablePPO(CandidatePolicy, env, policy_kwargs=ENCODER, **settings).learn(32)
    assert model.device.type == "cuda"
    model.save(tmp_path / "model")
    observations, masks = model.env.reset(), model.env.action_masks()
    values = []
    for device in ("cuda", "cpu"):
        loaded = MaskablePPO.load(tmp_path / "model", device=device)
        seen = loaded.policy.obs_to_tensor(observations)[0]
        values.append(loaded.policy.predict_values(seen).cpu())
    assert masks[range(4), loaded.predict(observations, action_masks=masks)[0]].all()
    torch.testing.assert_close(*values, rtol=1e-4, atol=1e-4)
