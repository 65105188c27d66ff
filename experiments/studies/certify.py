"""Certified losses: the proof is written down, and checked by another program.

    python experiments/studies/certify.py --out runs/proofs

Takes the deals that the stored census proved lost. Glucose writes its proof that the formula of the
relaxed game (`four_seasons_env.solver.sat`) cannot be satisfied. The proof is a list of clauses,
each of which follows from those before it by unit propagation (RUP: if all its literals are false,
some clause becomes empty); the last clause is empty. The checker here shares no code with Glucose.
It watches two literals of each clause and deletes none. Other checkers, such as drat-trim, read the
same files.

Writes a formula and a proof for each deal, and certificates.csv, a row per deal: whether there is a
proof that was accepted, the clauses of the formula, the conflicts that Glucose met and the clauses
of the proof. A loss that is not certified rests on another search, and these three are 0;
docs/results/certificates.csv holds the rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from four_seasons_env.engine.jit import jit
from four_seasons_env.experiments.command_line import CENSUS
from four_seasons_env.experiments.reporting.tables import read_table, write_csv
from four_seasons_env.game import Game
from four_seasons_env.rules import file_name
from four_seasons_env.solver import sat
from four_seasons_env.solver.protocol import LOST, SEARCHING, Root


@dataclass(frozen=True)
class Certificate:
    """A loss with its proof."""

    clauses: sat.Clauses
    """The formula."""
    proof: list[str]
    """Lines in the DRUP format, which is part of DRAT."""
    conflicts: int
    """Conflicts that Glucose met."""
    is_valid: bool
    """Whether the checker accepts the proof."""

    @property
    def lemmas(self) -> int:
        """Clauses of the proof."""
        return sum(not line.startswith("d") for line in self.proof)

    def write(self, path: Path) -> None:
        """Write `path.cnf`, the formula in the DIMACS format, and `path.drat`, the proof."""
        blocks = self.clauses.blocks
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.with_suffix(".cnf").open("w") as file:
            file.write(f"p cnf {self.clauses.variables} {sum(map(len, blocks))}\n")
            for block in blocks:
                np.savetxt(file, np.pad(block, ((0, 0), (0, 1))), "%d")
        path.with_suffix(".drat").write_text("\n".join(self.proof) + "\n")


def certify(game: Game) -> Certificate | None:
    """The checked proof that a position is lost; None if the formula gives none."""
    search = sat.FormulaSearch(Root(game.record[0], game.rules), with_proof=True)
    while (status := search.go_on()) == SEARCHING:
        pass
    if status != LOST:
        return None
    proof = search.proof()
    is_valid = is_proof(search.clauses, proof)
    return Certificate(search.clauses, proof, search.conflicts, is_valid)


def is_proof(clauses: sat.Clauses, proof: Iterable[str]) -> bool:
    """Whether a proof in the DRUP format shows that no assignment satisfies the clauses.

    Lines that delete clauses are ignored: more clauses never imply less.
    """
    given = [row for block in clauses.blocks for row in block]
    lemmas = [line.split()[:-1] for line in proof if not line.startswith("d")]
    rows = [*given, *(np.array(lemma, np.int64) for lemma in lemmas)]
    signed = np.concatenate(rows)
    literals = (2 * np.abs(signed) + (signed < 0)).astype(np.int32)
    starts = np.concatenate(([0], np.cumsum([len(row) for row in rows])))
    return bool(_follows(literals, starts, len(given), clauses.variables))


NONE = -1
"""Marks a conflict, and the end of a list of watches."""


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
        literals: int32: those of all clauses in a row; their order within a clause changes.
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
                reached = _propagate(size, tried, literals, starts, heads, links, values, trail)
                if reached != NONE:
                    return False
            for literal in range(2, 2 * variables + 2):
                values[literal] = 0
            for at in range(size):
                values[trail[at]] = 1
                values[trail[at] ^ 1] = -1
        open_literals = 0
        holds = False
        for at in range(start, end):  # literals that are not false come first: they can be watched
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


def main() -> None:
    """Write proofs and certificates.csv."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rules", default="four-seasons")
    parser.add_argument("--deals", type=int, help="the first lost deals only")
    run = parser.parse_args()
    census = read_table(CENSUS / f"{file_name(run.rules)}.csv").query("status == 'lost'")
    rows = []
    for deal in census["deal"].head(run.deals or len(census)):
        certificate = certify(Game(run.rules, deal))
        row = {"certified": False, "clauses": 0, "conflicts": 0, "lemmas": 0}
        if certificate:
            certificate.write(run.out / file_name(run.rules) / str(deal))
            row = {
                "certified": certificate.is_valid,
                "clauses": sum(map(len, certificate.clauses.blocks)),
                "conflicts": certificate.conflicts,
                "lemmas": certificate.lemmas,
            }
        rows.append({"rules": run.rules, "deal": deal, **row})
        print(f"deal {deal}: {'certified' if row['certified'] else 'no proof'}", flush=True)
    run.out.mkdir(parents=True, exist_ok=True)
    write_csv(run.out / "certificates.csv", pd.DataFrame(rows))


if __name__ == "__main__":
    main()
