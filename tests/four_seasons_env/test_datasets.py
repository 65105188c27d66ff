"""Recorded games as transitions."""

import json
import shutil
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from four_seasons_env import datasets
from four_seasons_env.datasets import DATASETS, FOLDER, Transitions, load
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.engine.masks import MASKS
from four_seasons_env.engine.moves import all_moves, find_move
from four_seasons_env.env import FourSeasonsEnv
from four_seasons_env.game import Game
from four_seasons_env.observations import OBSERVATIONS
from four_seasons_env.records import Record, append_record
from four_seasons_env.rules import RULES
from tests.helpers import same


def waste_gone(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """A custom reward."""
    return before["cards_up"] + after["height"][:, -1].astype(float)


REWARDS = ("foundation", "win", waste_gone)
SETTINGS = list(product(OBSERVATIONS, MASKS))


def stepped(deal: int, actions: np.ndarray, **kwargs: Any) -> list[tuple[Any, ...]]:
    """What the single environment gives for the actions of a deal."""
    env, rows = FourSeasonsEnv(**kwargs, illegal="raise"), []
    observation, info = env.reset(options={"deal": deal})
    for action in actions:
        before = observation, info["action_mask"], action
        observation, reward, terminated, truncated, info = env.step(int(action))
        rows.append((*before, reward, observation, info["action_mask"], terminated, truncated))
    return rows


@pytest.mark.parametrize(
    ("observation", "mask", "reward"),
    [(*each, REWARDS[i % 3 - i // 3]) for i, each in enumerate(SETTINGS)],
)
def test_transitions_are_those_of_the_environment(observation: str, mask: str, reward: Any) -> None:
    kwargs = {"observation": observation, "mask": mask, "reward": reward, "max_moves": 120}
    data = load("medium", games=20, **kwargs)
    ends = data.terminated | data.truncated
    assert ends.sum() == 20 and 0 < data.truncated.sum() < 20
    assert [*vars(data)][-2:] == ["episode", "deal"]
    for episode in range(20):
        game = data[data.episode == episode]
        assert {*game.deal} == {4_300_010_000 + episode}
        rows = stepped(int(game.deal[0]), game.action, **kwargs)
        for array, values in zip([*vars(game).values()][:8], zip(*rows, strict=True), strict=True):
            expected = np.array(values, array.dtype)
            # A game that stops with moves back left has stopped for the player alone.
            if array is game.truncated and mask != "no_repeats" and not game.terminated[-1]:
                expected[-1] = True
            assert same(array, expected)


def test_rows_are_selected_from_all_arrays() -> None:
    data = load("mixed", games=3)
    game = data[data.episode == 1]
    assert isinstance(game, Transitions)
    assert {len(array) for array in vars(game).values()} == {len(game)}
    assert 0 < len(game) < len(data)


def test_won_games_keep_their_numbers() -> None:
    data, every = load("medium", won_only=True, games=5), load("medium", games=30)
    assert len({*data.episode}) == 5
    last = data[np.append(data.episode[1:] != data.episode[:-1], True)]
    assert last.terminated.all() and not last.next_mask.any()
    assert (last.reward > 1).all()
    assert same(vars(data), vars(every[np.isin(every.episode, data.episode)]))


@pytest.mark.parametrize("name", DATASETS)
def test_sets_are_what_their_cards_say(name: str) -> None:
    card = json.loads((FOLDER / f"{name}.json").read_text())
    recorded = datasets._shipped(name)  # whose digest is checked
    assert card["games"] == len(recorded.deals) == 10_000
    assert card["deals"] == f"{recorded.deals[0]}-{recorded.deals[-1]}"
    assert (card["transitions"], card["won"]) == (len(recorded.moves), recorded.won.mean())
    assert recorded.lengths.sum() == len(recorded.moves)
    assert card["rules"] == recorded.rules.name == "four-seasons"
    starts = np.sort([datasets._shipped(each).deals[0] for each in DATASETS])
    assert starts[0] >= TRAIN_FROM and (np.diff(starts) >= 10_000).all()


# --- files of one's own


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with a game of each of two players."""
    path = tmp_path / "games.jsonl.gz"
    deck = Game(deal=17).record["deck"][0]
    append_record(path, Record("four-seasons", ("deal", "T3>T0"), 17, player="ada"))
    append_record(path, Record("four-seasons", (), 18, player="ada"))
    text = " ".join("A23456789TJQK"[c // 4] + "CSHD"[c % 4] for c in deck)
    append_record(path, Record("four-seasons", ("deal",), deck=text, player="bob"))
    return path


def test_records_of_one_player_are_chosen(file: Path) -> None:
    ada, bob = (load(file.parent, agent=name) for name in ("ada", "bob"))
    assert ada.action.tolist() == [0, find_move(Game(deal=17).rules, "T3>T0").number]
    assert {*ada.deal} == {17} and {*bob.deal} == {-1}
    assert same(ada.observation[:1], bob.observation)  # the same deck


@pytest.mark.parametrize(
    ("unfinished", "truncated", "terminated"),
    [("truncated", [0, 1], [0, 0]), ("terminated", [0, 0], [0, 1]), ("left_out", [], [])],
)
def test_a_game_that_stops_counts_as_asked(
    unfinished: str, truncated: list[int], terminated: list[int], file: Path
) -> None:
    data = load(file, agent="ada", unfinished=unfinished)
    assert data.truncated.tolist() == truncated
    assert data.terminated.tolist() == terminated
    assert not data.next_mask[data.terminated].any()


def test_other_names_of_a_rule_set_are_no_others(file: Path) -> None:
    append_record(file, Record("corner-card", ("deal",), 19, player="bob"))
    assert len(load(file)) == len(load(file, rules="corner-card")) == 4


def test_a_folder_may_have_files_that_are_not_compressed(file: Path) -> None:
    """Such as those of `four-seasons play --record`."""
    append_record(file.with_name("mine.jsonl"), Record("four-seasons", ("deal",), 19))
    assert len(load(file.parent)) == 4


def test_moves_that_the_mask_leaves_out_are_named(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    moves = ("deal", "deal", "deal", "T0>T2", "T2>T0")
    append_record(path, Record("four-seasons", moves, TRAIN_FROM + 37))
    assert len(load(path, mask="legal")) == 5
    with pytest.raises(ValueError, match=r"in game 0 T2>T0 is legal, but returns .* \(move 5\)"):
        load(path)


def test_moves_after_the_end_of_an_episode_are_named(tmp_path: Path) -> None:
    """Where `no_repeats` ends a game, its player moves back."""
    path, texts = tmp_path / "games.jsonl", all_moves(RULES["four-seasons"])
    stopped = load("mixed", mask="legal", games=50)
    first = stopped[stopped.episode == stopped.episode[stopped.truncated][0]]
    record = Record("four-seasons", tuple(texts[i].text for i in first.action), int(first.deal[0]))
    back = str(record.positions()[-1].legal_moves()[0])
    append_record(path, Record("four-seasons", (*record.moves, back), record.deal))
    with pytest.raises(ValueError, match=f"in game 0 it is over after {len(first)} moves"):
        load(path)


@pytest.mark.parametrize(
    ("kwargs", "error"),
    [
        ({"source": "mxed"}, "no data set, file or folder 'mxed': did you mean 'mixed'"),
        ({"agent": "adda"}, "unknown agent 'adda': did you mean 'ada'"),
        ({"agent": "bob", "won_only": True}, "has no game that was won"),
        ({"rules": "czarina"}, "has no game of czarina"),
        (
            {"agent": "ada", "unfinished": "trunc"},
            "unknown unfinished 'trunc': did you mean 'trunc",
        ),
        ({"agent": "ada", "games": 0}, "games must be a positive integer"),
        ({"agent": "ada", "games": 2}, "games must be 1 or less, not 2"),
        ({"source": "medium", "games": 20_000}, "games must be 10,000 or less, not 20,000"),
        ({"source": "medium", "rules": "czarina"}, "rules of 'medium' must be 'four-seasons'"),
        ({"source": "mixed", "agent": "planer"}, "unknown agent 'planer': .*known: random, greedy"),
    ],
)
def test_wrong_arguments_are_named(kwargs: dict[str, Any], error: str, file: Path) -> None:
    with pytest.raises((ValueError, OSError), match=error):
        load(**{"source": file} | kwargs)


@pytest.mark.parametrize("fault", ["cut", "unknown compression", "changed", "no card"])
def test_damaged_sets_are_refused(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in FOLDER.glob("medium.*"):
        shutil.copy(path, tmp_path)
    monkeypatch.setattr(datasets, "FOLDER", tmp_path)
    path, error = tmp_path / "medium.npz", "is damaged"
    if fault == "cut":
        path.write_bytes(path.read_bytes()[:-100])
    elif fault == "unknown compression":
        content = bytearray(path.read_bytes())
        content[content.rindex(b"PK\x01\x02") + 10] ^= 99  # of the last array
        path.write_bytes(content)
    elif fault == "no card":
        path.with_suffix(".json").write_text("[]")
    else:
        arrays, error = dict(np.load(path)), "must be that of its card"
        arrays["moves"][7] ^= 1
        np.savez(path, **arrays)
    with pytest.raises(ValueError, match=error):
        load("medium")
