"""Which code is mutated, and which tests have to notice."""

from __future__ import annotations

from dataclasses import dataclass

LIBRARY = "tests/four_seasons_env"


@dataclass(frozen=True)
class Target:
    """Source files, and the test files that are run for a mutant of them, the quickest first."""

    sources: tuple[str, ...]
    tests: tuple[str, ...]
    compiled: bool = True
    """Whether a fault has the engine compiled anew; its quick tests are run without that."""


def _files(folder: str, names: str) -> tuple[str, ...]:
    return tuple(f"{folder}/{name}.py" for name in names.split())


TARGETS = {
    "engine": Target(
        _files("four_seasons_env/engine", "kernel bits cards deals moves masks"),
        (
            "tests/mutation/quick_engine.py",
            *_files(
                LIBRARY,
                "test_golden test_kernel test_cards test_moves test_deals test_masks "
                "test_differential",
            ),
        ),
    ),
    "episodes": Target(
        _files("four_seasons_env/episodes", "stepping batch"),
        (
            "tests/mutation/quick_episodes.py",
            *_files(
                LIBRARY,
                "test_batch test_fork test_env test_vector test_autoreset test_limit test_machine",
            ),
        ),
    ),
    "observations": Target(
        _files("four_seasons_env", "observations rewards slots"),
        _files(LIBRARY, "test_observations test_slots test_env"),
    ),
    "next-deal": Target(
        _files("four_seasons_env/next_deal", "enumeration reach stepping features"),
        (
            "tests/mutation/quick_next_deal.py",
            *_files(LIBRARY, "test_next_deal_parts test_next_deal"),
        ),
    ),
    "solver": Target(
        _files(
            "four_seasons_env",
            "solver/beam solver/evaluation solver/exhaust solver/frame solver/hash_table "
            "solver/proof solver/relaxation solver/sat solver/shorten engine/hashing",
        ),
        (
            "tests/mutation/quick_solver.py",
            *_files(LIBRARY, "test_solver_parts test_certificates test_solver"),
        ),
    ),
    "search": Target(
        _files("agents/search", "determinization votes plans rollout pimc finisher"),
        _files(
            "tests/agents", "test_determinization test_plans test_rollout test_votes test_agents"
        )
        + _files("tests/experiments", "test_fairness"),
    ),
    "statistics": Target(
        _files("experiments/statistics", "summary seeds"),
        _files("tests/experiments", "test_seeds test_summary test_tables test_census"),
        compiled=False,
    ),
    "tables": Target(
        _files("experiments/reporting", "tables") + _files("experiments/parallel", "parts blocks"),
        _files("tests/experiments", "test_tables test_blocks test_results test_census"),
        compiled=False,
    ),
}
