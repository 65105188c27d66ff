"""List the rule sets, or show the fields of one: `four-seasons rules czarina`."""

from __future__ import annotations

import argparse
import dataclasses
import textwrap
from collections.abc import Sequence

from four_seasons_env.registration import ENVS
from four_seasons_env.rules import ALIASES, CHOICES, RANGES, RULES, Rules, get_rules


def main(arguments: Sequence[str] | None = None) -> None:
    """Print each rule set with its environment id and its source.

    Raises:
        ValueError: for an unknown rule set, with the nearest one.
    """
    parser = argparse.ArgumentParser("four-seasons rules", description=__doc__)
    parser.add_argument("rules", nargs="?", help="one rule set, whose fields are shown")
    only = parser.parse_args(arguments).rules
    if only is not None:
        _show(get_rules(only))
        return
    for rules in RULES.values():
        _describe(rules)
    print("other names: " + ", ".join(f"{alias} = {name}" for alias, name in ALIASES.items()))


def _describe(rules: Rules) -> None:
    ids = {name: env_id for env_id, name in ENVS.items()}
    print(f"{rules.name}  ({ids[rules.name]})" if rules.name in ids else rules.name)
    print(textwrap.fill(rules.about, 79, initial_indent="    ", subsequent_indent="    "))


def _show(rules: Rules) -> None:
    """Print a rule set with each field and the values that it could have."""
    _describe(rules)
    values = {name: " ".join(known) for name, known in CHOICES.items()}
    values |= {name: f"{low}-{high}" for name, (low, high) in RANGES.items()}
    for field in dataclasses.fields(rules):
        if field.name not in ("name", "about"):
            value = str(getattr(rules, field.name))
            print(f"    {field.name:14} {value:15} of: {values.get(field.name, 'True False')}")
    print("with other values, quoted in a shell: --rules 'czarina(piles=4,runs=True)'")
