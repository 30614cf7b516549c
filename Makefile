# Every command sets up what it needs: python3, make and a C compiler are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# bytecode is kept below the virtual environment, even where none may be written beside the sources: a run of the tests
# starts many processes, and compiling what they import took half of the time of each
export PYTHONDONTWRITEBYTECODE :=
export PYTHONPYCACHEPREFIX := $(abspath $(VENV))/bytecode

.PHONY: demo test bench check judge browser reproduce fuzz mutants docs package clean

$(READY): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[dev]'
	touch $@

demo: $(READY)  ## the crab from modules to motion, with pictures in out/
	$(BIN)/modurob demo --out out

browser:  ## Chromium for the tests of the studio's page, where apt-get may install it
	command -v chromium > /dev/null \
	|| { test "$$(id -u)" = 0 && apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium > /dev/null; } \
	|| echo "no chromium, and no right to install it: the studio's page is not tested"

test: check browser  ## everything that must hold
	$(BIN)/python -m pytest -n auto --dist worksteal

judge: $(READY)  ## the long sweeps against Pinocchio and MuJoCo
	$(BIN)/python -m pytest -n auto -m judge -s

bench: $(READY)  ## speed, side by side with the tools of the field
	$(BIN)/python -m benchmarks

reproduce: $(READY)  ## the figures of the sources, drawn anew into out/reproduced and checked
	$(BIN)/python -m reproduce --out out/reproduced

fuzz: $(READY)  ## mutated inputs of every reader, 10,000 each: none may end in anything but a result or a library error
	$(BIN)/python -m fuzz

mutants: $(READY) browser  ## the library and the studio broken in many ways: do reproduce and the tests notice?
	$(BIN)/python -m mutants --document docs/reproduce.md
	$(BIN)/python -m mutants --page --document docs/studio.md

check: $(READY)  ## format, lint, types, import contract
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports --no-cache

docs: $(READY)  ## the site, into out/docs; warnings are errors
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs out/docs

package: $(READY)  ## wheel and sdist, installed where nothing else is, and an example run from there
	$(BIN)/python -m scripts.package --out dist

clean:
	rm -rf $(VENV) out build dist
