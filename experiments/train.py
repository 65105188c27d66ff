"""Train a learning agent, or resume a training.

    four-seasons train --agent maskable_ppo --out runs/x
    four-seasons train --agent planner --steps 20k --out runs/p     # its steps are games
    four-seasons train --resume --out runs/x                        # after Ctrl-C or a kill

A resumed run continues with the weights, optimiser and learning rate of its last checkpoint. The
planner learns the same as in an uninterrupted run; other agents start new games.
`four_seasons_env.experiments.folders` describes the files of a run.
"""

from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from four_seasons_env.agents import training
from four_seasons_env.engine.deals import TRAIN_FROM, VALIDATION
from four_seasons_env.experiments import folders
from four_seasons_env.experiments.command_line import Run, check_stored_seed, command, progress_bar
from four_seasons_env.experiments.monitor import Clock, Monitor, validate
from four_seasons_env.experiments.play import own_generators
from four_seasons_env.experiments.workers import Workers, started_pool
from four_seasons_env.rules import Rules, get_rules
from four_seasons_env.schemas import fitting


@dataclass
class Train(Run):
    """Train a learning agent."""

    out: Path
    """Folder of the run, new or empty unless the run is resumed."""
    agent: str = "maskable_ppo"
    """Agent to train: maskable_ppo, next_deal_ppo or planner."""
    rules: str = "four-seasons"
    """Rule set to learn, by name; a changed one in quotes, as in 'czarina(piles=4)'."""
    seed: int = 0
    """Training seed, for deals, network and exploration."""
    steps: str | None = None
    """Maximum number of steps, such as 500k or 20M.
    Without a limit of any kind: 20M, or 300k games of the planner.
    A step is a move (maskable_ppo), a decision (next_deal_ppo) or a game (planner)."""
    minutes: float | None = None
    """Maximum minutes of learning; validations do not count."""
    core_minutes: float | None = None
    """Maximum minutes of processor time for learning, of all threads and workers together."""
    set: list[str] = field(default_factory=list)
    """Hyperparameters as KEY=VALUE, in place of those in the agent's YAML file."""
    warm_start: str | None = None
    """Weights to start from: the agent's own name, or NAME:FOLDER, such as that of a run. Also of
    other rules of the same size; optimiser and learning rate start anew."""
    validations: int = 10
    """Number of validations during the run; the best policy is saved."""
    validation_deals: int = 2000
    """Number of validation deals to play, 1 to 10,000."""
    resume: bool = False
    """Resume the run in --out with the flags it was started with; workers may differ."""
    workers: Workers = field(default_factory=Workers)
    """Workers that play the planner's games. They do not affect what is learned."""


@own_generators()
def train(run: Train) -> None:
    """Run a training to its end.

    Raises:
        ValueError: for an unknown agent, rule set or hyperparameter, or flags that contradict the
            resumed run.
        FileExistsError: if the folder is not empty and the run is not resumed.
        FileNotFoundError: if there is nothing to resume.
        RuntimeError: if another process uses the folder.
    """
    stored = folders.read_run(run.out) if run.resume else None
    if stored:
        run = _resumed(run, stored.run)
    _check(run)
    rules, kind = get_rules(run.rules), training.get_learner(run.agent)
    settings = _read_settings(run, kind, rules, stored)
    if run.minutes is None and run.core_minutes is None:
        run = replace(run, steps=run.steps or kind.run_steps)
    with folders.locked(run.out, "training"):
        finished = (run.out / folders.DONE).is_file()
        if stored and finished:
            print(f"{run.out} is finished already")
            return
        if not stored:
            if (run.out / folders.RUN).is_file():
                raise FileExistsError(
                    f"{run.out} holds a run already, which is {'' if finished else 'un'}finished: "
                    "resume it (--resume), or choose a new folder (--out)"
                )
            about = {
                "run": asdict(run) | {"out": str(run.out)},
                "rules": asdict(rules),
                "hyperparameters": asdict(settings),
            }
            folders.write_json(run.out / folders.RUN, about | folders.provenance())
        _train(run, kind, settings, rules)


def _resumed(run: Train, stored: dict[str, Any]) -> Train:
    """The flags that a run was started with, with the workers of this call.

    Raises:
        ValueError: if another flag is given with another value, or ``stored`` is damaged.
    """
    try:
        started = fitting(stored | {"out": str(run.out)}, Train)
    except ValueError as error:
        raise ValueError(f"{run.out / folders.RUN} is damaged: {error}") from None
    started = replace(started, resume=True, workers=run.workers)
    default = Train(run.out)
    for each in fields(Train):
        # A flag that was left out looks like its default, which is no contradiction.
        given, was = getattr(run, each.name), getattr(started, each.name)
        if given not in (was, getattr(default, each.name)):
            raise ValueError(
                f"{run.out} was started with {each.name} {was!r}, not {given!r}: a resumed run "
                "keeps its flags (leave it out, or start a new run)"
            )
    return started


def _check(run: Train) -> None:
    """Reject invalid flags, before torch is imported."""
    if run.steps is not None:
        parse_steps(run.steps)
    check_minutes(minutes=run.minutes, core_minutes=run.core_minutes)
    check_stored_seed(run.seed)
    if run.validations < 1 or not 1 <= run.validation_deals <= 10_000:
        raise ValueError("--validations must be 1 or more, --validation-deals 1 to 10,000")


def _read_settings(
    run: Train, kind: type[training.Learner], rules: Rules, stored: folders.RunFile | None
) -> Any:
    """The hyperparameters of a run, after the checks that depend on the algorithm."""
    if not kind.uses_workers and run.workers not in (Workers(), Workers(n_jobs=1)):
        raise ValueError(
            f"{run.agent} learns in one process: --n-jobs, --backend and --cluster are for the "
            "planner, which plays many games between two updates"
        )
    run.workers.check()
    if stored:
        return training.make_settings(kind.schema, stored.hyperparameters, run.agent)
    settings = kind.read_settings(run.set)
    if run.warm_start is not None:
        kind.first_weights(run.warm_start, rules, settings)
    return settings


def _train(run: Train, kind: type[training.Learner], settings: Any, rules: Rules) -> None:
    """Learn under a progress bar, from the last checkpoint if one exists."""
    import torch

    columns = (
        BarColumn(bar_width=24),
        TextColumn("{task.fields[wins]}  {task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    workers = run.workers if kind.uses_workers else Workers(n_jobs=1)
    steps = float("inf") if run.steps is None else parse_steps(run.steps)
    clock = Clock(steps, run.minutes, run.core_minutes)
    with ExitStack() as at_the_end:
        at_the_end.callback(torch.set_num_threads, torch.get_num_threads())
        # With batches as small as these two threads are no faster, and take nearly twice the
        # processor time.
        torch.set_num_threads(1)
        pool = at_the_end.enter_context(started_pool(workers))
        bar = at_the_end.enter_context(progress_bar(*columns))
        if workers.share_this_machine:  # compiled once, here; the workers only load
            _load(kind, rules, settings, training.ThisProcess())
        _load(kind, rules, settings, pool)
        learner = kind(rules, settings, run.seed, pool)
        monitor = Monitor(
            run.out,
            learner,
            pool,
            {"rules": rules.name, "seed": run.seed, "warm_start": run.warm_start},
            clock,
            bar,
            run.validations,
            VALIDATION[: run.validation_deals],
        )
        _start_or_restore(run, learner, monitor)
        print(
            f"{run.agent} learns {rules.name}:\n  {learner.describe()}, from {kind.unit[:-1]} "
            f"{learner.steps:,}",
            flush=True,
        )
        done = monitor.learn()
    folders.write_json(run.out / folders.DONE, asdict(done))
    print(f"saved in {run.out}:\n  policies in best/ and last/, the learning curve in progress.csv")


def _load(
    kind: type[training.Learner], rules: Rules, settings: Any, pool: training.GamePool
) -> None:
    """Compile, or load, what learning and validations need: this does not count as learning."""
    small = replace(settings, **{"games": pool.size} | kind.smallest)
    learner = kind(rules, small, 0, pool)
    learner.update(0.0)
    validate(pool, learner, *learner.policy({}), range(TRAIN_FROM, TRAIN_FROM + pool.size))


def _start_or_restore(run: Train, learner: training.Learner, monitor: Monitor) -> None:
    """Start a run, or continue from its last checkpoint.

    Raises:
        ValueError: if the checkpoint is damaged.
    """
    checkpoint = folders.last_checkpoint(run.out)
    if checkpoint is None:
        if run.resume:
            print("no checkpoint has been saved yet: the run starts again")
        if run.warm_start:
            learner.warm_start(run.warm_start)
        monitor.start(None)
        return
    try:
        learner.load(checkpoint)
        monitor.start(checkpoint)
    except Exception as error:  # a damaged archive can raise anything
        raise ValueError(
            f"{checkpoint} cannot be resumed from ({type(error).__name__}: {error}): if "
            "it is damaged, or of another version, start a new run (--out)"
        ) from None


def parse_steps(text: str) -> int:
    """The number of steps in a text such as "20M", "500k" or "1000".

    Raises:
        ValueError: if it is not a positive number.
    """
    factor = {"k": 10**3, "M": 10**6, "G": 10**9}.get(text[-1:], 1)
    try:
        steps = int(float(text[:-1] if factor > 1 else text) * factor)
    except (ValueError, OverflowError):
        steps = 0
    if steps < 1:
        raise ValueError(f"--steps must be a positive number such as 500k or 20M, not {text!r}")
    return steps


def check_minutes(**minutes: float | None) -> None:
    """Reject time limits that are not positive.

    Raises:
        ValueError: naming the flag.
    """
    for name, value in minutes.items():
        if value is not None and not 0 < value < float("inf"):
            flag = name.replace("_", "-")
            raise ValueError(f"--{flag} must be a number of minutes above 0, not {value:g}")


main = command(
    train,
    "the last checkpoint, if there is one, is saved in {run.out}; "
    "resume: four-seasons train --resume --out {out}",
)
