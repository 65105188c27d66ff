"""Proofs that formulas cannot be satisfied, checked by a program that shares no code with Glucose.

A proof is a list of clauses, each of which follows from those before it by unit propagation (RUP:
assume that all its literals are false, and a clause becomes empty); the last clause is empty. The
checker is a few dozen lines: two watched literals a clause, nothing is ever deleted.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.jit import jit
from four_seasons_env.solver.sat import Clauses

NONE = -1


@jit
def _assign(literal, values, trail, size):
    """Make a literal true: literals are 2 * variable, and one more where negated."""
    values[literal] = 1
    values[literal ^ 1] = -1
    trail[size] = literal
    return size + 1


@jit
def _watch(clause, slot, literals, starts, heads, links):
    literal = literals[starts[clause] + slot]
    links[2 * clause + slot] = heads[literal]
    heads[literal] = 2 * clause + slot


@jit
def _propagate(done, size, literals, starts, heads, links, values, trail):
    """Assign what follows from the trail; the trail's new size, or NONE for a conflict."""
    while done < size:
        false = trail[done] ^ 1
        done += 1
        watch = heads[false]
        heads[false] = NONE
        while watch != NONE:
            following = links[watch]
            clause, slot = watch >> 1, watch & 1
            start = starts[clause]
            other = literals[start + (1 - slot)]
            moved = False
            if values[other] != 1:
                for at in range(start + 2, starts[clause + 1]):
                    if values[literals[at]] != -1:
                        literals[start + slot], literals[at] = literals[at], false
                        _watch(clause, slot, literals, starts, heads, links)
                        moved = True
                        break
            if not moved:
                links[watch] = heads[false]
                heads[false] = watch
                if values[other] == -1:
                    while following != NONE:  # the rest of the list is watched still
                        watch, following = following, links[following]
                        links[watch] = heads[false]
                        heads[false] = watch
                    return NONE
                if values[other] == 0:
                    size = _assign(other, values, trail, size)
            watch = following
    return size


@jit
def _follows(literals, starts, given, variables):
    """Whether each clause after the given ones follows by unit propagation, the last being empty.

    Args:
        literals: int32: those of all clauses, in a row; they change places within their clause.
        starts: int64: where each clause starts, and where the last ends.
        given: clauses that need no proof.
    """
    heads = np.full(2 * variables + 2, NONE, np.int64)
    links = np.full(2 * len(starts), NONE, np.int64)
    values = np.zeros(2 * variables + 2, np.int8)
    trail = np.zeros(variables + 1, np.int64)
    size = 0  # of the trail that holds for good
    for clause in range(len(starts) - 1):
        start, end = starts[clause], starts[clause + 1]
        if clause >= given:
            tried, holds = size, False
            for at in range(start, end):
                holds |= values[literals[at]] == 1
                if values[literals[at]] == 0:
                    tried = _assign(literals[at] ^ 1, values, trail, tried)
            if not holds:
                reached = _propagate(
                    size, tried, literals, starts, heads, links, values, trail
                )
                if reached != NONE:
                    return False
            for literal in range(2, 2 * variables + 2):
                values[literal] = 0
            for at in range(size):
                values[trail[at]] = 1
                values[trail[at] ^ 1] = -1
        open_literals = 0
        holds = False
        for at in range(start, end):  # what is not false comes first, to be watched
            value = values[literals[at]]
            holds |= value == 1
            if value != -1:
                front = start + open_literals
                literals[front], literals[at] = literals[at], literals[front]
                open_literals += 1
        if open_literals == 0:
            return True
        if open_literals == 1 and not holds:
            size = _assign(literals[start], values, trail, size)
            before = size - 1
            size = _propagate(before, size, literals, starts, heads, links, values, trail)
            if size == NONE:
                return True
        elif open_literals > 1:
            _watch(clause, 0, literals, starts, heads, links)
            _watch(clause, 1, literals, starts, heads, links)
    return False


def is_proof(clauses: Clauses, proof: Iterable[str]) -> bool:
    """Whether a proof in the DRUP format shows that no assignment satisfies the clauses.

    Lines that delete clauses are passed over: with more clauses no less follows.
    """
    given = [row for block in clauses.blocks for row in block]
    lemmas = [line.split()[:-1] for line in proof if not line.startswith("d")]
    rows = [*given, *(np.array(lemma, np.int64) for lemma in lemmas)]
    signed = np.concatenate(rows)
    literals = (2 * np.abs(signed) + (signed < 0)).astype(np.int32)
    starts = np.concatenate(([0], np.cumsum([len(row) for row in rows])))
    return bool(_follows(literals, starts, len(given), clauses.variables))
