"""No result is mixed with another's, cut, doubled or misread without a word."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from four_seasons_env.agents.bundled import bundled_weights
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.census import Census, take_census
from four_seasons_env.experiments.compare import Compare, compare, play_all
from four_seasons_env.experiments.evaluation import players as players_module
from four_seasons_env.experiments.evaluation.ceiling import read_census
from four_seasons_env.experiments.evaluation.players import find_players
from four_seasons_env.experiments.pages import with_rows
from four_seasons_env.experiments.parallel.blocks import Block
from four_seasons_env.experiments.parallel.parts import stamp_of
from four_seasons_env.experiments.parallel.workers import Workers
from four_seasons_env.experiments.report import Report, report
from four_seasons_env.experiments.reporting.summary_page import read_summary
from four_seasons_env.experiments.reporting.tables import read_table

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


def test_a_part_is_named_by_its_first_and_last_deal(tmp_path: Path) -> None:
    block = Block(tmp_path, "pysolfc/czarina", range(20, 25))
    assert block.part == tmp_path / "parts" / "pysolfc_czarina" / "20-24.csv"


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
    with pytest.raises(ValueError, match=r"compare\.json"):
        play_all(run)


# --- labels ---------------------------------------------------------------------------------------

LABELS = ("NA", "nan", "007", "7", "1e3", "None", "", "a|b", "$1_$", "[/]red", "[red]x", "x+", "x*")
LABELS += ("x_", "X*", "True", "<b>", "a\\b", "a, b", 'a"b', "été", "..")


def test_any_label_comes_out_as_it_went_in(tmp_path: Path, capsys) -> None:
    """Through parts, results, table, plots and report; and no two share a folder."""
    agents = [f"{label}=heuristic" for label in LABELS if label]
    run = comparison(tmp_path, "heuristic", *agents, deals=f"{TRAIN_FROM}-{TRAIN_FROM + 1}")
    compare(run)
    labels = ["heuristic", *filter(None, LABELS)]
    for name in ("results.csv", "summary.csv"):
        assert list(dict.fromkeys(read_table(tmp_path / name)["agent"])) == labels
    assert len({path.name.casefold() for path in tmp_path.glob("parts/*/*")}) == len(labels)
    printed = capsys.readouterr().out
    for label in labels:
        assert label in printed
    compare(run)  # reads what it has written
    markdown = report(Report([tmp_path])).with_suffix(".md").read_text()
    for shown in ("| a\\|b |", "| \\$1\\_\\$ |", "| x\\* |", "| \\<b> |", "| x+ |", "| x\\_ |"):
        assert shown in markdown
    rows = [line for line in markdown.splitlines() if " | deterministic | " in line]
    assert len(rows) == len(labels)
    assert {row.replace("\\|", "").count("|") for row in rows} == {rows[0].count("|")}


@pytest.mark.parametrize(
    ("label", "told"),
    [
        ("ceiling", "another row of the table"),
        ("greedy", "another row of the table"),
        ("a\nb", "printable"),
        ("a\0b", "printable"),
        (" a", "no space at its ends"),
        ("_a", "does not begin with _"),
        ("a" * 61, "60 letters at most"),
    ],
)
def test_labels_that_cannot_be_are_refused_before_play(
    tmp_path: Path, label: str, told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        compare(comparison(tmp_path / "x", f"{label}=heuristic"))
    assert not (tmp_path / "x").exists()


# --- parts that do not add up ---------------------------------------------------------------------


def cut(path: Path) -> None:
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[: len(lines) // 2]))


def cut_within_a_row(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def header_only(path: Path) -> None:
    path.write_text(path.read_text().splitlines(keepends=True)[0])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def doubled(path: Path) -> None:
    header, *rows = path.read_text().splitlines(keepends=True)
    path.write_text("".join([header, *rows, *rows]))


def edited(path: Path) -> None:
    path.write_text(path.read_text().replace("False", "True"))


def without_stamp(path: Path) -> None:
    stamp_of(path).unlink()


def broken_stamp(path: Path) -> None:
    stamp_of(path).write_text("[]")


DAMAGE = [cut, cut_within_a_row, header_only, empty, doubled, edited, without_stamp, broken_stamp]


def without_times(results: pd.DataFrame) -> pd.DataFrame:
    return results.drop(columns="seconds")


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_part_is_played_again_and_it_is_said(
    tmp_path: Path, capsys, damage: Callable[[Path], None]
) -> None:
    run = comparison(tmp_path, "heuristic", "greedy")
    before = play_all(run)
    part, kept = sorted(tmp_path.glob("parts/*/*/*.csv"))
    kept_at = kept.stat().st_mtime_ns
    damage(part)
    again = play_all(run)
    pd.testing.assert_frame_equal(without_times(again), without_times(before))
    assert part.stem in capsys.readouterr().out
    assert kept.stat().st_mtime_ns == kept_at


@pytest.mark.parametrize("of", ["another player", "other deals", "another seed"])
def test_a_foreign_part_is_played_again(tmp_path: Path, capsys, of: str) -> None:
    run = comparison(tmp_path / "own", "heuristic")
    before = play_all(run)
    other = {
        "another player": replace(run, agents=["greedy"]),
        "other deals": replace(run, deals=f"{TRAIN_FROM + 100}-{TRAIN_FROM + 109}"),
        "another seed": replace(run, seed=1),
    }[of]
    play_all(replace(other, out=tmp_path / "other"))
    (foreign,) = (tmp_path / "other").glob("parts/*/*/*.csv")
    (own,) = (tmp_path / "own").glob("parts/*/*/*.csv")
    own.write_bytes(foreign.read_bytes())
    stamp_of(own).write_bytes(stamp_of(foreign).read_bytes())
    pd.testing.assert_frame_equal(without_times(play_all(run)), without_times(before))
    assert "was produced by something else" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("damage", DAMAGE)
def test_report_and_pages_refuse_results_that_do_not_add_up(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    compare(comparison(tmp_path, "heuristic", "greedy"))
    damage(tmp_path / "results.csv")
    with pytest.raises(ValueError, match=r"results\.(csv|json)"):
        report(Report([tmp_path]))
    with pytest.raises(ValueError, match=r"results\.(csv|json)"):
        read_summary(tmp_path)


def test_a_summary_of_other_results_is_refused(tmp_path: Path) -> None:
    compare(comparison(tmp_path, "heuristic", "greedy"))
    assert list(read_summary(tmp_path)["agent"]) == ["heuristic", "greedy"]
    header_only(tmp_path / "summary.csv")
    with pytest.raises(ValueError, match=r"is not of its results\.csv"):
        read_summary(tmp_path)


def test_pages_refuse_results_of_fewer_deals(tmp_path: Path) -> None:
    summary = pd.DataFrame({"rules": ["r"], "agent": ["a"], "play": ["p"], "deals": [10_000]})
    summary.to_csv(tmp_path / "stored.csv", index=False)
    with pytest.raises(ValueError, match="10,000 deals, and the new ones are of 1:"):
        with_rows(tmp_path / "stored.csv", summary.assign(deals=1))


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_part_of_a_census_is_solved_again(
    tmp_path: Path, capsys, damage: Callable[[Path], None]
) -> None:
    deals = f"{TRAIN_FROM}-{TRAIN_FROM + 2}"
    run = Census(out=tmp_path, rules=["corners"], deals=deals, seconds=1e-6, workers=ALONE)
    before = take_census(run)
    (part,) = tmp_path.glob("parts/*/*.csv")
    damage(part) if damage is not edited else doubled(part)
    pd.testing.assert_frame_equal(without_times(take_census(run)), without_times(before))
    assert part.stem in capsys.readouterr().out


def test_a_part_of_a_census_of_other_rules_is_solved_again(tmp_path: Path) -> None:
    deals = f"{TRAIN_FROM}-{TRAIN_FROM + 2}"
    run = Census(out=tmp_path, rules=["corners"], deals=deals, seconds=1e-6, workers=ALONE)
    take_census(replace(run, rules=["czarina"]))
    foreign, own = (tmp_path / "parts" / rules for rules in ("czarina", "corners"))
    foreign.rename(own)
    assert set(take_census(run)["rules"]) == {"corners"}


def test_a_census_that_is_named_is_there_and_has_each_deal_once(tmp_path: Path) -> None:
    run = replace(comparison(tmp_path / "x", "heuristic"), census=tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match="nowhere holds no census"):
        compare(run)
    assert not run.out.exists()
    with pytest.raises(FileNotFoundError, match="nowhere holds no census"):
        report(Report([tmp_path], census=tmp_path / "nowhere"))
    census = pd.DataFrame({"rules": "four-seasons", "deal": [1, 2, 1], "status": "won"})
    census.to_csv(tmp_path / "results.csv", index=False)
    with pytest.raises(ValueError, match="has deal 1 of four-seasons twice"):
        read_census(tmp_path)
    census[["deal"]].to_csv(tmp_path / "results.csv", index=False)
    with pytest.raises(ValueError, match="columns rules, deal and status"):
        read_census(tmp_path)
