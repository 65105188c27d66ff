"""Make the pictures of the docs.

    python -m four_seasons_env.experiments.pictures

A won game as an animation, a position, the opening of each rule set, and, where Chromium and
Playwright are installed, the pages of `four_seasons_env play` and `four-seasons review` as they
look on a desk and on a phone, light and dark. All are written to docs/pictures.
"""

from __future__ import annotations

import shutil
import socket
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

from four_seasons_env.agents.files import write_atomically
from four_seasons_env.experiments.command_line import run_command
from four_seasons_env.experiments.evaluation.players import find_players
from four_seasons_env.experiments.evaluation.review import record_games
from four_seasons_env.experiments.reporting.animation import play_out, save_animation
from four_seasons_env.experiments.reporting.review_page import review_page
from four_seasons_env.experiments.review import review_game
from four_seasons_env.game import Game
from four_seasons_env.play.server import make_app
from four_seasons_env.rendering.picture import save_picture
from four_seasons_env.rules import RULES, file_name

_LOOKS: list[tuple[int, int, Any]] = [
    (width, height, scheme)
    for width, height in ((1500, 1000), (390, 844))
    for scheme in ("light", "dark")
]
_FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


@dataclass
class Pictures:
    """Make the pictures of the docs."""

    out: Path = Path("docs/pictures")
    """Their folder."""
    deal: int = 17
    """Of the game that is shown, which `agent` must win."""
    agent: str = "planner"
    """Who plays it."""
    lost: int = 10_025
    """Deal of the game that is looked over, which the heuristic loses."""


def draw_game(run: Pictures) -> None:
    """The game as an animation, and a position in the middle of it.

    Raises:
        ValueError: if the agent does not win the deal.
    """
    positions = play_out(run.agent, "four-seasons", run.deal)
    if not positions[-1].is_won:
        raise ValueError(f"{run.agent} does not win deal {run.deal}: choose another (--deal)")
    run.out.mkdir(parents=True, exist_ok=True)
    save_animation(positions, run.out / "game.gif", width=280)
    middle = len(positions) // 2
    for theme in ("light", "dark"):
        path = run.out / f"position-{theme}.svg"
        save_picture(positions[middle], path, before=positions[middle - 1], theme=theme)
    simplicity = Game("simplicity", deal=run.deal)
    save_picture(simplicity, run.out / "simplicity.svg", four_colours=True, legal=True)


@contextmanager
def _served() -> Iterator[str]:
    """The address of a server of the page."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(make_app(), log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        while not server.started:
            time.sleep(0.05)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def _play_page(page: Any, address: str, deal: int) -> None:
    page.goto(f"{address}/?rules=four-seasons&deal={deal}")
    page.wait_for_selector("#advice:not([hidden])", timeout=180_000)
    for number in range(1, 13):
        page.click("#step")
        page.locator("#count", has_text=f"{number}").wait_for(timeout=60_000)
    page.check("#show-chance")
    page.click("#hint")
    page.wait_for_selector("#values:not([hidden])")
    page.wait_for_selector("#chance:not([hidden])")


def screenshots(run: Pictures, chromium: str) -> None:
    """The pages, in each of their looks."""
    from playwright.sync_api import sync_playwright

    rules = RULES["four-seasons"]
    (player,) = find_players(["heuristic"], rules)
    record = record_games(player, rules, [run.lost])[run.lost]
    review = run.out / "review.html"
    write_atomically(review, review_page(review_game(record, ["heuristic", "planner"])).encode())
    with _served() as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=_FLAGS)
        for width, height, scheme in _LOOKS:
            for name in ("play", "review"):
                page = browser.new_context(
                    viewport={"width": width, "height": height}, color_scheme=scheme
                ).new_page()
                if name == "play":
                    _play_page(page, address, run.deal)
                else:
                    page.goto(review.absolute().as_uri())
                page.wait_for_timeout(400)
                page.screenshot(path=run.out / f"{name}-{width}-{scheme}.png")
                page.context.close()
        browser.close()
    review.unlink()


def draw_openings(out: Path, deal: int) -> None:
    """The opening of each rule set, in the folder `rules`."""
    folder = out / "rules"
    folder.mkdir(parents=True, exist_ok=True)
    for name, rules in RULES.items():
        save_picture(Game(rules, deal=deal), folder / f"{file_name(name)}.svg")


def make_pictures(run: Pictures) -> None:
    """All of them."""
    draw_game(run)
    draw_openings(run.out, run.deal)
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        print("no Chromium is installed: the pages are not pictured", file=sys.stderr)
        return
    screenshots(run, chromium)
    print(f"kept in {run.out}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    run_command(arguments, make_pictures, Pictures, __doc__)


if __name__ == "__main__":
    main()
