# `make run`: the whole pipeline on this machine.  `make test`: its tests.  `make drill`: training killed again and again.
# `make services`: tests with real servers, PostgreSQL and a browser.  `make operations`: what happens when one of them dies.
# `make long`: every bad day (torn files, full disks, kills), the later tasks, the wheel; half an hour.
# `make bench`: how fast training is, against TRL itself.  `make docs`: the docs as a site, in site/.
# `make readme`: the last run's verdict, example and time into README.md.
# `make without-gpu`: the CUDA path without CUDA; needs an interpreter with Unsloth (docs/gpu.md).
# `make base`: the small model that comes with the program, from nothing; an hour.
# `make images`: both container images, built and run with Buildah, as root.
# Each makes the virtual environment when needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PROFILE ?= laptop
ARGS ?=
KILLS ?= 8
TUCANO_UNSLOTH_PYTHON ?=

export TUCANO_UNSLOTH_PYTHON
# Hundreds of processes import the same modules; images for containers often forbid to keep them compiled.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: base run test services long without-gpu check drill operations bench images docs readme ui clean

run: $(VENV)/.stamp
	$(BIN)/tucano run $(PROFILE) $(ARGS)

test: $(VENV)/.stamp check
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder --durations=12

# Only files with such tests are read: two processes would import all the others for nothing.
services: $(VENV)/.stamp
	$(BIN)/python -m pytest -m "services and not long" -n 2 --dist loadfile --durations=8 $(shell grep -l 'mark\.services' tests/test_*.py)

long: $(VENV)/.stamp
	$(BIN)/python -m pytest -m long --durations=8 $(shell grep -l 'mark\.long' tests/test_*.py)

without-gpu: $(VENV)/.stamp
	@test -n "$(TUCANO_UNSLOTH_PYTHON)" || { echo "say where Unsloth is: make without-gpu TUCANO_UNSLOTH_PYTHON=/PATH/bin/python (docs/gpu.md)"; exit 2; }
	$(BIN)/python -m pytest -m "not services" tests/test_unsloth.py tests/test_gpu_without_one.py tests/test_quantised.py tests/test_health.py --durations=8

check: $(VENV)/.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

drill: $(VENV)/.stamp
	$(BIN)/python -W ignore -m benchmarks.drill --kills $(KILLS) $(ARGS)

operations: $(VENV)/.stamp
	$(BIN)/python -W ignore -m benchmarks.operations --home $(or $(OPERATIONS_HOME),/tmp/tucano-operations) $(ARGS)

# About an hour; with ARGS=--ship it becomes the one that is shipped. A thread that waits leaves its core to other work.
base: $(VENV)/.stamp
	GOMP_SPINCOUNT=1000 $(BIN)/python -W ignore -m tucano.mini $(ARGS)

bench: $(VENV)/.stamp
	$(BIN)/python -W ignore -m benchmarks.speed $(ARGS)

images: $(VENV)/.stamp
	$(BIN)/python -m benchmarks.images $(ARGS)

docs: $(VENV)/.stamp
	$(BIN)/python -m mkdocs build

readme: $(VENV)/.stamp
	$(BIN)/python -m docs.readme $(ARGS)

ui: $(VENV)/.stamp
	$(BIN)/tucano ui

$(VENV)/.stamp: pyproject.toml constraints.txt
	@PYTHON="$(PYTHON)" VENV="$(VENV)" sh install.sh

clean:
	rm -rf $(VENV)
