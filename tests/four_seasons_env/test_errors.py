"""Wrong use: an error says what was wrong and names the nearest valid choice, and nothing changes.

Each check has its rows once; of its callers one row shows that they check.
"""

import contextlib
import inspect
import json
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from four_seasons_env import Game, Games, IllegalMove, stock_order
from four_seasons_env.agents import make_agent
from four_seasons_env.engine.deals import DeckError, card_code, check_deal, parse_deals, parse_deck
from four_seasons_env.engine.moves import find_move
from four_seasons_env.engine.validation import InvalidGame
from four_seasons_env.env import FourSeasonsEnv
from four_seasons_env.evaluation import evaluate
from four_seasons_env.next_deal import FourSeasonsNextDealEnv, FourSeasonsNextDealVectorEnv
from four_seasons_env.observations import observations_of
from four_seasons_env.records import RecordError, parse_record
from four_seasons_env.rules import RULES, Rules, UnknownRules, get_rules
from four_seasons_env.solver import fair_value, solve
from four_seasons_env.testing import check_masked_env
from four_seasons_env.text import FourSeasonsTextEnv
from four_seasons_env.vector import FourSeasonsVectorEnv
from four_seasons_env.wrappers import MaskInObservation, VectorMaskInObservation
from tests.helpers import cards_in_order, deck_with, later, same, small

SINGLE = (FourSeasonsEnv, FourSeasonsNextDealEnv)
MANY = (FourSeasonsVectorEnv, FourSeasonsNextDealVectorEnv)
KINDS = (*SINGLE, *MANY, FourSeasonsTextEnv)

Row = tuple[Any, type[Exception], str]
"""What is passed (a dictionary as arguments by name), the error, and what is said."""

# --- arguments of environments ------------------------------------------------------------------

ENVIRONMENTS: list[tuple[Callable[..., Any], list[Row]]] = [
    *(
        (kind, [({"rule": 1}, TypeError, f"^{kind.__name__} has no argument 'rule': did you mean")])
        for kind in KINDS
    ),
    (
        FourSeasonsEnv,
        [
            ({"observation": "top"}, ValueError, "unknown observation 'top': did you mean 'tops'"),
            ({"reward": "foundaton"}, ValueError, "did you mean 'foundation'"),
            ({"deals": []}, ValueError, "deals must name one deal or more"),
            ({"deals": iter([17])}, ValueError, r"a range, a list or .*: pass list\(deals\)"),
            ({"deals": range(9_999, 2**62)}, ValueError, "deal 9999 is a test deal"),
            ({"deals": range(2**62, 2**63 + 1)}, ValueError, "deal must be 0 to"),
            ({"starts": Game(deal=10_000)}, TypeError, r"a list of games or a Games, .*: pass \[g"),
            (
                {"starts": Game().record},
                TypeError,
                r"Games, not array.*: pass Games.from_records\(re",
            ),
            ({"starts": [17]}, TypeError, "game must be a four_seasons_env.game.Game, not 17"),
            ({"starts": []}, ValueError, "starts must hold one game or more; None is for deals"),
            ({"starts": [Game("czarina")]}, ValueError, "starts must be 'four-.*', not 'czarina'"),
            ({"starts": [Game(deal=9_999)]}, ValueError, "deal 9999 is a test deal"),
            ({"starts": Games(deals=2)[:0]}, ValueError, "starts must hold one game or more"),
        ],
    ),
    (
        partial(FourSeasonsEnv().set_starts, [Game(deal=10_000)]),
        [
            ({"share": 1.5}, ValueError, "^share must be 0 to 1, not 1.5"),
            ({"share": True}, TypeError, "share must be a number from 0 to 1, n"),
            ({"reshuffle": "no"}, ValueError, "unknown reshuffle 'no'"),
        ],
    ),
    (FourSeasonsVectorEnv, [({"num_envs": 2**62}, ValueError, "^num_envs must be 2,147,483,647")]),
    (
        FourSeasonsNextDealEnv,
        [
            ({"candidates": 0}, ValueError, "candidates must be a positive integer"),
            ({"candidates": 10**9}, ValueError, "candidates must be 16,250 or less, not 1,000,000"),
            ({"expansions": 10_000}, ValueError, "expansions must be 6,500 or less, not 10,000"),
        ],
    ),
    (
        FourSeasonsTextEnv,
        [
            ({"shuffle": "no"}, ValueError, "unknown shuffle 'no'"),
            ({"choices": 3}, ValueError, 'choices=3 is for unit="position", not "move"'),
        ],
    ),
    (
        partial(MaskInObservation, gym.make("FourSeasons-v0")),
        [
            ({"keys": "rlib"}, ValueError, "unknown library 'rlib': did you mean 'rllib'"),
            ({"keys": ("a", "a")}, ValueError, "two different names"),
        ],
    ),
    (
        lambda wrapper, make: wrapper(make("CartPole-v1")).reset(),
        [
            ((MaskInObservation, gym.make), ValueError, r'no masks in info\["action_mask"\]'),
            ((VectorMaskInObservation, gym.make_vec), ValueError, "returns no masks in info"),
        ],
    ),
    (MaskInObservation, [(gym.make("Pendulum-v1"), ValueError, "actions must be Discrete")]),
    (check_masked_env, [(gym.make("Pendulum-v1"), AssertionError, "actions must be Discrete")]),
]

# --- cards, deals, rules and records ------------------------------------------------------------

FULL = cards_in_order()
LINE = {"rules": "four-seasons", "deal": 17, "moves": ["deal", "T3>T0"], "result": "open"}
TOO_MANY = {"ranks": 4, "piles": 12, "base_from": "one_per_suit", "build": "none"}
EMPTY = {"opening": "empty", "base_from": "first"}
LIMITED = {"limited_redeal": True, "redeals": 1, "spaces": "before_dealing"}

TEXTS: list[tuple[Callable[..., Any], list[Row]]] = [
    (card_code, [(each, DeckError, f"unknown card '{each}'") for each in ("", "11H", "6HH", "🂬")]),
    (
        parse_deck,
        [
            ([*FULL[:-1], "AC"], DeckError, "repeated: AC; missing: KD"),
            (([*FULL[:15], "5C"], 4), DeckError, "above the highest rank 4: 5C"),
        ],
    ),
    (check_deal, [(each, ValueError, "deal must be 0 to") for each in (-1, 2**63)]),
    (check_deal, [(each, ValueError, "deal must be an in") for each in (1.5, "17", None, [17])]),
    (
        parse_deals,
        [
            *((each, ValueError, "^deals must be given as '10000-10999'") for each in ("", "-5")),
            ("tset", ValueError, "'test' or 'validation', not 'tset'$"),
            ("9-3", ValueError, "the deals '9-3' run backwards: write '3-9'"),
        ],
    ),
    (
        partial(find_move, RULES["four-seasons"]),
        [
            ("T1->T2", ValueError, "did you mean 'T1>T2'"),
            (1.0, TypeError, "a move must be a Move, its text or its number, not 1.0"),
        ],
    ),
    (
        Rules,
        [
            ({"ranks": 3}, ValueError, "ranks must be an integer from 4 to 13, not 3"),
            ({"opening": "as_dealt"}, ValueError, "as_dealt.* use base_from='first'"),
            ({"base_from": "one_per_suit"}, ValueError, "use build='none'"),
            ({"runs": True, "build": "none"}, ValueError, "use runs=False, not True"),
            ({"opening": "empty"}, ValueError, "opening='empty' .* use base_from='first'"),
            (EMPTY | {"spaces": "auto_stock"}, ValueError, "'optional' or 'before_dealing', not"),
            (EMPTY | {"reserve": True}, ValueError, "use reserve=False, not True"),
            ({"reserve": True, "piles": 1}, ValueError, "use piles=2 or more, not 1"),
            ({"reserve": True, "spaces": "auto_waste"}, ValueError, "use spaces='optional'"),
            ({"limited_redeal": True}, ValueError, "use redeals=1, not 0"),
            (LIMITED, ValueError, "'auto_waste', not 'before_dealing'"),
            (TOO_MANY | {"first_waste": 1}, ValueError, "takes 17 cards, but 4 .* a deck of 16"),
        ],
    ),
    (Rules().replace, [({"pile": 3}, TypeError, "unknown field 'pile': did you mean 'piles'")]),
    (
        get_rules,
        [
            ("czarena", ValueError, "unknown rules 'czarena': did you mean 'czarina'"),
            (5, TypeError, "a name or a Rules, not 5"),
            ("czarina(pile=4)", ValueError, "unknown field 'pile' in .*: did you mean 'piles'"),
            ("czarina(piles=4", ValueError, "write each field once"),
        ],
    ),
    (
        RULES.__getitem__,
        [
            ("czarin", KeyError, "unknown rules 'czarin': did you mean 'czarina'"),
            ("corner-card", UnknownRules, r"use get_rules\('corner-card'\)"),
        ],
    ),
    (
        lambda **changes: parse_record(json.dumps(LINE | changes)),
        [
            ({"deal": True}, RecordError, "'deal' must be of type int"),
            ({"deck": " ".join(FULL)}, RecordError, "a deal or a deck, and not both"),
            ({"moves": ["deal", "T0>F"]}, RecordError, "T0>F is not legal"),
            ({"result": "won"}, RecordError, "the moves lead to 'open', but the record says 'won'"),
            ({"times": [1]}, RecordError, "one for each move"),
            ({"times": [0, 10**400]}, RecordError, "times must be seconds"),
            ({"undone": -1}, RecordError, "'undone' must be 0 or more, not -1"),
            ({"by_agent": 3}, RecordError, "more moves than the record has"),
            ({"playr": "Ada"}, RecordError, "unknown field 'playr': did you mean 'player'"),
        ],
    ),
    (
        parse_record,
        [
            ("[]", RecordError, r"a record must be a JSON object, not '\[\]'"),
            ("{}", RecordError, "fields are missing: moves, result, rules"),
            *((each, RecordError, "this is not JSON") for each in ("", "[" * 100_000)),
        ],
    ),
]

# --- games and what is asked of them --------------------------------------------------------------


def replied(reply: Any) -> Any:
    env = FourSeasonsTextEnv()
    env.reset()
    return env.step(reply)


TWO = Games(deals=2).records
ONE_BY_ONE = gym.make_vec("FourSeasons-v0", num_envs=2, vectorization_mode="sync")
FEW_HIDDEN = Game(small("four-seasons", ranks=6, piles=3), deal=0)

GAMES: list[tuple[Callable[..., Any], list[Row]]] = [
    (Game, [({"deal": -1}, ValueError, "deal must be 0 to")]),
    (Game, [({"deal": 1, "deck": FULL}, ValueError, "a deal or a deck, not both")]),
    (
        lambda moves: Games(deals=2).play(moves),
        [
            ([-1, 1], IllegalMove, "W>F is not legal in game 1"),
            ([99, 0], IllegalMove, "move 99 is not legal in game 0"),
            ([0.7, 0.0], TypeError, "moves must be integers, not float64"),
            (np.full(2, 2**64 - 1, np.uint64), ValueError, r"moves must be less than 2\^63, not"),
        ],
    ),
    (Games.of, [([Game("czarina"), Game()], ValueError, "of the same rule set")]),
    (Games(deals=2).__getitem__, [(each, IndexError, "rows must be") for each in ([[0]], True)]),
    (
        lambda envs: evaluate(envs, lambda _, masks: masks.argmax(axis=1)),
        [
            (gym.make_vec("CartPole-v1", num_envs=2), TypeError, "CartPoleVectorEnv"),
            (ONE_BY_ONE, TypeError, "a native vector environment .*, not SyncVectorEnv"),
            (gym.make("FourSeasons-v0"), TypeError, "num_envs=100.*, not FourSeasonsEnv"),
        ],
    ),
    (
        lambda games: observations_of(games, RULES["four-seasons"], "tops"),
        [(np.zeros(2, TWO.dtype), InvalidGame, "record 0 is not a valid position of 'four-seas")],
    ),
    (Games.from_records, [((TWO, Rules(ranks=6)), InvalidGame, "is not a valid position")]),
    (
        lambda agent: Games(deals=2).play_out(agent, np.random.default_rng(0)),
        [
            (make_agent("finisher"), TypeError, "FinisherAgent has no play_out: heuristic, greedy"),
            (make_agent("greedy", "czarina"), ValueError, "be 'four-seasons', not 'czarina'"),
        ],
    ),
    (Game(deal=17).stops, [(each, ValueError, "expansions must be") for each in (0, 10_000)]),
    (
        partial(solve, Game(deal=17)),
        [
            ({"seconds": "10"}, TypeError, "seconds must be a number, not '10'"),
            ({"seconds": float("nan")}, ValueError, "seconds must be more than 0, not nan"),
        ],
    ),
    (
        fair_value,
        [
            (Game(deal=0), ValueError, "at most 20, not 46"),
            (Game("pysolfc/corners", deal=0), ValueError, "at most 18, not 42"),
        ],
    ),
    (partial(fair_value, FEW_HIDDEN), [({"move": "W>F"}, IllegalMove, "W>F")]),
    (Game().reshuffled, [(7, TypeError, "^rng must be a numpy.random.Generator, not 7$")]),
    (
        stock_order,
        [
            (Game(), TypeError, "must be a Games or a GAME array of .*: pass game.record"),
            (np.zeros((2, 52), np.uint8), TypeError, "must be a Games or a GAME array of shape"),
        ],
    ),
    (replied, [(0, TypeError, "a reply must be text, not int")]),
    (
        lambda name: gym.make_vec("FourSeasons-v0", num_envs=2).get_attr(name),
        [
            ("step", AttributeError, "one game of a batch has no 'step': use that of the batch"),
            ("rendr", AttributeError, "did you mean 'render'"),
        ],
    ),
]


@pytest.mark.parametrize(
    ("call", "passed", "error", "said"),
    [(call, *each) for call, rows in (*ENVIRONMENTS, *TEXTS, *GAMES) for each in rows],
)
def test_wrong_use_is_told(
    call: Callable[..., Any], passed: Any, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        if isinstance(passed, dict):
            call(**passed)
        elif isinstance(passed, tuple):
            call(*passed)
        else:
            call(passed)


@pytest.mark.parametrize("kind", [*KINDS, Rules])
def test_each_argument_is_checked(kind: Callable[..., Any]) -> None:
    """A text that means nothing is refused by the argument's name; only names are free."""
    for name in inspect.signature(kind).parameters.keys() - {"name", "about"}:
        with pytest.raises((TypeError, ValueError), match=name):
            kind(**{name: "nonsense"})


@pytest.mark.parametrize("kind", KINDS)
def test_arguments_cannot_be_set_afterwards(kind: Callable[..., Any]) -> None:
    """They would have no effect, or half of one."""
    env = gym.make("FourSeasons-v0").unwrapped if kind is FourSeasonsEnv else kind()
    kept = {name: getattr(env, name, None) for name in inspect.signature(kind).parameters}
    for name, value in kept.items():
        with pytest.raises(AttributeError, match=f"cannot set '{name}': an environment keeps its"):
            setattr(env, name, value)
    assert {name: getattr(env, name, None) for name in kept} == kept
    assert {"rules", "render_mode"} <= {name for name in kept if hasattr(env, name)}


OPENING = deck_with("2S 8H 4S JD 6H 2C 9C TD")
#       2S                      [2C]
#   8H  4S  JD      the next cards of the stock are 9C, TD
#       6H
TWO_CARDS = small("czarina-1898", ranks=4, piles=1)
ALL = ["deal"] * 46
RUN = deck_with("5S 6H 9S JD KC 2C")
SECOND_ROUND = deck_with("3C 2H 4S 2C 3H 2S 3S AD", ranks=4)
REDEAL = ["deal"] * 14 + ["redeal"]
CARDS, UP = cards_in_order(4), ["T0>F", "T1>F", "T2>F", *["deal", "W>F"] * 12]
FLORENTINE = deck_with("5H 9C 4D 8S 8D 2C 7C QD JS")


@pytest.mark.parametrize(
    ("rules", "deck", "played", "move", "reason"),
    [
        (Rules(), OPENING, [], "W>F", "there is no card at W"),
        (Rules(), OPENING, [], "T1>F", "the foundation starts with 2H, not 8H"),
        (Rules(), OPENING, [], "T0>T1", "2S does not go on 8H at T1"),
        (Rules(), OPENING, ["T0>F"], "T2>F", "4S does not follow 2S on its foundation"),
        (Rules(spaces="before_dealing"), OPENING, ["T0>F", "deal"], "deal", "a space must be fill"),
        (Rules(redeals=1), OPENING, [], "redeal", "the stock is not empty"),
        (Rules(), OPENING, ALL, "deal", "the stock is empty"),
        (Rules(ranks=4, piles=3), CARDS, UP, "deal", "the game is won"),
        (Rules(redeals=1), OPENING, [*ALL, "redeal", *ALL], "redeal", "no redeal"),
        (Rules(worrying_back=True), OPENING, [], "F:S>T0", "there is no card at F:S"),
        (Rules(worrying_back=True), OPENING, [], "F:C>T0", "2C does not go on 2S at T0"),
        (Rules(runs=True), RUN, ["T0>T1"], "T1>T2", "no packed part of T1 with 5S on top fits 9S"),
        (TWO_CARDS, SECOND_ROUND, REDEAL, "deal", "the next card is turned automatically"),
        (TWO_CARDS, SECOND_ROUND, REDEAL, "W>F", ".*4S"),
        ("florentine", FLORENTINE, ["deal"], "W>T2", ".*filled from the stock alone"),
        ("florentine", FLORENTINE, ["deal"], "T2>T0", ".*goes to its foundation or to a"),
        ("florentine", FLORENTINE, ["T3>T0"], "T1>T3", "a space is filled with the waste's card"),
    ],
)
def test_an_illegal_move_has_a_reason(
    rules: Rules | str, deck: list[str], played: list[str], move: str, reason: str
) -> None:
    game = later(Game(rules, deck=deck), played)
    before = game.copy()
    with pytest.raises(IllegalMove, match=f"^{move} is not legal: {reason}"):
        game.play(move)
    assert game == before


# --- environments in an episode -----------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_an_episode_must_have_begun(kind: Callable[..., Any]) -> None:
    env = kind(max_moves=1)
    action = "deal" if kind is FourSeasonsTextEnv else np.zeros(1, int) if kind in MANY else 0
    for _ in range(2):
        with pytest.raises(ResetNeeded, match=r"call reset\(\) first"):
            env.message if kind is FourSeasonsTextEnv else env.action_masks()
        with pytest.raises(ResetNeeded, match=r"call reset\(\) first"):
            env.step(action)
        with contextlib.suppress(ValueError):
            env.reset(options={"deal": -1})
    if kind not in MANY:
        env.reset(seed=1)
        env.step(action)
        before = env.game
        with pytest.raises(ResetNeeded, match=r"call reset\(\) first"):
            env.step(action)
        assert env.game == before


STRICT = [partial(kind, illegal="raise") for kind in (*SINGLE, FourSeasonsVectorEnv)]


def forbidden(env: Any) -> int:
    """An action that the mask of the last game forbids."""
    return int(np.atleast_2d(env.action_masks())[-1].argmin())


def begun(**arguments: Any) -> Callable[[Any], Any]:
    return lambda env: env.reset(**{"seed": 99} | arguments)


def over() -> Game:
    games = Games(deals=[10_003])
    games.play_out(make_agent("greedy"), np.random.default_rng(0))
    assert games.is_over.all()
    return games[0]


def continue_a_game_that_is_over(env: Any) -> Any:
    return env.reset(seed=99, options={"game": over()})


def start_where_a_game_is_over(env: Any) -> Any:
    return env.set_starts([Game(deal=10_000), over()])


SEEDS = (True, "1", 1.0, -1, 2**64)
IN_EPISODES = [
    *(
        ((*SINGLE, *MANY), begun(options=options), error, said)
        for options, error, said in [
            (17, TypeError, r"options must be \{'deal': 17\} or \{'deck': text\}, not 17"),
            ({"deals": 17}, ValueError, "unknown option 'deals': did you mean 'deal'"),
            ({"deal": 17, "deck": "AC"}, ValueError, "give only one"),
            ({"deck": 17}, ValueError, "a deck must be text such as 'QH 3D ... 5D', or a list"),
            ({"game": Game("czarina")}, ValueError, "must be 'four-seasons', not 'czarina'"),
        ]
    ),
    ((*SINGLE, *MANY), continue_a_game_that_is_over, ValueError, "the game is over"),
    *(((*SINGLE, *MANY), begun(seed=seed), ValueError, "seed must be") for seed in SEEDS),
    *(
        (MANY, begun(**arguments), ValueError, said)
        for arguments, said in [
            ({"options": {"game": [Game()] * 3}}, "must be one value or 2, one for each game, not"),
            ({"seed": 2**64 - 1}, r"seed must be 0 to 2\^64 - 2 for 2 games"),
            ({"options": {"reset_mask": [1, 0]}}, r"a bool array of shape \(2,\), not int64"),
            ({"options": {"reset_mask": np.ones(4, np.bool_)}}, r"not bool of shape \(4,\)"),
            ({"options": {"reset_mask": np.zeros(2, np.bool_)}}, "must name one game or more"),
            ({"options": {"reset_maks": None}}, "did you mean 'reset_mask'"),
        ]
    ),
    *(
        (SINGLE, lambda env, action=action: env.step(action), error, said)
        for action, error, said in [
            (True, TypeError, "must be an integer, not True: did you mean 1"),
            (np.array([0]), TypeError, r"of shape \(1,\): take its one element with \.item\(\)"),
            (-1, ValueError, "^action must be 0 to 31, not -1$"),
            (np.uint64(2**64 - 1), ValueError, f"^action must be 0 to 31, not {2**64 - 1}$"),
        ]
    ),
    *(
        (MANY, lambda env, actions=actions: env.step(np.array(actions)), error, said)
        for actions, error, said in [
            ([0, 0, 0], ValueError, r"^actions must be of shape \(2,\), not of shape \(3,\)"),
            ([True, False], TypeError, "actions must be integers, not bool"),
            ([0, 32], ValueError, "^action in game 1 must be 0 to 31, not 32"),
            ([0, 40], ValueError, "^action in game 1 must be 0 to 31, not 40"),
            ([-1, 0], ValueError, "^action in game 0 must be"),
            (np.array([0, 32], np.uint64), ValueError, "^action in game 1 must be 0 to 31, not 32"),
            (np.array([0, 2**64 - 1], np.uint64), ValueError, f"than 2\\^63, not {2**64 - 1}$"),
        ]
    ),
    ([STRICT[0]], lambda env: env.step(forbidden(env)), IllegalMove, "^action 1: W>F is not"),
    ([STRICT[1]], lambda env: env.step(forbidden(env)), IllegalMove, r"^action \d+ is not off"),
    ([STRICT[2]], lambda env: env.step([0, forbidden(env)]), IllegalMove, r"in game 1: \S+ is not"),
    ([SINGLE[1]], lambda env: env.moves_of(forbidden(env)), ValueError, "not offered"),
    ((*SINGLE, *MANY), start_where_a_game_is_over, ValueError, r"but starts\[1\] is over: leave"),
    (MANY, lambda env: env.set_deals([10_000, 9_999]), ValueError, "deal 9999 is a test deal"),
]


def go_on(env: Any) -> list[Any]:
    """The answers to some legal actions, over the end of an episode, and to two resets."""
    answers = []
    for _ in range(20):
        *_, terminated, truncated, _ = answer = env.step(env.action_masks().argmax(axis=-1))
        answers.append(answer)
        if isinstance(env, gym.Env) and (terminated or truncated):
            answers.append(env.reset())
    return [*answers, env.reset(), env.reset(), env.np_random.bit_generator.state]


@pytest.mark.parametrize(
    ("kind", "wrong", "error", "said"),
    [(kind, *each) for kinds, *each in IN_EPISODES for kind in kinds],
)
def test_a_refused_call_changes_nothing(
    kind: Callable[..., Any], wrong: Callable[[Any], Any], error: type[Exception], said: str
) -> None:
    arguments = {"num_envs": 2} if kind in (*MANY, STRICT[2]) else {}
    twins = [kind(**arguments, max_moves=9) for _ in "ab"]
    for each in twins:
        each.reset(seed=11)
        each.step(each.action_masks().argmax(axis=-1))
    with pytest.raises(error, match=said):
        wrong(twins[0])
    assert same(*map(go_on, twins))


def test_a_batch_begins_as_a_whole() -> None:
    env = FourSeasonsVectorEnv(2)
    with pytest.raises(ResetNeeded):
        env.reset(seed=1, options={"reset_mask": np.array([True, False])})
    env.reset(seed=1, options={"reset_mask": np.array([True, True])})


def test_a_reward_writes_into_no_game() -> None:
    def spoil(before: np.ndarray, after: np.ndarray) -> float:
        before["level"] = 99
        after["below"] = 99
        return 0

    for kind in (FourSeasonsEnv, FourSeasonsNextDealEnv):
        env = kind(reward=spoil)
        env.reset(seed=0)
        with pytest.raises(ValueError, match="read-only"):
            env.step(0)
        assert env.game.cards_up == 1


def test_rewards_are_numbers() -> None:
    envs = FourSeasonsVectorEnv(2, reward=lambda before, after: np.zeros(3))
    envs.reset(seed=0)
    with pytest.raises(ValueError, match=r"must return numbers of shape \(2,\), one per game"):
        envs.step(np.zeros(2, np.int64))
