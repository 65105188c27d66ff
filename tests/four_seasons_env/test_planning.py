"""A model to plan with: what `Game` and `Games` say of the cards to come, and the slow model."""

import random
from collections import Counter
from collections.abc import Iterator

import gymnasium as gym
import numpy as np
import pytest

from four_seasons_env import Game, Games, stock_order
from four_seasons_env.agents import make_agent
from four_seasons_env.engine.deals import CARD_TEXTS, TRAIN_FROM
from four_seasons_env.observations import OBSERVATIONS
from four_seasons_env.rules import RULES, Rules
from four_seasons_env.vector import FourSeasonsVectorEnv
from tests.helpers import (
    REPRESENTATIVES,
    canonical,
    cards_in_order,
    later,
    mostly_slow,
    played_on,
    random_games,
    random_moves,
    random_steps,
    same,
    small,
    together,
)
from tests.reference.brute_force import chance
from tests.reference.slow_model import SlowGame

PER_SUIT = RULES["pysolfc/corners"].replace(ranks=4, piles=2)
SMALL = {name: small(name, 6, min(rules.piles, 5)) for name, rules in RULES.items()}
FEW = [SMALL[name] for name in (*REPRESENTATIVES, "four-seasons-1883")]


def progressing(rules: Rules, seed: int) -> Iterator[tuple[Game, SlowGame]]:
    """The positions of a random game that prefers progress, in both models."""
    draw, deck = random.Random(seed), cards_in_order(rules.ranks)
    draw.shuffle(deck)

    def choose(legal: list[str]) -> str:
        forward = [text for text in legal if ">T" not in text or text[0] in "WS"]
        return draw.choice(forward if forward and draw.random() < 0.8 else legal)

    return together(rules, deck, choose, 150)


@pytest.mark.parametrize("name", mostly_slow(RULES))
def test_outcomes_are_those_of_the_slow_model(name: str) -> None:
    rules = SMALL[name]
    known = several = 0
    for seed in range(3):
        for game, slow in progressing(rules, seed):
            hidden = slow.redeals_left == rules.redeals
            assert game.unseen == (set(slow.stock) if hidden else set())
            for text in sorted(slow.legal_moves()):
                outcomes = game.outcomes(text)
                assert sum(each.probability for each in outcomes) == pytest.approx(1, abs=1e-12)
                # 1. A move that turns no unseen card has one outcome.
                played = slow.after(text)
                turns = hidden and len(played.stock) < len(slow.stock)
                if not turns:
                    ((card, probability, after),) = outcomes
                    assert (card, probability, canonical(after)) == (None, 1.0, canonical(played))
                    known += not hidden
                    continue
                # 2. Any other has one for each card of the stock, as if that were the next one.
                assert len(outcomes) == len(slow.stock)
                assert {each.card for each in outcomes} == set(slow.stock)
                several += 1
                for card, probability, after in outcomes:
                    assert canonical(after) == canonical(slow.after(text, str(card)))
                    if len(slow.stock) < 8:
                        expected = float(chance(slow, [str(card)]))
                        assert probability == pytest.approx(expected, abs=1e-12)
    assert several
    assert known or not rules.redeals


@pytest.mark.parametrize("rules", [PER_SUIT, *FEW], ids=lambda rules: rules.name)
@pytest.mark.compiled
def test_reshuffled_stocks_follow_the_outcomes(rules: Rules) -> None:
    game = Games(rules, [TRAIN_FROM + 1])[0]
    games = Games.of(game, 100_000)
    games.reshuffle(np.random.default_rng(0))
    dealt = int(game.record["dealt"][0])
    first = games.records["deck"][:, dealt]
    turn = next(move for move in game.legal_moves() if len(game.outcomes(move)) > 1)
    outcomes = game.outcomes(turn)
    for card, probability, after in outcomes[:4]:
        rows = first == CARD_TEXTS.index(str(card))
        assert abs(rows.mean() - probability) < 5 * np.sqrt(probability / 1e5)
        turned = next((m for m in after.legal_moves() if len(after.outcomes(m)) > 1), None)
        for then, share, _ in after.outcomes(turned)[:4] if turned else []:
            second = games.records["deck"][rows, dealt + 1] == CARD_TEXTS.index(str(then))
            assert abs(second.mean() - share) < 5 * np.sqrt(share / rows.sum())


def stops_of_the_slow_model(slow: SlowGame, most: int) -> set[str] | None:
    """The positions after each way to change the stock; None if there are too many ways."""
    met, waiting, found = {canonical(slow)}, [slow], set()
    while waiting:
        here = waiting.pop()
        for text in sorted(here.distinct_moves()):
            after = here.after(text)
            if (after.stock, after.redeals_left) != (here.stock, here.redeals_left):
                found.add(canonical(after))
            elif canonical(after) not in met:
                met.add(canonical(after))
                waiting.append(after)
        if len(met) > most:
            return None
    return found


@pytest.mark.parametrize("rules", FEW, ids=lambda rules: rules.name)
def test_stops_are_those_of_the_slow_model(rules: Rules) -> None:
    compared = 0
    for seed in range(3):
        for number, (game, slow) in enumerate(progressing(rules, seed)):
            expected = None if number % 3 else stops_of_the_slow_model(slow, 150)
            if expected is None:
                continue
            found = set()
            for stop in game.stops():
                assert canonical(later(game, stop.moves)) == canonical(stop.game)
                found.add(canonical(stop.game.after(stop.turn)))
            assert found == expected
            compared += bool(expected)
    assert compared > 5


def test_stops_have_a_budget() -> None:
    game = Game(deal=17)
    assert len(game.stops(1)) < len(game.stops())


# --- many games ---------------------------------------------------------------------------------


def test_games_play_as_single_games() -> None:
    rng, games = np.random.default_rng(0), Games("czarina", 9)
    singles = [Game("czarina", deal=TRAIN_FROM + i) for i in range(9)]
    for _ in range(30):
        masks = games.action_masks(distinct=True)
        assert same(masks, np.stack([game.action_mask(distinct=True) for game in singles]))
        moves = np.where(masks, rng.random(masks.shape), -1).argmax(axis=1)
        moves[~masks.any(axis=1)] = -1
        games.play(moves)
        for game, move in zip(singles, moves.tolist(), strict=True):
            if move >= 0:
                game.play(move)
    assert list(games) == singles
    for name in ("is_over", "cards_up", "is_won"):
        assert getattr(games, name).tolist() == [getattr(game, name) for game in singles]


@pytest.mark.parametrize("kind", OBSERVATIONS)
@pytest.mark.parametrize("rules", ["pysolfc/florentine", "czarina-1898", "pysolfc/simplicity"])
def test_games_show_what_environments_show(rules: str, kind: str) -> None:
    envs = FourSeasonsVectorEnv(9, rules, observation=kind)
    observations, infos = envs.reset(seed=1)
    for step in range(150):
        games = Games.from_records(envs.games, rules)
        assert same(games.observations(kind), observations)
        assert same(games.action_masks(), infos["action_mask"])
        ((observations, *_, infos),) = random_steps(envs, 1, step)
    assert (games.records["redeals"] == 0).any()  # florentine and czarina-1898 have had theirs


@pytest.mark.parametrize("rules", [RULES["four-seasons"], small("czarina").replace(redeals=1)])
def test_the_order_of_the_stock_is_that_of_each_game(rules: Rules) -> None:
    """Also after a redeal, when the stock has fewer cards than were dealt."""
    sizes = set()
    for games in random_games(rules, 8, 60):
        orders = stock_order(games)
        assert orders.dtype == np.uint8 and same(orders, stock_order(games.records))
        for order, i in zip(orders, range(8), strict=True):
            stock = games[i].stock
            assert [CARD_TEXTS[card] for card in order[: len(stock)]] == stock
            assert order[len(stock) :].tolist() == [52] * (52 - len(stock))
            sizes.add(len(stock))
    assert len(sizes) > 10


def test_rows_of_games_are_copies() -> None:
    games = Games(deals=[1, 2, 3])
    rows = [games[[2, 0]], games[1:], games[np.array([True, False, True])]]
    assert [each.records["deal"].tolist() for each in rows] == [[3, 1], [2, 3], [1, 3]]
    rows[0].play([0, 0])
    assert not games.records["moves"].any()
    assert not games.records.flags.writeable
    copies = Games.of([games[0], games[1]], 2)
    assert copies.records["deal"].tolist() == [1, 1, 2, 2]
    assert (Games.from_records(games.records).records == games.records).all()


@pytest.mark.parametrize(
    ("name", "rules"), [("heuristic", "four-seasons"), ("greedy", "pysolfc/florentine")]
)
@pytest.mark.compiled
def test_playouts_end_as_the_agent_would(name: str, rules: str) -> None:
    rng, agent = np.random.default_rng(0), make_agent(name, rules)
    games = Games(rules, 200)
    slowly = games[:]
    games.play_out(agent, rng)
    for _ in range(500):
        masks = slowly.action_masks(distinct=True)
        on = ~slowly.is_over
        moves = np.full(len(slowly), -1)
        moves[on] = agent.act(slowly.records[on].copy(), masks[on], rng)
        slowly.play(moves)
    assert games.cards_up.tolist() == slowly.cards_up.tolist()
    assert games.is_won.tolist() == slowly.is_won.tolist()
    assert (games.records["moves"] <= slowly.records["moves"]).all()


def test_random_playouts_draw_each_move_alike() -> None:
    """In the largest action space, whose masks take many words."""
    for game in played_on(RULES["pysolfc/simplicity"], 8, 90, 10):
        moves, games = game.legal_moves(), Games.of(game, 100 * len(game.legal_moves()))
        agent, rng = make_agent("random", game.rules), np.random.default_rng(0)
        games.play_out(agent, rng, game.moves_played + 1)
        drawn = Counter(game.key() for game in games)
        assert drawn.keys() == {game.after(move).key() for move in moves}
        assert min(drawn.values()) > 50


# --- environments -------------------------------------------------------------------------------


@pytest.mark.parametrize("env_id", ["FourSeasons-v0", "FourSeasonsNextDeal-v0"])
@pytest.mark.parametrize("limit", [1, 8])
def test_max_moves_counts_the_episode(env_id: str, limit: int) -> None:
    start = later(Game("czarina", deal=17), random_moves(Game("czarina", deal=17), 1, 30))
    assert start.moves_played > 8
    envs = gym.make_vec(env_id, num_envs=1, rules="czarina", max_moves=limit)
    _, infos = envs.reset(options={"game": start})
    truncated, steps = False, 0
    while not truncated:
        assert 0 <= envs.call("game")[0].moves_played - start.moves_played < limit
        _, _, _, truncated, infos = envs.step(infos["action_mask"].argmax(axis=1))
        steps += 1
    assert steps == limit or "NextDeal" in env_id
