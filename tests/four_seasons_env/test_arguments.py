"""Constructors: what they list, document and pass on; and the nearest word."""

import inspect
from dataclasses import fields
from typing import Any

import pytest

from four_seasons_env.arguments import nearest
from four_seasons_env.env import FourSeasonsEnv
from four_seasons_env.episodes.settings import MoveSettings
from four_seasons_env.next_deal import FourSeasonsNextDealEnv, FourSeasonsNextDealVectorEnv
from four_seasons_env.next_deal.next_deal_env import NextDealSettings
from four_seasons_env.text.text_env import FourSeasonsTextEnv
from four_seasons_env.vector import FourSeasonsVectorEnv

SETTINGS = {
    FourSeasonsEnv: MoveSettings,
    FourSeasonsVectorEnv: MoveSettings,
    FourSeasonsNextDealEnv: NextDealSettings,
    FourSeasonsNextDealVectorEnv: NextDealSettings,
}
KNOWN = ["n_steps", "batch_size", "learning_rate", "Czarina"]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        *[("batch", "batch_size"), ("steps", "n_steps"), ("learnrate", "learning_rate")],
        *[("CZARINA", "Czarina"), ("czarnia", "Czarina"), ("", None), ("xyz", None)],
    ],
)
def test_misspelled_words(word: str, meant: str | None) -> None:
    hint, _, listed = nearest(word, KNOWN).rpartition("known: ")
    assert hint == (f"did you mean {meant!r}? " if meant else "")
    assert listed == ", ".join(KNOWN)


@pytest.mark.parametrize("kind", [*SETTINGS, FourSeasonsTextEnv])
def test_each_argument_is_documented(kind: Any) -> None:
    listed = inspect.getdoc(kind.__init__).partition("Args:\n")[2]  # type: ignore[union-attr]
    for name in inspect.signature(kind).parameters:
        assert f"\n    {name}: " in f"\n{listed}"


@pytest.mark.parametrize("kind", SETTINGS)
def test_constructors_agree_with_settings(kind: Any) -> None:
    """A vector environment lists all settings, in their order if they may be positional."""
    defaults = {each.name: each.default for each in fields(SETTINGS[kind])}
    listed = {each.name: each.default for each in inspect.signature(kind).parameters.values()}
    assert listed == {name: defaults[name] for name in listed}
    assert "num_envs" not in listed or listed.keys() == defaults.keys()
