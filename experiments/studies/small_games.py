"""Compute the optimum of small games, and the regret of agents in them.

    python experiments/studies/small_games.py
    python experiments/studies/small_games.py --games 100 \\
        --agents random greedy heuristic planner=planner:runs/small/planner-RULES

The value of an opening is the exact chance of winning by the best play from public information
(`four_seasons_env.solver.fair_value`); the optimum of a game is the mean over openings. It is exact
over all of them, and estimated over the random sample that `--openings` draws. Agents play the
first test deals. A decision costs the value of the position minus the value of the chosen move.
The costs of a game add up to its regret; the mean regret is the loss in win rate against the best
player. Train learning agents first, and name them with the path to their weights; RULES in a path
stands for the name of the game.

Writes four_seasons_env/data/small_games.json, and with agents docs/results/small-games.csv.
"""

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterable
from itertools import combinations, permutations
from math import comb

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich.progress import track
from scipy import stats

from four_seasons_env.engine.deals import TEST, TRAIN_FROM, deck_text
from four_seasons_env.experiments import folders, play, players
from four_seasons_env.files import expanded
from four_seasons_env.game import Game
from four_seasons_env.optima import OPTIMA
from four_seasons_env.rules import SMALL, Rules
from four_seasons_env.solver import Known, fair_value

Opening = tuple[int, ...]
"""Cards of the tableau in rising order; the base card is card 0."""
MEMORY = 6 * 2**30
"""Bytes for the values of a game's positions."""


def openings(rules: Rules, draws: int | None) -> dict[Opening, int]:
    """Openings in rising order, and the number of sets of cards that each stands for.

    All base ranks are equivalent in these games, because nothing packs: a game stays the same when
    all ranks are shifted and suits are exchanged. So an opening is the tableau alone, with ranks
    counted from the base card and suits without names. All sets of cards are equally likely for a
    tableau.

    Args:
        rules: the game.
        draws: number of sets of cards, drawn with a fixed seed; None for all. All sets are used if
            there are no more different openings than this.
    """
    # The base card is card 0, so the piles take any of the others.
    every = list(combinations(range(1, rules.cards), rules.piles))
    counts = Counter(map(named, every))
    if draws is not None and draws < len(counts):
        drawn = np.random.default_rng(0).permutation(len(every))[:draws]
        counts = Counter(named(every[number]) for number in drawn)
    return dict(sorted(counts.items()))


def named(cards: Iterable[int]) -> Opening:
    """The opening of a tableau: the smallest under all renamings of the suits."""
    # A card is 4 * rank + suit. Suit 0 is that of the base card; the other three have no names.
    cards = list(cards)
    names = [(0, *others) for others in permutations((1, 2, 3))]
    return min(tuple(sorted(card & ~3 | suits[card & 3] for card in cards)) for suits in names)


def game_of(opening: Opening, rules: Rules) -> Game:
    """A game at an opening; the order of its stock does not matter."""
    rest = [card for card in range(1, rules.cards) if card not in opening]
    return Game(rules, deck=deck_text((*opening, 0, *rest)))


def exact_value(game: Game, move: str | None = None, *, known: Known) -> float:
    """The exact value of a position, or of a move in it; a MemoryError above `MEMORY`."""
    value = fair_value(game, move, max_positions=2**62, memory=MEMORY, known=known).value
    if value is None:
        raise MemoryError(f"{game.rules.name} takes more than {MEMORY / 2**30:g} GiB")
    return value


def regret_of(game: Game, moves: Iterable[str], known: Known) -> float:
    """The regret of a game.

    Args:
        game: its first position, without redeals; it is not changed.
        moves: to its end, or until the player gave up.
        known: the results of earlier searches.
    """
    game, regret = game.copy(), 0.0
    value = exact_value(game, known=known)
    for move in moves:
        if value == 0:  # lost: no later move can cost anything
            break
        after = game.after(move)
        if after.stock_size < game.stock_size and game.stock_size >= 2:  # turns a hidden card
            rest = exact_value(game, move, known=known)
            regret += value - rest
            value = exact_value(after, known=known) if rest else 0.0
        game = after
    return regret + value - game.is_won


def interval(values: NDArray[np.float64]) -> tuple[float, float]:
    """The 95% interval of a mean of shares; if all are equal, that of an event never observed."""
    ends = stats.ttest_1samp(values, 0).confidence_interval()
    if np.ptp(values) == 0:
        unseen = stats.binomtest(0, len(values)).proportion_ci().high
        ends = values[0] - unseen, values[0] + unseen
    low, high = np.clip(ends, 0, 1)
    return float(low), float(high)


def optimum(rules: Rules, counts: dict[Opening, int]) -> dict[str, float | int]:
    """The fields of `SmallGame` that are computed."""
    fair_value(Game(rules, deal=TRAIN_FROM), max_positions=1)  # loads the compiled code
    started = time.process_time()
    # Each without the results of others, so that the time is that of one opening.
    games = [game_of(each, rules) for each in counts]
    valued = [exact_value(game, known=Known()) for game in track(games, rules.name)]
    seconds = round((time.process_time() - started) / len(valued), 2)
    # Each opening counts for all sets of cards that it stands for.
    values = np.repeat(valued, list(counts.values()))
    every, mean = comb(rules.cards - 1, rules.piles), float(values.mean())
    low, high = (mean, mean) if len(values) == every else interval(values)
    found = {"openings": every, "valued": len(values), "optimum": mean, "low": low, "high": high}
    return found | {"seconds": seconds}


def regrets(
    player: players.Player, rules: Rules, deals: list[int], known: Known
) -> dict[str, object]:
    """A row for an agent: games won, and regret."""
    results = play.play_games(player, rules, deals)
    found = np.array([regret_of(each.start(), each.moves, known) for each in results["game"]])
    row: dict[str, object] = {"rules": rules.name, "agent": player.agent, "kind": player.kind}
    row |= {"deals": len(deals), "win_rate": results["won"].mean(), "regret": found.mean()}
    return row | dict(zip(("regret_low", "regret_high"), interval(found), strict=True))


def main() -> None:
    """Write the optima, and the regret of agents."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rules", nargs="+", choices=SMALL, default=list(SMALL))
    parser.add_argument("--openings", type=int, help="value a random sample; all by default")
    parser.add_argument("--agents", nargs="*", default=[])
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--optima", type=expanded, default=OPTIMA)
    parser.add_argument(
        "--out", type=expanded, default=folders.ROOT / "docs/results/small-games.csv"
    )
    run = parser.parse_args()
    games, rows = json.loads(OPTIMA.read_text())["games"], list[dict[str, object]]()
    for name in run.rules:
        rules, known = SMALL[name], Known()
        agents = [each.replace("RULES", name) for each in run.agents]
        able = players.find_players(agents, rules, ["deterministic"])
        games[name] = optimum(rules, openings(rules, run.openings))
        rows += [regrets(player, rules, list(TEST[: run.games]), known) for player in able]
    folders.write_json(run.optima, {"games": games})
    if rows:
        folders.write_csv(run.out, pd.DataFrame(rows))


if __name__ == "__main__":
    main()
