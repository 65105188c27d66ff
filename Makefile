# All set-up is done here: `make demo` and `make test` work on a fresh clone.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := runs/demo
MINUTES ?= 2
DEALS ?= 11000-15999

.PHONY: help demo results test test-slow test-memory test-lowest test-newest coverage mutants lint format docs bench archives release clean
.DEFAULT_GOAL := help

help:  ## list targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile \
	--constraint constraints.txt

# Without bytecode on disk, every test process would compile all modules and libraries again.
unexport PYTHONDONTWRITEBYTECODE

# What is installed for each purpose; the files note that it is.
RUNS := $(VENV)/.runs
TESTS := $(VENV)/.tests
DOCS := $(VENV)/.docs
READY := $(VENV)/.ready
$(RUNS): INSTALLS := '.[experiments,train]'
$(TESTS): INSTALLS := '.[test]'
$(DOCS): INSTALLS := '.[docs]'
$(READY): INSTALLS := '.[dev]'

define COMPILE
import gymnasium as gym, four_seasons_env
for name in "FourSeasonsNextDeal-v0", "FourSeasons-v0":
    env = gym.make_vec(name, num_envs=1)
    env.step(env.reset()[1]["action_mask"].argmax(axis=1))
endef
export COMPILE

# A first step compiles each environment while packages are downloaded.
$(RUNS) $(TESTS) $(DOCS) $(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --editable .
	$(BIN)/python -c "$$COMPILE" & $(PIP) --editable $(INSTALLS) && wait
	touch $@

# Three commands to type next. Each call has a folder of its own. The searches are short: play is
# twice as fast, and wins about two points less. Training and validations play none of the deals
# that are compared.
demo: NEW := $(DEMO)/$(shell date +%Y%m%d-%H%M%S)
demo: $(RUNS)  ## train an agent for two minutes, compare it with the heuristic, report
	$(BIN)/four-seasons train --agent next_deal_ppo --minutes $(MINUTES) \
	  --set play_candidates=100 play_expansions=160 play_endings=search \
	  --validations 5 --validation-deals 200 --out $(NEW)/train
	$(BIN)/four-seasons compare --play deterministic --deals $(DEALS) \
	  --agents greedy heuristic \
	  trained=next_deal_ppo:$(NEW)/train --out $(NEW)/compare
	$(BIN)/four-seasons report $(NEW)/compare \
	  trained=$(NEW)/train

PARTS := all

results: $(READY)  ## measure and store the published numbers: many hours; QUICK=1: in small
	$(MAKE) --file experiments/studies/results.mk $(PARTS)

test: $(TESTS)  ## the default tests
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m "not slow" --durations 8

test-slow: $(READY)  ## the other tests, about eight minutes
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m slow --durations 8

# Numba does not compile again for other checks: these have a cache of their own.
test-memory: COMPILED := tests/test_contract.py tests/four_seasons_env tests/agents
test-memory: $(TESTS)  ## those of compiled code: freed memory is overwritten, then indices are checked
	PYTHONMALLOC=debug $(BIN)/python -m pytest -q -n auto --dist worksteal $(COMPILED)
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/$(VENV)/bounds \
		$(BIN)/python -m pytest -q -n auto --dist worksteal $(COMPILED)

# First compiled code runs as Python, a thousand times slower: the tests of short games. Then all
# default tests run, for the lines that are not compiled.
coverage: ENGINE := deals env fair_value game kernel masks moves next_deal observations planning record \
	records rules small_games solver starts validation vector wrappers
coverage: AGENTS := luck network next_deal_agent plans
coverage: $(READY)  ## which lines the tests reach, those of compiled code too: an hour
	NUMBA_DISABLE_JIT=1 $(BIN)/coverage run -m pytest -q -m "not slow and not compiled" \
		$(ENGINE:%=tests/four_seasons_env/test_%.py) $(AGENTS:%=tests/agents/test_%.py) \
		tests/experiments/test_summary.py
	$(BIN)/coverage run --append -m pytest -q -m "not slow"
	$(BIN)/coverage report --skip-covered --show-missing
	$(BIN)/coverage json --quiet -o runs/coverage.json
	$(BIN)/python experiments/studies/reached.py runs/coverage.json --out runs/reached.csv

mutants: $(READY)  ## how many faults in the engine the tests would find: an hour
	$(PIP) cosmic-ray
	$(BIN)/python experiments/studies/mutants.py --out runs/mutants.csv

# In a new virtual environment, because .venv has the versions of constraints.txt.
define TEST_VERSIONS
	rm -rf .venv-$@ && $(PYTHON) -m venv .venv-$@
	.venv-$@/bin/python -m pip install --quiet --disable-pip-version-check $(CONSTRAINED) \
		"$$(grep ^torch== constraints.txt)" --editable '.[render,test]'
	NUMBA_CACHE_DIR=.venv-$@/compiled .venv-$@/bin/python -m pytest -q -n auto \
		-m "not slow" tests/test_contract.py tests/four_seasons_env
	NUMBA_CACHE_DIR=.venv-$@/compiled .venv-$@/bin/python -m pytest -q -n auto \
		tests/four_seasons_env/test_adapter_sb3.py tests/agents/test_candidate_policy.py tests/agents/test_ppo.py
endef

test-lowest: CONSTRAINED := --constraint constraints-lowest.txt
test-lowest:  ## tests of environment and SB3 with the lowest versions that pyproject.toml allows
	$(TEST_VERSIONS)

test-newest:  ## the same with the newest versions
	$(TEST_VERSIONS)

lint: $(READY)  ## ruff, codespell and mypy; whether the tables of the docs are up to date
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/mypy
	$(BIN)/python docs/tables.py --check

format: $(READY)  ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(DOCS)  ## build the site in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

bench: $(READY)  ## steps per second
	$(BIN)/python experiments/studies/bench.py

# The time of the commit stands in both; constraints.txt has the version of setuptools.
archives: $(READY)  ## wheel and source archive in dist/: the same bytes each time
	rm -f dist/four_seasons_env-*
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) PIP_CONSTRAINT=$(CURDIR)/constraints.txt \
		$(BIN)/python -m build

release:  ## all checks of a clean tree, then wheel and source archive in dist/; you upload
	@test -z "$$(git status --porcelain)" || \
		{ echo "error: the tree has changes: commit them first"; exit 2; }
	bash .ci/run
	$(MAKE) archives
	$(PIP) twine
	$(BIN)/twine check --strict dist/four_seasons_env-*

clean:  ## remove the virtual environment and caches
	rm -rf $(VENV) .venv-test-lowest .venv-test-newest four_seasons_env.egg-info
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find four_seasons_env/ agents/ experiments/ docs/ tests/ \
		-name __pycache__ -type d -prune -exec rm -rf {} +
