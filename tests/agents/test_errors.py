"""Wrong use of agents: what is called, the error, and what it says. Each check is tested once."""

import json
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from four_seasons_env.agents import AGENTS, load_policy, make_agent, policy, save_policy
from four_seasons_env.agents.agent import AnswerError
from four_seasons_env.agents.names import read_options
from four_seasons_env.agents.network.rows import move_rows_of, rows_of
from four_seasons_env.agents.planner.chances import Judge
from four_seasons_env.agents.planner.luck import LuckMeter
from four_seasons_env.agents.policy_files import CARD_FILE, WEIGHTS_FILE, PolicyFileError
from four_seasons_env.agents.training import get_learner
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.engine.kernel import GAME
from four_seasons_env.engine.validation import InvalidGame
from four_seasons_env.experiments.play import play_deals
from four_seasons_env.experiments.players import find_players
from four_seasons_env.game import Game
from four_seasons_env.games import Games
from four_seasons_env.records import play_through
from four_seasons_env.rules import RULES
from tests.agents import fakes
from tests.agents.fakes import HERE

DEFAULT = RULES["four-seasons"]
Call = Callable[[Path], Any]
"""What is called, with an empty folder."""


# --- what is called -------------------------------------------------------------------------------


def agent(name: str, **options: Any) -> Call:
    return lambda _: make_agent(name, **options)


def players(*names: str) -> Call:
    """The players of a comparison."""
    return lambda _: find_players(names, "four-seasons")


def plays(name: str) -> Call:
    """An agent that plays a game."""
    return lambda _: play_deals(make_agent(name), DEFAULT, [TRAIN_FROM])


def of_rules(name: str, deals: Any = (TRAIN_FROM,), **options: Any) -> Call:
    return lambda _: play_deals(make_agent("heuristic", name), DEFAULT, deals, **options)


def answers(function: Any, env: str = "FourSeasons-v0") -> Call:
    """A policy that is played."""
    made = policy(env, plays=("stochastic",))
    return lambda _: play_deals(made(function)(DEFAULT), DEFAULT, [7])


def option(**text: str) -> Call:
    class Made(fakes.First):
        def __init__(self, on: bool = False, share: float = 0.5) -> None:
            """Has options."""

    return lambda _: read_options("mine", Made.parameters(), text, text=True)


def written(**attributes: Any) -> Call:
    """A class of agents, when it is written."""
    return lambda _: type("Mine", (fakes.First,), attributes)


def settings(*flags: str, name: str = "maskable_ppo") -> Call:
    """Hyperparameters of flags."""
    return lambda _: get_learner(name).read_settings(flags)


def learner(name: str) -> Call:
    return lambda _: get_learner(name)


def saved(folder: Path, name: str = "maskable_ppo", rules: str = "four-seasons") -> Path:
    """The folder of a policy."""
    if name == "maskable_ppo":
        save_policy(folder, fakes.move_card(RULES[rules]), fakes.move_weights())
    else:
        save_policy(str(folder), fakes.candidate_card(RULES[rules]), fakes.candidate_weights())
    return folder


def of_other_rules(trained: str, played: str, name: str = "maskable_ppo") -> Call:
    return lambda folder: load_policy(str(saved(folder, rules=trained)), name, RULES[played])


def with_card(name: str = "maskable_ppo", **fields: object) -> Call:
    """A policy whose card has other values."""

    def load(folder: Path) -> None:
        path = saved(folder, name) / CARD_FILE
        path.write_text(json.dumps(json.loads(path.read_text()) | fields))
        make_agent(f"{name}:{folder}")

    return load


def with_file(name: str, damage: Callable[[bytes], bytes]) -> Call:
    """A policy with a damaged file."""

    def load(folder: Path) -> None:
        path = saved(folder) / name
        path.write_bytes(damage(path.read_bytes()))
        load_policy(folder, "maskable_ppo", DEFAULT)

    return load


def one_bit(data: bytes) -> bytes:
    """Of the last weight: the file is as long as before, and still safetensors."""
    return data[:-1] + bytes([data[-1] ^ 1])


def with_nan(folder: Path) -> None:
    weights = fakes.move_weights()
    next(iter(weights.values()))[0, 0] = np.nan
    save_policy(folder, fakes.move_card(DEFAULT), weights)
    make_agent(f"maskable_ppo:{folder}")


def candidates(observations: np.ndarray) -> None:
    masks = np.ones(observations.shape[:2], np.int8)
    agent: Any = make_agent("next_deal_ppo")
    agent.choose(observations, masks, np.random.default_rng(0))


def sb3_model(name: str, next_deal: bool, observation: str, **options: Any) -> Call:
    """A model of Stable-Baselines3 on an environment that does not suit it."""

    def make(_: Path) -> None:
        from sb3_contrib import MaskablePPO

        from four_seasons_env.adapters import sb3
        from four_seasons_env.agents import CandidatePolicy, MovePolicy, TableEncoder

        kind = {"moves": MovePolicy, "candidates": CandidatePolicy}[name]
        env = sb3.FourSeasonsNextDealVecEnv if next_deal else sb3.FourSeasonsVecEnv
        if options.pop("table", False):
            options["features_extractor_class"] = TableEncoder
        MaskablePPO(kind, env(2, observation=observation), policy_kwargs=options)

    return make


# --- what it says ---------------------------------------------------------------------------------

NAMES = [
    (agent("planer:runs/x"), ValueError, "unknown agent 'planer', .*did you mean 'planner'"),
    (agent("random:runs/x"), ValueError, "has no weights"),
    (agent("maskable_ppo:runs/nowhere"), FileNotFoundError, "no weights at runs/nowhere"),
    (agent("=heuristic"), ValueError, "a label must not be empty"),
    (agent("__main__:mine"), ValueError, r"save it in my_module\.py and write my_module:mine"),
    (agent(f"{HERE}:A,{HERE}:B"), ValueError, "give the same label to each, as in own="),
    (agent("no_module:First"), ValueError, "agent 'no_module', and no module .* in this folder"),
    (agent("json"), ValueError, "named as in json:MyAgent, not 'json'"),
    (agent("json.py:Mine"), ValueError, "named as in json:Mine, not"),
    (agent(f"{HERE}:Firrst"), ValueError, "has no class 'Firrst': did you mean 'First'"),
]
OPTIONS = [
    (agent("rollout@worlds"), ValueError, "is not an option"),
    (agent("rollout@world=4"), ValueError, "no option 'world': did you mean 'worlds'"),
    (agent("maskable_ppo@deterministic=true"), ValueError, "choose .* with --play"),
    (agent("rollout@worlds=2,worlds=3"), ValueError, "option 'worlds' is given twice"),
    (agent("rollout@worlds=0"), ValueError, "worlds must be a positive integer, not 0"),
    (agent("rollout@expansions=9000"), ValueError, "expansions must be 0 to 8192, not 9000"),
    (agent(f"planner@expansions={2**63}"), ValueError, "expansions must be 0 to 92233720368547758"),
    (agent("rollout@worlds=2.5"), ValueError, r"number, 0 or more, not '2\.5' \(default 16\)"),
    (option(share="nan"), ValueError, "share of agent 'mine' must be a number, 0 or more, not 'n"),
]
PLAYERS = [
    (agent(f"{HERE}:Alike"), ValueError, "is no agent: derive it from .*agents.Agent"),
    (agent(f"{HERE}:maker"), ValueError, "is no agent: derive it from .*agents.Agent"),
    (agent(f"{HERE}:OddMask"), ValueError, "unknown mask .* 'legall': did you mean 'legal'"),
    (agent(f"{HERE}:First:runs/x"), ValueError, "has no weights: leave out ':runs/x'"),
    (written(act=lambda self, games, masks: 0), TypeError, "Mine must take games, masks and rng"),
    (written(mask="legall"), ValueError, "agent Mine 'legall': did you mean 'legal'"),
    (written(kind=None), TypeError, "kind of agent Mine must be a text, not None"),
    (written(block=0), ValueError, "block of agent Mine must be a positive integer, not 0"),
    (written(plays=("stochastc",)), ValueError, "'stochastc': did you mean 'stochastic'"),
    (written(plays=("stochastic", "stochastic")), ValueError, "must be one or both of"),
    (lambda _: policy("FourSeasons-v0", plays="stochastic"), TypeError, "must be .*stochastic.*,"),  # type: ignore[arg-type]
    (written(plays="stochastic"), TypeError, r"must be \(\"stochastic\",\), not 'stochastic'"),
    (players(f"{HERE}:Lettered"), ValueError, "train_seed of agent .* must be a whole .*, not 'a'"),
    (plays(f"{HERE}:Floats"), AnswerError, "Floats must .*, not float64"),
    (plays(f"{HERE}:Unsigned"), AnswerError, f"Unsigned must be less than 2.63, not {2**64 - 1}"),
    (of_rules("simplicity"), ValueError, "of HeuristicAgent must be 'four-seasons', not 'simpl"),
    (of_rules("four-seasons", deals=[-1]), ValueError, "deal must be 0 to"),
    (of_rules("four-seasons", mask="legall"), ValueError, "mask 'legall': did you mean 'legal'"),
    # One label is several training seeds of one agent.
    (players(f"own={HERE}:First", f"own={HERE}:First"), ValueError, "have the same label 'own'"),
    (players(f"own={HERE}:First", f"own={HERE}:Last"), ValueError, "label 'own': rename one"),
]
POLICIES = [
    (agent(f"{HERE}:plain"), ValueError, "say for which environment it chooses, with @policy"),
    (lambda _: policy("FourSeasons-v0", plays=(), observtion=""), ValueError, "mean 'observation'"),
    (lambda _: policy("FourSeasons-v0", plays=(), rules="czarina"), ValueError, "compare --rules"),
    (
        lambda _: policy("FourSeasons-v0", plays=("stochastic",), block=0),
        ValueError,
        "block must be a positive",
    ),
    (answers(5), TypeError, r"must decorate a function f\(observations, masks, rng\), not 5"),
    (answers(lambda *_: [[1]]), AnswerError, r"integers of shape \(1,\), not int64 of"),
    (answers(lambda *_: ([0], None)), AnswerError, r"\(1,\), not a tuple of unequal parts"),
    (answers(lambda *_: [99], "FourSeasonsNextDeal-v0"), AnswerError, "action 99 is not offered"),
]
LEARNERS = [
    (learner("planer"), ValueError, "no learning agent 'planer': did you mean 'planner'"),
    (learner("heuristic"), ValueError, "no learning agent 'heuristic'"),
    (learner(f"{HERE}:First"), ValueError, "is no learner: derive it from .*training.Learner"),
    (learner(f"{HERE}:NoPlayer"), ValueError, "player of learner .* must be a class of agents"),
    (learner(f"{HERE}:NoSchema"), ValueError, "schema of learner .* must be the dataclass"),
    (agent(f"{HERE}:NoSchema"), ValueError, f"needs weights: name them, as {HERE}:NoSchema:FOLDER"),
]
HYPERPARAMETERS = [
    (settings("learning_rat=1"), ValueError, "'learning_rat' of maskable_ppo: did you mean 'lear"),
    (settings("layers=[8, 0]"), ValueError, r"layers is .*: Expected `int` >= 1 - at `\$\[1\]`"),
    (settings("layers=[8, 8, 8]"), ValueError, "three numbers .*, the second a multiple of 16"),
    (settings("layers=[8,8]", name="next_deal_ppo"), ValueError, "layers must be four numbers"),
    (settings("games={a"), ValueError, "games is not YAML: "),
    (settings("gamma=1", "gamma=0.5"), ValueError, "hyperparameter 'gamma' must be given once"),
    (settings("gamma"), ValueError, "key=value"),
]
FILES = [
    (with_file(WEIGHTS_FILE, one_bit), PolicyFileError, f"/{WEIGHTS_FILE} is"),
    (with_file(CARD_FILE, lambda data: data[:99]), PolicyFileError, f"/{CARD_FILE} is"),
    (with_nan, PolicyFileError, "must have finite numbers"),
    (of_other_rules("czarina", "czarina-1898"), PolicyFileError, "limited_redeal=False .here True"),
    (of_other_rules("czarina", "czarina", "next_deal_ppo"), PolicyFileError, "next_deal_ppo', not"),
    (with_card(layers=[8, 32, 8]), PolicyFileError, r"weight must be of shape \(32, 8\), not"),
    (with_card(observation="cards"), PolicyFileError, "card must be 'places', .*, not 'cards'"),
    (with_card(mask="../x"), PolicyFileError, r"legal\|distinct.* - at `\$.mask`"),
    (with_card(colour="red"), PolicyFileError, "unknown 'colour'"),
    (with_card("next_deal_ppo", decisions={}), PolicyFileError, "must be .*'candidates', "),
    (lambda _: Judge(RULES["simplicity"]), FileNotFoundError, "planner/simplicity: model.json is"),
]
BYTES, MARKED = np.full((2, 107), 8, np.uint8), np.ones((2, 500), np.int8)
GAMES = Games("four-seasons(ranks=5)", 2).records
ARRAYS = [  # compiled code would read or write outside of its arrays
    (lambda _: rows_of(BYTES, DEFAULT), ValueError, r"places\[0, 0\] must be 0 to 7, not 8"),
    (lambda _: rows_of(BYTES / 9, DEFAULT), TypeError, r"of float64; use .*\(norm_obs=False\)"),
    (lambda _: rows_of(BYTES[:, 1:], DEFAULT), ValueError, r"shape \(n, 107\), not \(2, 106\)"),
    (lambda _: move_rows_of(BYTES - 8, MARKED, DEFAULT), ValueError, r"masks must .*\(2, 32\)"),
    (lambda _: LuckMeter(RULES["czarina"]).worth(GAMES), InvalidGame, "not a .* of 'czarina'"),
    (lambda _: play_through(GAMES, DEFAULT, [0]), InvalidGame, "record 0 is not"),
    (lambda _: play_through(Games(deals=2).records.copy(), DEFAULT, [0]), ValueError, "not 2"),
    (lambda _: play_through(Game().record, DEFAULT, [0]), ValueError, "that can be written, a cop"),
    (lambda _: candidates(np.full((1, 9, 268), 999)), TypeError, "of int16, not of int64"),
    (lambda _: candidates(np.full((1, 9, 268), 999, "i2")), ValueError, "be 0 to 448, not 999"),
]
MODELS = [  # slow: they compile environments
    (sb3_model("moves", False, "tops"), ValueError, 'needs observation="places" of .* not float32'),
    (sb3_model("moves", False, "places", rules="simplicity"), ValueError, "of 'simplicity'"),
    (sb3_model("moves", False, "places", net_arch=[8]), TypeError, "no 'net_arch': .* `layers`"),
    (sb3_model("moves", False, "places", use_sde=False), TypeError, "is for MaskablePPO, not for"),
    (sb3_model("candidates", True, "cards", table=True), ValueError, "needs FourSeasonsNextDeal"),
    (sb3_model("candidates", True, "cards"), TypeError, "features_extractor_class"),
    (sb3_model("candidates", False, "places"), ValueError, "MovePolicy is for moves"),
]


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        *(*NAMES, *OPTIONS, *PLAYERS, *POLICIES, *LEARNERS, *HYPERPARAMETERS, *FILES, *ARRAYS),
        *(pytest.param(*row, marks=pytest.mark.slow) for row in MODELS),
    ],
)
def test_wrong_use(call: Call, error: type[Exception], says: str, tmp_path: Path) -> None:
    with pytest.raises(error, match=says):
        call(tmp_path)


# --- arrays that are no positions, and masks of other moves ---------------------------------------

ONE = Game(deal=17).record
RNG = np.random.default_rng(0)
ON_ITSELF = ONE.copy()
ON_ITSELF["below"][0, ON_ITSELF["top"][0, 1]] = ON_ITSELF["top"][0, 1]
NO_POSITIONS: dict[str, Any] = {
    "zeros": np.zeros(1, GAME),
    "ones": np.full(GAME.itemsize, 255, np.uint8).view(GAME),
    "a card on itself": ON_ITSELF,
    "random bytes": RNG.integers(0, 256, 8 * GAME.itemsize, np.uint8).view(GAME),
    "random cards": RNG.integers(0, 53, 8 * GAME.itemsize, np.uint8).view(GAME),
    "other rules": Game("simplicity", deal=17).record,
    "floats": np.zeros(1),
    "bytes": ONE.view(np.uint8),
    "a table": ONE.reshape(1, 1),
    "one record": ONE[0],
    "a game": Game(deal=17),
    "games": Games(deals=1),
}
MASK = Game(deal=17).action_mask()[None]
WRONG_MASKS: list[tuple[Any, type[Exception], str]] = [
    (0 * MASK, ValueError, "not none of game 0: leave out games that are over"),
    (0 * MASK + 1, ValueError, "masks must mark legal moves, not W>F in game 0"),
    (MASK[:, :31], ValueError, r"masks must be of shape \(1, 32\), not \(1, 31\)"),
    (MASK[0], ValueError, r"masks must be of shape \(1, 32\), not \(32,\)"),
    (MASK / 1, TypeError, "masks must be an array of int8 or bool, not float64"),
    (MASK.tolist(), TypeError, "masks must be an array of int8 or bool, not a list"),
]


def error_in_time(call: Callable[[], Any]) -> BaseException | None:
    """The error of a call that ends within seconds: compiled code that runs on hears no signal."""
    errors: list[BaseException | None] = []

    def run() -> None:
        try:
            errors.append(call())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(60)
    assert errors, "it goes on"
    return errors[0]


@pytest.mark.parametrize("name", AGENTS)
def test_agents_check_what_they_are_asked(name: str) -> None:
    """Compiled code would follow wrong bytes for ever, or write outside of its arrays."""
    agent: Any = make_agent(name)
    marked = partial(np.repeat, MASK, axis=0)
    ways = [lambda games: agent.act(games, marked(np.size(games)), RNG)]
    if hasattr(agent, "play_out"):
        ways.append(lambda games: agent.play_out(games, 500, RNG))
    if name == "maskable_ppo":
        ways.append(lambda games: agent.scores(games, marked(np.size(games))))
    for way in ways:
        for what, games in NO_POSITIONS.items():
            assert isinstance(error_in_time(partial(way, games)), InvalidGame), what
    for masks, error, says in WRONG_MASKS:
        with pytest.raises(error, match=says):
            agent.act(ONE, masks, RNG)


def test_a_mask_may_leave_out_legal_moves() -> None:
    agent = make_agent("heuristic")
    for move in np.flatnonzero(MASK):
        only = (np.arange(MASK.size) == move)[None]
        assert agent.act(ONE, only, RNG).tolist() == [move]


def test_agents_take_positions_of_any_memory() -> None:
    """As the copies for which their code is compiled."""
    games, agent = Games(deals=8), make_agent("heuristic")
    masks = games.action_masks()
    moves = agent.act(games.records, masks, RNG)  # read-only
    for way in (slice(None, None, 2), slice(None, None, -1)):
        assert agent.act(games.records[way], masks[way] == 1, RNG).tolist() == moves[way].tolist()


class Vandal:
    """Leaves no position."""

    def play_out(self, games: Any, max_moves: int, rng: Any) -> None:
        games["below"] = 0


def test_games_are_positions_after_a_playout() -> None:
    games = Games(deals=3)
    with pytest.raises(InvalidGame, match="record 0 is not"):
        games.play_out(Vandal(), RNG)
    assert (games.records == Games(deals=3).records).all()
