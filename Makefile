# Each target does all its own set-up: a machine with Python 3.11, pip and make is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
N ?= 10000
KILLS ?= 500
RACES ?= 10000
LINES ?= 200000
SECONDS ?= 60

# Compiled modules are stored: every test starts processes, and each worker would compile all tests anew.
unexport PYTHONDONTWRITEBYTECODE
# A program that forgets to flush what it writes must fail a test, whatever this machine has set.
unexport PYTHONUNBUFFERED

.PHONY: demo test check test-changed lint live live-install bench bench-peers stress stress-kills stress-kills-agents stress-console stress-races stress-rules attack fuzz captures completions reference pictures lock wheel-check clean

demo: $(STAMP)
	@$(BIN)/sightline demo

# In parallel and in random order; SEED to replay one.
test: ORDER := $(or $(SEED),$(shell date +%s))
test: $(STAMP)
	@$(BIN)/python -m pytest -m "not live" -n auto --dist worksteal --randomly-seed=$(ORDER) --hypothesis-seed=$(ORDER)

# Lint and, beside it, the tests of what changed since the branch left main.
check: $(STAMP)
	@$(MAKE) --no-print-directory -j2 --output-sync=target lint test-changed

test-changed: $(STAMP)
	@$(BIN)/python -m tools.changed

lint: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

# Installs the real agent CLIs at pinned versions and runs them against the stand-in model server.
live: live-install
	@$(BIN)/python -m pytest -m live -n auto --maxprocesses 4 --dist worksteal tests/live

live-install: $(STAMP)
	@$(BIN)/python -m sightline.testing.clis install
	-@$(BIN)/python -m sightline.testing.local_model install

# Random operations through the real bytes of the terminal engine into real emulators: N of them, SEED to replay.
stress: $(STAMP)
	@$(BIN)/python -m sightline.testing.emulators install
	@$(BIN)/python -m sightline.testing.fidelity --count $(N) $(if $(SEED),--seed $(SEED))

# A scripted session killed outright at KILLS random moments; each must resume, and have all that was shown;
# SEED to replay.
stress-kills: $(STAMP)
	@$(BIN)/python -m sightline.testing.killing --count $(KILLS) $(if $(SEED),--seed $(SEED))

# The same with eight agents at work: resumed, each is found, says whether it was cut off, and can be revived.
stress-kills-agents: KILLS = 200
stress-kills-agents: $(STAMP)
	@$(BIN)/python -m sightline.testing.killing --agents 8 --count $(KILLS) $(if $(SEED),--seed $(SEED))

# So many random keys, pastes and window sizes at the console while much goes on; SEED to replay.
stress-console: $(STAMP)
	@$(BIN)/python -m sightline.testing.emulators install
	@$(BIN)/python -m sightline.testing.monkey --count $(N) $(if $(SEED),--seed $(SEED))

# Attacks on the installed program, as root and as a user, with bubblewrap and with Landlock; ONLY= picks by name.
attack: $(STAMP)
	@$(BIN)/python -m sightline.testing.attack $(if $(ONLY),--only $(ONLY)) $(if $(POINT),--point $(POINT))

# Every tool and our own reads against a link that is swapped all the time: RACES calls of each kind, none outside.
stress-races: $(STAMP)
	@$(BIN)/python -m sightline.testing.races --count $(RACES)

# Permission rules against bash itself: LINES generated command lines, run with stubs that log; SEED to replay.
stress-rules: $(STAMP)
	@$(BIN)/python -m sightline.testing.rules_against_bash --count $(LINES) $(if $(SEED),--seed $(SEED))

# Random input for every reader of what others write: SECONDS for each of them; SEED to replay.
fuzz: $(STAMP)
	@$(BIN)/python -m sightline.testing.fuzz --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

bench: $(STAMP)
	@$(BIN)/python -m sightline.testing.clis install
	@$(BIN)/python -m bench

# The same scripted conversation, and the same screens, for us and for other agents, which are installed at pinned
# versions. About 20 minutes.
bench-peers: $(STAMP)
	@$(BIN)/python -m sightline.testing.clis install
	@$(BIN)/python -m sightline.testing.peers install
	@$(BIN)/python -m bench.peers

captures: $(STAMP)
	@$(BIN)/python -m sightline.testing.clis install
	@$(BIN)/python -m sightline.testing.captures

# Wheel and sdist, each installed alone into an empty environment, must work: recordings and completions included.
wheel-check: $(STAMP)
	@$(BIN)/python tests/wheel_check.py

completions: $(STAMP)
	@$(BIN)/python -m tools.completions

# The tables of keys and commands in docs/reference, from the console's table of actions.
reference: $(STAMP)
	@$(BIN)/python -m tools.reference

pictures: $(STAMP)
	@$(BIN)/python -m tools.pictures

lock: $(STAMP)
	@$(BIN)/uv pip compile -q --upgrade --generate-hashes --no-emit-index-url --no-header --no-annotate --universal \
	  --python-version 3.11 pyproject.toml -o requirements/run.txt
	@$(BIN)/uv pip compile -q --upgrade --generate-hashes --no-emit-index-url --no-header --no-annotate --universal \
	  --python-version 3.11 requirements/dev.in requirements/run.txt -o requirements/dev.txt
	@$(BIN)/python -m tools.pinned uv > requirements/uv.txt

$(STAMP): requirements/dev.txt pyproject.toml Makefile
	@echo "setting up $(VENV) (once)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "sightline needs Python 3.11 or newer")'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes --no-deps -r requirements/uv.txt
	@$(BIN)/uv pip install -q --python $(BIN)/python --compile-bytecode --require-hashes -r requirements/dev.txt
	@$(BIN)/uv pip install -q --python $(BIN)/python --no-deps --no-build-isolation -e .
	@$(BIN)/python -m compileall -q src
	@touch $@

clean:
	rm -rf $(VENV) .cache dist build
