"""`four-seasons deals`: deals by verdict, and by how many agents win them."""

from pathlib import Path

import pandas as pd
import pytest

from four_seasons_env.experiments.deals import Deals, list_deals, main

STATUS = ["won", "won", "won", "lost", "unknown", "won"]
WINS = [6, 2, 0, 0, 0]  # nobody has played the last deal


@pytest.fixture
def stored(tmp_path: Path) -> dict[str, Path]:
    """Folders with a census of six deals, and with six agents' wins."""
    census = pd.DataFrame({"rules": "czarina", "deal": range(6), "status": STATUS})
    census.to_csv(tmp_path / "results.csv", index=False)
    folder = tmp_path / "catalogue"
    folder.mkdir()
    played = pd.DataFrame({"rules": "czarina", "deal": range(5), "agents": 6, "wins": WINS})
    played.assign(chance=0.5).to_csv(folder / "czarina.csv", index=False)
    return {"census": tmp_path, "catalogue": folder}


@pytest.mark.parametrize(
    ("difficulty", "deals"),
    [
        ("any", [0, 1, 2, 3, 4, 5]),
        ("winnable", [0, 1, 2, 5]),
        ("lost", [3]),
        ("open", [4]),
        ("easy", [0]),
        ("medium", [1]),
        ("hard", [2]),
    ],
)
def test_difficulties(difficulty: str, deals: list[int], stored) -> None:
    assert list_deals(Deals("czarina", difficulty, **stored))["deal"].tolist() == deals
    assert list_deals(Deals("czarina", difficulty, 1, **stored))["deal"].tolist() == deals[:1]


def test_it_is_written_as_csv(stored, tmp_path: Path, capsys) -> None:
    folders = ["--census", str(stored["census"]), "--catalogue", str(stored["catalogue"])]
    main(["--rules", "czarina", *folders])
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "rules,deal,verdict,agents,wins,chance"
    assert printed[1] == "czarina,0,winnable,6,6,0.5"
    assert printed[6] == "czarina,5,winnable,,,"
    out = tmp_path / "x.csv"
    main(["--rules", "czarina", *folders, "--difficulty", "lost", "--out", str(out)])
    assert out.read_text() == "rules,deal,verdict,agents,wins,chance\nczarina,3,lost,6,0,0.5\n"


def test_what_is_not_known_is_said(stored, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no deals of 'corners': run `four-seasons census`"):
        list_deals(Deals("corners", **stored))
    with pytest.raises(ValueError, match="no agents' results for 'czarina'"):
        list_deals(Deals("czarina", "hard", census=stored["census"], catalogue=tmp_path))
    with pytest.raises(ValueError, match="unknown difficulty 'hart': did you mean 'hard'"):
        list_deals(Deals("czarina", "hart", **stored))
