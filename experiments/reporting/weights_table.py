"""The kept weights in a table of docs/agents.md: how trained, and what they win."""

from __future__ import annotations

from typing import Any

import pandas as pd

from four_seasons_env.agents.bundled import all_bundled_weights
from four_seasons_env.agents.policy_files import CARD_FILE, load_policy_card
from four_seasons_env.experiments.statistics.summary import as_text
from four_seasons_env.experiments.training.planner import DIGEST
from four_seasons_env.rules import RULES

_UNITS = ("games", "steps")


def weights_table(summary: pd.DataFrame) -> pd.DataFrame:
    """A row for each folder of weights in the repository.

    Args:
        summary: of comparisons of agents on test deals (see
        `four_seasons_env.experiments.statistics.summary.summarise`).
    """
    played = summary[summary["play"] == "deterministic"]
    told = as_text(played).assign(agent=played["agent"], rules=played["rules"])
    won = told.set_index(["agent", "rules"])["won % [95%]"].to_dict()
    rows = []
    kept = [(each.parent.name, name, each) for name in RULES for each in all_bundled_weights(name)]
    cards = {folder: load_policy_card(folder, agent, rules) for agent, rules, folder in kept}
    names = {cards[folder].sha256: f"{agent}/{rules}" for agent, rules, folder in kept}
    for agent, rules, folder in sorted(kept):
        where = f"../agents/weights/{agent}/{folder.name}/{CARD_FILE}"
        card = cards[folder].training
        rows.append(
            {
                "weights": f"[{agent}/{rules}]({where})",
                "trained on": _amount(card),
                "begun from": _begun_from(card, names),
                "minutes": f"{card.get('core_seconds', card['seconds']) / 60:.0f}",
                "seed": str(card["seed"]),
                "validation deals won %": f"{100 * _validation(card):.1f}",
                "test deals won % [95%]": won.get((agent, rules), "-"),
            }
        )
    return pd.DataFrame(rows)


def _amount(card: dict[str, Any]) -> str:
    """How much was played, in the unit that the card counts."""
    return next(f"{card[unit]:,} {unit}" for unit in _UNITS if unit in card)


def _begun_from(card: dict[str, Any], names: dict[str, str]) -> str:
    """The weights of a warm start, whose own training is not counted.

    Args:
        card: of the weights.
        names: of the kept weights, by their digests.
    """
    teacher, _, digest = (card.get("warm_start") or "").partition(DIGEST)
    if not teacher:
        return "nothing"
    if ":" not in teacher:
        return "those kept before"
    return names.get(digest) or f"an earlier {teacher.rpartition('weights/')[2]}"


def _validation(card: dict[str, Any]) -> float:
    """The share of validation deals that were won."""
    told = card["validation"]
    return float(told["won"] if isinstance(told, dict) else told)
