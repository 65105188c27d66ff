"""Certificates: proofs of losses, and their checker (experiments/studies/certify.py)."""

import random
from pathlib import Path

import numpy as np
import pytest

from four_seasons_env.experiments.studies.certify import Certificate, certify, is_proof
from four_seasons_env.game import Game
from four_seasons_env.solver import sat

LOST = 157
"""A test deal of `four-seasons`, proved lost after few conflicts."""


@pytest.fixture(scope="module")
def certificate() -> Certificate:
    found = certify(Game("four-seasons", LOST))
    assert found is not None
    return found


def test_certificates_are_checked_and_written(certificate: Certificate, tmp_path: Path) -> None:
    assert certificate.is_valid
    certificate.write(tmp_path / "proof")
    header = (tmp_path / "proof.cnf").open().readline().split()
    clauses = sum(map(len, certificate.clauses.blocks))
    assert header == ["p", "cnf", str(certificate.clauses.variables), str(clauses)]
    assert (tmp_path / "proof.drat").read_text().endswith("\n0\n")
    assert certify(Game("four-seasons", 0)) is None


def test_the_checker_refuses_what_does_not_follow(certificate: Certificate) -> None:
    lemmas = [line for line in certificate.proof if not line.startswith("d")]
    assert is_proof(certificate.clauses, lemmas)
    assert not is_proof(certificate.clauses, lemmas[: len(lemmas) // 2])
    assert not is_proof(certificate.clauses, ["0"])


@pytest.mark.parametrize("seed", range(12))
def test_the_checker_on_formulas_whose_assignments_are_counted(seed: int) -> None:
    """A formula of six variables, whose lemmas are all clauses that hold in its assignments."""
    rng = random.Random(seed)
    clauses = sat.Clauses()
    clauses.new(5)
    for _ in range(rng.randint(10, 30)):
        some = rng.sample(range(1, 7), 3)
        clauses.add(*(np.array([x * rng.choice((-1, 1))], np.int32) for x in some))
    rows = [row.tolist() for block in clauses.blocks for row in block]
    satisfiable = any(
        all(any((bits >> abs(x) - 1 & 1) == (x > 0) for x in row) for row in rows)
        for bits in range(64)
    )
    # Resolution over the variables in turn: every assignment of the first k is refuted from below.
    lemmas = [
        " ".join(str((x + 1) * (-1 if bits >> x & 1 else 1)) for x in range(k)) + " 0"
        for k in range(6, -1, -1)
        for bits in range(1 << k)
    ]
    assert is_proof(clauses, lemmas) == (not satisfiable)
