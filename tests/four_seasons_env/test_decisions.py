"""The single decisions: their values are exact, their prompts complete, and scores add up."""

import pytest

from four_seasons_env.solver import fair_value
from four_seasons_env.text import FourSeasonsTextEnv, decisions
from four_seasons_env.text.decisions import Decision, load_decisions, score

ALL = load_decisions()
FEW = ALL[::125]


def test_the_file_is_the_one_of_the_digest() -> None:
    assert decisions.digest_of() == decisions.DIGEST
    assert len(ALL) == 500
    deals = [each.deal for each in ALL]
    assert deals == sorted(set(deals))
    assert deals[0] >= 20_000


def test_each_is_a_choice_that_matters_and_shows_no_deal() -> None:
    for each in ALL:
        assert 2 <= each.stops <= decisions.MOST_STOPS
        assert each.hidden in (2, 3)
        assert each.hidden == len(each.game.unseen)
        assert each.best - each.worst >= 0.1
        assert each.game.deal == -1


@pytest.mark.parametrize("decision", FEW, ids=lambda each: str(each.deal))
def test_the_values_are_those_of_the_best_and_the_worst_stop(decision: Decision) -> None:
    stops = decision.game.stops()
    values = [fair_value(stop.game, stop.turn).low for stop in stops]
    assert len(stops) == decision.stops
    assert max(values) == pytest.approx(decision.best)
    assert min(values) == pytest.approx(decision.worst)
    assert fair_value(decision.game).low == pytest.approx(decision.best)
    by_moves = [decision.value_of([*stop.moves, stop.turn, "W>F"]) for stop in stops]
    assert by_moves == pytest.approx(values)
    assert decision.value_of([]) == decision.value_of(["deal"])


@pytest.mark.parametrize("decision", FEW, ids=lambda each: str(each.deal))
def test_every_stop_is_among_the_positions_to_choose_from(decision: Decision) -> None:
    env = FourSeasonsTextEnv(unit="position", choices=decisions.MOST_STOPS)
    prompt, _ = env.reset(options={"game": decision.game})
    assert f"\n{decision.stops}. " in prompt
    assert f"\n{decision.stops + 1}. " not in prompt


def test_a_player_is_scored_by_its_regret() -> None:
    ways = {}
    for each in FEW:
        stops = each.game.stops()
        stop = max(stops, key=lambda stop: each.value_of(stop.moves))
        ways[str(each.game.tableau)] = [*map(str, stop.moves), "deal"]
    prompts: list[str] = []

    def perfect(prompt: str) -> str:
        prompts.append(prompt)
        decision = FEW[len(prompts) - 1]
        return f"Answer: {', '.join(ways[str(decision.game.tableau)])}"

    assert score(perfect, FEW) == pytest.approx((0, 0, 1, 0, len(FEW)))
    silent = score(lambda prompt: "", FEW, unit="position")
    assert silent.regret == pytest.approx(sum(each.best - each.worst for each in FEW) / len(FEW))
    assert silent.unreadable == 1
    deal = score(lambda prompt: "deal", FEW)
    assert 0 <= deal.regret <= silent.regret
    assert deal.error > 0
