"""The answer, and the odds that rule sets' pages and the family's have in common."""

import re

import pandas as pd

from four_seasons_env.experiments.evaluation.ceiling import CEILING
from four_seasons_env.experiments.pages import ANSWER, answer
from four_seasons_env.experiments.reporting.answer_page import answer_page, answers
from four_seasons_env.experiments.reporting.odds import BEST, OPEN, odds
from four_seasons_env.rules import RULES


def played(*rows: tuple[str, float, int], rules: str = "four-seasons") -> pd.DataFrame:
    """Results of players: agent, win rate, deals."""
    table = pd.DataFrame(rows, columns=["agent", "win_rate", "deals"])
    return table.assign(
        rules=rules,
        play="deterministic",
        win_low=table["win_rate"] - 0.01,
        win_high=table["win_rate"] + 0.01,
    )


LADDER = (
    ("greedy", 0.1, 1000),
    ("heuristic", 0.35, 1000),
    ("heuristic", 0.33, 10_000),
    ("kept", 0.25, 10_000),
    ("planner", 0.73, 10_000),
    ("planner@lookahead=1", 0.76, 1000),
    ("planner@lookahead=2", 0.99, 100),
    (CEILING, 0.98, 10_000),
)
THROWN = pd.DataFrame(
    [
        ("heuristic", 1, True, "won", 0, -1),
        ("heuristic", 2, False, "won", 0, -1),  # lost with every card in view
        ("heuristic", 3, False, "won", 30, 22),
        ("heuristic", 4, False, "won", 25, 15),
        ("heuristic", 5, False, "lost", -1, 46),
    ],
    columns=["agent", "deal", "won", "start", "alive", "dead"],
).assign(rules="four-seasons", digest="")


def test_the_answer_is_up_to_date() -> None:
    """`python -m four_seasons_env.experiments.pages` writes it."""
    assert answer() == ANSWER.read_text()


def test_the_ladder_has_each_player_once_from_its_most_deals() -> None:
    ladder = answers(played(*LADDER))
    assert list(ladder["agent"]) == [
        *("greedy", "maskable_ppo", "heuristic", "planner", "planner@lookahead=1", CEILING)
    ]
    assert ladder.set_index("agent").loc["heuristic", "win_rate"] == 0.33
    assert ladder["told"].iloc[-2] == "plans ahead with a network of its own, and more time"
    stronger = answers(played(*LADDER, ("rollout", 0.8, 1000)))
    assert stronger["told"].iloc[-2] == "the best fair player so far"
    weaker = answers(played(*(row for row in LADDER if "@" not in row[0])))
    assert list(weaker["agent"])[-2:] == ["planner", CEILING]


def test_the_answer_tells_what_the_results_say() -> None:
    page = answer_page(played(*LADDER), THROWN)
    quoted = next(line for line in page.splitlines() if line.startswith("> "))
    assert re.findall(r"\d+", quoted) == ["10", "10", "100", "33", "73", "97"]
    assert ", and more time | `planner@lookahead=1` | 76.00 |" in page
    assert "| sees every card | `ceiling` | 97.00 to 99.00 | - | 9.7 in 10 at least |" in page
    assert "it is 24 to 26 points" in page
    assert "it is 40 games of 100" in page
    (line,) = (line for line in page.splitlines() if "(`heuristic`), 4 winnable deals" in line)
    assert "50 to 75 of 100 can still be won with 20 cards left" in line
    assert "50 of 100 when the stock is out, and 25 are won" in line
    assert "So 25 of 100 are lost with every card in view" in line


def test_odds_are_of_the_best_fair_player_and_of_open_cards() -> None:
    rules = RULES["four-seasons"]
    solved = pd.DataFrame({"rules": "four-seasons", "deal": range(4)})
    solved["status"] = ["won", "won", "lost", "unknown"]
    rows = (("random", 0.02, 1000), *(row for row in LADDER if row[0] != CEILING))
    table = odds(rules, played(*rows), solved).set_index("kind")
    assert table.loc[BEST, "agent"] == "planner@lookahead=2"
    assert list(table.loc["heuristic", ["wins", "deals"]]) == ["33.00 [32.00, 34.00]", "10,000"]
    assert list(table.loc[OPEN, ["wins", "deals"]]) == ["50.00 to 75.00", "4"]
    alone = odds(rules, played(("heuristic", 0.3, 1000)), None).set_index("kind")
    assert list(alone.index) == ["heuristic", BEST]
    assert alone.loc[BEST, "agent"] == "heuristic"
