"""Generate the decisions of `four_seasons_env.text.decisions`, and score the baselines.

    python experiments/studies/decisions.py --generate                  # five minutes on one core
    python experiments/studies/decisions.py --out docs/results/decisions.csv

The heuristic plays the deals from 20,000 on, which are neither test nor validation deals. A deal
gives at most one decision: its first position with three or two hidden cards in which all stops
have exact values and the best is better than the worst by 10 points. The file is written after
each block of deals, so an interrupted run leaves the decisions that it has found.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from four_seasons_env.agents import make_agent
from four_seasons_env.game import Game
from four_seasons_env.games import Games
from four_seasons_env.next_deal import FourSeasonsNextDealEnv
from four_seasons_env.solver import fair_value
from four_seasons_env.solver.fair.value import Known
from four_seasons_env.text.decisions import (
    DECISIONS,
    MOST_STOPS,
    Decision,
    load_decisions,
    write_decisions,
)

FIRST_DEAL, BLOCK = 20_000, 100
HIDDEN = (3, 2)
SPREAD = 0.1
POSITIONS = 10_000
"""That a search for exact values may look at."""
BASELINES = ("first legal", "random legal", "heuristic", "planner")


def play_down(games: Games, hidden: int) -> None:
    """Play games by the heuristic until so many cards are hidden."""
    agent, rng = make_agent("heuristic", games.rules), np.random.default_rng(0)
    while True:
        left = games.records["deck_size"].astype(int) - games.records["dealt"]
        rows = np.flatnonzero((left > hidden) & ~games.is_over)
        if not len(rows):
            return
        moves = np.full(len(games), -1)
        playing = games[rows]
        moves[rows] = agent.act(playing.records, playing.action_masks(distinct=True), rng)
        games.play(moves)


def find_decision(game: Game, deal: int) -> Decision | None:
    """The decision in a position, if there is one that can be valued."""
    known = Known()
    whole = fair_value(game, max_positions=POSITIONS, known=known)
    if whole.low != whole.high or whole.low < SPREAD:
        return None
    stops = game.stops(200)
    if not 2 <= len(stops) <= MOST_STOPS:
        return None
    values = []
    for stop in stops:
        value = fair_value(stop.game, stop.turn, max_positions=POSITIONS, known=known)
        if value.low != value.high:
            return None
        values.append(value.low)
    if max(values) - min(values) < SPREAD or max(values) < whole.low - 1e-9:
        return None
    if not offers_all(game, len(stops)):
        return None
    record = game.record.copy()
    record["deal"] = -1
    shown = Game.from_record(record, game.rules)
    return Decision(deal, len(game.unseen), len(stops), max(values), min(values), shown)


def offers_all(game: Game, stops: int) -> bool:
    """Whether the environment of positions offers all stops."""
    env = FourSeasonsNextDealEnv(candidates=MOST_STOPS)
    return int(env.reset(options={"game": game})[1]["action_mask"].sum()) == stops


def generate(count: int) -> Iterator[list[Decision]]:
    """The first decisions, in the order of their deals: all that are found after each block."""
    found: list[Decision] = []
    first = FIRST_DEAL
    while len(found) < count:
        games = Games("four-seasons", range(first, first + BLOCK))
        of_deal: dict[int, Decision] = {}
        for hidden in HIDDEN:
            play_down(games, hidden)
            for row in range(BLOCK):
                game = games[row]
                if row not in of_deal and len(game.unseen) == hidden:
                    decision = find_decision(game, first + row)
                    if decision:
                        of_deal[row] = decision
        found += [of_deal[row] for row in sorted(of_deal)]
        print(f"deals to {first + BLOCK - 1:,}: {len(found)} decisions", flush=True)
        first += BLOCK
        yield found[:count]


def way_of(agent: str, game: Game, rng: np.random.Generator) -> Iterator[int]:
    """The moves of an agent up to the next card, 200 at most."""
    chosen = None if agent.endswith("legal") else make_agent(agent, game.rules)
    for _ in range(200):
        masks = game.action_mask(distinct=True)[None]
        if chosen:
            move = int(chosen.act(game.record, masks, rng)[0])
        else:
            legal = np.flatnonzero(masks[0])
            move = int(legal[0] if agent == "first legal" else rng.choice(legal))
        yield move
        before = game.stock_size
        game = game.after(move)
        if game.stock_size < before:
            return


def score_agents(agents: Sequence[str], decisions: Sequence[Decision]) -> pd.DataFrame:
    """A row per agent: its mean regret, the standard error, and how often it chose a best stop."""
    rows = []
    for agent in agents:
        rng = np.random.default_rng(0)
        regrets = np.array(
            [each.best - each.value_of(list(way_of(agent, each.game, rng))) for each in decisions]
        )
        error = regrets.std(ddof=1) / len(regrets) ** 0.5
        best = (regrets < 1e-9).mean()
        rows.append((agent, len(regrets), regrets.mean(), error, best))
        print(f"{agent}: regret {regrets.mean():.4f} +- {error:.4f}, best {best:.3f}", flush=True)
    return pd.DataFrame(rows, columns=["agent", "decisions", "regret", "error", "best"])


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--generate", action="store_true", help=f"write {DECISIONS.name}")
    parser.add_argument("--count", type=int, default=500, help="decisions to find")
    parser.add_argument("--data", type=Path, default=DECISIONS)
    parser.add_argument("--agents", nargs="+", default=BASELINES)
    parser.add_argument("--out", type=Path, help="of the baselines' scores")
    chosen = parser.parse_args(arguments)
    if chosen.generate:
        for found in generate(chosen.count):
            digest = write_decisions(found, chosen.data)
        print(f"{len(found)} decisions, SHA-256 {digest}")
    if chosen.out:
        score_agents(chosen.agents, load_decisions(chosen.data)).to_csv(chosen.out, index=False)


if __name__ == "__main__":
    main()
