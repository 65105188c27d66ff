"""No result is mixed with another's, cut, doubled or misread without a word."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from agents.bundled import bundled_weights
from experiments.compare import Compare, compare, play_all
from experiments.evaluation import players as players_module
from experiments.evaluation.players import find_players
from experiments.parallel.parts import stamp_of
from experiments.parallel.workers import Workers
from experiments.report import Report, report
from experiments.reporting.tables import read_table
from four_seasons_env.engine.deals import TRAIN_FROM

ALONE = Workers(n_jobs=1)
DEALS = f"{TRAIN_FROM}-{TRAIN_FROM + 9}"


def comparison(out: Path, *agents: str, deals: str = DEALS) -> Compare:
    return Compare(out=out, agents=list(agents), deals=deals, play=["deterministic"], workers=ALONE)


# --- what a result is kept by ---------------------------------------------------------------------


def files_of(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("A=heuristic", "A=greedy"),
        ("A=heuristic", "A=random"),
        ("A=maskable_ppo", "A=next_deal_ppo"),
    ],
)
def test_another_agent_under_the_same_name_is_refused(
    tmp_path: Path, first: str, then: str
) -> None:
    play_all(comparison(tmp_path, first))
    before = files_of(tmp_path)
    with pytest.raises(ValueError, match=f"{tmp_path} holds a comparison of .*four-seasons: A-"):
        play_all(comparison(tmp_path, then))
    assert files_of(tmp_path) == before


def test_results_of_other_code_are_refused(tmp_path: Path, monkeypatch) -> None:
    play_all(comparison(tmp_path, "heuristic"))
    before = files_of(tmp_path)
    monkeypatch.setattr(players_module, "code_digest", lambda: "of a newer heuristic")
    with pytest.raises(ValueError, match="heuristic-deterministic as an earlier version"):
        play_all(comparison(tmp_path, "heuristic"))
    assert files_of(tmp_path) == before


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("finisher", "finisher@endgame_nodes=9"),
        ("finisher@base=maskable_ppo", "finisher@base=greedy"),
        ("best", "best@milliseconds=1"),
        ("planner@nodes=40", "planner@nodes=50"),
    ],
)
def test_options_belong_to_what_a_result_is_made_by(one: str, other: str) -> None:
    (first,) = find_players([f"A={one}"], "four-seasons", ["deterministic"])
    (second,) = find_players([f"A={other}"], "four-seasons", ["deterministic"])
    assert first.made_by != second.made_by
    assert first.folder != second.folder


@pytest.mark.parametrize("name", ["maskable_ppo:{}", "finisher@base=maskable_ppo:{}"])
def test_weights_belong_to_what_a_result_is_made_by_and_their_place_does_not(
    tmp_path: Path, monkeypatch, name: str
) -> None:
    """Also those of an agent that an option names."""
    kept = bundled_weights("maskable_ppo", "four-seasons")
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        for file in kept.iterdir():
            (tmp_path / folder / file.name).write_bytes(file.read_bytes())
    monkeypatch.setattr(players_module, "make_agent", lambda *_, **__: None)

    def made_by(folder: str) -> dict[str, object]:
        agent = f"A={name.format(tmp_path / folder)}"
        (player,) = find_players([agent], "four-seasons", ["deterministic"])
        return player.made_by

    first = made_by("one")
    if name.startswith("maskable"):
        assert made_by("two") == first
    weights = tmp_path / "one" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")
    assert made_by("one") != first


@pytest.mark.parametrize("text", ["", "{", "[]", '{"seed": 0}', "\0", '"text"'])
def test_a_damaged_list_of_players_is_named(tmp_path: Path, text: str) -> None:
    run = comparison(tmp_path, "random")
    (tmp_path / "compare.json").write_text(text)
    with pytest.raises(ValueError, match="compare.json"):
        play_all(run)
