# Everyday commands. Everything runs in .venv beside this file; only Python 3.11+ is needed beforehand.

VENV   ?= .venv
PYTHON ?= python3
BIN    := $(VENV)/bin
RAGAS  ?= .venv-ragas
FRAMES ?= .venv-frameworks
JOBS   ?= auto
TORCH  ?= torch==2.13.0
PIP     = $(BIN)/python -m pip install --quiet --disable-pip-version-check
UV     := UV_PROJECT_ENVIRONMENT=$(VENV) $(BIN)/uv

# A worker goes through a run of neighbouring tests, so that what a file shares is made once; the idle ones steal.
PYTEST  = $(BIN)/python -m pytest --numprocesses $(JOBS) --maxprocesses 8 --dist worksteal

.PHONY: demo check freeze test torch lint docs docs-serve ragas integrations train-background clean

demo: $(BIN)/python            ## install the package and score the example answers, offline
	$(PIP) .
	$(BIN)/everyclaim score examples/support_bot/answers.jsonl --slice topic

check: $(BIN)/uv $(BIN)/promtool ## the inner loop: style, types, and the tests that take no more than a few seconds
	$(UV) sync --quiet --locked --inexact --no-default-groups --group test --group lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(PYTEST) --quiet -m 'not slow' $(PYTEST_ARGS)

freeze: $(BIN)/uv              ## what every step of a redesign must pass: public doors, exit codes, files, kills, stored formats
	$(UV) sync --quiet --locked --inexact --no-default-groups --group test
	$(PYTEST) --quiet -m freeze $(PYTEST_ARGS)

test: $(BIN)/uv $(BIN)/promtool torch ## install what the tests need and run them all, also the slow ones
	$(UV) sync --quiet --locked --inexact --no-default-groups --group test
	$(PIP) --editable '.[hf]'
	$(PYTEST) $(PYTEST_ARGS)

# Alone, from wherever pip finds it (a CPU build on PIP_EXTRA_INDEX_URL will do); the extra `hf` keeps it.
torch: $(BIN)/python
	$(PIP) '$(TORCH)'

lint: $(BIN)/uv                ## style, types, layers
	$(UV) sync --quiet --locked --inexact --no-default-groups --group test --group lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(BIN)/uv                ## run the examples in the docs, check the generated pages, build the site
	$(UV) sync --quiet --locked --inexact --no-default-groups --group test --group docs
	$(BIN)/python docs/commands.py --check
	$(PYTEST) --quiet tests/docs
	$(BIN)/mkdocs build --quiet --strict --site-dir build/site

docs-serve: docs               ## read the docs at http://127.0.0.1:8000
	$(BIN)/mkdocs serve

ragas: $(RAGAS)/bin/ragas-ready ## hold the facade and the adaptor against an installed Ragas, in an environment of its own
	RAGAS_DO_NOT_TRACK=true PYTHONPATH=benchmarks $(RAGAS)/bin/python -m pytest -o filterwarnings= -W ignore \
		$(PYTEST_ARGS) tests/with_ragas/check_facade.py tests/with_ragas/check_adaptor.py

$(RAGAS)/bin/ragas-ready: pyproject.toml | $(BIN)/uv
	$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python $(RAGAS)
	$(BIN)/uv pip install --quiet --python $(RAGAS)/bin/python pytest --editable '.[openai,testing]' \
		'ragas==0.4.3' 'langchain-community<0.4' 'instructor>=1.11'
	touch $@

integrations: $(FRAMES)/bin/frameworks-ready ## hold the integrations against installed frameworks, in an environment of their own
	DEEPEVAL_TELEMETRY_OPT_OUT=YES MLFLOW_DISABLE_TELEMETRY=true HAYSTACK_TELEMETRY_ENABLED=False \
		$(FRAMES)/bin/python -m pytest -o filterwarnings= -W ignore $(PYTEST_ARGS) tests/with_frameworks/check_*.py

$(FRAMES)/bin/frameworks-ready: pyproject.toml | $(BIN)/uv
	$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python $(FRAMES)
	timeout 600 $(BIN)/uv pip install --quiet --python $(FRAMES)/bin/python pytest alembic pandas \
		--editable '.[langchain,llama-index,haystack,mlflow,langfuse,ray,openai,testing]' 'deepeval>=4'
	touch $@

train-background: ## train the judge's network on one idle core: DATA=… WORK=… MINILM=… make train-background (training/encoder)
	nohup bash training/background.sh >/dev/null 2>&1 &

clean:                         ## remove what the commands above made
	rm -rf $(VENV) $(RAGAS) $(FRAMES) build site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(BIN)/uv: | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv

# Tests put rules to it. Of Debian's package `prometheus`, unpacked and not installed: no service is started.
$(BIN)/promtool: | $(BIN)/python
	@if found=$$(command -v promtool); then ln -sf "$$found" $@; else \
		cd "$$(mktemp -d)" && { apt-get download --quiet prometheus || \
			{ apt-get update --quiet && apt-get download --quiet prometheus; }; } && \
		dpkg -x prometheus_*.deb . && cp usr/bin/promtool $(abspath $@); fi
