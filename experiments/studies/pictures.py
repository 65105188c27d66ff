"""Make the pictures of the docs.

    python experiments/studies/pictures.py

An animation of a won game, two positions, and the opening of each rule set. The pictures of pages
are photographs of a browser.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from four_seasons_env.experiments.folders import ROOT
from four_seasons_env.experiments.play import play_game
from four_seasons_env.files import file_name
from four_seasons_env.game import Game
from four_seasons_env.rendering.picture import save_animation, save_picture
from four_seasons_env.rules import RULES

DEAL = 17


def draw(out: Path) -> None:
    """Draw the animation, two positions and the openings."""
    positions = play_game("planner", "four-seasons", DEAL).positions()
    save_animation(positions, out / "game.gif", width=280)
    middle = len(positions) // 2
    save_picture(positions[middle], out / "position.svg", before=positions[middle - 1])
    simplicity = Game("simplicity", deal=DEAL)
    save_picture(simplicity, out / "simplicity.svg", legal=True)
    (out / "rules").mkdir(exist_ok=True)
    for name, rules in RULES.items():
        save_picture(Game(rules, deal=DEAL), out / "rules" / f"{file_name(name)}.svg")


def main() -> None:
    """Make all pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "pictures")
    run = parser.parse_args()
    run.out.mkdir(parents=True, exist_ok=True)
    draw(run.out)


if __name__ == "__main__":
    main()
