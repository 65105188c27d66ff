"""The commands that need no extra."""

import re

import pytest

from four_seasons_env import __main__ as module
from four_seasons_env import __version__
from four_seasons_env.extras import missing_extra
from four_seasons_env.game import Game
from four_seasons_env.rules import RULES
from tests.helpers import later

DEAL = str(2**32)


def test_rules_lists_all_rule_sets(capsys) -> None:
    module.main(["rules"])
    printed = capsys.readouterr().out
    for name, rules in RULES.items():
        assert f"{name}  (" in printed or f"{name}\n" in printed
        assert rules.about.split()[0] in printed
    assert "czarina  (Czarina-v0)" in printed


def test_rules_shows_the_fields_of_one(capsys) -> None:
    module.main(["rules", "czarina(piles=4)"])
    printed = capsys.readouterr().out
    assert re.search(r"piles +4 +of: 1-12", printed)
    assert RULES["czarina"].about.split()[0] in printed


@pytest.mark.parametrize(
    ("rules", "deal", "move"), [("florentine", DEAL, " deal "), ("czarina-1898", "4", " S>F ")]
)
def test_solve_prints_a_game(rules: str, deal: str, move: str, capsys) -> None:
    module.main(["solve", "--rules", rules, "--deal", deal])
    lines = capsys.readouterr().out.splitlines()
    moves = [line for line in lines if re.match(r" +\d+\. ", line)]
    assert any(move in line for line in moves)
    assert moves[-1].endswith("52 up")
    assert lines[-1].startswith(f"won in {len(moves)} moves (")
    assert later(Game(rules, int(deal)), [line.split()[1] for line in moves]).is_won


def test_the_version(capsys) -> None:
    module.main(["--version"])
    assert capsys.readouterr().out == f"four-seasons {__version__}\n"


@pytest.mark.parametrize(
    ("module_name", "extras", "named"),
    [
        ("msgspec.json", "experiments", "experiments"),
        ("torch", "experiments,train", "experiments,train"),
        ("distributed", "experiments", "dask"),
        ("pysat.solvers", "experiments", "solver"),
        ("torch", "", "train"),
    ],
)
def test_the_named_extra_installs_the_module(module_name: str, extras: str, named: str) -> None:
    error = ModuleNotFoundError(name=module_name)
    told = str(missing_extra("compare", error, extras))
    assert told == f"compare needs the extra \"{named}\": pip install 'four-seasons-env[{named}]'"


def test_a_module_of_no_extra_is_not_explained() -> None:
    error = ModuleNotFoundError(name="my_package")
    assert missing_extra("compare", error, "experiments") is error
