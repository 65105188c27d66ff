"""`Judge`: the chance of winning in a position and after each move, by the planner's network.

A move that turns a card is worth the mean, over the cards that may come, of the best position that
can be reached after it. Any other move is worth the best of the next such moves. The network thus
values only positions that the planner would choose; its values of others are far too low. Once
nothing is hidden, the solver answers instead. A card after which it has no answer is left out of
the mean.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from four_seasons_env.agents.names import bundled_weights
from four_seasons_env.agents.planner.best_stop import AGENT, SearchLimits, best_stop, read_planner
from four_seasons_env.agents.planner.luck import worth_all
from four_seasons_env.agents.policy_files import CARD_FILE, PolicyCard
from four_seasons_env.engine.kernel import nothing_hidden, play, sort_unseen
from four_seasons_env.game import Game
from four_seasons_env.positions.enumeration import best_stops
from four_seasons_env.positions.search import WON, may_stop, new_search, position_key, turn_at
from four_seasons_env.rules import Rules
from four_seasons_env.schemas import read_json
from four_seasons_env.solver import solve

# These limits were chosen by hand; no trial of others is kept.
_POSITIONS = 1000
"""Maximum number of positions that a search holds and expands while cards are hidden."""
_TURNS = 3
"""Places to turn the next card that are compared after a move: the best by the network. The first
place is always one more, as the network may value it too low."""
_NEXT = SearchLimits(positions=100, expansions=40, ending_positions=1000, ending_expansions=500)
"""Limits of the searches after the next card."""
_FEW = 3
"""Maximum number of hidden cards for which the solver answers: the network values endings
poorly."""
_SOLVER_POSITIONS = 20_000
"""Positions that the solver may visit once nothing is hidden."""
_MOST_KNOWN = 20_000
"""Mean values that a `Judge` keeps, about 5 MB; more are computed again."""
LARGEST_SHIFT = 0.5
"""Largest `PolicyCard.chance_shift` of a network whose chances are shown."""


def can_judge(rules: Rules) -> bool:
    """Whether calibrated chances exist for a rule set."""
    file = bundled_weights(AGENT, rules.name) / CARD_FILE
    return file.is_file() and read_json(file, PolicyCard).chance_shift is not None


class Judge:
    """Chances of winning by the planner's network.

    Args:
        rules: the rule set; `can_judge` says whether its chances are calibrated.
        policy: folder of the planner's policy. None: the one that comes with the project.

    Raises:
        FileNotFoundError: where there is no network.
    """

    def __init__(self, rules: Rules, policy: str | Path | None = None) -> None:
        folder = policy or bundled_weights(AGENT, rules.name)
        card, self._evaluator = read_planner(folder, rules)
        self._rules, self._shift = rules, card.chance_shift or 0.0
        self._search = new_search(rules, _POSITIONS)
        self._chosen = np.zeros(_TURNS, np.int64)  # rows of it
        self._next = _NEXT.new_search(rules)
        self._known: dict[tuple[int, bytes], float | None] = {}  # mean values of turning a card

    def chance(self, game: Game) -> float | None:
        """The chance that the planner wins, 0 to 1; None where the solver has no answer in time.

        It does not use the order of the unseen cards.
        """
        if game.is_over or nothing_hidden(game.record[0], self._evaluator.rule):
            return self._best(game)
        return max(self.values(game).values(), default=None)

    def values(self, game: Game) -> dict[int, float]:
        """The chance that the planner wins after each legal move, by the move's number.

        Left out are moves without an answer, and moves that only rename spaces.
        """
        values = {}
        for move in game.legal_moves(distinct=True):
            after = game.after(move)
            turns = len(game.outcomes(move)) > 1
            chance = self._turned(game.record[0], move.number) if turns else self._best(after)
            if chance is not None:
                values[move.number] = chance
        return values

    def _best(self, game: Game) -> float | None:
        """The chance of winning in a position, by the best place to turn the next card."""
        # 1. Ended, or nothing hidden: the result, or the solver's.
        if game.is_over:
            return float(game.is_won)
        if nothing_hidden(game.record[0], self._evaluator.rule):
            status = solve(game, max_positions=_SOLVER_POSITIONS).status
            return {"won": 1.0, "lost": 0.0}.get(status)
        # 2. The best few places to turn the next card, by the network, and the first place of all.
        (record,), search = game.record.copy(), self._search
        sort_unseen(record, self._evaluator.rule)
        best, count = best_stop(record, self._evaluator, search, _POSITIONS, _POSITIONS)
        if search.values[best] == WON:
            return 1.0
        found = best_stops(count, search, self._chosen, _TURNS, False)
        rows = set(self._chosen[:found].tolist())
        rows |= {next(row for row in range(count) if may_stop(search, row))} if rows else set()
        turns = []  # copies, because the searches below use the same buffers
        for row in rows:
            at, move = turn_at(search, row)
            turns.append((search.positions[at].copy(), move))
        # 3. Each by the mean over the cards that may come; the game is lost without a place.
        chance = None if turns else 0.0
        for turn in turns:
            if chance != 1 and (mean := self._turned(*turn)) is not None:
                chance = max(chance or 0.0, mean)
        return chance

    def _turned(self, record: Any, move: int) -> float | None:
        """The mean chance of winning after a move that turns a hidden card.

        It leaves out cards without an answer, and is None if no card has one.
        """
        # 1. Moves that turn the same card from the same position share an answer.
        game = Game.from_own_record(record, self._rules)
        (before,) = game.record.copy()
        if move > 0:  # a refill: the position before it turns the card
            play(before, self._evaluator.no_refills, move)
        # The hash is unique within a game, and the cards seen identify the game.
        key = (
            position_key(before, self._evaluator.rule),
            game.record["deck"][0, : before["dealt"]].tobytes(),
        )
        if key not in self._known:
            # 2. The value of each card's position, and their mean.
            outcomes = game.outcomes(move)
            if len(outcomes) <= _FEW:  # no answer, None, becomes NaN
                worths = np.array([self._best(each.game) for each in outcomes], np.float64)
            else:
                after = np.concatenate([each.game.record for each in outcomes])
                worths = worth_all(after, self._evaluator, self._next, _NEXT)
                # The shift of the log-odds: x / (x + (1 - x) e^-shift).
                worths /= worths + (1 - worths) * np.exp(-self._shift)
            weights = np.array([each.probability for each in outcomes])[~np.isnan(worths)]
            worths = worths[~np.isnan(worths)]
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = float(worths @ weights / weights.sum()) if len(worths) else None
        return self._known[key]
