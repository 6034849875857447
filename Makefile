# Two commands do everything: `make quickstart` and `make test`. Both make the environment first.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: quickstart results test slow golden golden-approve browser lint docs pos_tagging bench clean

quickstart: .venv/installed
	$(BIN)/simstudy run quickstart

# All that is in results/, from nothing: DATA is a folder of data files that are not to be fetched. If it is stopped, the
# same command goes on.
results: .venv/installed-studies
	$(BIN)/simstudy run --all --from-nothing $(if $(DATA),--data-dir $(DATA))

# A file of tests stays in one process, for what its tests share. The processes fill the cores: threads of BLAS and
# OpenMP beside them would only wait for each other. Processes that tests start find the package compiled to bytecode,
# also where the environment asks Python not to write any.
PYTEST := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/pytest
SPREAD := -n auto --maxprocesses 4 --dist loadfile

test: .venv/installed-dev
	@$(MAKE) --no-print-directory --jobs=2 lint .venv/compiled
	$(PYTEST) $(SPREAD)

slow: .venv/installed-dev
	$(PYTEST) -m slow $(SPREAD)

# Tables of all studies, of long ones a small part, compared with the approved tables of tests/golden: DATA is as above.
golden: .venv/installed-dev .venv/installed-studies
	$(BIN)/python -m tests.golden.tables $(if $(DATA),--data-dir $(DATA))

# Today's tables of one study become the approved ones: make golden-approve NAME=quickstart WHY="the reason".
golden-approve: .venv/installed-dev .venv/installed-studies
	$(BIN)/python -m tests.golden.tables $(if $(DATA),--data-dir $(DATA)) --approve $(NAME) --why "$(WHY)"

# Pages and the calculator in Chromium, which the system's packages have. Without one the tests say so and are skipped.
browser: .venv/installed-browser
	$(PYTEST) -m browser -rs tests/browser

# numba needs a minute for what the tests of five files compile, and Python some seconds for all modules. While mypy
# takes one core, the other does both once for all processes of pytest, which run these tests again and say what fails.
.venv/compiled: .venv/installed-dev $(shell find experiments/learners -name '*.py')
	@$(PYTEST) -q -n 0 -k 'test_cky or test_graph_parser or (tasks and test_translation) or lower_is_better or test_bootstrap' >/dev/null 2>&1 || true
	@touch $@

lint: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Warnings are errors; nothing is fetched.
docs: .venv/installed-docs
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going docs docs/_build/html
	@echo "The documentation is in docs/_build/html/index.html"

pos_tagging: .venv/installed
	$(BIN)/simstudy run pos_tagging

bench: .venv/installed-dev
	$(BIN)/python benchmarks/all_pairs.py
	$(BIN)/python benchmarks/randomization.py
	$(BIN)/python benchmarks/peers.py
	$(BIN)/python benchmarks/natural.py
	$(BIN)/python benchmarks/scaling.py
	$(BIN)/python benchmarks/drawn_pairs.py
	$(BIN)/python benchmarks/plans.py
	$(BIN)/python benchmarks/large_tables.py --threads 1 2
	$(BIN)/python benchmarks/clusters.py

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo 'Python 3.11 or newer is needed: make PYTHON=python3.12'; exit 1; }
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

.venv/installed-studies: .venv/installed pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[crf,r,tools]'
	@touch $@

.venv/installed-dev: .venv/installed pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

.venv/installed-browser: .venv/installed-dev pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev-browser]'
	@touch $@

.venv/installed-docs: .venv/installed-dev pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	@touch $@

clean:
	rm -rf .venv docs/_build docs/gallery docs/reference docs/studies .mypy_cache .pytest_cache .ruff_cache .hypothesis
