"""The golden games: the engine still plays them so, and the independent model agrees."""

import re

import pytest

from four_seasons_env.rules import RULES, Rules
from tests.reference.golden import path_of, play
from tests.reference.slow_model import SlowGame

ROWS = list(RULES.values())


@pytest.mark.parametrize("rules", ROWS, ids=lambda rules: rules.name)
def test_engine_plays_the_golden_game(rules: Rules) -> None:
    text = path_of(rules).read_text()
    deal = int(re.match(r".*, deal (\d+)\n", text).group(1))
    _, lines = play(rules, deal)
    assert "\n".join(lines) + "\n" == text, (
        "the rules have changed, or `python -m tests.reference.golden`"
    )


@pytest.mark.parametrize("rules", ROWS, ids=lambda rules: rules.name)
def test_slow_model_agrees_with_the_golden_game(rules: Rules) -> None:
    """Each position, its legal moves and the move, read back from the text alone."""
    text = path_of(rules).read_text()
    model = SlowGame(rules, re.search(r"^deck: (.*)$", text, re.M).group(1).split())
    blocks = text.split("\n\n")[1:]
    for block in blocks:
        shown = dict(re.findall(r"\b(T\d+|waste): ((?:[A-Z\d]{2} ?|--)+)", block))
        piles = [shown[f"T{i}"].replace("--", "").split() for i in range(rules.piles)]
        assert piles == model.tableau
        assert shown["waste"].replace("--", "").split() == model.waste
        up = dict(re.findall(r"\b([CSHD]): (\S+)", block.splitlines()[0]))
        assert up == {
            suit: cards[-1] if cards else "--" for suit, cards in model.foundations.items()
        }
        assert int(re.search(r"stock: (\d+)", block).group(1)) == len(model.stock)
        legal = re.search(r"^legal: (.*)$", block, re.M)
        if legal is None:
            break
        assert set(legal.group(1).split()) == model.legal_moves()
        model.play(re.search(r"^-> (.*)$", block, re.M).group(1))
    assert len(blocks) > 30
    assert text.endswith("won\n") == model.is_won
