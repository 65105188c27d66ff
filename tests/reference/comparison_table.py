"""What a comparison with a slower model counts, printed as a table, a row a rule set."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

from four_seasons_env.rules import Rules


def print_comparison(
    columns: Sequence[str], rule_sets: Iterable[Rules], count: Callable[[Rules], Sequence[int]]
) -> None:
    """Compare rule set after rule set, and print each row when it is there.

    Args:
        columns: names of what is counted.
        rule_sets: the rows.
        count: makes the comparison; what it returns stands under the columns.
    """
    heads = ["rules", "ranks", "piles", *columns, "seconds"]
    _print_row(heads)
    _print_row(["---"] * len(heads))
    for rules in rule_sets:
        started = time.monotonic()
        counts = count(rules)
        seconds = f"{time.monotonic() - started:.1f}"
        _print_row([rules.name, rules.ranks, rules.piles, *counts, seconds])


def _print_row(cells: Sequence[object]) -> None:
    print("|", " | ".join(map(str, cells)), "|", flush=True)
