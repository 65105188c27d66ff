"""The commands that need no extra."""

import re
import sys

import pytest

from four_seasons_env import __main__ as module
from four_seasons_env.extras import missing_extra
from four_seasons_env.game import Game
from four_seasons_env.rules import RULES

DEAL = str(2**32)


def test_rules_lists_all_rule_sets(capsys) -> None:
    module.main(["rules"])
    printed = capsys.readouterr().out
    for name, rules in RULES.items():
        assert f"{name}  (" in printed or f"{name}\n" in printed
        assert rules.about.split()[0] in printed
    assert "czarina  (Czarina-v0)" in printed


def test_solve_prints_a_game(capsys) -> None:
    module.main(["solve", "--rules", "florentine", "--deal", DEAL])
    lines = capsys.readouterr().out.splitlines()
    moves = [line for line in lines if re.match(r" +\d+\. ", line)]
    assert moves[-1].endswith("52 up")
    assert lines[-1].startswith(f"won in {len(moves)} moves (")
    game = Game("florentine", int(DEAL))
    for line in moves:
        game.play(line.split()[1])
    assert game.is_won


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sovle"], "unknown command 'sovle': did you mean 'solve'?"),
        (["solve", "--rules", "czarena"], "unknown rules 'czarena': did you mean 'czarina'?"),
    ],
)
def test_an_error_is_one_line(arguments: list[str], message: str, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["four_seasons_env", *arguments])
    with pytest.raises(SystemExit) as stopped:
        module.main()
    assert stopped.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: {message}")


@pytest.mark.parametrize(
    ("module_name", "extras", "named"),
    [
        ("pandas", "experiments", "experiments"),
        ("msgspec.json", "experiments", "experiments"),
        ("torch", "experiments,train", "experiments,train"),
        ("distributed", "experiments", "dask"),
        ("pysat.solvers", "experiments", "solver"),
        ("torch", "", "train"),
    ],
)
def test_the_extra_that_is_named_installs_the_module(
    module_name: str, extras: str, named: str
) -> None:
    error = ModuleNotFoundError(name=module_name)
    told = str(missing_extra("compare", error, extras))
    assert told == f"compare needs the extra \"{named}\": pip install 'four-seasons-env[{named}]'"


def test_a_module_of_no_extra_is_not_explained() -> None:
    error = ModuleNotFoundError(name="my_package")
    assert missing_extra("compare", error, "experiments") is error
