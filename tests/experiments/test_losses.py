"""Lost deals, explained and drawn."""

from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest

from four_seasons_env.experiments import losses as command
from four_seasons_env.experiments.losses import Losses, losses
from four_seasons_env.experiments.reporting.loss_picture import loss_picture
from four_seasons_env.experiments.reporting.losses_page import losses_part, reasons_of
from four_seasons_env.experiments.reporting.tables import read_table
from four_seasons_env.game import Game
from four_seasons_env.solver import why_lost

LOST = 3015
"""A test deal of `four-seasons` that is lost."""


def test_a_picture_frames_the_moments_and_fades_what_does_not_matter() -> None:
    game = Game("four-seasons", LOST)
    reason = why_lost(game)
    assert reason is not None
    drawing = ElementTree.fromstring(loss_picture(game, reason, "dark"))
    groups = drawing.findall("{*}g")
    assert len(groups) == 5 + game.stock_size
    framed = [each for each in groups if each.findall("{*}rect[@x='-4']")]
    assert len(framed) == len(reason.moments)
    assert not any(each.get("opacity") for each in framed)
    assert any(each.get("opacity") for each in groups)


def test_the_page_tells_of_losses_without_a_reason() -> None:
    table = pd.DataFrame(
        [("four-seasons", LOST, "JS 7D 9H KH 7S JH", "JS 7D"), ("four-seasons", 282, None, None)],
        columns=["rules", "deal", "moments", "waiting"],
    )
    assert list(reasons_of(table)) == [LOST]
    assert losses_part(table, []).startswith(
        "Of the 2 test deals that are lost, 1 have such a reason. It has 6 to 6 moments"
    )


def test_the_command_explains_what_the_census_knows_and_may_be_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    solved = pd.DataFrame({"rules": "four-seasons", "deal": [0, LOST], "status": ["won", "lost"]})
    monkeypatch.setattr(command, "read_census", lambda _: solved)
    for pictures in (0, 1):
        losses(Losses(tmp_path / "x", pictures=pictures))
        assert "1 of 1 losses have a reason" in " ".join(capsys.readouterr().out.split())
        drawn = [path.name for path in (tmp_path / "x").glob("*.svg")]
        assert drawn == [f"lost-{LOST}.svg"] * pictures
    table = read_table(tmp_path / "x" / "losses.csv")
    assert list(reasons_of(table)) == [LOST]
    with pytest.raises(ValueError, match="no deal of 'simplicity' that is lost"):
        losses(Losses(tmp_path / "y", rules="simplicity"))
    with pytest.raises(ValueError, match="--pictures is 0 or more"):
        losses(Losses(tmp_path / "y", pictures=-1))
    assert not (tmp_path / "y").exists()
