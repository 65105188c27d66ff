"""Folders and files of others, damaged or forged: each gives one sentence that names the file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from docs import tables as of_docs
from four_seasons_env.agents.policy_files import load_policy_card
from four_seasons_env.experiments.blocks import blocks_of
from four_seasons_env.experiments.compare import Compare, compare
from four_seasons_env.experiments.comparison import read_comparison, read_manifest
from four_seasons_env.experiments.report import Report, report
from four_seasons_env.experiments.tables import print_table
from four_seasons_env.experiments.verify import Verify, verify
from tests.experiments.test_errors import files_of, refused

Change = Callable[[str], str]

# --- comparisons ----------------------------------------------------------------------------------


def cell(column: str, text: str, line: int = 5) -> Change:
    """Another text in a cell of a table."""

    def change(table: str) -> str:
        lines = [each.split(",") for each in table.splitlines()]
        lines[line - 1][lines[0].index(column)] = text
        return "".join(",".join(each) + "\n" for each in lines)

    return change


def manifest(**fields: Any) -> Change:
    """Other values in a manifest."""
    return lambda text: json.dumps(json.loads(text) | fields)


def player(**fields: Any) -> Change:
    """Other values of the first player."""

    def change(text: str) -> str:
        values = json.loads(text)
        values["players"]["four-seasons"][0] |= fields
        return json.dumps(values)

    return change


DEEP = "[" * 100_000
LONGER = "Length of header or names does not match length of data"

RESULTS = [
    (cell("seconds", "nan"), "seconds in line 5 is 'nan'"),
    (cell("seconds", "inf"), "seconds in line 5 is 'inf'"),
    (cell("seconds", "-1"), "seconds in line 5 is '-1'"),
    (cell("seconds", ""), "seconds in line 5 is ''"),
    (cell("seconds", "fast"), "seconds in line 5 is 'fast'"),
    (cell("won", "0.99"), "won in line 5 is '0.99'"),
    (cell("won", ""), "won in line 5 is ''"),
    (cell("cards_up", "53"), "cards_up in line 5 is '53'"),
    (cell("cards_up", "1.5"), "cards_up in line 5 is '1.5'"),
    (cell("moves", "501"), "moves in line 5 is '501'"),
    (cell("deal", "-1"), "deal in line 5 is '-1'"),
    (cell("train_seed", "1.5"), "train_seed in line 5 is '1.5'"),
    (cell("train_seed", str(2**64)), f"train_seed in line 5 is '{2**64}'"),
    (cell("agent", ""), "agent in line 5 is ''"),
    (lambda text: text.replace(",", ";"), "must have the columns agent,play,"),
    (cell("cards_up", "won", 1), "must have the columns agent,play,"),
    (lambda text: text.replace("\n", ",1\n"), "must not have the column 1"),
    (lambda text: text.replace("\n", ",1\n").replace("seconds,1", "seconds"), LONGER),
]
MANIFESTS = [
    (manifest(players={}), "at least one player for each rule set"),
    (manifest(players={"four-seasons": []}), "at least one player for each rule set"),
    (manifest(players={"\x1b[31m": []}), "at least one player for each rule set"),
    (manifest(deals="0-9223372036854775807"), "--deals must be 10,000,000 deals or fewer"),
    (manifest(origin={}), "missing required field `command`"),
    (player(block=0), "Expected `int` >= 1"),
    (player(agent="\x1b[31mred"), "must be printable, without spaces at its ends, not '\\x1b[31m"),
    (player(agent="A"), "have the same label 'A'"),
    (player(agent="planner"), "'planner' is the name of another row of the table"),
    (player(play="sideways"), "deterministic|stochastic"),
    (
        lambda text: text.replace('"four-seasons": [', '"\\u001b[31m": ['),
        "unknown rules '\\x1b[31m'",
    ),
    (lambda text: DEEP, "brackets are nested too deeply"),
    (lambda text: "[]", "Expected `object`, got `array`"),
]


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [("results.csv", *each) for each in RESULTS] + [("compare.json", *each) for each in MANIFESTS],
)
def test_a_damaged_comparison(name: str, change: Change, says: str, copied: Compare, capsys):
    path = copied.out / name
    path.write_text(change(path.read_text()))
    before = files_of(copied.out)
    for command in ("report", "verify"):
        line = refused(f"{command} {copied.out}", capsys)
        assert line.startswith(f"error: {path} ")
        assert says in line
        assert line.isprintable()
    assert files_of(copied.out) == before


@pytest.mark.parametrize(
    "change",
    [
        cell("agent", "planner"),
        cell("deal", "17"),
        lambda text: text.replace(",False,", ",True,", 1),
        lambda text: "".join(sorted(text.splitlines(keepends=True))),
    ],
)
def test_rows_of_other_games_are_not_shown(change: Change, copied: Compare, capsys) -> None:
    path = copied.out / "results.csv"
    path.write_text(change(path.read_text()))
    assert f"{path} must have the " in refused(f"report {copied.out}", capsys)


def test_a_comparison_that_was_stopped(copied: Compare, capsys) -> None:
    (copied.out / "results.csv").unlink()
    for command in ("report", "verify"):
        assert "has no results.csv: repeat" in refused(f"{command} {copied.out}", capsys)


def test_a_damaged_block_is_played_again(copied: Compare) -> None:
    ours = [
        block for player in blocks_of(copied.out, read_manifest(copied.out)) for block in player
    ]
    assert all(block.stored() is not None for block in ours)
    ours[0].part.write_text(cell("cards_up", "53")(ours[0].part.read_text()))
    assert [block.stored() is not None for block in ours] == [False, True]


def test_numbers_come_from_the_games(copied: Compare, tmp_path: Path, capsys, monkeypatch) -> None:
    """Whatever somebody has written into the tables that are for people."""
    won = read_comparison(copied.out, of_docs.census()).summary.set_index("agent")["win_rate"]["A"]
    assert won < 0.5
    assert verify(Verify(copied.out))
    for name in ("summary.csv", "seeds.csv", "table.md", "table.tex"):
        path = copied.out / name
        kept = path.read_text()
        lines = kept.splitlines(keepends=True)
        row = next(i for i, line in enumerate(lines) if "A," in line or "A " in line)
        lines[row] = lines[row].replace("0", "9")
        path.write_text("".join(lines))
        assert not verify(Verify(copied.out))
        assert f"{name}: not what results.csv gives" in capsys.readouterr().out
        if name != "seeds.csv":
            path.write_text(kept)
    path = copied.out / "summary.csv"
    path.write_text(cell("win_rate", "0.99", line=3)(path.read_text()))
    page = report(Report([copied.out], out=tmp_path)).read_text()
    assert f"A {won:.1%}" in page and "99.0" not in page
    # The stored results of the docs name the commit that played, not the one that merges them.
    manifest = read_manifest(copied.out)
    played_by = manifest.origin and manifest.origin["git"]["commit"]
    monkeypatch.setattr(of_docs, "measured_by", lambda: {"version": "0", "commit": "another"})
    of_docs.add(copied.out, tmp_path / "stored.csv")
    stored = pd.read_csv(tmp_path / "stored.csv", dtype=str, keep_default_na=False)
    stored = stored.set_index("agent")
    assert float(stored["win_rate"]["A"]) == pytest.approx(won)
    assert {*stored["commit"]} == {(played_by or "")[:10]}
    with pytest.raises(ValueError, match="name the comparison"):
        of_docs.add(path, tmp_path / "stored.csv")
    # Without the files, and for another baseline.
    for name in ("summary.csv", "seeds.csv", "table.md", "table.tex"):
        (copied.out / name).unlink()
    assert verify(Verify(copied.out))
    copied.against = "A"
    compare(copied)
    assert verify(Verify(copied.out))
    assert "<th>vs A [95%]</th>" in report(Report([copied.out])).read_text()


def test_tables_of_another_version_are_not_compared(copied: Compare, capsys) -> None:
    (copied.out / "table.md").write_text("of an older form\n")
    path = copied.out / "compare.json"
    path.write_text(manifest(version="\x1b[31m")(path.read_text()))
    assert verify(Verify(copied.out))
    printed = capsys.readouterr().out
    assert (
        "not checked: summary.csv, seeds.csv, table.md, table.tex of version '\\x1b[31m'" in printed
    )


def test_text_does_not_steer_a_terminal(capsys) -> None:
    print_table(pd.DataFrame({"agent\x1b[2J": ["\x1b]0;mine\a", "b"]}), "\x1b[31mtitle")
    printed = capsys.readouterr().out
    assert "\x1b" not in printed and "\a" not in printed
    assert "\\x1b[31mtitle" in printed and "\\x1b]0;mine\\x07" in printed


# --- trainings ------------------------------------------------------------------------------------

RUN = {
    "run": {"agent": "planner", "seed": 0, "warm_start": None},
    "rules": {"name": "czarina"},
    "command": "four-seasons train",
}
LOG = "time/total_timesteps,time/core_seconds,validation/win_rate\n100,60,\n200,120,0.25\n"
DONE = {"steps": 1, "seconds": 1, "core_seconds": 1, "games": 1}


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("run.json", json.dumps({**RUN, "run": {"agent": "planner"}}), "required field `seed`"),
        ("run.json", json.dumps({**RUN, "rules": {}}), "required field `name`"),
        ("run.json", json.dumps({**RUN, "rules": {"name": "\x1b"}}), "unknown rules '\\x1b'"),
        ("run.json", json.dumps({"run": RUN["run"], "rules": RUN["rules"]}), "field `command`"),
        ("run.json", DEEP, "brackets are nested too deeply"),
        ("done.json", json.dumps(DONE), "required field `best`"),
        ("progress.csv", LOG.replace(",", ";"), "must have the columns time/total_timesteps"),
        ("progress.csv", LOG.replace("120", "long"), "time/core_seconds in line 3 is 'long'"),
        ("progress.csv", LOG.replace("0.25", "25"), "validation/win_rate in line 3 is '25'"),
        ("progress.csv", "\x00\x01\n" + LOG + '"', "is not a CSV table"),
    ],
)
def test_a_damaged_training(name: str, text: str, says: str, tmp_path: Path, capsys) -> None:
    (tmp_path / "run.json").write_text(json.dumps(RUN))
    (tmp_path / "progress.csv").write_text(LOG)
    (tmp_path / name).write_text(text)
    line = refused(f"report {tmp_path} --out {tmp_path}/other", capsys)
    assert line.startswith(f"error: {tmp_path / name} ")
    assert says in line
    assert not (tmp_path / "other").exists()


def test_a_card_with_nested_brackets(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text(DEEP)
    (tmp_path / "model.safetensors").touch()
    with pytest.raises(ValueError, match=r"model\.json is damaged: its brackets are nested too"):
        load_policy_card(tmp_path, "planner", "czarina")


# --- curves of other programs ---------------------------------------------------------------------

CURVE = "steps,win_rate\n0,0\n100,0.25\n200,NaN\n"


@pytest.mark.parametrize(
    "data",
    [
        CURVE.encode(),
        CURVE[:-1].encode(),
        CURVE.encode("utf-8-sig"),
        CURVE.encode("utf-16"),
        CURVE.replace("\n", "\r").encode(),
        CURVE.replace("\n", "\r\n").encode(),
        CURVE.replace(",", ", ").encode(),
        CURVE.replace("\n", ",\n").replace("rate,", "rate").encode(),
        *(CURVE.replace("NaN", each).encode() for each in ("nan", "NA", "N/A", "null", "None", "")),
        "steps,win_rate\n200,\n100,0.25\n0,0".encode("utf-16"),
    ],
)
def test_a_curve_of_another_program(data: bytes, tmp_path: Path, monkeypatch) -> None:
    """A label may have any length."""
    shown: list[pd.DataFrame] = []
    draw = "four_seasons_env.experiments.plots.plot_curves"
    path = tmp_path / "own.CSV"
    path.write_bytes(data)
    monkeypatch.setattr(
        draw, lambda curves, title, path, *_, **__: (shown.append(curves), path.touch())
    )
    assert report(Report([Path(f"{300 * 'L'}={path}")])) == tmp_path / "report.html"
    assert shown[0][["spent", "win_rate"]].to_numpy().tolist() == [[0, 0], [100, 0.25]]
    assert shown[0]["name"].unique() == [300 * "L"]


def test_the_log_of_our_own_run_is_no_curve(tmp_path: Path, capsys) -> None:
    """It has more in it, and its folder says what it is of."""
    for name in ("run.json", "progress.csv"):
        (tmp_path / name).write_text("")
    says = f"is the log of a training run: name its folder, own={tmp_path}"
    assert says in refused(f"report own={tmp_path}/progress.csv", capsys)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is not a CSV table: No columns"),
        ("steps,win_rate\n", "must have a row with steps and a win_rate"),
        ("steps,win_rate\n1,nan\n,0.5\n", "must have a row with steps and a win_rate"),
        (CURVE.replace("100", "inf"), "steps in line 3 is 'inf'"),
        (CURVE.replace("100", "-5"), "steps in line 3 is '-5'"),
        (CURVE.replace("0.25", "inf"), "win_rate in line 3 is 'inf'"),
        (CURVE.replace("0.25", "25%"), "win_rate in line 3 is '25%'"),
        (CURVE.replace("0.25", "25"), "win_rate in line 3 is '25'"),
        (CURVE.replace(",", ";"), "must have the columns steps,win_rate: it has 'steps;win_rate'"),
        (CURVE.replace("0.25", "0.25,"), "Expected 2 fields in line 3, saw 3"),
        (CURVE.replace("\n", ",7\n").replace("rate,7", "rate"), LONGER),
    ],
)
def test_a_damaged_curve(text: str, says: str, tmp_path: Path, capsys) -> None:
    path = tmp_path / "own.csv"
    path.write_text(text)
    line = refused(f"report own={path} --out {tmp_path}/x", capsys)
    assert line.startswith(f"error: {path} ")
    assert says in line
    assert not (tmp_path / "x").exists()
