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

NAMES := census players leaderboard fresh family learning values offline baselines untrained seeds \
	coverage small-games speed libraries

.PHONY: all trainings $(NAMES)
all: $(NAMES)
	$(if $(QUICK),,$(PYTHON) $(STUDIES)/figures.py)
	$(PYTHON) docs/tables.py $(if $(QUICK),--check)

# --- What a player could win who sees every card: ten seconds for each deal.

SECONDS_EACH := $(call few,1,10)

census:
	$(PYTHON) $(STUDIES)/census.py --seconds $(SECONDS_EACH) --deals $(call few,0-19,test) --out $(OUT)/census
	$(call store,census/results.csv,experiments/data/census/results.csv)
	$(PYTHON) $(STUDIES)/census.py --seconds $(SECONDS_EACH) --deals $(call few,0-9,0-999) --rules all \
		--out $(OUT)/census
	$(call store,census/results.csv,experiments/data/census/results.csv)

# --- Agents on the test deals of four-seasons.

PLAYERS := random greedy heuristic first_candidate finisher maskable_ppo next_deal_ppo \
	planner@positions=400,expansions=150 planner planner@lookahead=1

players:
	$(FOUR) compare --agents $(PLAYERS) --deals $(call few,0-19,test) --out $(OUT)/players
	$(call store,players,$(RESULTS)/four-seasons.csv)

# All of them again on fewer deals, with luck, and others at several settings: what thinking longer
# wins.
SETTINGS := planner@votes=0 finisher@base=greedy finisher@base=maskable_ppo rollout@worlds=8 \
	rollout@worlds=16,expansions=500 \
	next_deal_ppo@candidates=32,expansions=60 planner@positions=40,expansions=1,votes=0 \
	planner@positions=40,expansions=15,votes=0 planner@positions=100,expansions=40,votes=0

leaderboard:
	$(FOUR) compare --agents $(PLAYERS) $(SETTINGS) --play deterministic --record --luck \
		--deals $(call few,0-9,0-999) --out $(OUT)/leaderboard
	$(FOUR) verify $(OUT)/leaderboard
	$(call store,leaderboard,$(RESULTS)/leaderboard.csv)

# Deals that no version has played before: once, when the weights of version 5 were
# final. The next major version takes another range.
fresh:
	$(FOUR) compare --agents heuristic maskable_ppo next_deal_ppo planner planner@lookahead=1 \
		--play deterministic --deals $(call few,10000-10009,5000000-5001999) --out $(OUT)/fresh
	$(call store,fresh,$(RESULTS)/fresh.csv)

# --- Other rule sets.

LEARNED := $(subst _,/,$(notdir $(wildcard agents/weights/planner/*)))

family:
	$(FOUR) compare --agents random heuristic --rules all --play deterministic \
		--deals $(call few,0-9,0-999) --out $(OUT)/family
	$(FOUR) compare --agents heuristic planner --rules $(LEARNED) --play deterministic \
		--deals $(call few,0-9,0-999) --out $(OUT)/learned
	$(call store,family,$(RESULTS)/family.csv)
	$(call store,learned,$(RESULTS)/family.csv)

# --- Learning.

# A target for each training, which uses one core: `make -j 8 results PARTS=trainings` runs eight at a
# time. Finished ones are skipped, and stopped ones continue.
TRAIN = OMP_NUM_THREADS=1 $(FOUR) train --out $(@D) --n-jobs 1
train = if test -f $(@D)/run.json; then $(TRAIN) --resume; else $(TRAIN) $(1); fi
# $(call part,N): a part of the name of the training's folder
part = $(word $(1),$(subst -, ,$*))

# Agent and core-minutes, and seeds: planner-7-seed-0.
CURVES := $(addprefix planner-,$(call few,0.5,2 7 30)) $(addprefix next_deal_ppo-,$(call few,0.5,2 7)) \
	$(addprefix maskable_ppo-,$(call few,0.5,10 30))
SEEDS := $(call few,0 1,0 1 2 3 4)
# $(call folders,CURVE): five seeds, or three of trainings that take longer than ten core-minutes
folders = $(patsubst %,$(OUT)/trained/$(1)-seed-%,$(if $(filter %-30,$(1)),0 1 2,$(SEEDS)))
LEARNED_IN := $(foreach curve,$(CURVES),$(addsuffix /done.json,$(call folders,$(curve))))
VALIDATIONS_2 := 2
VALIDATIONS_7 := 3
VALIDATIONS_10 := 3
VALIDATIONS_30 := 4

$(OUT)/trained/%/done.json:
	$(call train,--agent $(call part,1) --core-minutes $(call part,2) --seed $(call part,4) \
		--validations $(call few,1,$(VALIDATIONS_$(call part,2))) \
		--validation-deals $(call few,100,1000))

# $(call runs,LABEL,AGENT,FOLDERS): trainings as players with one label
runs = $(foreach run,$(3),$(1)=$(2):$(run))

# The training that made the bundled weights, one with another mask, and one by
# docs/how-to/recorded-games.md that imitates first, if it is there.
LONG := $(OUT)/long/maskable_ppo-four-seasons
DISTINCT := $(OUT)/distinct/maskable_ppo-four-seasons
TAUGHT := $(patsubst %/done.json,%,$(wildcard $(OUT)/taught/maskable_ppo-four-seasons/done.json))

$(LONG)/done.json:
	$(call train,--agent maskable_ppo --core-minutes $(call few,0.2,100) \
		--set layers=[256,128,64] games=4096 batch_size=16384 learning_rate=5e-3)
$(DISTINCT)/done.json:
	$(call train,--agent maskable_ppo --core-minutes $(call few,0.2,10) --set mask=distinct)

# What is won after how many games, by positions.
$(OUT)/games/next_deal_ppo-four-seasons/done.json:
	$(call train,--agent next_deal_ppo --steps $(call few,20k,2M) \
		--validations 1 --validation-deals 100)
$(OUT)/games/planner-four-seasons/done.json:
	$(call train,--agent planner --steps $(call few,1k,200k) --validations 1 --validation-deals 100)

BY_GAMES := $(OUT)/games/next_deal_ppo-four-seasons $(OUT)/games/planner-four-seasons

learning: $(LEARNED_IN) $(LONG)/done.json $(DISTINCT)/done.json $(BY_GAMES:%=%/done.json)
	$(PYTHON) $(STUDIES)/curves.py --out $(OUT)/games/curves.csv $(BY_GAMES:%=%/progress.csv)
	$(call store,games/curves.csv,$(RESULTS)/positions-curves.csv)
	$(FOUR) compare --play deterministic --deals $(call few,0-9,0-999) --out $(OUT)/learning \
		--agents heuristic $(foreach each,$(CURVES),$(call runs,$(each),$(firstword $(subst -, \
		,$(each))),$(call folders,$(each)))) \
		$(call runs,maskable_ppo-10-taught,maskable_ppo,$(TAUGHT))
	$(call store,learning,$(RESULTS)/learning.csv)
	$(call store,long/maskable_ppo-four-seasons/progress.csv,$(RESULTS)/moves.csv)
	$(call store,distinct/maskable_ppo-four-seasons/progress.csv,$(RESULTS)/moves-distinct.csv)
	$(PYTHON) $(STUDIES)/curves.py --out $(OUT)/moves-seeds.csv \
		$(SEEDS:%=$(OUT)/trained/maskable_ppo-$(call few,0.5,10)-seed-%/progress.csv)
	$(call store,moves-seeds.csv,$(RESULTS)/moves-seeds.csv)

# Q-learning in one file: by its defaults, and for about ten core-minutes.
PQN = $(PYTHON) docs/recipes/with_pqn.py --device cpu --out $(@D:/policy=)
PQN_LONG := --num-envs 1024 --num-minibatches 32 --update-epochs 1 \
	--exploration-fraction 0.02 --total-timesteps 24000000
PQN_SMALL := --num-envs 16 --total-timesteps 1024 --eval-deals 10

$(OUT)/values/pqn/policy/model.json:
	$(PQN) $(call few,$(PQN_SMALL),)
$(OUT)/values/pqn-long/policy/model.json:
	$(PQN) $(call few,$(PQN_SMALL),$(PQN_LONG))

values: $(OUT)/values/pqn/policy/model.json $(OUT)/values/pqn-long/policy/model.json
	$(FOUR) compare --play deterministic --deals $(call few,10000-10009,10000-19999) \
		--agents heuristic pqn=maskable_ppo:$(OUT)/values/pqn/policy \
		pqn-long=maskable_ppo:$(OUT)/values/pqn-long/policy --out $(OUT)/values/compared
	$(call store,values/compared,$(RESULTS)/values.csv)
	$(PYTHON) $(STUDIES)/curves.py --out $(OUT)/values/curves.csv \
		$(OUT)/values/pqn/curve.csv $(OUT)/values/pqn-long/curve.csv
	$(call store,values/curves.csv,$(RESULTS)/values-curves.csv)

# What is learned from recorded games. Set, method and seed: expert-cloning_won-0.
OFFLINE_FROM := $(call few,medium,expert medium mixed)
OFFLINE_BY := cloning cloning_won q
OFFLINE_SEEDS := $(call few,0,0 1 2)
OFFLINE := $(foreach set,$(OFFLINE_FROM),$(OFFLINE_BY:%=$(set)-%))
SCRIPT_cloning := behaviour_cloning.py
SCRIPT_cloning_won := behaviour_cloning.py --won-only
SCRIPT_q := offline_q.py

$(OUT)/offline/%/model.json:
	$(PYTHON) docs/how-to/$(SCRIPT_$(call part,2)) --source $(call part,1) \
		--seed $(call part,3) --out $(@D) $(call few,--games 20 --epochs 1,--epochs 3)

# $(call imitators,SPLIT,DEALS): all of them on the validation or the test deals
define imitators
	$(FOUR) compare --play deterministic --deals $(2) --out $(OUT)/offline/$(1) \
		--agents heuristic $(foreach each,$(OFFLINE),$(call runs,$(each),maskable_ppo,\
		$(OFFLINE_SEEDS:%=$(OUT)/offline/$(each)-%)))
	$(call store,offline/$(1),$(RESULTS)/offline-$(1).csv)
endef

offline: $(foreach each,$(OFFLINE),$(OFFLINE_SEEDS:%=$(OUT)/offline/$(each)-%/model.json))
	$(call imitators,validation,$(call few,10000-10009,10000-10999))
	$(call imitators,test,$(call few,0-9,0-999))

# Algorithms of others: a search of settings, then longer trainings; measured rows are skipped.
BASELINES = $(PYTHON) $(STUDIES)/baselines.py --out $(OUT)/baselines.csv $(call few,--settings 1 \
	--search-moves 2000 --seeds 1 --deals 100)

baselines:
	$(BASELINES) --moves $(call few,2k,500k)
	$(call store,baselines.csv,$(RESULTS)/baselines.csv)

# What searches win that have learned nothing: those of the tutorial, with about as much time each,
# and those of two agents with the first weights of their networks. A rate of 1e-60 changes none.
BY_HAND := flat=flat_monte_carlo:FlatMonteCarlo@playouts=16 \
	expectimax=expectimax:Expectimax@playouts=1 uct=uct:Uct@iterations=12,playouts=4
UNTRAINED := $(OUT)/untrained/planner-four-seasons $(OUT)/untrained/next_deal_ppo-four-seasons

$(OUT)/untrained/%/done.json:
	$(call train,--agent $(call part,1) --steps 1 --validations 1 --validation-deals 1 --set \
		games=2 learning_rate=1e-60 $(if $(filter planner%,$*),final_learning_rate=1e-60))

untrained: $(UNTRAINED:%=%/done.json)
	PYTHONPATH=docs/tutorials/search $(FOUR) compare --play deterministic \
		--deals $(call few,12000-12001,12000-12099) --out $(OUT)/untrained/compared \
		--agents $(BY_HAND) heuristic planner next_deal_ppo \
		untrained-planner=planner:$(word 1,$(UNTRAINED)) \
		untrained-next_deal_ppo=next_deal_ppo:$(word 2,$(UNTRAINED))
	$(call store,untrained/compared,$(RESULTS)/untrained.csv)

# Five seeds of plain Stable-Baselines3: a module of the docs, which keeps its networks beside it.
FIVE = $(foreach seed,$(SEEDS),own=my_net:net@train_seed=$(seed))

seeds:
	mkdir -p $(OUT)/seeds
	cp docs/how-to/my_net.py $(OUT)/seeds
	cd $(OUT)/seeds && $(CURDIR)/$(PYTHON) my_net.py $(call few,--steps 5000)
	cd $(OUT)/seeds && $(CURDIR)/$(FOUR) compare --play deterministic \
		--deals $(call few,10000-10009,10000-10999) --out compared --agents $(FIVE) heuristic random
	$(call store,seeds/compared,$(RESULTS)/seeds.csv)

# --- Statistics: how often intervals hold the truth.

coverage: $(OUT)/coverage.csv
$(OUT)/coverage.csv:
	$(PYTHON) $(STUDIES)/intervals.py --out $@ $(call few,--trials 10)
	$(call store,coverage.csv,$(RESULTS)/coverage.csv)

# --- Small games.

SMALL := random greedy heuristic
TRAINED := maskable_ppo next_deal_ppo planner
CELLS := small-4x1-cells small-4x2-cells small-4x3-cells small-4x4-cells

LEARNED_SMALL := $(foreach agent,$(TRAINED),$(CELLS:%=$(OUT)/small/$(agent)-%/done.json))

$(OUT)/small/%/done.json:
	$(call train,--agent $(call part,1) --rules $(patsubst $(call part,1)-%,%,$*) \
		--core-minutes 0.5 --validations 2 --validation-deals 500)

small-games: $(OUT)/small-games.csv
$(OUT)/small-games.csv: $(if $(QUICK),,$(LEARNED_SMALL))
	$(PYTHON) $(STUDIES)/small_games.py --games $(call few,3,1000) --out $@ \
		--rules $(call few,small-4x4-cells,$(CELLS)) \
		--agents $(SMALL) \
		$(if $(QUICK),,$(foreach agent,$(TRAINED),$(agent)=$(agent):$(OUT)/small/$(agent)-RULES))
	$(call store,small-games.csv,$(RESULTS)/small-games.csv)

trainings: $(LEARNED_IN) $(if $(QUICK),,$(LEARNED_SMALL))

# --- Speed, on an idle machine.

speed: $(OUT)/bench.csv $(OUT)/costs.csv
$(OUT)/bench.csv:
	$(PYTHON) $(STUDIES)/bench.py --out $@ $(call few,--seconds 0.05)
	$(call store,bench.csv,$(RESULTS)/bench.csv)
$(OUT)/costs.csv:
	$(PYTHON) $(STUDIES)/bench.py costs --out $@ $(call few,--many 1000 --minutes 0.02)
	$(call store,costs.csv,$(RESULTS)/costs.csv)

# --- Other libraries, each in a virtual environment of its own.

LIBRARIES := index $(call few,,cleanrl minari pqn rllib sb3 torchrl)

libraries: $(LIBRARIES:%=$(OUT)/libraries/%.csv)
$(OUT)/libraries/%.csv:
	$(PYTHON) $(STUDIES)/libraries.py $* --out $@
	$(call store,libraries/$*.csv,$(RESULTS)/libraries.csv)
