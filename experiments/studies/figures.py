"""Draw the plots of docs/results from the stored results, and the positions of docs/pictures.

    python experiments/studies/figures.py

Other pictures: `four-seasons review --agent planner --deal 17 --gif docs/pictures/game.gif`, and
photographs of the pages that `four-seasons play` and `four-seasons review` show.
"""

from pathlib import Path

import pandas as pd
import tyro

from four_seasons_env.experiments import comparison, folders, plots
from four_seasons_env.experiments.play import play_game
from four_seasons_env.experiments.summary import CEILING
from four_seasons_env.files import file_name, write_atomically
from four_seasons_env.game import Game
from four_seasons_env.rendering import draw_svg
from four_seasons_env.rules import RULES

RESULTS = folders.ROOT / "docs" / "results"
DEAL = 17
ANSWER = ["random", "greedy", "maskable_ppo", "heuristic", "next_deal_ppo"]
ANSWER += ["planner", "planner@lookahead=1", CEILING]
"""The players of docs/explanation/answer.md."""


def curve(name: str) -> pd.DataFrame:
    """The moves and the share of training games won, of the logs of trainings, smoothed."""
    rows = folders.read_table(RESULTS / f"{name}.csv")
    rows = rows.assign(run=rows.get("run", name))
    won = rows.groupby("run")["play/win_rate"]
    smooth = won.transform(lambda rates: rates.rolling(5, min_periods=1).mean())
    return pd.DataFrame({"moves": rows["time/total_timesteps"], "won": smooth, "run": rows["run"]})


def draw_plots(out: Path) -> None:
    """Draw all plots into a folder."""
    census = comparison.read_census().query("rules == 'four-seasons'")
    stored = folders.read_table(RESULTS / "four-seasons.csv")
    players = pd.concat([stored, pd.DataFrame([comparison.ceiling_row("four-seasons", census)])])

    leaderboard = folders.read_table(RESULTS / "leaderboard.csv")
    title = "Four Seasons, 1,000 test deals"
    plots.plot_speed_strength(leaderboard, title, out / "leaderboard.png")

    once = players.sort_values("play").drop_duplicates("agent")
    shown = once.query("agent in @ANSWER")
    plots.plot_win_rates(shown, "Four Seasons: who wins how often", out / "answer.png")

    def rates(rows: pd.DataFrame, *names: str) -> dict[str, float]:
        won = rows.set_index("agent")["win_rate"]
        return {name: float(won[name]) for name in names}

    # The lines of a plot are of the deals of its points.
    references = rates(leaderboard, "heuristic", "finisher", "planner")
    # An agent such as planner-7 has learned for 7 core-minutes.
    learned = folders.read_table(RESULTS / "learning.csv")
    learned = learned.join(learned["agent"].str.extract(r"^(?P<name>.+)-(?P<spent>[\d.]+)$"))
    learned = learned.dropna(subset="name").astype({"spent": float}).sort_values("spent")
    title = "Four Seasons, 1,000 test deals: games won by time of learning"
    about = "core-minutes of learning", "test deals won, with 95% interval"
    learned["run"] = learned["name"]
    plots.plot_curves(learned, title, out / "learning.png", about, references, log=True)

    curves = {
        "ten core-minutes": curve("moves-seeds"),
        "the bundled weights": curve("moves"),
        'ten core-minutes, mask="distinct"': curve("moves-distinct"),
        "on a GPU (version 3.0.0)": folders.read_table(RESULTS / "moves-gpu.csv").assign(run=""),
    }
    named = [rows.assign(name=name) for name, rows in curves.items()]
    rows = pd.concat(named).rename(columns={"moves": "spent", "won": "win_rate"})
    # Training deals are as hard as all test deals are, but not as their first thousand.
    by_hand = rates(once, "heuristic", "finisher")
    title = "PPO on moves, with and without moves back"
    about = "moves of training", "training games won"
    plots.plot_curves(rows, title, out / "moves.png", about, by_hand, log=True)


def draw_positions(out: Path) -> None:
    """Draw two positions, the first stops of a deal, and each rule set's opening, into a folder."""
    positions = play_game("planner", "four-seasons", DEAL).positions()
    middle = len(positions) // 2
    drawn = {
        "position": draw_svg(positions[middle], before=positions[middle - 1]),
        "simplicity": draw_svg(Game("simplicity", deal=DEAL), legal=True),
    }
    for number, stop in enumerate(Game(deal=DEAL).stops()[:3], start=1):
        drawn[f"stop-{number}"] = draw_svg(stop.game)
    for name, rules in RULES.items():
        drawn[f"rules/{file_name(name)}"] = draw_svg(Game(rules, deal=DEAL))
    for name, svg in drawn.items():
        write_atomically(out / f"{name}.svg", svg.encode())


def main(out: Path = folders.ROOT / "docs") -> None:
    """Draw everything into a folder."""
    (out / "results").mkdir(parents=True, exist_ok=True)
    draw_plots(out / "results")
    draw_positions(out / "pictures")


if __name__ == "__main__":
    tyro.cli(main)
