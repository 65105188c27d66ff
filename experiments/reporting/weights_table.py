"""The kept weights in a table of docs/agents.md: how trained, and what they win."""

from __future__ import annotations

from typing import Any

import pandas as pd

from agents.bundled import BUNDLED
from agents.policy_files import CARD_FILE, load_policy_card
from experiments.statistics.summary import as_text

_UNITS = ("games", "steps")


def weights_table(summary: pd.DataFrame) -> pd.DataFrame:
    """A row for each folder of weights in the repository.

    Args:
        summary: of comparisons of agents on test deals (see
        `experiments.statistics.summary.summarise`).
    """
    played = summary[summary["play"] == "deterministic"]
    told = as_text(played).assign(agent=played["agent"], rules=played["rules"])
    won = told.set_index(["agent", "rules"])["won % [95%]"].to_dict()
    rows = []
    for folder in sorted(path.parent for path in BUNDLED.rglob(CARD_FILE)):
        agent, rules = folder.relative_to(BUNDLED).parts
        card = load_policy_card(folder, agent, rules).training
        rows.append(
            {
                "weights": f"[{agent}/{rules}](../agents/weights/{agent}/{rules}/{CARD_FILE})",
                "trained on": _amount(card),
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


def _validation(card: dict[str, Any]) -> float:
    """The share of validation deals that were won."""
    told = card["validation"]
    return float(told["won"] if isinstance(told, dict) else told)
