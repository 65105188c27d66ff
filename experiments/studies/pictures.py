"""Make the pictures of the docs.

    python experiments/studies/pictures.py

An animation of a won game, two positions, the opening of each rule set, and the pages of
`four-seasons play` and `four-seasons review`. The pages need Chromium and Playwright; `--no-pages`
omits them.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from four_seasons_env.experiments.folders import ROOT
from four_seasons_env.experiments.play import play_game
from four_seasons_env.experiments.review import main as review
from four_seasons_env.files import file_name
from four_seasons_env.game import Game
from four_seasons_env.rendering.picture import save_animation, save_picture
from four_seasons_env.rules import RULES

DEAL = 17
LOST = 10_025
"""A deal that the heuristic loses."""
PORT = 8017


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


def photograph(out: Path, page_file: Path, address: str) -> None:
    """Photograph the pages of review and play."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"))
        page = browser.new_page(viewport={"width": 1500, "height": 1000})
        page.goto(page_file.absolute().as_uri())
        page.screenshot(path=out / "review.png")
        page.goto(f"{address}/?rules=four-seasons&deal={DEAL}")
        page.wait_for_selector("#hint[aria-disabled=false]", timeout=180_000)
        for number in range(1, 13):
            page.click("#step")
            page.locator("#count", has_text=f"{number}").wait_for(timeout=180_000)
        page.check("#show-chance")
        page.click("#hint")
        page.wait_for_selector("#values:not([hidden])")
        page.locator("#chance span", has_text="%").wait_for()
        page.wait_for_timeout(500)  # the bar moves to its new length
        page.screenshot(path=out / "play.png")
        browser.close()


def main() -> None:
    """Make all pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "pictures")
    parser.add_argument("--no-pages", action="store_true")
    run = parser.parse_args()
    run.out.mkdir(parents=True, exist_ok=True)
    draw(run.out)
    if run.no_pages:
        return
    page_file = run.out / "review.html"
    review(["--agent", "heuristic", "--deal", str(LOST), "--out", str(page_file)])
    command = [sys.executable, "-m", "four_seasons_env", "play", "--no-browser"]
    address = f"http://127.0.0.1:{PORT}"
    with subprocess.Popen([*command, "--port", str(PORT)]) as server:
        try:
            for _ in range(600):
                try:
                    urllib.request.urlopen(address).close()
                    break
                except OSError:
                    time.sleep(0.1)
            photograph(run.out, page_file, address)
        finally:
            server.terminate()
    page_file.unlink()


if __name__ == "__main__":
    main()
