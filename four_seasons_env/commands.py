"""The commands `four-seasons rules` and `four-seasons solve`, which need no extra."""

from __future__ import annotations

import argparse
import dataclasses
import textwrap
from collections.abc import Callable, Sequence

from four_seasons_env.registration import ENVS
from four_seasons_env.rules import ALIASES, CHOICES, RANGES, RULES, Rules, get_rules

_VERDICTS = {
    "won": "won in {moves} moves",
    "lost": "lost: nobody can win it",
    "unknown": "unknown: neither a win nor a proof of loss was found",
}


def show_rules(arguments: Sequence[str] | None = None) -> None:
    """List the rule sets, or show the rules and fields of one: `four-seasons rules czarina`.

    Each is printed with its environment id and its source.

    Raises:
        ValueError: for an unknown rule set, with the nearest one.
    """
    parser = argparse.ArgumentParser("four-seasons rules", description=_first_line(show_rules))
    parser.add_argument(
        "rules", nargs="?", help="show the rules and fields of this rule set, instead of the list"
    )
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
    """Print a rule set in words, and each field with the values that it could have."""
    from four_seasons_env.rules_in_words import rules_in_words

    _describe(rules)
    print(textwrap.fill(rules_in_words(rules), 79, initial_indent="    ", subsequent_indent="    "))
    values = {name: " ".join(known) for name, known in CHOICES.items()}
    values |= {name: f"{low}-{high}" for name, (low, high) in RANGES.items()}
    for field in dataclasses.fields(rules):
        if field.name not in ("name", "about"):
            value = str(getattr(rules, field.name))
            print(f"    {field.name:14} {value:15} of: {values.get(field.name, 'True False')}")
    print("with other values, quoted in a shell: --rules 'czarina(piles=4,runs=True)'")


def solve_deal(arguments: Sequence[str] | None = None) -> None:
    """Solve one deal and print the game move by move: `four-seasons solve --deal 17`.

    The opening comes first, then each move with the card that it moves, and the verdict.

    Raises:
        ValueError: for a wrong flag, an unknown rule set, or an invalid deck.
    """
    # 1. The deal. Compiled code is loaded here, because the list of rules needs none.
    options = _solve_parser().parse_args(arguments)
    from four_seasons_env.game import Game
    from four_seasons_env.rendering.layout import moved_cards
    from four_seasons_env.solver import solve

    if not options.seconds > 0:
        raise ValueError(f"--seconds must be more than 0, not {options.seconds:g}")
    game = Game(options.rules, deal=options.deal, deck=options.deck)
    print(game)
    # 2. Solve it, and print the game.
    solution = solve(game, seconds=options.seconds)
    for number, move in enumerate(solution.moves, 1):
        # Of cards that move as one, the lowest; no card if the waste is turned over.
        moved = (game.stock if move.turns else moved_cards(game, move))[:1]
        game.play(move)
        print(f"{number:4}. {move!s:7} {''.join(moved):3} {game.cards_up:3} up")
    if solution.moves:
        print(game)
    verdict = _VERDICTS[solution.status].format(moves=len(solution.moves))
    print(f"{verdict} ({solution.positions:,} positions, {solution.seconds:.2f} s)")


def _solve_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("four-seasons solve", description=_first_line(solve_deal))
    parser.add_argument(
        "--rules",
        default="four-seasons",
        help="rule set, such as 'czarina(piles=4)' (default: %(default)s)",
    )
    parser.add_argument("--deal", type=int, help="number of the deal (default: 0)")
    parser.add_argument("--deck", help="your own cards, first dealt first, instead of --deal")
    parser.add_argument(
        "--seconds",
        type=float,
        default=60.0,
        help="limit of time in seconds (default: %(default)s)",
    )
    return parser


def _first_line(command: Callable[..., None]) -> str:
    """The first line of a command's docstring, for its help."""
    return (command.__doc__ or "").partition("\n")[0]
