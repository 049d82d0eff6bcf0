# Everyday commands. Everything runs in .venv beside this file; only Python 3.11+ is needed beforehand.

VENV   ?= .venv
PYTHON ?= python3
BIN    := $(VENV)/bin
TORCH  ?= torch==2.13.0
PIP     = $(BIN)/python -m pip install --quiet --disable-pip-version-check
UV     := UV_PROJECT_ENVIRONMENT=$(VENV) $(BIN)/uv

.PHONY: demo test lint docs docs-serve clean

demo: $(BIN)/python            ## install the package and score the example answers, offline
	$(BIN)/python -m pip install --quiet --disable-pip-version-check .
	$(BIN)/everyclaim score examples/support_bot/answers.jsonl --slice failure

# torch first and alone, from wherever pip finds it (a CPU build on PIP_EXTRA_INDEX_URL will do); the extra keeps it.
test: $(BIN)/uv                ## install what the tests need and run them all
	$(UV) sync --quiet --locked --inexact --no-default-groups --group test
	$(PIP) '$(TORCH)'
	$(PIP) --editable '.[hf]'
	$(BIN)/python -m pytest $(PYTEST_ARGS)

lint: $(BIN)/uv                ## style, types, layers
	$(UV) sync --quiet --locked --inexact --no-default-groups --group test --group lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(BIN)/uv                ## run the examples in the docs, check the generated pages, build the site
	$(UV) sync --quiet --locked --inexact --no-default-groups --group test --group docs
	$(BIN)/python docs/commands.py --check
	$(BIN)/python -m pytest --quiet tests/docs
	$(BIN)/mkdocs build --quiet --strict --site-dir build/site

docs-serve: docs               ## read the docs at http://127.0.0.1:8000
	$(BIN)/mkdocs serve

clean:                         ## remove what the commands above made
	rm -rf $(VENV) build site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(BIN)/uv: | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
