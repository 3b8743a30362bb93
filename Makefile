# `make demo` and `make test` need only git, make and Python 3.11+; the rest is set up here.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
JOBS   ?= $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 2) + 1)')

.PHONY: demo test test-deep lint types layers check bench generate dist clean

$(READY): pyproject.toml src/git_wave/__init__.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "git-wave needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

demo: $(READY)
	@$(BIN)/git-wave demo

test: $(READY)
	$(BIN)/python -m pytest -n $(JOBS) -m 'not deep'

test-deep: $(READY)
	GIT_WAVE_DEEP=1 $(BIN)/python -m pytest -n $(JOBS)

lint: $(READY)
	$(BIN)/ruff check src tests
	$(BIN)/ruff format --check src tests

types: $(READY)
	$(BIN)/mypy

layers: $(READY)
	$(BIN)/lint-imports

check: lint types layers

bench: $(READY)
	$(BIN)/python tests/bench/bench_wave.py
	$(BIN)/python tests/bench/bench_create.py
	$(BIN)/python tests/bench/bench_holders.py
	$(BIN)/python tests/bench/bench_list.py

# Everything in the tree that is made from the code: schemas, the list of reasons, man pages.
generate: $(READY)
	$(BIN)/git-wave schema manifest > schemas/manifest.schema.json
	$(BIN)/git-wave schema result > schemas/result.schema.json
	$(BIN)/git-wave schema journal > schemas/journal.schema.json
	$(BIN)/git-wave explain --format markdown > docs/REASONS.md
	$(BIN)/python -m git_wave.cli.manual docs/man

dist: $(READY)
	$(BIN)/python -m hatchling build -d dist

clean:
	rm -rf $(VENV) dist build
