# Each target makes the virtual environment it needs; nothing but Python is assumed.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Files that import a library which is there if a model of it is.
FOREIGN := _imbalanced.py _intelex.py
GROUPS := test browser oracle lint docs bench

.PHONY: demo test test-browser test-ecosystem test-oracle test-oldest test-slow simulate lint types docs doctest bench wheel smoke clean

demo: $(VENV)/.core
	$(BIN)/quorate demo

# All but those marked slow, which test-slow runs and CI with it.
test: $(VENV)/.test
	$(BIN)/python -m pytest -n auto -m "not slow"

# Reports in Debian's chromium; a missing browser is a failure here, not a skip.
test-browser: $(VENV)/.test $(VENV)/.browser
	QUORATE_BROWSER=required $(BIN)/python -m pytest -q tests/browser

# Statistics against the packages that have them too.
test-oracle: $(VENV)/.test $(VENV)/.oracle
	$(BIN)/python -m pytest -q tests/stats

# The lowest versions that pyproject.toml allows, in an environment of their own.
test-oldest:
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(VENV)-oldest/bin/python -m pip install --quiet --group test-oldest --editable .
	$(VENV)-oldest/bin/python -m pytest -n auto

# With models and frames of other libraries, in an environment of their own. Torch is
# the build for CPUs; where that cannot be had, its tests are skipped and say so.
test-ecosystem:
	$(PYTHON) -m venv $(VENV)-ecosystem
	$(VENV)-ecosystem/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(VENV)-ecosystem/bin/python -m pip install --quiet --group ecosystem --editable .
	-timeout 180 $(VENV)-ecosystem/bin/python -m pip install --quiet --retries 0 \
		--timeout 20 --index-url https://download.pytorch.org/whl/cpu torch
	QUORATE_ECOSYSTEM=required $(VENV)-ecosystem/bin/python -m pytest -q tests/ecosystem

test-slow: $(VENV)/.test
	$(BIN)/python -m pytest -n auto -m slow

# What is promised, in 2000 simulated worlds each; takes the better part of an hour.
simulate: $(VENV)/.test
	QUORATE_WORLDS=2000 $(BIN)/python -m pytest -n auto -m slow \
		tests/lazy/test_promises.py tests/choosing/test_promises.py tests/test_certificates.py

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.lint
	$(BIN)/mypy

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -n -b html docs docs/_build/html
	$(BIN)/python docs/check_links.py docs/_build/html

doctest: $(VENV)/.test $(VENV)/.docs
	$(BIN)/python -m pytest -q --doctest-modules src $(FOREIGN:%=--ignore=src/quorate/ensembles/%)
	$(BIN)/python -m sphinx -W -q -b doctest docs docs/_build/doctest

bench: $(VENV)/.bench
	$(BIN)/python -m bench

wheel: $(VENV)/.core
	rm -rf dist
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

# The built wheel in an empty environment, away from the sources.
smoke: wheel
	rm -rf $(VENV)-wheel
	$(PYTHON) -m venv $(VENV)-wheel
	$(VENV)-wheel/bin/python -m pip install --quiet dist/*.whl
	cd dist && ../$(VENV)-wheel/bin/quorate demo
	cd dist && ../$(VENV)-wheel/bin/python ../tests/smoke.py

$(VENV)/.core: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(GROUPS:%=$(VENV)/.%): $(VENV)/.%: $(VENV)/.core
	$(BIN)/python -m pip install --quiet --group $*
	@touch $@

clean:
	rm -rf $(VENV) $(VENV)-ecosystem $(VENV)-oldest $(VENV)-wheel dist docs/_build docs/api/generated docs/gallery docs/sg_execution_times.rst .pytest_cache .mypy_cache .ruff_cache
