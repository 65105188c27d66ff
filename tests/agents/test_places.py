"""Networks over `places`: rows of positions and moves, and compiled sums against torch's."""

from typing import Any

import numpy as np
import pytest
import torch

from four_seasons_env.agents.network.module import PositionNetwork, SumRows
from four_seasons_env.agents.network.places import MoveNetwork
from four_seasons_env.agents.network.rows import (
    _TO,
    MOST_ROWS,
    MOVE_ROWS,
    ROWS,
    kinds_of,
    move_rows_of,
    rows_of,
)
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.engine.moves import STOCK, all_moves
from four_seasons_env.game import Game
from four_seasons_env.observations import IN_PILES, largest_counts
from four_seasons_env.positions.features import row_length
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


@pytest.mark.parametrize("name", mostly_slow(RULES))
def test_rows_of_moves_say_where_the_card_was_and_goes(name: str) -> None:
    rules = RULES[name]
    seen = set()
    for game in played_on(rules, 40, 120):
        mask = game.action_mask()
        places = observe(game, "places")
        (rows,) = move_rows_of(places[None], mask[None], rules)
        assert rows.max() < MOVE_ROWS
        assert not rows[mask == 0].any()
        here = set(rows_of(places[None], rules)[0].tolist())
        for move in game.legal_moves():
            source, target = rows[int(move)][:2].tolist()
            if move.turns:
                seen.add("turn")
                continue
            if move.source != STOCK:
                assert source in here  # these rows are numbered alike, and come first
                seen.add("play")
            after = game.after(move)
            turned = len(after.waste) > len(game.waste) or len(after.stock) < len(game.stock)
            if not (rules.runs or turned):  # of a run, the rows have the top card
                then = rows_of(observe(after, "places")[None], rules)[0]
                assert target - _TO + 1 in set(then.tolist())
    assert seen == {"turn", "play"}


@pytest.mark.parametrize("name", mostly_slow(RULES))
def test_any_bytes_within_bounds_are_safe(name: str) -> None:
    """Also where cards contradict each other; bounds checks (`make test-memory`) see the rest."""
    rules, rng = RULES[name], np.random.default_rng(0)
    most = largest_counts(rules, "places")
    places = rng.integers(0, most, (1000, len(most)), np.uint8, endpoint=True)
    places[0], places[1, : rules.cards] = most, IN_PILES
    masks = np.ones((len(places), len(all_moves(rules))), np.bool_)
    rows, moves = rows_of(places, rules), move_rows_of(places, masks, rules)
    assert min(rows.min(), moves.min()) >= 0
    assert rows.max() < ROWS and moves.max() < MOVE_ROWS
    network = MoveNetwork(name, (8, 16, 8))
    scores, values = network(torch.from_numpy(places), torch.from_numpy(masks))
    (scores.sum() + values.sum()).backward()
    assert scores.isfinite().all() and values.isfinite().all()


SEEN, ALL = torch.zeros((2, 107), dtype=torch.uint8), torch.ones((2, 32), dtype=torch.bool)
ROW, NONE = torch.zeros((2, row_length(5)), dtype=torch.int16), torch.zeros(2).long()
NOT_STORED = "must be a dense tensor of real numbers, not torch"
WRONG_TENSORS = [  # which network, what it is given, the error and what it says
    ("moves", (SEEN.numpy(), ALL), TypeError, "must be a torch.Tensor, not a nda"),
    ("moves", (SEEN, ALL.numpy()), TypeError, r"masks must .*: pass torch.from_numpy\(array"),
    ("moves", (SEEN * 1j, ALL), TypeError, f"observations {NOT_STORED}.complex64"),
    ("moves", (SEEN.float().to_sparse(), ALL), TypeError, NOT_STORED),
    ("moves", (SEEN[:, 1:], ALL), ValueError, r"places must be of shape \(n, 107\), not"),
    ("moves", (SEEN[0], ALL), ValueError, r"places must be of shape \(n, 107\), not \(107,"),
    ("moves", (SEEN, ALL[:1]), ValueError, r"masks must be of shape \(2, 32\), not \(1, 32"),
    ("moves", (SEEN, ALL / 1), TypeError, "masks must be .* bool, not of float32$"),
    ("moves", (SEEN + 8, ALL), ValueError, r"places\[0, 0\] must be 0 to 7, not 8"),
    ("moves", (SEEN - 0.5, ALL), ValueError, "must be whole numbers .*, not scaled: use Vec"),
    ("encoder", (ROW.numpy(),), TypeError, "rows must be a torch.Tensor, not a ndarray"),
    ("encoder", (ROW,), ValueError, r"rows must be of shape \(n, 108\), not \(2, 268\)"),
    ("positions", (ROW.numpy(), NONE, NONE), TypeError, "rows must be a torch.Tensor"),
    ("positions", (ROW, NONE, [0, 1]), TypeError, "chosen must be a .*, not a list"),
    ("positions", (ROW[0], NONE, NONE), ValueError, r"positions, not of shape \(268"),
    ("positions", (ROW[:, :9], NONE, NONE), ValueError, r"not of shape \(2, 9\)"),
    ("positions", (ROW / 1, NONE, NONE), TypeError, "of int16, not of float32$"),
    ("positions", (ROW - 1, NONE, NONE), ValueError, r"rows\[0, 0\] must be 0 to 448"),
    ("positions", (ROW, NONE, NONE + 2), ValueError, "must be 0 to 1, not 2"),
    (
        "sums",
        (9, 122, 572, 1014),
        ValueError,
        r"tables must have \[448, 122, 572, 1014\] rows, .*9,",
    ),
    ("sums", (448, 122, 572), ValueError, "tables must have"),
]


@pytest.mark.parametrize(("kind", "given", "error", "says"), WRONG_TENSORS)
def test_networks_refuse_other_tensors(
    kind: str, given: tuple[Any, ...], error: type[Exception], says: str
) -> None:
    network = MoveNetwork("four-seasons", (8, 16, 8))
    called = {
        "moves": network,
        "encoder": network.encoder,
        "positions": PositionNetwork((8, 4, 8, 8), ("value",)),
        "sums": lambda *rows: SumRows.apply(
            ROW, NONE, NONE, 1, *(torch.zeros(each, 3) for each in rows)
        ),
    }
    with pytest.raises(error, match=says):
        called[kind](*given)


@pytest.mark.parametrize("outputs", [1, 2])
def test_other_dtypes_of_torch(outputs: int) -> None:
    """As by autocast, or by another default; unknown rows are refused."""
    game = Game(deal=TRAIN_FROM)
    places = torch.from_numpy(observe(game, "places"))[None]
    masks = torch.from_numpy(game.action_mask())[None].bool()
    for dtype, auto in ((torch.float64, False), (torch.bfloat16, False), (torch.float32, True)):
        network = MoveNetwork(game.rules, (24, 32, 16), outputs).to(dtype)
        with torch.autocast("cpu", torch.bfloat16, auto):
            scores, values = network(places.float(), masks)
        assert scores.dtype == values.dtype == torch.float32
        scores.sum().backward()
        gradient = network.moves.rows.grad
        assert gradient is not None and gradient.isfinite().all()
    with pytest.raises(ValueError, match=r"rows\[0, 0\] must be 0 to 2214, not 2215"):
        network.encoder(torch.full((1, MOST_ROWS), ROWS, dtype=torch.int16))


@pytest.mark.parametrize("outputs", [1, 3])
def test_scores_and_gradients_are_those_of_torch(outputs: int) -> None:
    rules = RULES["pysolfc/czarina"]
    games = [game for game in played_on(rules, 40, 90) if not game.is_over]
    places = torch.from_numpy(np.array([observe(game, "places") for game in games]))
    masks = torch.from_numpy(np.array([game.action_mask() for game in games])).bool()
    network = MoveNetwork(rules, (24, 32, 16), outputs)
    torch.nn.init.normal_(network.score)
    gradients: list[dict[str, Any]] = []
    several = () if outputs == 1 else (3,)
    weights = torch.randn(*masks.shape, *several)
    for compiled in (True, False):
        network.zero_grad()
        if compiled:
            scores = network(places, masks)[0]
        else:
            rows = torch.from_numpy(move_rows_of(places.numpy(), masks.numpy(), rules)).long()
            sums = torch.nn.functional.embedding(rows, network.moves(), padding_idx=0).sum(dim=2)
            seen = torch.from_numpy(rows_of(places.numpy(), rules)).long()
            own = torch.nn.functional.embedding(seen, network.encoder.table(), padding_idx=0)
            hidden = network.dense(torch.relu(own.sum(dim=1)))[:, None]
            scores = torch.nn.functional.linear(torch.relu(hidden + sums), network.score)
        assert scores.shape == (*masks.shape, *several)
        (scores[masks] * weights[masks]).square().sum().backward()
        gradients.append({name: each.grad for name, each in network.named_parameters()})
        gradients[-1]["scores"] = scores[masks].detach()
    for name, mine in gradients[0].items():
        if mine is not None:
            torch.testing.assert_close(mine, gradients[1][name], rtol=1e-4, atol=1e-4)


def test_kinds_differ_by_suits_only() -> None:
    """Rows of a position and of its moves keep their kinds when the suits change their names."""
    rules = RULES["four-seasons"]
    games = [game for game in played_on(rules, 20, 90) if not game.is_over]
    order = np.array([2, 0, 3, 1])
    renamed = np.concatenate([13 * order[suit] + np.arange(13) for suit in range(4)])
    for game in games:
        places = observe(game, "places")
        other = places.copy()
        other[renamed], other[52 + renamed] = places[:52], places[52:104]
        kinds = kinds_of(13)[0]
        mine, theirs = (rows_of(each[None], rules)[0] for each in (places, other))
        assert sorted(kinds[mine]) == sorted(kinds[theirs])
        assert not set(mine[mine > 0]) <= set(theirs)


def test_second_derivatives_are_refused() -> None:
    """They would be 0 for what compiled code adds up."""
    network = MoveNetwork("four-seasons", (8, 16, 8))
    with pytest.raises(RuntimeError, match=r"first derivatives only: leave out create_graph=True$"):
        torch.autograd.grad(network(SEEN, ALL)[0].sum(), network.score, create_graph=True)


@pytest.mark.slow
def test_torch_compiles_around_it() -> None:
    network = MoveNetwork("four-seasons", (8, 16, 8))
    faster = torch.compile(network, backend="eager")
    for mine, theirs in zip(network(SEEN, ALL), faster(SEEN, ALL), strict=True):
        torch.testing.assert_close(mine, theirs)
