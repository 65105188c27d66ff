"""Measure what usual algorithms learn on moves, each with settings chosen by an equal search.

    python experiments/studies/baselines.py --out runs/baselines.csv

1. *Search.* Each algorithm of `ALGORITHMS` is trained with a few settings, drawn from its ranges.
   The best one has the highest mean return on the validation deals 10000-10999: cards up / 52, plus
   1 for a win.
2. *500k.* The best settings are trained again, longer (`--moves`) and with other seeds. Each policy
   plays the validation deals from 11000 on in three ways: without a mask, actions drawn; with the
   mask of its training, or else `legal`, actions drawn; and with `no_repeats`, the best ones.

A policy draws by its probabilities; a learner of values takes the highest one, or in one of 20
actions any. An illegal action leaves the position as it is and costs 0.01, in training and in play.
Rewards are divided by the running deviation of returns (`VecNormalize`; PQN has a scale of its
own), learning rates fall to a twentieth, and training episodes end after 300 moves.

Each row is appended when it is measured, and rows of the file are not measured again: a stopped
call can be repeated.
"""

import io
import itertools
import runpy
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from sb3_contrib import QRDQN, MaskablePPO, RecurrentPPO
from sb3_contrib.qrdqn.policies import QRDQNPolicy
from stable_baselines3 import PPO
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env import VecNormalize

from four_seasons_env import evaluate
from four_seasons_env.adapters.sb3 import FourSeasonsVecEnv
from four_seasons_env.agents import load_policy
from four_seasons_env.agents.learned.move_policy import MovePolicy
from four_seasons_env.arguments import check_choice
from four_seasons_env.engine.deals import VALIDATION
from four_seasons_env.experiments.command_line import Run, command
from four_seasons_env.experiments.folders import ROOT, measured_by, read_table
from four_seasons_env.experiments.train import parse_steps
from four_seasons_env.rules import RULES

DQN = runpy.run_path(str(ROOT / "docs" / "how-to" / "masked_dqn.py"))
LegalExploration: Any = DQN["LegalExploration"]
PQN = runpy.run_path(str(ROOT / "docs" / "recipes" / "with_pqn.py"))

Score = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]
"""Scores of actions, of observations, masks and the actions that may be chosen; shape (n, A)."""

ON_POLICY = {
    "games": (64, 128, 256),
    "n_steps": (16, 32, 64),
    "batch_size": (256, 512, 1024),
    "n_epochs": (2, 4),
    "learning_rate": (5e-4, 1e-3, 2e-3, 4e-3),
    "gamma": (0.99, 0.997, 0.999),
    "ent_coef": (0.0, 0.003, 0.01),
}
OFF_POLICY = {
    "games": (64, 128, 256),
    "batch_size": (256, 512),
    "gradient_steps": (1, 2),  # after a move in each game
    "learning_rate": (3e-4, 1e-3, 3e-3),
    "gamma": (0.99, 0.997, 0.999),
    "n_steps": (1, 3, 10),
    "target_update_interval": (2000, 10_000),
    "exploration_fraction": (0.1, 0.3, 0.5),
}
PARALLEL = {
    "num_envs": (64, 128, 256),
    "num_steps": (16, 32),
    "num_minibatches": (4, 8, 16),
    "update_epochs": (1, 2),
    "learning_rate": (1e-3, 3e-3, 6e-3),
    "gamma": (0.99, 0.997, 0.999),
    "q_lambda": (0.8, 0.9, 0.95),
    "exploration_fraction": (0.1, 0.3),
}


@dataclass(frozen=True)
class Algorithm:
    """A row of `ALGORITHMS`."""

    train: Callable[..., tuple[Callable[[], Score], int]]
    """Called with the algorithm, its settings, the moves and a seed; returns a function that makes
    a `Score` for new games, and the number of moves."""
    ranges: dict[str, tuple[Any, ...]]
    mask: str | None = "no_repeats"
    """The mask of its training."""
    of_values: bool = False
    """Whether its scores are values, or else log-odds."""
    network: str = "MLP on cards"
    searched: str | None = None
    """The algorithm whose setting it takes, instead of one from a search of its own."""


def learned(model: Any, moves: int) -> int:
    """Train a model of Stable-Baselines3; returns the number of moves."""
    return int(model.learn(moves).num_timesteps)


def scaled(env: Any, gamma: float) -> VecNormalize:
    """An environment with the size of rewards that algorithms expect."""
    return VecNormalize(env, norm_obs=False, gamma=gamma)


def ppo(
    algorithm: Algorithm, moves: int, seed: int, games: int, learning_rate: float, **settings: Any
) -> tuple[Callable[[], Score], int]:
    """PPO or MaskablePPO of an MLP, or MaskablePPO of a `MoveNetwork`."""
    on_places = "places" in algorithm.network
    observation = "places" if on_places else "cards"
    policy: Any = MovePolicy if on_places else "MlpPolicy"
    env = FourSeasonsVecEnv(
        games, observation=observation, mask=algorithm.mask or "legal", max_moves=300
    )
    model: Any = (MaskablePPO if algorithm.mask else PPO)(
        policy,
        scaled(env, settings["gamma"]),
        learning_rate=LinearSchedule(learning_rate, learning_rate / 20, 1),
        policy_kwargs={} if on_places else {"net_arch": [128, 128]},
        seed=seed,
        device="cpu",
        **settings,
    )

    def score(observations: torch.Tensor, masks: Any, allowed: torch.Tensor) -> Any:
        more = {"action_masks": allowed} if on_places else {}  # it reads the moves that are marked
        return model.policy.get_distribution(observations, **more).distribution.logits

    count = learned(model, moves)
    return lambda: score, count


def recurrent_ppo(
    algorithm: Algorithm, moves: int, seed: int, games: int, learning_rate: float, **settings: Any
) -> tuple[Callable[[], Score], int]:
    """RecurrentPPO, which has no masks; actor and critic share the LSTM."""
    model: Any = RecurrentPPO(
        "MlpLstmPolicy",
        scaled(FourSeasonsVecEnv(games, observation="cards", max_moves=300), settings["gamma"]),
        learning_rate=LinearSchedule(learning_rate, learning_rate / 20, 1),
        policy_kwargs={
            "net_arch": [128],
            "lstm_hidden_size": 128,
            "shared_lstm": True,
            "enable_critic_lstm": False,
        },
        seed=seed,
        device="cpu",
        **settings,
    )

    def new_score() -> Score:
        states: Any = None  # of the games that are played

        def score(observations: torch.Tensor, masks: Any, allowed: Any) -> Any:
            nonlocal states
            first = states is None
            if first:
                states = tuple(torch.zeros(2, 1, len(observations), 128))
            starts = torch.full((len(observations),), float(first))
            chances, states = model.policy.get_distribution(observations, states, starts)
            return chances.distribution.logits

        return score

    return new_score, learned(model, moves)


def legal_quantiles(network: Any, inputs: Any, quantiles: torch.Tensor) -> torch.Tensor:
    """What `legal_only` of the page is for values, for quantiles of shape (n, 16, A)."""
    masks = inputs[0][:, None, -quantiles.shape[2] :]
    return quantiles.masked_fill(masks == 0, -1e9)


class MaskedQrPolicy(QRDQNPolicy):
    """Quantiles of legal moves."""

    def make_quantile_net(self) -> Any:
        """See `QRDQNPolicy`."""
        network = super().make_quantile_net()
        network.register_forward_hook(legal_quantiles)
        return network


class MaskedQrDqn(LegalExploration, QRDQN):  # type: ignore[misc]
    """QR-DQN that explores by legal moves."""


def dqn(algorithm: Algorithm, **settings: Any) -> tuple[Callable[[], Score], int]:
    """The masked DQN of docs/how-to/masked_dqn.py."""
    model = replaying(DQN["MaskedModel"], DQN["MaskedPolicy"], **settings)
    network = model.q_net.q_net  # below the mask
    return (
        lambda: lambda observations, masks, allowed: network(torch.hstack([observations, masks])),
        model.num_timesteps,
    )


def qr_dqn(algorithm: Algorithm, **settings: Any) -> tuple[Callable[[], Score], int]:
    """QR-DQN with the masks of `dqn`, and 16 quantiles."""
    model = replaying(MaskedQrDqn, MaskedQrPolicy, **settings)
    network = model.quantile_net.quantile_net

    def score(observations: torch.Tensor, masks: torch.Tensor, allowed: Any) -> torch.Tensor:
        quantiles: torch.Tensor = network(torch.hstack([observations, masks]))
        return quantiles.reshape(*masks.shape[:1], -1, masks.shape[1]).mean(dim=1)

    return lambda: score, model.num_timesteps


def replaying(
    kind: Any, policy: Any, moves: int, seed: int, games: int, learning_rate: float, **settings: Any
) -> Any:
    """A trained model that has a replay buffer."""
    env = FourSeasonsVecEnv(games, observation="cards", mask="no_repeats", max_moves=300)
    arguments: dict[str, Any] = {"net_arch": [128, 128]}
    if kind is MaskedQrDqn:
        arguments["n_quantiles"] = 16
    return kind(
        policy,
        scaled(DQN["MaskAppended"](env), settings["gamma"]),
        learning_rate=LinearSchedule(learning_rate, learning_rate / 20, 1),
        buffer_size=min(moves, 200_000),
        learning_starts=min(moves // 10, 5000),
        train_freq=1,
        exploration_final_eps=0.02,
        policy_kwargs=arguments,
        seed=seed,
        device="cpu",
        **settings,
    ).learn(moves)


def pqn(
    algorithm: Algorithm, moves: int, seed: int, **settings: Any
) -> tuple[Callable[[], Score], int]:
    """PQN by docs/recipes/with_pqn.py."""
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(io.StringIO()):
        out = Path(folder)
        arguments = {"total_timesteps": moves, "seed": seed, "out": out, "eval_deals": 1}
        PQN["main"](PQN["Args"](**arguments, device="cpu", **settings))
        card, weights = load_policy(out / "policy", "maskable_ppo", RULES["four-seasons"])
    network = PQN["QNetwork"](RULES["four-seasons"], card.layers)
    network.load_state_dict({name: torch.from_numpy(each) for name, each in weights.items()})
    return (
        lambda: lambda observations, masks, allowed: network(observations, allowed),
        card.training["steps"],
    )


ALGORITHMS = {
    "MaskablePPO": Algorithm(ppo, ON_POLICY),
    "MaskablePPO, legal": Algorithm(ppo, ON_POLICY, mask="legal"),
    "MaskablePPO, legal, same setting": Algorithm(
        ppo, ON_POLICY, mask="legal", searched="MaskablePPO"
    ),
    "MaskablePPO, places": Algorithm(ppo, ON_POLICY, network="MoveNetwork on places"),
    "PPO": Algorithm(ppo, ON_POLICY, mask=None),
    "RecurrentPPO": Algorithm(recurrent_ppo, ON_POLICY, mask=None, network="LSTM on cards"),
    "masked DQN": Algorithm(dqn, OFF_POLICY, of_values=True),
    "masked QR-DQN": Algorithm(qr_dqn, OFF_POLICY, of_values=True),
    "PQN": Algorithm(pqn, PARALLEL, of_values=True, network="MoveNetwork on places"),
}

SEARCH = "search"
KEYS = ["stage", "algorithm", "setting", "seed"]
COLUMNS = [
    *KEYS,
    *("mask", "network", "values", "moves", "core_minutes", "deals"),
    *("won", "cards_up"),  # no_repeats, by the highest score
    *("own_won", "own_cards_up", "open_won", "open_cards_up"),  # drawn, with its mask and without
    "illegal",  # share of the first actions of games without a mask
    *("version", "commit"),
]


@dataclass
class Baselines(Run):
    """Write a row for each training."""

    out: Path
    """File of the rows."""
    algorithms: list[str] = field(default_factory=lambda: list(ALGORITHMS))
    """Rows of `ALGORITHMS`."""
    settings: int = 4
    """Settings that are drawn for each algorithm."""
    search_moves: int = 150_000
    """Number of moves with each of them."""
    seeds: list[int] = field(default_factory=lambda: [1, 2, 3, 4, 5])
    """Training seeds of the best setting; the search has the seed 0."""
    moves: str = "500k"
    """Number of moves of each final training, such as 500k or 2M."""
    deals: int = 2000
    """Number of validation deals that final policies play; at most 1,000 in the search."""


def drawn(algorithm: Algorithm, setting: int) -> dict[str, Any]:
    """The setting of this number; those of the same ranges are the same."""
    rng = np.random.default_rng([0, setting])
    return {name: each[rng.integers(len(each))] for name, each in algorithm.ranges.items()}


def play(
    algorithm: Algorithm, score: Score, deals: range, mask: str | None, draw: bool
) -> tuple[float, float, float]:
    """Play deals: games won, cards up, and the share of illegal actions among the first."""
    rng = np.random.default_rng(0)
    first_illegal: list[float] = []

    def choose(observations: NDArray[Any], masks: NDArray[np.int8]) -> Any:
        allowed = masks.astype(np.bool_) if mask else np.ones_like(masks, np.bool_)
        with torch.no_grad():
            tensors = map(torch.as_tensor, (observations, masks, allowed))
            scores = np.where(allowed, score(*tensors).numpy(), -np.inf)
        if draw and not algorithm.of_values:
            scores = scores + rng.gumbel(size=scores.shape)
        actions = scores.argmax(axis=1)
        if draw and algorithm.of_values:
            any_action = (allowed * rng.random(masks.shape)).argmax(axis=1)
            actions = np.where(rng.random(len(actions)) < 0.05, any_action, actions)
        if not first_illegal:
            first_illegal.append(1 - masks[np.arange(len(actions)), actions].mean())
        return actions

    observation = algorithm.network.split()[-1]
    envs: Any = gym.make_vec(
        "FourSeasons-v0", num_envs=len(deals), observation=observation, mask=mask or "legal"
    )
    result = evaluate(envs, choose, deals[0])
    return result.won, result.cards_up, first_illegal[0]


def measure(run: Baselines, stage: str, name: str, setting: int, seed: int) -> list[Any]:
    """Train and play; returns the `COLUMNS`."""
    algorithm, final = ALGORITHMS[name], stage != SEARCH
    values = drawn(algorithm, setting)
    start = time.process_time()
    moves = parse_steps(stage) if final else run.search_moves
    new_score, moves = algorithm.train(algorithm, moves=moves, seed=seed, **values)
    minutes = (time.process_time() - start) / 60
    deals = VALIDATION[1000 : 1000 + run.deals] if final else VALIDATION[: min(run.deals, 1000)]
    own = algorithm.mask or "legal"
    ways = [("no_repeats", False), *([(own, True), (None, True)] if final else [])]
    played = [play(algorithm, new_score(), deals, mask, draw) for mask, draw in ways]
    results: list[Any] = [each for won, cards_up, _ in played for each in (won, cards_up)]
    results += [played[-1][2]] if final else [None] * 5
    shown = " ".join(f"{key}={value}" for key, value in values.items())
    about = [algorithm.mask or "none", algorithm.network, shown, moves, minutes, len(deals)]
    return [stage, name, setting, seed, *about, *results, *measured_by().values()]


def best_setting(path: Path, name: str) -> int:
    """The setting of the search that had the highest mean return."""
    rows = read_table(path).query("stage == @SEARCH and algorithm == @name")
    returns = rows["cards_up"] / RULES["four-seasons"].cards + rows["won"]
    return int(rows["setting"].iloc[returns.to_numpy().argmax()])


def baselines(run: Baselines) -> None:
    """Measure the rows that the file does not have.

    Raises:
        ValueError: for an unknown algorithm, or what is no number of moves.
    """
    for name in run.algorithms:
        check_choice("algorithm", name, tuple(ALGORITHMS))
    parse_steps(run.moves, "--moves")
    torch.set_num_threads(1)
    run.out.parent.mkdir(parents=True, exist_ok=True)
    if not run.out.exists():
        run.out.write_text(",".join(COLUMNS) + "\n")

    def add(*key: Any) -> None:
        if key not in set(read_table(run.out)[KEYS].itertuples(index=False, name=None)):
            row = pd.DataFrame([measure(run, *key)])
            row.to_csv(run.out, mode="a", header=False, index=False, float_format="%.6g")

    searched = {name: ALGORITHMS[name].searched or name for name in run.algorithms}
    for setting, name in itertools.product(range(run.settings), dict.fromkeys(searched.values())):
        add(SEARCH, name, setting, 0)
    for seed, name in itertools.product(run.seeds, run.algorithms):
        add(run.moves, name, best_setting(run.out, searched[name]), seed)


main = command(baselines, "measured rows are saved in {run.out}; resume: {command}")


if __name__ == "__main__":
    main()
