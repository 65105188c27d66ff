"""List the rule sets: `four-seasons rules`."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Sequence

from four_seasons_env.registration import ENVS
from four_seasons_env.rules import ALIASES, RULES


def main(arguments: Sequence[str] | None = None) -> None:
    """Print each rule set with its environment id and its source."""
    parser = argparse.ArgumentParser("four-seasons rules", description=__doc__)
    parser.parse_args(arguments)
    ids = {rules: env_id for env_id, rules in ENVS.items()}
    for name, rules in RULES.items():
        print(f"{name}  ({ids[name]})" if name in ids else name)
        print(textwrap.fill(rules.about, 96, initial_indent="    ", subsequent_indent="    "))
    print("other names: " + ", ".join(f"{alias} = {name}" for alias, name in ALIASES.items()))
