"""Policies on disk: what a folder may hold, and replacing one that is interrupted."""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from four_seasons_env.agents import load_policy, save_policy
from four_seasons_env.agents.policy_files import (
    CARD_FILE,
    FILES,
    WEIGHTS_FILE,
    PolicyFileError,
    check_policy_folder,
    load_policy_card,
    write_policy,
)
from four_seasons_env.rules import RULES
from tests.agents.fakes import move_card, move_weights
from tests.helpers import contents

RULE_SET = RULES["four-seasons"]


def save(folder: Path, seed: int = 0) -> None:
    """Save a policy whose card has this training seed, and whose weights are as different."""
    weights = {name: each + np.float32(seed) for name, each in move_weights().items()}
    save_policy(folder, move_card(RULE_SET, seed=seed), weights)


def seed_of(folder: Path) -> int:
    """The training seed of the policy in a folder, by its card and by its weights."""
    card, weights = load_policy(folder, "maskable_ppo", RULE_SET)
    assert load_policy_card(folder, "maskable_ppo", RULE_SET.name) == card
    first = move_weights()
    seed: int = card.training["seed"]
    assert all(np.array_equal(weights[name], first[name] + np.float32(seed)) for name in first)
    return seed


@pytest.mark.parametrize("inside", ["notes.txt", "run.json", "best/model.json", "model.json/x"])
def test_a_folder_with_other_files_is_refused(inside: str, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / inside).parent.mkdir(exist_ok=True)
    (tmp_path / inside).write_text("mine")
    monkeypatch.chdir(tmp_path)
    before = contents(tmp_path)
    for refuses in (save, check_policy_folder):
        with pytest.raises(FileExistsError, match=r"^\. must be a new folder .*: choose policy$"):
            refuses(Path())
    assert contents(tmp_path) == before


def test_weights_of_another_program_stay(tmp_path: Path) -> None:
    (tmp_path / WEIGHTS_FILE).write_text("mine")
    with pytest.raises(FileExistsError, match=f"not one with {WEIGHTS_FILE}: choose"):
        save(tmp_path)
    assert (tmp_path / WEIGHTS_FILE).read_text() == "mine"


def cast(dtype: Any) -> Callable[[Any], Any]:
    return lambda score: score.astype(dtype)


@pytest.mark.parametrize(
    ("score", "card", "says"),
    [
        (
            cast(np.float64),
            {},
            "^score of the policy must have .*, float32 or float16, not float64",
        ),
        (cast(np.int64), {}, "float16, not int64"),
        (np.ndarray.tolist, {}, "not float64"),
        (lambda score: score / np.float32(0), {}, "float16, not -?inf"),
        (lambda score: (score + 70_000).astype(np.float16), {}, "not inf"),
        (lambda score: score * np.float32(np.nan), {}, "not nan"),
        (cast(np.float32), {"mask": "no_repeat"}, "card: .*'no_repeat': did you mean 'no_repeats'"),
        (cast(np.float32), {"layers": ["8", "16", "8"]}, r"Expected `int`, got `str` .*layers\[0"),
    ],
)
def test_what_could_not_be_loaded_is_not_saved(
    score: Callable[[Any], Any], card: dict[str, Any], says: str, tmp_path: Path
) -> None:
    """Neither by users nor by a training; the policy that is in the folder stays."""
    save(tmp_path)
    weights, before = move_weights(), contents(tmp_path)
    with np.errstate(all="ignore"):
        weights["score"] = score(weights["score"])
    for write in (save_policy, write_policy):
        with pytest.raises(PolicyFileError, match=says):
            write(tmp_path, replace(move_card(RULE_SET), **card), weights)
    assert contents(tmp_path) == before


def test_a_policy_is_replaced(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*")
    for seed in (1, 2):
        save(tmp_path, seed)
        assert seed_of(tmp_path) == seed
    assert {each.name for each in tmp_path.iterdir()} == {WEIGHTS_FILE, CARD_FILE, ".gitignore"}


@pytest.mark.skipif(os.name != "posix", reason="Windows lets few users make links")
@pytest.mark.parametrize("name", FILES)
def test_a_link_in_a_policy_is_refused(name: str, tmp_path: Path) -> None:
    save(tmp_path / "policy")
    (tmp_path / "blob").write_text("mine")
    (tmp_path / "policy" / name).unlink(missing_ok=True)
    (tmp_path / "policy" / name).symlink_to(tmp_path / "blob")
    with pytest.raises(ValueError, match=f"policy/{name} must be a part of .*, not a symbolic"):
        save(tmp_path / "policy", 1)
    assert (tmp_path / "blob").read_text() == "mine"


def test_two_interrupted_replacements_keep_a_whole_policy(tmp_path: Path, monkeypatch) -> None:
    """Both after the weights, which then have no card of their name."""
    save(tmp_path, 1)
    for seed, renamed in ((2, 2), (3, 2)):
        rename, left = Path.replace, iter([True] * renamed)

        def replace(path: Path, target: Path, rename=rename, left=left) -> Path:
            if not next(left, False):
                raise KeyboardInterrupt
            return rename(path, target)

        with monkeypatch.context() as patched, suppress(KeyboardInterrupt):
            patched.setattr(Path, "replace", replace)
            save(tmp_path, seed)
    assert seed_of(tmp_path) == 2


@pytest.mark.parametrize(
    ("before", "renamed", "after"),
    [(None, 0, None), (None, 1, None), (None, 2, 2), (1, 0, 1), (1, 1, 1), (1, 2, 2), (1, 3, 2)],
)
def test_an_interrupted_replacement_keeps_a_whole_policy(
    before: int | None, renamed: int, after: int | None, tmp_path: Path, monkeypatch
) -> None:
    """The old one or the new one, after each of the three files; the next save ends it."""
    best, rename, left = tmp_path / "run" / "best", Path.replace, iter([True] * renamed)
    best.mkdir(parents=True)
    if before is not None:
        save(best, before)

    def replace(path: Path, target: Path) -> Path:
        if not next(left, False):
            raise KeyboardInterrupt
        return rename(path, target)

    with monkeypatch.context() as patched, suppress(KeyboardInterrupt):
        patched.setattr(Path, "replace", replace)
        save(best, 2)
    if after is None:
        with pytest.raises(FileNotFoundError, match="no weights"):
            seed_of(tmp_path / "run")
    else:
        assert seed_of(tmp_path / "run") == after
    save(best, 3)
    assert seed_of(tmp_path / "run") == 3
