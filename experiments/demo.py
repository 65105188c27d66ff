"""Train an agent, compare it and report, in five minutes: what `make demo` runs.

    four-seasons demo --minutes 2

Trains `next_deal_ppo` (unmodified MaskablePPO on the environment whose actions are positions) from
random weights, compares it with the heuristic and a beginner's list on the 10,000 test deals, and
writes a report.
"""

import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from four_seasons_env.engine.deals import TEST
from four_seasons_env.experiments.command_line import Run, command
from four_seasons_env.experiments.compare import Compare, compare
from four_seasons_env.experiments.comparison import read_deals, read_results
from four_seasons_env.experiments.play import play_game
from four_seasons_env.experiments.report import Report, report
from four_seasons_env.experiments.train import Train, check_minutes, train

LEARNER = "next_deal_ppo"
TRAINED = "trained"
"""Name of the trained agent in tables."""

PLAYED = ("greedy", "heuristic")
"""Agents to compare with."""

QUICK = ("play_candidates=100", "play_expansions=160", "play_endings=search")
"""Hyperparameters for play that is twice as fast and wins about two points less."""


@dataclass
class Demo(Run):
    """Train, compare, report."""

    minutes: float = 2.0
    """Minutes of training."""
    out: Path = Path("runs/demo")
    """Folder in which each demo makes a new folder."""
    deals: str = f"{TEST[0]}-{TEST[-1]}"
    """A range of deals to compare on."""


def demo(run: Demo) -> Path:
    """Run the three steps one after the other, and return the folder of their results."""
    # Here, so that it fails before two minutes of work if the extra `render` is missing.
    from four_seasons_env.rendering.picture import save_animation

    read_deals(run.deals)
    check_minutes(minutes=run.minutes)

    console = Console()
    started = time.monotonic()
    folder = run.out / time.strftime("%Y%m%d-%H%M%S")
    learned, compared = folder / "train", folder / "compare"

    console.rule(f"1 of 3: an agent learns from random weights for {run.minutes:g} minutes")
    console.print(
        "An action is the position in which the next card is turned. Learned: which is best. "
        "Searched: the positions to choose from, and the ending once nothing is hidden. Written by "
        "hand: the order of the search. After a minute the learner beats the heuristic. The "
        "planner learns more in the same time, but takes longer to play: see "
        "docs/explanation/learning.md."
    )
    train(
        Train(
            out=learned,
            agent=LEARNER,
            minutes=run.minutes,
            set=list(QUICK),
            validations=5,
            validation_deals=200,
        )
    )

    console.rule("2 of 3: comparison on test deals")
    compare(
        Compare(
            out=compared,
            agents=[*PLAYED, f"{TRAINED}={LEARNER}:{learned}"],
            deals=run.deals,
            play=["deterministic"],
        ),
    )

    console.rule("3 of 3: report")
    page = report(Report([compared, learned], out=folder / "report.html"))
    deal, won = _game_to_show(compared)
    animation = folder / "game.gif"
    save_animation(play_game(f"{LEARNER}:{learned}", "four-seasons", deal).positions(), animation)
    print(f"table:          {compared / 'table.md'}")
    print(f"learning curve: {learned / 'progress.csv'}")
    how = "won" if won else "lost, like all others"
    print(f"one game:       {animation} (deal {deal}, {how})")
    print(f"report:         {page}")
    print(f"the demo took {(time.monotonic() - started) / 60:.1f} minutes")
    return folder


def _game_to_show(compared: Path) -> tuple[int, bool]:
    """The first deal that the trained agent won, or else its first deal, and whether it won."""
    played = read_results(compared)
    own = played[played["agent"] == TRAINED].sort_values(["won", "deal"], ascending=[False, True])
    return int(own["deal"].iloc[0]), bool(own["won"].iloc[0])


main = command(demo, "finished steps are saved in the newest folder in {run.out}")
