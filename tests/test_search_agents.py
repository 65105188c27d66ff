"""The search agents of docs/tutorials/search.md are short, legal and reproducible."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from four_seasons_env.experiments.play import play_deals
from four_seasons_env.rules import RULES
from tests.helpers import ROOT, load

FOLDER = ROOT / "docs" / "tutorials" / "search"
AGENTS = {
    "flat_monte_carlo": ("FlatMonteCarlo", {"playouts": 4}, 15),
    "expectimax": ("Expectimax", {"playouts": 1}, 25),
    "uct": ("Uct", {"iterations": 10, "playouts": 1}, 40),
}
"""Class, options for a quick game, and promised lines of code, by file."""


def make(file: str, rules: str) -> Any:
    name, options, _ = AGENTS[file]
    return getattr(load(FOLDER / f"{file}.py"), name)(RULES[rules], **options)


@pytest.mark.parametrize("rules", ["four-seasons", "czarina-1898", "pysolfc/corners"])
@pytest.mark.parametrize("file", AGENTS)
def test_search_agents_repeat_their_games(file: str, rules: str) -> None:
    deals = range(10_000, 10_002)
    first, second = (play_deals(make(file, rules), RULES[rules], deals, seed=1) for _ in "ab")
    pd.testing.assert_frame_equal(first.drop(columns="seconds"), second.drop(columns="seconds"))
    assert first["cards_up"].min() > 1


@pytest.mark.parametrize("file", AGENTS)
def test_search_agents_have_few_lines(file: str) -> None:
    lines = Path(FOLDER / f"{file}.py").read_text().splitlines()
    code = [line for line in lines if line.strip() and not line.strip().startswith('"""')]
    assert len([line for line in code if "import" not in line]) <= AGENTS[file][2]
