"""Compare the planner's decisions with the heuristic's, and measure what the difference gains.

    disagreements --out runs/disagreements
    pages --disagreements runs/disagreements    # into docs/agents.md

The planner plays validation deals. At each of its decisions the heuristic plays from the same
position until it would turn a card. Where the two positions differ, the planner plays on from both,
with the unseen cards in one new order. The gain is the mean difference in games won.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich.progress import track

from four_seasons_env.agents.registry import Agent, make_agent, split_name
from four_seasons_env.agents.search.determinization import determinize, hide_unseen
from four_seasons_env.engine.deals import VALIDATION, parse_deals
from four_seasons_env.engine.kernel import compile_rules
from four_seasons_env.experiments.command_line import check_seed, run_command
from four_seasons_env.experiments.evaluation.decisions import play_to_next_card
from four_seasons_env.experiments.evaluation.play import play_records
from four_seasons_env.experiments.evaluation.players import find_players
from four_seasons_env.experiments.out_folder import check_out
from four_seasons_env.experiments.reporting.tables import print_table, write_csv
from four_seasons_env.game import Game
from four_seasons_env.rules import RULES

_RULES = RULES["four-seasons"]
_STAGES = {"first third of the stock": 30, "second third": 15, "last third": 0}


@dataclass
class Disagreements:
    """Compare the planner's decisions with the heuristic's."""

    out: Path
    """Folder of the results."""
    deals: str = f"{VALIDATION[0]}-{VALIDATION[0] + 399}"
    """Validation deals."""
    planner: str = "planner@nodes=400,expansions=150"
    """The agent that decides."""
    player: str = "planner@nodes=100,expansions=40"
    """The agent that plays on from both positions."""
    seed: int = 0


def describe(game: Game) -> dict[str, int]:
    """Cards that could go up, spaces, whether the waste card has a host, cards in waste and up."""
    moves = [str(move) for move in game.legal_moves(distinct=True)]
    return {
        "up": sum(move.endswith(">F") for move in moves),
        "spaces": sum(not pile for pile in game.tableau),
        "hosted": int(
            any(move.startswith("W>T") and game.tableau[int(move[3:])] for move in moves)
        ),
        "waste": len(game.waste),
        "cards_up": game.cards_up,
    }


def _looks(game: Game) -> tuple[Any, ...]:
    return tuple(sorted(tuple(pile) for pile in game.tableau)), tuple(game.waste), game.cards_up


def decisions(run: Disagreements) -> Iterator[dict[str, Any]]:
    """The planner's decisions, each with the heuristic's in the same position."""
    planner, heuristic = make_agent(run.planner), make_agent("heuristic")
    rng = np.random.default_rng(run.seed)
    deals = parse_deals(run.deals)
    for deal in track(deals, "playing"):
        game = Game(_RULES, deal=deal)
        while game.stock_size:
            other = game.copy()
            stock = game.stock_size
            if play_to_next_card(planner, game, rng) is None:
                break
            if play_to_next_card(heuristic, other, rng) is not None:
                row: dict[str, Any] = {"deal": deal, "stock": stock}
                row["own"], row["other"] = game.copy(), other
                yield row
            game.play("deal")


def play_on(games: list[Game], player: Agent, seed: int) -> NDArray[np.bool_]:
    """Which games the player wins after a card is turned from a new order of the unseen cards."""
    rule = compile_rules(_RULES)
    if not games:
        return np.zeros(0, np.bool_)
    records = np.concatenate([game.record for game in games])
    for number, record in enumerate(records):
        hide_unseen(record, rule[0])
        determinize(record, rule[0], np.uint64(seed + number), -1)
    turned = [Game.from_record(record, _RULES) for record in records]
    for game in turned:
        game.play("deal")
    records = np.concatenate([game.record for game in turned])
    return play_records(player, _RULES, records)["won"].to_numpy()


def find_disagreements(run: Disagreements) -> pd.DataFrame:
    """A row a decision: features of both positions, and where they differ, the games won."""
    found = list(decisions(run))
    table = pd.DataFrame({"deal": [row["deal"] for row in found]})
    table["stock"] = [row["stock"] for row in found]
    for side in ("own", "other"):
        seen = pd.DataFrame([describe(row[side]) for row in found])
        table[[f"{side}_{name}" for name in seen]] = seen
    differ = np.array([_looks(row["own"]) != _looks(row["other"]) for row in found])
    table["differs"] = differ
    for side in ("own", "other"):
        games = [row[side] for row, keep in zip(found, differ, strict=True) if keep]
        table.loc[differ, f"{side}_won"] = play_on(games, make_agent(run.player), run.seed) * 1.0
    return table


def summarise_disagreements(table: pd.DataFrame) -> pd.DataFrame:
    """A row for each kind of difference: how often it occurs, and what it gains in games won."""
    more = {
        "keeps back a card that could go up": table["own_cards_up"] < table["other_cards_up"],
        "puts up a card that the heuristic keeps": table["own_cards_up"] > table["other_cards_up"],
        "leaves a card in the waste": table["own_waste"] > table["other_waste"],
        "takes a card from the waste": table["own_waste"] < table["other_waste"],
        "has more spaces": table["own_spaces"] > table["other_spaces"],
        "has fewer spaces": table["own_spaces"] < table["other_spaces"],
        "leaves a waste card that has a host": (table["own_hosted"] > table["other_hosted"]),
    }
    stages = pd.cut(
        table["stock"], [-1, *sorted(_STAGES.values())[1:], 99], labels=list(_STAGES)[::-1]
    )
    rows = []
    groups = {"all decisions": table["differs"] | True} | {name: stages == name for name in _STAGES}
    groups |= {f"the planner {name}": rows_of for name, rows_of in more.items()}
    for name, chosen in groups.items():
        differing = table[chosen & table["differs"]]
        gain = (differing["own_won"] - differing["other_won"]).astype(float)
        spread = 1.96 * gain.std() / np.sqrt(max(len(gain), 1))
        rows.append(
            {
                "where": name,
                "decisions": int(chosen.sum()),
                "differ": len(differing),
                "gain": gain.mean(),
                "gain_low": gain.mean() - spread,
                "gain_high": gain.mean() + spread,
            }
        )
    return pd.DataFrame(rows)


def disagreements_as_text(summary: pd.DataFrame) -> pd.DataFrame:
    """The summary as cells of text."""
    gains = zip(summary["gain"], summary["gain_low"], summary["gain_high"], strict=True)
    return pd.DataFrame(
        {
            "where": summary["where"],
            "decisions": summary["decisions"].map("{:,}".format),
            "they differ": summary["differ"].map("{:,}".format),
            "gain in games won, points [95%]": [
                f"{100 * gain:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"
                for gain, low, high in gains
            ],
        }
    )


def disagreements(run: Disagreements) -> None:
    """Play, and write decisions.csv and summary.csv.

    Raises:
        ValueError: if the agents never decide differently, as the heuristic and itself.
    """
    check_seed(run.seed)
    check_out(run.out, "comparison of decisions")
    if split_name(run.planner).registered == "heuristic":
        raise ValueError("--planner is compared with the heuristic: name another agent")
    (player,) = find_players([run.planner], _RULES, ["deterministic"])
    table = find_disagreements(run)
    write_csv(run.out / "decisions.csv", table)
    summary = summarise_disagreements(table)
    write_csv(run.out / "summary.csv", summary.assign(agent=player.agent, digest=player.digest))
    print_table(disagreements_as_text(summary), f"planner and heuristic, deals {run.deals}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    run_command(arguments, disagreements, Disagreements, __doc__)


if __name__ == "__main__":
    main()
