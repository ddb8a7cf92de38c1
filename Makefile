# sfumato: `make` shows what there is to do. Every target sets up what it needs.

PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3 python; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(not ((3, 11) <= sys.version_info[:2] <= (3, 13)))' 2>/dev/null \
	&& { echo $$p; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2
OUT ?= demo-out

# Else every process of a test run compiles all modules and tests anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test method spark check lint types docs bench papers lock clean

help:  ## show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

$(VENV)/made:
	@test -n "$(PYTHON)" || { echo "sfumato needs Python 3.11, 3.12 or 3.13: none was found"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/run: $(VENV)/made requirements/run.txt pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@$(BIN)/python -m compileall -q src
	@touch $@

$(VENV)/dev: $(VENV)/run requirements/dev.txt
	@# Python compiles what is imported by itself; compiling all of it here takes as long as installing it.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements/dev.txt
	@touch $@

$(VENV)/spark: $(VENV)/dev requirements/spark.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/spark.txt
	@touch $@

demo: $(VENV)/run  ## the whole workflow on a built-in population; prints where the report is
	$(BIN)/sfumato demo --out $(OUT)

test: $(VENV)/dev  ## every test but those marked slow
	@$(BIN)/python -m sfumato.kernels  # else every worker compiles them all
	@# A file stays with one worker: what its tests share is made once.
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile -m "not slow" -p no:cacheprovider

method: $(VENV)/dev  ## TAG=...: what is generated of one method, and the tests that say something of it
	@test -n "$(TAG)" || { echo "name the method by its tag, such as make method TAG=round_numbers"; exit 1; }
	@# What stops these, the tests say with its cause.
	-$(BIN)/python docs/generate.py
	-$(BIN)/ruff format --quiet .
	$(BIN)/python -m pytest -n 0 tests/contract tests/docs $(wildcard tests/protect/*/test_$(TAG).py) --method $(TAG)

spark: $(VENV)/spark  ## every test with Spark; needs Java 17, and fetches 456 MB
	$(BIN)/python -m pytest -q -n 0 -p no:cacheprovider tests/engine/spark/test_spark_*.py

check: lint types test  ## lint, types and tests

lint: $(VENV)/dev  ## ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/dev  ## mypy --strict
	$(BIN)/mypy

docs: $(VENV)/dev  ## the documentation, in docs/_build
	$(BIN)/python docs/generate.py
	$(BIN)/python -m sphinx -q -W -b html docs docs/_build

bench: $(VENV)/dev  ## the measurements, as tables, except those that run by name only
	$(BIN)/python -m bench

papers: $(VENV)/dev  ## published tables and figures made again, in papers-out; takes long
	$(BIN)/python -m papers all

lock: $(VENV)/made  ## compile the hashed requirement files anew
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		pyproject.toml requirements/build.in -o requirements/run.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		--extra dev -c requirements/run.txt pyproject.toml requirements/build.in -o requirements/dev.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		--extra spark -c requirements/dev.txt pyproject.toml requirements/build.in -o requirements/spark.txt

clean:  ## remove everything that was made
	rm -rf $(VENV) build dist docs/_build demo-out papers-out .mypy_cache .ruff_cache .pytest_cache .hypothesis
