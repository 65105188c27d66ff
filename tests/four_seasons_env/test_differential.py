"""The comparison of engine and slow model, cut short (`python -m tests.reference.differential`)."""

import pytest

from four_seasons_env.engine import kernel
from four_seasons_env.rules import RULES, Rules
from tests.helpers import REPRESENTATIVES
from tests.reference import differential


@pytest.mark.parametrize("name", REPRESENTATIVES)
def test_a_thousand_moves_agree(name: str) -> None:
    moves, games, _ = differential.compare(RULES[name], 1_000, seed=1)
    assert moves >= 1_000
    assert games >= 3


@pytest.mark.slow
@pytest.mark.parametrize("rules", RULES.values(), ids=lambda rules: rules.name)
def test_five_thousand_moves_agree(rules: Rules) -> None:
    moves, _, _ = differential.compare(rules, 5_000, seed=2)
    assert moves >= 5_000


def test_a_difference_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rule sets that differ in King on Ace alone are told apart."""
    wider = RULES["solitaire-till-dawn"]
    monkeypatch.setattr(
        differential.Engine, "__init__", _engine_of(wider, differential.Engine.__init__)
    )
    with pytest.raises(AssertionError, match="four-seasons: after"):
        differential.compare(RULES["four-seasons"], 100_000)


def _engine_of(rules: Rules, init):
    def wrong(self, _: Rules) -> None:
        init(self, rules)
        assert self.rule is kernel.compile_rules(rules)

    return wrong
