"""Constructors that take the fields of a settings dataclass."""

import inspect
from dataclasses import fields

import pytest

from four_seasons_env.arguments import nearest
from four_seasons_env.env import FourSeasonsEnv
from four_seasons_env.episodes.settings import MoveSettings, MoveVectorSettings
from four_seasons_env.next_deal import FourSeasonsNextDealEnv, FourSeasonsNextDealVectorEnv
from four_seasons_env.next_deal.next_deal_env import NextDealSettings, NextDealVectorSettings
from four_seasons_env.text.text_env import FourSeasonsTextEnv, TextSettings
from four_seasons_env.vector import FourSeasonsVectorEnv

TAKEN = [
    (FourSeasonsEnv, MoveSettings),
    (FourSeasonsVectorEnv, MoveVectorSettings),
    (FourSeasonsNextDealEnv, NextDealSettings),
    (FourSeasonsNextDealVectorEnv, NextDealVectorSettings),
    (FourSeasonsTextEnv, TextSettings),
]


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


@pytest.mark.parametrize(("kind", "settings"), TAKEN)
def test_help_describes_each_argument(kind: type, settings: type) -> None:
    assert set(inspect.signature(kind).parameters) == {each.name for each in fields(settings)}  # type: ignore[arg-type]
    listed = inspect.getdoc(kind.__init__).partition("Args:\n")[2]  # type: ignore[misc,union-attr]
    for each in fields(settings):  # type: ignore[arg-type]
        assert f"\n    {each.name}: " in f"\n{listed}"
        assert f"\n    {each.name}: \n" not in listed
