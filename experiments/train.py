"""Train an agent, or resume a training run.

    four-seasons train --agent next_deal_ppo --core-minutes 7 --out runs/positions
    four-seasons train --agent planner --steps 20k --out runs/planner   # its steps are games
    four-seasons train --resume --out runs/planner                      # after Ctrl-C or a kill

The run prints how many validation deals it wins, and saves the best policy in the folder `best`.

A resumed run continues with the weights and the optimiser of its last checkpoint. If the run was
killed, you lose what it learned since then: at most a minute and one update. The planner learns
the same as in an uninterrupted run, if its limit is a number of steps. A limit of time ends each
run somewhere else, and other agents start new games.
"""

from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import tyro
from numpy.typing import NDArray

from four_seasons_env import __version__
from four_seasons_env.agents import training
from four_seasons_env.agents.names import AGENTS, make_player
from four_seasons_env.agents.policy_files import BEST, FILES, PolicyCard, encoded, write_policy
from four_seasons_env.engine.deals import TRAIN_FROM, VALIDATION
from four_seasons_env.experiments import folders
from four_seasons_env.experiments.command_line import Run, check_stored_seed, command, progress_bar
from four_seasons_env.experiments.monitor import RECENT, Curve, Limits, Progress
from four_seasons_env.experiments.play import own_generators, play_deals
from four_seasons_env.experiments.workers import Pool, Workers, started_pool
from four_seasons_env.rules import Rules, get_rules
from four_seasons_env.schemas import fitting, read_json

Weights = dict[str, NDArray[np.float32]]

CHECKPOINT_SECONDS = 60.0
"""Seconds of learning between two checkpoints."""

_TO_TRAIN = (
    f"Agent to train: {', '.join(name for name, entry in AGENTS.items() if entry.learner)}; or a "
    "learner of your own, my_module:MyLearner."
)


@dataclass
class Train(Run):
    """Train an agent."""

    out: Path
    """Folder of the run. It must be new or empty, unless you resume the run."""
    agent: Annotated[str, tyro.conf.arg(help=_TO_TRAIN)] = "maskable_ppo"
    """Agent to train."""
    rules: str = "four-seasons"
    """Rule set to learn, by name; a changed one in quotes, as in 'czarina(piles=4)'."""
    seed: int = 0
    """Training seed, for deals, network and exploration."""
    steps: str | None = None
    """Maximum number of steps, such as 500k or 20M.
    A step is a move, a decision or a game, as the agent counts; the run prints which.
    If you set no limit at all, the agent has a number of its own."""
    minutes: float | None = None
    """Maximum minutes of learning; validations do not count."""
    core_minutes: float | None = None
    """Maximum minutes of processor time for learning, of all threads and workers together."""
    set: list[str] = field(default_factory=list)
    """Hyperparameters as KEY=VALUE, in place of those in the agent's YAML file."""
    warm_start: str | None = None
    """Weights to start from: NAME:FOLDER for those of a run, or NAME for the bundled ones.
    NAME is the agent's own name. The weights may be of another rule set, but most agents need the
    same number of ranks and piles. Optimiser and learning rate start anew."""
    validations: int = 10
    """Number of validations during the run; the best policy is saved."""
    validation_deals: int = 2000
    """Number of deals of each validation, 1 to 10,000."""
    resume: bool = False
    """Resume the run in --out, with the flags that it was started with.
    Only the flags of the workers may differ."""
    workers: Workers = field(default_factory=Workers)
    """Processes that play the training games of an agent that splits them, such as the planner.
    They do not affect what is learned."""


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
    # 1. The flags, those of the start if a run is resumed, and the hyperparameters.
    stored = folders.read_run(run.out) if run.resume else None
    if stored:
        run = _resumed(run, stored)
    _check(run)
    rules, algorithm = get_rules(run.rules), training.get_learner(run.agent)
    settings = _read_settings(run, algorithm, rules, stored)
    if run.minutes is None and run.core_minutes is None:
        run = replace(run, steps=run.steps or algorithm.run_steps)
    own = [run.out / each for each in (folders.DONE, folders.PROGRESS, folders.CHECKPOINTS)]
    own += [run.out / policy / file for policy in (BEST, folders.LAST) for file in FILES]
    with folders.locked(run.out, "training", own):
        # 2. A folder holds one run.
        if (run.out / folders.RUN).is_file() and not run.resume:
            raise FileExistsError(
                f"{run.out} holds a run already: resume it (--resume), or choose a new folder "
                "(--out)"
            )
        if (run.out / folders.DONE).is_file():
            print(f"{run.out} is finished already")
            return
        if not stored:
            about = {
                "run": _stored(run),
                "rules": asdict(rules),
                "hyperparameters": asdict(settings),
            }
            folders.write_json(run.out / folders.RUN, about | folders.provenance())
        # 3. Learn, and note the outcome.
        done = _start(run, algorithm, settings, rules)
        folders.write_json(run.out / folders.DONE, asdict(done))
    print(f"saved in {run.out}:\n  policies in best/ and last/, the learning curve in progress.csv")
    print(f"  best/ was selected on deals {done.best.deals}: compare it on others")


def _start(
    run: Train, algorithm: type[training.Learner], settings: Any, rules: Rules
) -> folders.Done:
    """Start workers, the learner and a progress bar, and learn."""
    import torch

    workers = run.workers if algorithm.uses_workers else Workers(n_jobs=1)
    with ExitStack() as at_the_end:
        # 1. With batches as small as these two threads are no faster, and take nearly twice the
        # processor time.
        at_the_end.callback(torch.set_num_threads, torch.get_num_threads())
        torch.set_num_threads(1)
        # 2. Code is compiled once, here; then the workers only load it.
        pool = at_the_end.enter_context(started_pool(workers))
        bar = at_the_end.enter_context(progress_bar())
        if workers.share_this_machine:
            _load(algorithm, rules, settings, training.ThisProcess())
        _load(algorithm, rules, settings, pool)
        # 3. The learner as it was, or new.
        learner = algorithm(rules, settings, run.seed, pool)
        progress = _first_progress(run, learner)
        print(
            f"{run.agent} learns {rules.name}:\n  {learner.describe()}, from {algorithm.unit[:-1]} "
            f"{learner.steps:,}",
            flush=True,
        )
        steps = float("inf") if run.steps is None else parse_steps(run.steps)
        limits = Limits(steps, run.minutes, run.core_minutes)
        return learn(run, learner, limits, progress, Curve(run.out, bar, limits, learner))


def learn(
    run: Train, learner: training.Learner, limits: Limits, progress: Progress, curve: Curve
) -> folders.Done:
    """The loop of a training: update; log, validate and save if due; until a limit is reached."""
    log_every = max(min(learner.log_steps, limits.steps / 50), 1)  # a short run has fifty rows, too
    recent = max(RECENT, 4 * getattr(learner.settings, "games", 1))
    saved, done = progress.seconds, limits.share(learner.steps, progress)
    assert isinstance(learner.pool, Pool)  # the time of its workers counts

    while done < 1:
        with progress.timed(learner.pool):
            update = learner.checked_update(done)
        done = limits.share(learner.steps, progress)
        progress.add(update, recent)
        curve.add(update.records)

        # Log, validate and save, each if it is due.
        if learner.steps - progress.logged_steps >= log_every:
            curve.log(learner.steps, progress)
        due = int(done * run.validations)
        is_due = due > progress.validations and done < 1  # the last one follows the loop
        if is_due:
            validate(run, learner, progress, curve)
            progress.validations = due
        # After a validation, too, so that a resumed run knows what is in best/.
        if is_due or progress.seconds - saved >= CHECKPOINT_SECONDS:
            save(run.out, learner, progress)
            saved = progress.seconds

    best = validate(run, learner, progress, curve)
    times = round(progress.seconds, 1), round(progress.core_seconds, 1)
    return folders.Done(learner.steps, *times, progress.games, best)


def validate(
    run: Train, learner: training.Learner, progress: Progress, curve: Curve
) -> folders.Validation:
    """Play validation deals, log the result, and save the policy, also as the best if it is.

    Returns:
        The validation of the best policy so far.
    """
    # 1. The policy, whose card names its origin.
    steps, deals = learner.steps, VALIDATION[: run.validation_deals]
    card, weights = learner.policy(
        {
            "rules": learner.rules.name,
            "seed": run.seed,
            "warm_start": run.warm_start and folders.portable(run.warm_start),
            "steps": steps,
            "games": progress.games,
            "seconds": round(progress.seconds, 1),
            "core_seconds": round(progress.core_seconds, 1),
        }
    )
    # 2. Its games.
    curve.show(f"{steps:,} {learner.unit}: validating on {len(deals):,} deals")
    played = _play_policy(learner, card, weights, deals)
    won, cards_up = float(played["won"].mean()), float(played["cards_up"].mean())
    result = folders.Validation(f"{deals[0]}-{deals[-1]}", won, cards_up, steps)
    card.training["validation"] = asdict(result)
    # 3. This choice flatters its result: a comparison should play other deals.
    write_policy(run.out / folders.LAST, card, weights)
    best = progress.best
    if best is None or (won, cards_up) > (best.won, best.cards_up):
        best = progress.best = result
        write_policy(run.out / BEST, card, weights)
    # 4. The result.
    curve.add({"validation/win_rate": won, "validation/cards_up": cards_up})
    curve.log(steps, progress)
    print(
        f"{steps:,} {learner.unit} ({progress.core_seconds / 60:.1f} core-minutes): "
        f"{100 * won:.1f}% of {len(deals):,} validation deals won, {cards_up:.1f} cards up",
        flush=True,
    )
    return best


def save(out: Path, learner: training.Learner, progress: Progress) -> None:
    """Write a checkpoint for `--resume`: the learner's state and the run's progress."""
    folders.write_checkpoint(out, learner.saved(), folders.as_json(asdict(progress)))


def _first_progress(run: Train, learner: training.Learner) -> Progress:
    """Restore a learner and the progress of its run from the last checkpoint, if there is one.

    Raises:
        ValueError: if the checkpoint is damaged, or its state does not fit the learner.
        FileNotFoundError: if a file of it is missing.
    """
    checkpoint = folders.last_checkpoint(run.out)
    if checkpoint is None:
        if run.resume:
            print("no checkpoint has been saved yet: the run starts again")
        if run.warm_start:
            try:
                learner.warm_start(run.warm_start)
            except FileNotFoundError as error:
                again = "; name them again (--warm-start), as their path is not stored in full"
                raise FileNotFoundError(f"{error}{again if run.resume else ''}") from None
        return Progress()
    state = folders.read_state(checkpoint)
    progress = read_json(checkpoint / folders.MONITOR, Progress)
    try:
        learner.load(state)
    except Exception as error:  # libraries refuse a state in many ways
        raise ValueError(
            f"{checkpoint} cannot be resumed from ({type(error).__name__}: {error}): start a new "
            "run (--out)"
        ) from error
    return progress


def _load(
    algorithm: type[training.Learner], rules: Rules, settings: Any, pool: training.GamePool
) -> None:
    """Compile, or load, what learning and validations need: this does not count as learning."""
    # Two games at least: a BatchNorm refuses to learn from one.
    games = {"games": max(pool.size, 2)} if hasattr(settings, "games") else {}
    small = replace(settings, **games | algorithm.smallest)
    learner = algorithm(rules, small, 0, pool)
    learner.warm_up()
    card, weights = learner.policy({})
    encoded(card, weights)  # what could not be saved is refused now, not after an hour
    _play_policy(learner, card, weights, range(TRAIN_FROM, TRAIN_FROM + pool.size))


def _play_policy(
    learner: training.Learner, card: PolicyCard, weights: Weights, deals: range
) -> pd.DataFrame:
    """The results of `play_deals` with a policy of a learner, played by its pool."""
    about = learner.rules, card, learner.playing_options
    parts: list[pd.DataFrame] = learner.pool.over_deals(_play_part, about, deals, weights)
    return pd.concat(parts, ignore_index=True)


def _play_part(task: tuple[Any, range], weights: Weights) -> pd.DataFrame:
    (rules, card, options), deals = task
    return play_deals(make_player(rules, card, weights, options), rules, deals)


# --- flags ----------------------------------------------------------------------------------------


def _stored(run: Train) -> dict[str, Any]:
    """The flags of a run for its file, which may be sent to others: no names of this machine."""
    flags = asdict(run)
    del flags["out"]
    flags["workers"]["cluster"] = None
    return flags | {"warm_start": run.warm_start and folders.portable(run.warm_start)}


def _resumed(run: Train, stored: folders.RunFile) -> Train:
    """The flags that a run was started with, with the workers of this call.

    Raises:
        ValueError: if another flag is given with another value, another version has started the
            run, or ``stored`` is damaged.
    """
    try:
        started = fitting(stored.run | {"out": str(run.out)}, Train)
    except ValueError as error:
        raise ValueError(f"{run.out / folders.RUN} is damaged: {error}") from None
    # How the workers run may change: it does not affect what is learned.
    started, default = replace(started, resume=True, workers=run.workers), Train(run.out)
    start = run.warm_start  # whose stored path may lack its beginning
    run = replace(run, warm_start=start and folders.portable(start))
    for each in fields(Train):
        # A flag that was left out looks like its default, which is no contradiction.
        given, was = getattr(run, each.name), getattr(started, each.name)
        if given not in (was, getattr(default, each.name)):
            raise ValueError(
                f"{run.out} was started with {each.name} {was!r}, not {given!r}: a resumed run "
                "keeps its flags (leave it out, or start a new run)"
            )
    version = stored.versions.get("four-seasons-env", "unknown")
    if version != __version__:
        raise ValueError(
            f"{run.out} holds a training of version {version}, not {__version__}: start a new run "
            "(--out)"
        )
    return replace(started, warm_start=start or started.warm_start)


def _check(run: Train) -> None:
    """Reject invalid flags, before torch is imported."""
    if run.steps is not None:
        parse_steps(run.steps)
    for flag, minutes in {"--minutes": run.minutes, "--core-minutes": run.core_minutes}.items():
        if minutes is not None and not 0 < minutes < float("inf"):
            raise ValueError(f"{flag} must be a number of minutes above 0, not {minutes:g}")
    check_stored_seed(run.seed)
    if run.validations < 1 or not 1 <= run.validation_deals <= 10_000:
        raise ValueError("--validations must be 1 or more, --validation-deals 1 to 10,000")


def _read_settings(
    run: Train, algorithm: type[training.Learner], rules: Rules, stored: folders.RunFile | None
) -> Any:
    """The hyperparameters of a run, after the checks that depend on the algorithm."""
    if not algorithm.uses_workers and run.workers not in (Workers(), Workers(n_jobs=1)):
        raise ValueError(
            f"{run.agent} learns in one process: leave out --n-jobs, --backend and --cluster"
        )
    run.workers.check()
    # A resumed run keeps the values that its YAML file had at its start.
    if stored:
        return training.make_settings(algorithm.schema, stored.hyperparameters, run.agent)
    settings = algorithm.read_settings(run.set)
    # Weights that do not fit are refused now, not after loading.
    if run.warm_start is not None:
        algorithm.first_weights(run.warm_start, rules, settings)
    return settings


def parse_steps(text: str, flag: str = "--steps") -> int:
    """The number of steps in a text; `flag` is its name in an error.

    >>> parse_steps("20M"), parse_steps("1.5k"), parse_steps("1000")
    (20000000, 1500, 1000)

    Raises:
        ValueError: if it is not a positive number.
    """
    factor = {"k": 10**3, "M": 10**6, "G": 10**9}.get(text[-1:], 1)
    try:
        steps = int(float(text[:-1] if factor > 1 else text) * factor)
    except (ValueError, OverflowError):
        steps = 0
    if steps < 1:
        raise ValueError(f"{flag} must be a positive number such as 500k or 20M, not {text!r}")
    return steps


main = command(
    train,
    "the last checkpoint, if there is one, is saved in {run.out}; "
    "resume: four-seasons train --resume --out {out}",
)
