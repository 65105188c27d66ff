"""Files that were damaged: `python -m tests.reliability.files --count 2000`.

Of every kind of file that the project reads, a good one is cut, or some of its bytes are changed,
doubled or taken out, and it is read. Right are two answers: it is refused, by an error that says
what is wrong (`ValueError` or `OSError`), or it is read, and where a digest vouches for it, what is
read is what was written. Anything else (another error, a hang, other content) is a fault: the
command prints it and ends with status 1.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from four_seasons_env.agents.bundled import bundled_weights
from four_seasons_env.agents.learned.algorithms import get_algorithm
from four_seasons_env.agents.planner.weights import load_network
from four_seasons_env.agents.policy_files import load_policy
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.census import Census, take_census
from four_seasons_env.experiments.compare import Compare, compare
from four_seasons_env.experiments.evaluation.ceiling import read_census
from four_seasons_env.experiments.parallel.parts import read_part
from four_seasons_env.experiments.parallel.pool import started_pool
from four_seasons_env.experiments.parallel.workers import Workers
from four_seasons_env.experiments.reporting.summary_page import read_about
from four_seasons_env.experiments.reporting.tables import as_markdown, write_csv
from four_seasons_env.experiments.sweep import Sweep, read_jobs
from four_seasons_env.experiments.train import Train, train
from four_seasons_env.experiments.training.clock import Clock
from four_seasons_env.experiments.training.run_folder import read_done, read_log, read_run
from four_seasons_env.experiments.training.trainers import get_trainer
from four_seasons_env.experiments.verification.replay import verify_folder
from four_seasons_env.game import Game
from four_seasons_env.play.records import read_records
from four_seasons_env.rules import RULES
from tests.helpers import ROOT

DEFAULT = RULES["four-seasons"]
SLOW = 20.0
"""Seconds after which reading a small file counts as a hang."""
HERE = Workers(n_jobs=1)
TINY = ["games=4", "nodes=10", "expansions=5", "endgame_nodes=50", "endgame_expansions=25"]


@dataclass(frozen=True)
class Kind:
    """A kind of file: a good one in a folder, and what reads that folder."""

    file: str
    read: Callable[[Path], Any]
    vouched: bool
    """Whether a digest says what it must hold."""


def _policy(folder: Path) -> Any:
    card, weights = load_policy(folder, "maskable_ppo", DEFAULT)
    return {name: each.numpy().tobytes() for name, each in weights.items()}, card.layers


def _planner(folder: Path) -> Any:
    _, network = load_network(folder, DEFAULT)
    return b"".join(each.tobytes() for each in network)


def _resume(folder: Path) -> Any:
    trainer = get_trainer("planner")
    about = read_run(folder)
    settings = trainer.settings_from(about["hyperparameters"])
    with started_pool(HERE) as pool:
        learner = trainer.start(settings, DEFAULT, 0, Clock(8, None, None), pool)
        learner.restore(folder / "checkpoint")
    return learner.steps


def _settings(folder: Path) -> Any:
    return get_algorithm("maskable_ppo").read_settings(folder / "maskable_ppo.yaml", ())


def _study(folder: Path) -> Any:
    return read_jobs(Sweep(folder / "quick.yaml", folder / "out"))


def _verify(folder: Path) -> Any:
    found = verify_folder(folder, 1000)
    if not found.verified:
        raise ValueError("\n".join(found.differences))
    return (folder / "results.csv").read_bytes()


def make_samples(folder: Path) -> dict[str, Kind]:
    """Make a good file of every kind, each in a folder of its own; returns what reads them."""
    deals = f"{TRAIN_FROM}-{TRAIN_FROM + 9}"
    compare(Compare(folder / "compare", ["heuristic", "random"], deals=deals, record=True))
    take_census(Census(folder / "census", ["corners"], deals, seconds=0.05))
    flags: dict[str, Any] = {"steps": "8", "validations": 1, "validation_deals": 4, "set": TINY}
    train(Train(folder / "run", agent="planner", workers=HERE, **flags))
    for name, weights in (("policy", "maskable_ppo"), ("planner", "planner")):
        shutil.copytree(bundled_weights(weights, DEFAULT.name), folder / name)
    (folder / "yaml").mkdir()
    shutil.copy(ROOT / "agents" / "learned" / "maskable_ppo.yaml", folder / "yaml")
    shutil.copy(ROOT / "experiments" / "studies" / "quick.yaml", folder / "yaml")
    (folder / "game").mkdir()
    (folder / "game" / "bytes").write_bytes(Game(deal=17).to_bytes())
    part = next((folder / "compare").glob("parts/*/heuristic*/*.csv")).relative_to(folder)
    games = part.with_suffix(".jsonl.gz")
    shutil.copytree(folder / games.parent, folder / "games")
    return {
        "policy card": Kind("policy/model.json", _policy, False),
        "policy weights": Kind("policy/model.safetensors", _policy, True),
        "planner weights": Kind("planner/model.safetensors", _planner, True),
        "run.json": Kind("run/run.json", read_run, False),
        "done.json": Kind("run/done.json", read_done, False),
        "progress.csv": Kind("run/progress.csv", read_log, False),
        "checkpoint state": Kind("run/checkpoint/state.json", _resume, False),
        "checkpoint arrays": Kind("run/checkpoint/arrays.npz", _resume, True),
        "part of a comparison": Kind(str(part), lambda at: read_part(at / part.name), True),
        "compare.json": Kind("compare/compare.json", read_about, False),
        "results, verified": Kind("compare/results.csv", _verify, True),
        "games, verified": Kind(f"{games}", lambda at: list(read_records(at / games.name)), False),
        "census": Kind("census/results.csv", read_census, True),
        "hyperparameters": Kind("yaml/maskable_ppo.yaml", _settings, False),
        "study": Kind("yaml/quick.yaml", _study, False),
        "bytes of a game": Kind(
            "game/bytes", lambda at: Game.from_bytes((at / "bytes").read_bytes()), False
        ),
    }


def home_of(kind: Kind) -> Path:
    """The folder that is read, relative to that of all samples."""
    path = Path(kind.file)
    deep = path.parts[0] == "compare" and len(path.parts) > 2
    return path.parent if deep or len(path.parts) == 2 else Path(path.parts[0])


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """A file's content, cut or changed in some places."""
    if rng.random() < 0.2:
        return data[: rng.integers(len(data))]
    changed = bytearray(data)
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(len(changed) or 1))
        length = int(rng.integers(1, 9))
        piece = bytes(changed[at : at + length])
        how = rng.integers(4)
        if how == 0:
            changed[at : at + length] = rng.bytes(length)
        elif how == 1:
            changed[at:at] = piece
        elif how == 2:
            del changed[at : at + length]
        elif at < len(changed):
            changed[at] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def outcome(kind: Kind, folder: Path, right: str) -> str:
    """What becomes of reading a damaged file: `refused`, `read`, or what is wrong."""
    started = time.monotonic()
    try:
        read = repr(kind.read(folder / home_of(kind)))
    except (ValueError, OSError) as error:
        return "refused" if str(error).strip() else "refused without a word"
    except Exception:
        return traceback.format_exc(limit=-2)
    if time.monotonic() - started > SLOW:
        return "it took too long"
    return "read" if read == right or not kind.vouched else "other content was read"


def try_kind(name: str, kind: Kind, folder: Path, count: int) -> dict[str, Any]:
    """Damage and read a file so many times; a row of the table."""
    path = folder / kind.file
    good = path.read_bytes()
    right = repr(kind.read(folder / home_of(kind)))
    rng = np.random.default_rng(len(name))
    answers: dict[str, int] = {"refused": 0, "read": 0}
    for _ in range(count):
        worse = damaged(good, rng)
        if worse == good:
            continue
        path.write_bytes(worse)
        told = outcome(kind, folder, right)
        answers[told] = answers.get(told, 0) + 1
    path.write_bytes(good)
    faults = {told: times for told, times in answers.items() if told not in ("refused", "read")}
    for told, times in faults.items():
        print(f"{name}, {times} times: {told}")
    tried = sum(answers.values())
    lost = sum(faults.values())
    return {
        "file": name,
        "tried": tried,
        "refused": answers["refused"],
        "read": answers["read"],
        "faults": lost,
    }


def main() -> int:
    """Try all kinds; the exit status is 1 if something was wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=2000, help="damages of each kind")
    parser.add_argument("--out", type=Path, default=Path("runs/reliability"))
    run = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        kinds = make_samples(folder)
        rows = [try_kind(name, kind, folder, run.count) for name, kind in kinds.items()]
    table = pd.DataFrame(rows)
    run.out.mkdir(parents=True, exist_ok=True)
    write_csv(run.out / "files.csv", table)
    print(as_markdown(table.astype(str)))
    return int(table["faults"].sum() > 0)


if __name__ == "__main__":
    sys.exit(main())
