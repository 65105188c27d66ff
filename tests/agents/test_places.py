"""The first layer over `places`: compiled sums against torch's, and in a policy of SB3."""

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO

from four_seasons_env.adapters.sb3 import FourSeasonsVecEnv
from four_seasons_env.agents.learned.places_extractor import PlacesExtractor
from four_seasons_env.agents.network.places import PlacesEncoder
from four_seasons_env.agents.network.rows import ROWS, rows_of, sum_rows
from four_seasons_env.rules import RULES
from tests.helpers import canonical, mostly_slow, observe, played_on


@pytest.mark.parametrize("name", mostly_slow(RULES))
def test_rows_say_what_a_player_knows(name: str) -> None:
    """Rows are equal if and only if positions are, in any order of their piles."""
    rules = RULES[name]
    games = list(played_on(rules, 60, 120))
    rows = rows_of(np.array([observe(game, "places") for game in games]), rules)
    assert rows.max() < ROWS
    assert (np.sort(rows > 0, axis=1)[:, ::-1] == (rows > 0)).all(), "rows come first"
    told = [tuple(sorted(each)) for each in rows.tolist()]
    for game, mine in zip(games, told, strict=True):
        record = game.record.copy()
        if not rules.reserve:  # the same piles in another order
            order = np.random.default_rng(0).permutation(rules.piles)
            for field in ("top", "height"):
                record[field][0, : rules.piles] = record[field][0, order]
        other = observe(type(game).from_record(record, rules), "places")
        assert tuple(sorted(rows_of(other[None], rules)[0].tolist())) == mine
    positions = {mine: canonical(game) for game, mine in zip(games, told, strict=True)}
    assert len(positions) == len({canonical(game) for game in games})


def test_sums_and_gradients_are_those_of_torch() -> None:
    rules = RULES["pysolfc/florentine"]
    places = np.array([observe(game, "places") for game in played_on(rules, 40, 90)])
    encoder, rows = PlacesEncoder(rules, 24), rows_of(places, rules)
    sums = encoder(torch.from_numpy(places).float())  # as Stable-Baselines3 passes it
    table = encoder.table.detach().clone().requires_grad_()
    expected = torch.nn.functional.embedding_bag(
        torch.from_numpy(rows).long(), table, mode="sum", padding_idx=0
    )
    without = np.zeros((len(rows), 24), np.float32)
    sum_rows(rows, encoder.table.detach().numpy(), without)
    for each in (sums.detach(), torch.from_numpy(without)):
        torch.testing.assert_close(each, expected.detach())
    slopes = torch.randn(sums.shape)
    sums.backward(slopes)
    expected.backward(slopes)
    torch.testing.assert_close(encoder.table.grad, table.grad)


def test_a_policy_of_sb3_learns_with_it() -> None:
    env = FourSeasonsVecEnv(8, seed=1, observation="places", mask="no_repeats")
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=16,
        batch_size=32,
        policy_kwargs={"features_extractor_class": PlacesExtractor},
    )
    before = model.policy.features_extractor.encoder.table.detach().clone()
    model.learn(128)
    changed = (model.policy.features_extractor.encoder.table != before).any(dim=1)
    assert changed.sum() > 100
    assert not changed[0]
    with pytest.raises(ValueError, match=r'needs observation="places" of .* not Box\(0.0'):
        PlacesExtractor(FourSeasonsVecEnv(2).observation_space)
