"""The folder of a comparison: it grows, resumes, and never mixes or loses results."""

import gzip
import html
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from four_seasons_env import __version__
from four_seasons_env.agents import Agent
from four_seasons_env.agents.policy_files import save_policy
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.engine.jit import module_digest
from four_seasons_env.experiments.compare import Compare, compare
from four_seasons_env.experiments.comparison import (
    COLUMNS,
    Manifest,
    open_comparison,
    read_manifest,
    read_results,
)
from four_seasons_env.experiments.folders import read_table
from four_seasons_env.experiments.play import play_game
from four_seasons_env.experiments.players import find_players
from four_seasons_env.experiments.report import Report, report
from four_seasons_env.experiments.verify import Verify, verify
from four_seasons_env.experiments.workers import Workers
from four_seasons_env.records import Record, parse_record, read_lines
from four_seasons_env.rules import RULES, get_rules
from tests.agents.fakes import move_card, move_weights
from tests.helpers import generators

ALONE = Workers(n_jobs=1)
DEALS = f"{TRAIN_FROM}-{TRAIN_FROM + 9}"


def comparison(out: Path, *agents: str, deals: str = DEALS) -> Compare:
    return Compare(out=out, agents=list(agents), deals=deals, play=["deterministic"], workers=ALONE)


def without_times(results: pd.DataFrame) -> pd.DataFrame:
    return results.drop(columns="seconds")


# --- what a folder accepts ------------------------------------------------------------------------


def test_a_comparison_may_grow(copied: Compare) -> None:
    kept = {path: path.stat().st_mtime_ns for path in copied.out.glob("parts/*/*/*.csv")}
    grown = replace(copied, agents=[*copied.agents, "random"], rules=["four-seasons", "czarina"])
    assert len(compare(grown)) == 3 * 2 * 20
    assert all(path.stat().st_mtime_ns == kept[path] for path in kept)
    more = compare(replace(grown, deals=f"{TRAIN_FROM}-{TRAIN_FROM + 29}"))
    assert len(more) == len(read_results(copied.out)) == 3 * 2 * 30
    parts = [pd.read_csv(path) for path in copied.out.glob("parts/*/*/*.csv")]
    assert sum(map(len, parts)) == 180, "files of blocks that have grown are deleted"


def test_no_test_deals_unless_named(tmp_path: Path) -> None:
    """And the folder of a named split is that of its range."""
    assert Compare(tmp_path).deals == "10000-10999"
    players = find_players(["random"], "simplicity")
    for deals in ("validation", "10000-19999"):
        made = open_comparison(tmp_path, Manifest({"simplicity": players}, deals))
        assert (made.deals, made.split) == ("10000-19999", "validation")
    assert read_manifest(tmp_path) == made


def test_a_folder_goes_on_recording(tmp_path: Path) -> None:
    players = find_players(["random"], "simplicity")
    for recorded in (True, False):
        manifest = Manifest({"simplicity": players}, DEALS, recorded=recorded)
        open_comparison(tmp_path, manifest)
    assert read_manifest(tmp_path).recorded


def test_each_rule_set_describes_its_agents(tmp_path: Path) -> None:
    rules = ["czarina", "simplicity"]
    run = replace(comparison(tmp_path / "c", "mine=tests.agents.fakes:ByRules"), rules=rules)
    compare(run)
    table = read_table(run.out / "summary.csv")
    assert table["kind"].tolist() == rules
    assert table["mask"].tolist() == ["legal", "distinct"]


def test_generators_are_given_back(tmp_path: Path) -> None:
    before = generators()
    compare(comparison(tmp_path / "c", "mine=tests.agents.fakes:drawn_by_torch"))
    play_game("tests.agents.fakes:drawn_by_torch", "four-seasons", TRAIN_FROM)
    assert generators() == before


class Drawing(Agent):
    """Chooses by a random number and by the first card of the reshuffled stock."""

    plays = ("stochastic",)
    block = 4

    def act(self, games: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        cards = games["deck"][np.arange(len(games)), np.minimum(games["dealt"], 51)]
        numbers = cards + rng.integers(0, 52, len(games))
        legal = [np.flatnonzero(mask) for mask in masks]
        return np.array([each[n % len(each)] for each, n in zip(legal, numbers, strict=True)])


def test_any_range_of_deals_gives_the_same_games(tmp_path: Path) -> None:
    """Also in a folder that grows at both ends."""
    name = f"mine={__name__}:Drawing"
    run = replace(comparison(tmp_path / "all", name), deals="16-23", record=True)
    rows = without_times(compare(run)).set_index("deal", drop=False)
    grown = replace(run, out=tmp_path / "grown", luck=True)
    for first, last in ((19, 19), (18, 21), (16, 23)):
        for out in (tmp_path / f"{first}-{last}", grown.out):
            found = compare(replace(grown, out=out, deals=f"{first}-{last}"))
            asked = rows.loc[first:last].reset_index(drop=True)
            pd.testing.assert_frame_equal(without_times(found)[asked.columns], asked)
            assert verify(Verify(out))
    games = [list(read_games(folder)) for folder in (run.out, grown.out)]
    assert games[0] == games[1]
    assert play_game(name, "four-seasons", 19) == games[0][3]


def test_the_seed_decides_the_games(tmp_path: Path) -> None:
    run, seeds = comparison(tmp_path, "random"), {"first": 0, "again": 0, "other": 1}
    runs = [replace(run, out=tmp_path / name, seed=seed) for name, seed in seeds.items()]
    first, again, other = (compare(run)["moves"].tolist() for run in runs)
    assert first == again != other


def read_games(folder: Path) -> Iterator[Record]:
    """The recorded games of a comparison of one player, in the order of their deals."""
    files = folder.glob("parts/*/*/*.jsonl.gz")
    for path in sorted(files, key=lambda path: int(path.name.partition("-")[0])):
        yield from (parse_record(line) for _, line in read_lines(path))


# --- what makes a player --------------------------------------------------------------------------


@pytest.mark.parametrize("agent", ["maskable_ppo", "finisher@base=maskable_ppo"])
def test_weights_make_a_player(tmp_path: Path, agent: str) -> None:
    """Also those of an agent that an option names."""
    card, weights = move_card(RULES["four-seasons"]), move_weights()
    save_policy(tmp_path / "net", card, weights)
    run = comparison(tmp_path / "x", f"A={agent}:{tmp_path}/net", deals=str(TRAIN_FROM))
    assert compare(run).equals(compare(run)), "the games are played once"
    save_policy(tmp_path / "net", card, {name: 2 * each for name, each in weights.items()})
    with pytest.raises(ValueError, match=f"with other weights of {agent}:.*: choose a new folder"):
        compare(run)


def test_code_makes_a_player(tmp_path: Path, monkeypatch) -> None:
    """Also that which the module of an agent imports from its folder."""
    (tmp_path / "rule.py").write_text(
        "from four_seasons_env.agents import Agent\n\n\nclass First(Agent):\n"
        "    def act(self, positions, masks, rng):\n        return masks.argmax(axis=1)\n"
    )
    (tmp_path / "mine.py").write_text("from rule import First\n")
    monkeypatch.syspath_prepend(tmp_path)
    run = comparison(tmp_path / "x", "mine=mine:First")
    assert compare(run).equals(compare(run)), "the games are played once"
    with (tmp_path / "rule.py").open("a") as file:
        file.write("# changed\n")
    module_digest.cache_clear()  # of this process
    with pytest.raises(ValueError, match="by other code of mine:First: choose a new folder"):
        compare(run)


def test_a_paper_gets_its_facts(tmp_path: Path, capsys) -> None:
    """The budget is that of a whole run, not until its best policy; a small game has an optimum."""
    run = replace(comparison(tmp_path / "c", "heuristic"), rules=["small-4x1-cells"])
    card = move_card(get_rules(run.rules[0]), steps=1_000_000, core_seconds=45.0)
    save_policy(tmp_path / "x" / "best", card, move_weights(ranks=4))
    done = '{"steps": 2000000, "seconds": 99, "core_seconds": 90, "games": 5, "best": '
    done += '{"deals": "10000-10001", "won": 0, "cards_up": 0, "steps": 1}}'
    (tmp_path / "x" / "done.json").write_text(done)
    run.agents += [f"A=maskable_ppo:{tmp_path}/x", f"B=maskable_ppo:{tmp_path}/x/best"]
    compare(run)
    assert "10 deals: all differ from heuristic; " in capsys.readouterr().out
    compare(replace(run, against="B"))  # shows the same games
    shown = capsys.readouterr().out
    assert "10 deals: within chance of B: A" in shown
    assert "optimum: the best fair play, exact;" in shown
    assert "<th>vs B [95%]</th>" in report(Report([run.out])).read_text()
    text = (run.out / "table.tex").read_text()
    for fact in (
        "& vs B [95\\%] &",
        "A & no\\_repeats & 2M steps, 1.5 core-min &",
        "B & no\\_repeats & 1M steps, 0.8 core-min &",
        "optimum & - & - & 56.15 &",
        f"FourSeasonsSmall4x1Cells-v0; four-seasons-env {__version__}; deals 4,294,967,296-",
    ):
        assert fact in text


def test_results_do_not_tell_of_this_machine(tmp_path: Path, monkeypatch) -> None:
    """A comparison may be sent to others; where it was made, it still knows its weights."""
    monkeypatch.setattr("platform.node", lambda: "ada-laptop")
    net = tmp_path / "home" / "net"
    save_policy(net, move_card(RULES["four-seasons"]), move_weights())
    agents = [f"A=maskable_ppo:{net}", f"finisher@base=maskable_ppo:{net}"]
    run = comparison(tmp_path / "home" / "c", *agents, deals=str(TRAIN_FROM))
    flags = ["--agents", *agents, f"--out={run.out}"]
    monkeypatch.setattr(sys, "argv", ["four-seasons", "compare", *flags])
    for _ in range(2):
        compare(replace(run, record=True))
    report(Report([run.out]))
    for path in run.out.rglob("*"):
        told = path.read_bytes() if path.is_file() else b""
        told = gzip.decompress(told) if path.suffix == ".gz" else told
        for name in ("ada-laptop", str(tmp_path)):
            assert name not in path.name and name.encode() not in told, path
    origin = read_manifest(run.out).origin
    parts = "A=maskable_ppo:net finisher@base=maskable_ppo:net --out=c"
    assert origin["command"] == f"four-seasons compare --agents {parts}"


# --- labels ---------------------------------------------------------------------------------------

LABELS = ("NA", "007", "a|b", "$1_$", "[red]x", "x+", "x*", "x_", "X*", "<b>", "a, b", "..")


def test_labels_survive_everything(tmp_path: Path, capsys) -> None:
    """Labels appear in parts, results, table, plots and report; and no two share a folder."""
    agents = [f"{label}=heuristic" for label in LABELS]
    run = comparison(tmp_path, "heuristic", *agents, deals=f"{TRAIN_FROM}-{TRAIN_FROM + 1}")
    compare(run)
    labels = ["heuristic", *LABELS]
    assert tuple(read_table(tmp_path / "results.csv")) == COLUMNS
    for name in ("results.csv", "summary.csv"):
        assert list(dict.fromkeys(read_table(tmp_path / name)["agent"])) == labels
    assert len({path.name.casefold() for path in tmp_path.glob("parts/*/*")}) == len(labels)
    printed = capsys.readouterr().out
    for label in labels:
        assert label in printed
    compare(run)  # reads what it has written
    page = report(Report([tmp_path])).read_text()
    for label in labels:
        assert f"<td>{html.escape(label)}</td>" in page
    markdown = (tmp_path / "table.md").read_text()
    for shown in ("| a\\|b |", "| \\$1\\_\\$ |", "| x\\* |", "| \\<b> |", "| x+ |", "| x\\_ |"):
        assert shown in markdown
    rows = [line for line in markdown.splitlines() if " | deterministic | " in line]
    assert len(rows) == len(labels)
    assert {row.replace("\\|", "").count("|") for row in rows} == {rows[0].count("|")}


# --- files that are cut short ---------------------------------------------------------------------


def cut(path: Path) -> None:
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[: len(lines) // 2]))


def empty(path: Path) -> None:
    path.write_bytes(b"")


def doubled(path: Path) -> None:
    header, *rows = path.read_text().splitlines(keepends=True)
    path.write_text("".join([header, *rows, *rows]))


def all_won(path: Path) -> None:
    """With as few cards up as before."""
    pd.read_csv(path).assign(won=True).to_csv(path, index=False)


def of_another(path: Path) -> None:
    """The games of another player."""
    pd.read_csv(path).assign(agent="planner").to_csv(path, index=False)


@pytest.mark.parametrize("damage", [cut, empty, doubled, all_won, of_another, Path.unlink])
def test_damaged_part_is_played_again(copied: Compare, damage: Callable[[Path], None]) -> None:
    before = read_results(copied.out)
    part, kept = sorted(copied.out.glob("parts/*/*/*.csv"))
    whole, kept_at = len(part.read_bytes()), kept.stat().st_mtime_ns
    damage(part)
    pd.testing.assert_frame_equal(without_times(compare(copied)), without_times(before))
    assert abs(len(part.read_bytes()) - whole) < 100  # times differ
    assert kept.stat().st_mtime_ns == kept_at


# --- the report -----------------------------------------------------------------------------------


def test_report_shows_curves_of_other_programs(tmp_path: Path, capsys) -> None:
    """Two seeds of one label and a file without; agents keep their colours in all figures."""
    for name, rate in (("own-0", 0.1), ("own-1", 0.2), ("a=b", 0.3)):
        text = f"steps,loss,win_rate\n0,2,0\n50,1,\n100,1,{rate}\n"
        (tmp_path / f"{name}.csv").write_text(text)
    compare(comparison(tmp_path / "c", "heuristic", "own=greedy", deals=f"{TRAIN_FROM}"))
    seeds = [Path(f"own={tmp_path}/own-{seed}.csv") for seed in (0, 1)]
    capsys.readouterr()
    page = report(Report([tmp_path / "a=b.csv", tmp_path / "c", *seeds]))
    assert page == tmp_path / "report.html"
    assert "Other learning curves" in page.read_text()
    assert page.read_text().count("data:image/png") == 3
    printed, own, other, rule = capsys.readouterr().out, "#d62728", "#008080", "#ff7f0e"
    expected = {"win_rates-four-seasons": {own, rule}, "speed-four-seasons": {own, rule}}
    for name, colours in (expected | {"curves": {own, other}}).items():
        assert f"  report-{name}\n" in printed
        assert (tmp_path / f"report-{name}.png").stat().st_size > 0
        drawn = (tmp_path / f"report-{name}.svg").read_text()
        assert {each for each in (own, other, rule) if each in drawn} == colours
