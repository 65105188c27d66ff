# Measure the published numbers, store them, and fill tables and plots: `make results`.
#
# It takes hours. What is finished is not repeated, so a stopped call can be repeated; each part is
# also a target: `make results PARTS=players`. With QUICK=1, the same in minutes, with few deals;
# nothing is stored.

FOUR := .venv/bin/four-seasons
PYTHON := .venv/bin/python
STUDIES := experiments/studies
RESULTS := docs/results
OUT := runs/results$(if $(QUICK),-quick)

# $(call few,IN SMALL,IN FULL) and $(call store,NEW,STORED)
few = $(if $(QUICK),$(1),$(2))
store = $(if $(QUICK),,$(PYTHON) docs/tables.py --add $(OUT)/$(1) $(2))

NAMES := census players price leaderboard family learning small-games calibration speed libraries

.PHONY: all $(NAMES)
all: $(NAMES)
	$(if $(QUICK),,$(PYTHON) $(STUDIES)/figures.py)
	$(PYTHON) docs/tables.py $(if $(QUICK),--check)

# --- What a player could win who sees every card: ten seconds for each deal.

SECONDS_EACH := $(call few,1,10)

census:
	$(FOUR) census --seconds $(SECONDS_EACH) --deals $(call few,0-19,0-9999) --out $(OUT)/census
	$(call store,census/results.csv,experiments/data/census/results.csv)
	$(FOUR) census --seconds $(SECONDS_EACH) --deals $(call few,0-9,0-999) --rules all \
		--out $(OUT)/census
	$(call store,census/results.csv,experiments/data/census/results.csv)

# --- Agents on the test deals of four-seasons.

PLAYERS := random greedy heuristic first_candidate finisher maskable_ppo next_deal_ppo \
	planner@positions=400,expansions=150 planner planner@lookahead=1

players:
	$(FOUR) compare --agents $(PLAYERS) --deals $(call few,0-19,0-9999) --out $(OUT)/players
	$(call store,players/summary.csv,experiments/data/four-seasons.csv)

# What thinking longer wins: from the fastest planner of positions to the slowest.
PRICE := heuristic next_deal_ppo planner planner@lookahead=1 \
	planner@lookahead=3,worlds=32,candidates=8

price:
	$(FOUR) compare --agents $(PRICE) --play deterministic --deals $(call few,0-9,0-1999) \
		--out $(OUT)/price
	$(call store,price/summary.csv,$(RESULTS)/price.csv)

# All of them again on fewer deals, with luck, and others at several settings.
SETTINGS := finisher@base=greedy finisher@base=maskable_ppo rollout@worlds=8 \
	rollout@worlds=16,expansions=500 \
	next_deal_ppo@candidates=32,expansions=60 planner@positions=40,expansions=1,votes=0 \
	planner@positions=40,expansions=15,votes=0 planner@positions=100,expansions=40,votes=0

leaderboard:
	$(FOUR) compare --agents $(PLAYERS) $(SETTINGS) --play deterministic --record --luck \
		--deals $(call few,0-9,0-999) --out $(OUT)/leaderboard
	$(FOUR) verify $(OUT)/leaderboard
	$(call store,leaderboard/summary.csv,$(RESULTS)/leaderboard.csv)

# --- Other rule sets.

LEARNED := $(subst _,/,$(notdir $(wildcard agents/weights/planner/*)))

family:
	$(FOUR) compare --agents random heuristic --rules all --play deterministic \
		--deals $(call few,0-9,0-999) --out $(OUT)/family
	$(FOUR) compare --agents heuristic planner --rules $(LEARNED) --play deterministic \
		--deals $(call few,0-9,0-999) --out $(OUT)/learned
	$(call store,family/summary.csv,$(RESULTS)/family.csv)
	$(call store,learned/summary.csv,$(RESULTS)/family.csv)

# --- Learning.

CURVES := $(call few,planner-1 next_deal_ppo-1,$(foreach agent,planner next_deal_ppo,$(addprefix \
	$(agent)-,2 7 30)))

learning:
	$(FOUR) sweep $(STUDIES)/$(call few,quick,learning).yaml --out $(OUT)/trained
	$(FOUR) compare --play deterministic --deals $(call few,0-9,0-999) --out $(OUT)/learning \
		--agents heuristic $(foreach each,$(CURVES),'$(each)=$(firstword $(subst -, \
		,$(each))):$(OUT)/trained/$(each)-*')
	$(call store,learning/summary.csv,$(RESULTS)/learning.csv)
	$(FOUR) train --agent maskable_ppo --rules 'four-seasons(ranks=6,piles=3)' \
		--core-minutes $(call few,0.2,5) --validation-deals 1000 --out $(OUT)/moves
	$(call store,moves/progress.csv,$(RESULTS)/moves.csv)

# --- Small games, chances.

SMALL := random greedy heuristic
TRAINED := maskable_ppo next_deal_ppo planner
CELLS := small-4x1-cells small-4x2-cells small-4x3-cells small-4x4-cells

small-games: $(OUT)/small-games.csv
$(OUT)/small-games.csv:
	$(if $(QUICK),,$(FOUR) sweep $(STUDIES)/small.yaml --out $(OUT)/small)
	$(if $(QUICK),,$(PYTHON) $(STUDIES)/small_games.py)
	$(PYTHON) $(STUDIES)/small_games.py --games $(call few,3,100) --out $@ \
		--rules $(call few,small-4x1-cells --openings 2 --optima $(OUT)/optima.json,$(CELLS)) \
		--agents $(SMALL) \
		$(if $(QUICK),,$(foreach agent,$(TRAINED),'$(agent)=$(agent):$(OUT)/small/$(agent)-*'))
	$(call store,small-games.csv,$(RESULTS)/small-games.csv)

calibration: $(OUT)/calibration.csv
$(OUT)/calibration.csv:
	$(PYTHON) $(STUDIES)/calibration.py --out $@ $(call few,--deals 1 --games 2)
	$(call store,calibration.csv,$(RESULTS)/calibration.csv)

# --- Speed, on an idle machine.

speed: $(OUT)/speed/bench.csv $(OUT)/costs.csv
$(OUT)/speed/bench.csv:
	$(FOUR) bench --out $(OUT)/speed $(call few,--seconds 0.05)
	$(call store,speed/bench.csv,$(RESULTS)/bench.csv)
$(OUT)/costs.csv:
	$(PYTHON) $(STUDIES)/costs.py --out $@ $(call few,--games 1000 --minutes 0.02)
	$(call store,costs.csv,$(RESULTS)/costs.csv)

# --- Other libraries, each in a virtual environment of its own.

LIBRARIES := index $(call few,,cleanrl rllib sb3 torchrl)

libraries: $(LIBRARIES:%=$(OUT)/libraries/%.csv)
$(OUT)/libraries/%.csv:
	python3 -m venv $(basename $@)
	$(basename $@)/bin/python -m pip install --quiet --editable '.[agents,experiments]' \
		$(addprefix --requirement ,$(wildcard docs/recipes/requirements/$*.txt))
	$(basename $@)/bin/python $(STUDIES)/recipes.py $* --out $@
	$(call store,libraries/$*.csv,$(RESULTS)/libraries.csv)
