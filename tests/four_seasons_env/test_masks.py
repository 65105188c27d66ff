"""The mask `no_repeats`, against a slow model with a set of positions."""

import numpy as np
import pytest

from four_seasons_env.agents import make_agent
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.engine.masks import MASKS, mask_after, new_history, with_room
from four_seasons_env.engine.moves import all_moves
from four_seasons_env.env import FourSeasonsEnv
from four_seasons_env.game import Game
from four_seasons_env.rules import RULES
from tests.helpers import (
    REPRESENTATIVES,
    canonical,
    later,
    mostly_slow,
    numbered_deck,
    random_moves,
)
from tests.reference.slow_model import SlowGame


class SlowRun:
    """A slow game with the positions of its present run of moves."""

    def __init__(self, rules, deal):
        self.game = SlowGame(rules, numbered_deck(deal, rules.ranks))
        self.seen = {canonical(self.game)}

    def moves(self):
        """The distinct moves that lead to no seen position."""
        distinct = self.game.distinct_moves()
        return {text for text in distinct if canonical(self.game.after(text)) not in self.seen}

    def play(self, text):
        before, self.game = self.game, self.game.after(text)
        up = text.endswith(">F") and not self.game.rules.worrying_back
        if up or (self.game.stock, self.game.waste) != (before.stock, before.waste):
            self.seen.clear()
        self.seen.add(canonical(self.game))


def play_beside_the_model(rules, player, games, max_moves=500):
    """Play games in an environment and in the slow model; returns how many ended without a move."""
    env = FourSeasonsEnv(rules, mask="no_repeats", illegal="raise", max_moves=max_moves)
    rng, agent, moves, stuck = np.random.default_rng(0), None, all_moves(rules), 0
    if player != "random":
        agent = make_agent(player, rules)
    for deal in range(TRAIN_FROM, TRAIN_FROM + games):
        _, info = env.reset(options={"deal": deal})
        model, ended = SlowRun(rules, deal), False
        while not ended:
            mask = info["action_mask"]
            assert {moves[number].text for number in np.flatnonzero(mask)} == model.moves()
            if agent:
                action = int(agent.act(env.game.record.copy(), mask[None].copy(), rng)[0])
            else:
                action = int(rng.choice(np.flatnonzero(mask)))
            model.play(moves[action].text)
            _, _, terminated, truncated, info = env.step(action)
            ended = terminated or truncated
            assert terminated == (not model.moves())
            assert terminated or env.game.moves_played == max_moves or not truncated
        stuck += terminated and not env.game.is_over
    return stuck


@pytest.mark.parametrize("player", ["random", "greedy"])
@pytest.mark.parametrize("name", mostly_slow(RULES, (*REPRESENTATIVES, "pysolfc/simplicity")))
def test_mask_is_that_of_a_slow_model(name, player):
    stuck = play_beside_the_model(RULES[name], player, 3)
    if RULES[name].build != "none" and player == "random":
        assert stuck, "positions run out"


@pytest.mark.parametrize("name", REPRESENTATIVES)
def test_other_masks_are_those_of_a_slow_model(name):
    rng, moves = np.random.default_rng(0), all_moves(RULES[name])
    for mask, marked in (("legal", SlowGame.legal_moves), ("distinct", SlowGame.distinct_moves)):
        env = FourSeasonsEnv(name, mask=mask, illegal="raise", max_moves=60)
        _, info = env.reset(options={"deal": TRAIN_FROM})
        model, ended = SlowGame(RULES[name], numbered_deck(TRAIN_FROM, RULES[name].ranks)), False
        while not ended:
            legal = np.flatnonzero(info["action_mask"])
            assert {moves[number].text for number in legal} == set(marked(model))
            action = int(rng.choice(legal))
            model.play(moves[action].text)
            _, _, terminated, truncated, info = env.step(action)
            ended = terminated or truncated


def test_the_history_grows_before_it_is_full():
    history = new_history(2, MASKS.index("no_repeats"))
    for length, blocks in ((4, 1), (5, 2), (8, 2), (9, 4)):
        history.runs["length"][1] = length
        history = with_room(history)
        assert history.seen.shape == (blocks, 2, 8)


def test_a_reset_from_a_game_starts_a_new_run():
    game = later(Game(deal=TRAIN_FROM), random_moves(Game(deal=TRAIN_FROM), 1, 30))
    env = FourSeasonsEnv(mask="no_repeats")
    _, info = env.reset(options={"game": game})
    assert (info["action_mask"] == game.action_mask(distinct=True)).all()


@pytest.mark.parametrize("name", ["four-seasons", "four-seasons-1883"])
def test_masks_outside_an_environment_are_the_same(name):
    """Moves between piles come first, so that some could lead back, also to the start."""
    env, rules = FourSeasonsEnv(name, mask="no_repeats", max_moves=40), RULES[name]
    left_out = 0
    for deal in range(TRAIN_FROM, TRAIN_FROM + 3):
        _, info = env.reset(options={"deal": deal})
        start, played, ended = env.game.record.copy(), [], False
        while not ended:
            mask = mask_after(start, rules, played)
            assert (mask == info["action_mask"]).all()
            left_out += (env.game.action_mask(distinct=True) > mask).sum()
            played.append(all_moves(rules)[np.flatnonzero(mask)[-1]])
            _, _, terminated, truncated, info = env.step(played[-1].number)
            ended = terminated or truncated
    assert left_out
