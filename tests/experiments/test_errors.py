"""Wrong use of commands: the command line, and the one line that it prints. Nothing is written."""

import dataclasses
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from four_seasons_env import __version__
from four_seasons_env.__main__ import main
from four_seasons_env.agents.names import bundled_weights
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.compare import Compare
from four_seasons_env.experiments.summary import summarise
from four_seasons_env.experiments.train import Train
from four_seasons_env.records import Record, append_record
from tests.agents.fakes import HERE
from tests.experiments.test_compare import doubled
from tests.helpers import cards_in_order

DECK = " ".join(cards_in_order())
TAUGHT = f"maskable_ppo:{bundled_weights('maskable_ppo', 'four-seasons')}"
WITHOUT_OUT = ("play", "rules", "solve", "verify", "trian")

FLAGS = [
    ("trian", "unknown command 'trian': did you mean 'train'?"),
    ("compare --agents", "at least one agent"),
    ("compare --agents random --n-jobs 0", "--n-jobs must be 1 or more"),
    ("compare --agents random --rules simplicity --luck", "no planner"),
    ("compare --agents ceiling=heuristic", "another row of the table"),
    ("compare --agents random PPO=greedy --against PPA", "not 'PPA': did you mean 'PPO'?"),
    ("compare --agents random --deals 0-99999999999", "--deals must be 10,000,000 deals or fewer"),
    (f"compare --agents random --deals 0-{2**63 - 1}", "--deals must be 10,000,000 deals or fewer"),
    ("compare --agents 'a\nb=heuristic'", "printable"),
    (f"compare --agents {HERE}:Deep", "missing 1 required positional argument: 'depth'"),
    (f"play --deck '{DECK}' --deal 17", "give --deal or --deck, not both"),
    ("play --port 99999", "--port must be 0 to 65535, not 99999"),
    ("play --host 192.0.2.1", "cannot listen on 192.0.2.1:8752"),
    ("play --record .", ".: Is a directory"),
    ("report =x.csv", "must be LABEL=PATH, not '=x.csv'"),
    ("review --seconds 0", "--seconds must be more than 0"),
    ("train --seed -1", "--seed must be a whole number from 0"),
    ("train --set gamma=1 --set games=4", "--set must be given once"),
    ("train --resume", "no run to resume"),
    ("train --agent planner --cluster x:1", "--backend must be dask or ray"),
    ("train --agent maskable_ppo --n-jobs 2", "learns in one process"),
    ("train --warm-start planner", "must be maskable_ppo or maskable_ppo:FOLDER, not 'planner'"),
    ("train --warm-start maskable_ppo", "add --set layers=[256,128,64]"),
    (f"train --rules simplicity --warm-start {TAUGHT}", "for 5 piles, but 'simplicity' has 12"),
    ("verify nowhere", "nowhere has no comparison: compare.json is missing"),
]


def refused(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The line that a command prints which ends with status 2."""
    with pytest.raises(SystemExit) as stopped:
        main(shlex.split(command))
    printed = capsys.readouterr()
    assert stopped.value.code == 2
    assert not printed.out
    (line,) = printed.err.splitlines()
    assert line.startswith("error: ")
    return line


def files_of(folder: Path) -> dict[Path, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file() and path.name[0] != "."]
    return {path: path.read_bytes() for path in files}


@pytest.mark.parametrize(("command", "says"), FLAGS)
def test_wrong_flags(command: str, says: str, tmp_path: Path, capsys) -> None:
    name, out = command.split(maxsplit=1)[0], tmp_path / "x"
    if name == "play":
        pytest.importorskip("uvicorn", reason="the server needs the extra 'play'")
    assert says in refused(command + f" --out {out}" * (name not in WITHOUT_OUT), capsys)
    assert not out.exists()


# --- folders that hold something else, or are damaged ---------------------------------------------

Change = Callable[[Path], object]


def write(name: str, text: str = "mine") -> Change:
    """A file beside the comparison, in a new folder if necessary."""

    def change(folder: Path) -> None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)

    return change


def manifest(**fields: object) -> Change:
    """Other values in the manifest of the comparison."""

    def change(folder: Path) -> None:
        path = folder / "c" / "compare.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | fields))

    return change


def cut_short(name: str) -> Change:
    """A file of the comparison without its last character."""

    def change(folder: Path) -> None:
        path = folder / "c" / name
        path.write_bytes(path.read_bytes()[:-1])

    return change


def doubled_results(folder: Path) -> None:
    """Each row of the results twice."""
    doubled(folder / "c" / "results.csv")


def training(folder: Path) -> None:
    """A run that an older version has started with seed 0."""
    run = dataclasses.asdict(Train(Path("x")))
    about = {
        "run": run,
        "rules": {"name": "four-seasons"},
        "hyperparameters": {},
        "command": "train",
        "versions": {"four-seasons-env": "0.0.9"},
    }
    write("x/run.json", json.dumps(about, default=str))(folder)


def foreign_log(folder: Path) -> None:
    """A run with the log of another program."""
    training(folder)
    write("x/progress.csv", "a,b\n1,2\n")(folder)


def games(folder: Path) -> None:
    """Recorded games, the second of which was interrupted."""
    append_record(folder / "games.jsonl", Record("czarina", (), deal=3))
    with (folder / "games.jsonl").open("a") as file:
        file.write('{"rules": "czarina", "mov')
    append_record(folder / "games.jsonl", Record("simplicity", ("deal",), deal=17, player="Ada"))


def nothing(folder: Path) -> None:
    """The comparison as it is."""


DEALS = f"{TRAIN_FROM}-{TRAIN_FROM + 19}"
AGAIN = f"compare --record --n-jobs 1 --out @/c --deals {DEALS}"
BOTH = f"{AGAIN} --agents heuristic A=greedy"
FEWER = BOTH.replace(DEALS, f"{TRAIN_FROM}-{TRAIN_FROM + 5}")
HOLDS = "@/c holds a comparison "
CENSUSED = "compare --agents random --census @/x --out @/y"
REVIEWED = "review --record @/games.jsonl --out @/page.html"
NOT_EMPTY = "@/x is not empty and has no "

FOLDERS = [
    (nothing, f"{AGAIN} --agents heuristic A=heuristic", f"{HOLDS}of 'A' .* as greedy, not as heu"),
    (nothing, f"{BOTH} --seed 1", f"{HOLDS}with seed 0, not 1.*choose a new folder"),
    (nothing, FEWER, f"{HOLDS}on the deals {DEALS}, which "),
    (manifest(version="0.0.9"), BOTH, f"of version 0.0.9, not {__version__}: choose a new folder"),
    (manifest(luck={"four-seasons": "mine"}), f"{BOTH} --luck", "with luck by mine, not planner"),
    (write("c/compare.json", '{"seed": 0}'), BOTH, r"compare\.json"),
    (write("x/results.csv", "deal\n1\n"), CENSUSED, "must have the columns rules,deal,status"),
    (write("x/run.json"), "compare --agents random --out @/x", f"{NOT_EMPTY}comparison"),
    (training, "train --out @/x", r"holds a run already: resume it \(--resume\), or choose"),
    (training, "train --resume --seed 5 --out @/x", "started with seed 0, not 5"),
    (training, "train --resume --out @/x", f"training of version 0.0.9, not {__version__}: start"),
    (cut_short("results.csv"), "verify @/c", r"results\.csv is cut short"),
    (doubled_results, "verify @/c", r"results\.csv has 80 rows for 40 games"),
    (foreign_log, "report @/x", "progress.csv must have the columns time/total_t.*: it has 'a,b'"),
    (nothing, "report a=@/c", "@/c is a comparison, which has labels: leave out 'a='"),
    (
        write("mine.csv", "steps,won\n0,0\n"),
        "report @/mine.csv",
        "must have the columns steps,win_rate: it has",
    ),
    (games, f"{REVIEWED} --line 2", r"games\.jsonl, line 2: a record must be a JSON object"),
    (games, f"{REVIEWED} --line 4", "has no game in line 4"),
    (games, f"{REVIEWED} --agent greedy", "--agent has no effect here: leave it out, or --record"),
    (games, "review --record @/games.jsonl", "give --out page.html, --gif game.gif or both"),
    (games, "review --record @/games.jsonl --gif @/x.png", r"must be \.gif, not '\.png'"),
    (games, "review --record @/games.jsonl --out @/x.pdf", r"must end in \.html, not '\.pdf'"),
    (games, "review --record @/games.jsonl --out @", r"such as .*/game\.html, not a folder"),
]


@pytest.mark.parametrize(("change", "command", "says"), FOLDERS)
def test_a_folder_is_refused_and_stays(
    change: Change, command: str, says: str, copied: Compare, tmp_path: Path, capsys
) -> None:
    change(tmp_path)
    before = files_of(tmp_path)
    line = refused(command.replace("@", str(tmp_path)), capsys)
    assert re.search(says.replace("@", re.escape(str(tmp_path))), line)
    assert files_of(tmp_path) == before


def test_seeds_need_the_same_deals() -> None:
    rows = {"agent": "a", "play": "-", "rules": "r", "won": True, "cards_up": 52, "moves": 9}
    played = pd.DataFrame({"train_seed": [0, 0, 1], "deal": [1, 2, 1], "seconds": 0.1, **rows})
    with pytest.raises(ValueError, match="seeds of 'a' did not play the same deals"):
        summarise(played)
