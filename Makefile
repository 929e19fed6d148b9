# make compare   set up, then the main job: a planner, a trained policy and a script on 5x9 lane defense
# make test      set up, then every test that CI runs (some 8 minutes on two cores)
# make test-all  the longer checks too, and which lines of Python they run
# make lint      format, style, types and import arrows
# make docs      the site, build/docs/html/index.html
# make answer    planning, learning, or both: hours, resumable; SCALE=0.05 for a look
# make train-all every policy of agents/learning/hyperparams/baselines.yml, three seeds each: hours, resumable
# make compile   every game, into the cache of this machine
# make release   sdist and wheels in dist, each installed and tried
# make wheel     dist/*.whl, with compiled code in it for any processor of this kind

# Where it is set, as in many containers, each of the processes that tests start would compile all it imports anew.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
VENV ?= .venv
SCALE ?= 1
ifeq ($(OS),Windows_NT)
BIN = $(VENV)/Scripts
PYTHON = python
else
BIN = $(VENV)/bin
endif
BASE = $(VENV)/.installed
RL = $(VENV)/.installed-rl
TEST = $(VENV)/.installed-test
MORE = $(VENV)/.installed-more
RELEASE = $(VENV)/.installed-release
MINIMUM = $(VENV)/minimum
RLLIB = $(VENV)/rllib/.installed

.PHONY: compare answer test test-all test-minimum test-rllib train-all lint docs compile wheel release clean

compare: $(RL)
	$(BIN)/python scripts/compare.py LaneDefense5x9-v0 --agents random,scripted,maskable_ppo,best --budget simulations=300 --episodes 40 --plot results/compare.png

test:
	$(MAKE) --jobs=2 compile lint
	$(BIN)/python -m pytest -m "not slow" -n 2 --dist worksteal
	$(MAKE) test-minimum

test-all: $(MORE)
	$(MAKE) --jobs=2 compile lint
	$(BIN)/python -m pytest --cov
	$(MAKE) test-minimum test-rllib

# The APIs once more on the oldest Gymnasium and PettingZoo that are supported, laid over the newest.
test-minimum: $(TEST) $(MINIMUM)
	PYTHONPATH=$(MINIMUM) $(BIN)/python -m pytest -m "not slow" -n 2 --dist worksteal tests/core/test_env*.py tests/core/test_vector.py tests/core/test_multi*.py

# In an environment of its own: it pins Gymnasium.
test-rllib: $(RLLIB)
	$(dir $(RLLIB))bin/python -m pytest tests/learning/test_pipelines.py tests/learning/test_expert.py tests/arena/test_scale.py -k "rllib or ray_plays"

train-all: $(RL)
	$(BIN)/python scripts/train_all.py --scale $(SCALE)

answer: $(RL)
	$(BIN)/python scripts/reproduce.py answer --scale $(SCALE)

# Once, before processes that test at the same time would each compile all of it; what more they need is installed
# meanwhile, this package anew with it, so that it is imported from here.
compile: $(BASE)
	PYTHONPATH=. $(BIN)/python scripts/compile.py

# In a copy, since a checkout compiles for its own processor; `generic` is Numba's word for one with nothing special.
STAGE = build/wheel
TAGS = import sys, sysconfig as s; print("--python-tag=cp%d%d" % sys.version_info[:2], "--plat-name=" + s.get_platform())
wheel: $(RL)
	rm -rf $(STAGE) && mkdir -p $(STAGE)
	cp -R mcts_envs agents scripts pyproject.toml setup.py README.md LICENSE $(STAGE)
	PYTHONPATH=$(STAGE) MCTS_ENVS_CACHE_DIR=$(STAGE)/mcts_envs/_compiled NUMBA_CPU_NAME=generic NUMBA_CPU_FEATURES= \
	    $(BIN)/python scripts/compile.py
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist \
	    --config-settings=--build-option="$$($(BIN)/python -c '$(TAGS)')" ./$(STAGE)
	@$(BIN)/python -c 'import numba, numpy; print("its code is for numba==%s numpy==%s" % (numba.__version__, numpy.__version__))'

# From nothing else than the sdist, since that is what others build from.
release: $(RELEASE)
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(MAKE) wheel
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python .ci/try_release.py dist

lint: $(TEST)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=. $(BIN)/lint-imports --no-cache

docs: $(MORE)
	$(BIN)/python docs/stage.py build/docs/source
	$(BIN)/python -m sphinx -c docs -W --keep-going -q -b html build/docs/source build/docs/html

$(VENV)/pyvenv.cfg:
	$(PYTHON) -m venv $(VENV)

$(BASE): pyproject.toml constraints.txt | $(VENV)/pyvenv.cfg
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt --editable ".[commands]"
	touch $@

$(RL): $(BASE)
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt --editable ".[rl,plots]"
	touch $@

$(TEST): $(RL)
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt --editable ".[test]"
	touch $@

$(RELEASE): $(RL)
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt --editable ".[release]"
	touch $@

# Environments of others come without what they need: MiniGrid would lay pygame over pygame-ce.
$(MORE): $(TEST)
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt --editable ".[docs,notebooks]" "minari[hdf5]" torchrl "pytest-cov>=7"
	$(BIN)/python -m pip install --quiet --no-compile --no-deps ale-py box2d minigrid rlcard termcolor
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt choix evalica
	touch $@

$(MINIMUM): $(TEST)
	$(BIN)/python -m pip install --quiet --no-deps --target $@ gymnasium==1.2.2 pettingzoo==1.26.0
	touch $@

$(RLLIB): $(TEST)
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --no-compile --constraint constraints.txt torch
	$(@D)/bin/python -m pip install --quiet --no-compile "ray[rllib]" pytest pytest-cov --editable ".[rl]" torch==2.13.0
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .coverage* results runs
