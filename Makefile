# Each target makes the virtual environment it needs; nothing but Python is assumed.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Files that import a library which is there if a model of it is.
FOREIGN := _imbalanced.py _intelex.py
GROUPS := test browser oracle lint docs bench

.PHONY: help demo kernels sanitize test test-pure test-browser test-site test-ecosystem test-oracle test-oldest test-slow test-strict simulate simulate-promises simulate-figures results lint types docs doctest bench mutate wheel smoke clean

help:
	@echo "make demo: what quorate gains on embedded data"
	@sed -En 's/^\| `(make [^`]*|\.ci\/run)` \| (.*) \|$$/\1: \2/p' CONTRIBUTING.md

demo: $(VENV)/.core
	$(BIN)/quorate demo

# All but those marked slow, which test-slow runs and CI with it, those of other
# libraries, which test-ecosystem runs, and statistics against other packages, which
# test-oracle runs. Processes share the cores: threads of each on top
# would wait for each other.
test: $(VENV)/.test
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal -m "not slow" \
		--ignore=tests/ecosystem --ignore=tests/stats/test_oracle.py

# The kernels, compiled in place after a change; installing does it by itself.
kernels: $(VENV)/.core
	$(BIN)/python src/quorate/_native/_compile.py

# The kernels under the address and undefined-behaviour sanitizers, on every ensemble of
# the fuzz. Python's own leaks are not looked for.
SANITIZED := $(VENV)/forest-sanitized.so
sanitize: $(VENV)/.test
	$(BIN)/python src/quorate/_native/_compile.py $(abspath $(SANITIZED)) -g -O1 \
		-fsanitize=address,undefined -fno-sanitize-recover=all
	LD_PRELOAD=$$($${CC:-cc} -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 \
		QUORATE_KERNELS=$(abspath $(SANITIZED)) $(BIN)/python -m pytest -q -s \
		tests/lazy/test_engines.py tests/trees/test_compact.py tests/serving/test_damage.py

# Installed where there is no C compiler: NumPy gives the same answers.
test-pure:
	rm -rf $(VENV)-pure
	$(PYTHON) -m venv $(VENV)-pure
	$(VENV)-pure/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	CC=no-compiler $(VENV)-pure/bin/python -m pip install --quiet --group test .
	$(VENV)-pure/bin/quorate --version | grep "engine: numpy"
	OMP_NUM_THREADS=1 CC=no-compiler $(VENV)-pure/bin/python -m pytest -n auto -q -m "not slow" \
		tests/lazy tests/native
	# Installing without a compiler took the kernels out of the sources; back with them.
	-$(PYTHON) src/quorate/_native/_compile.py

# Reports in Debian's chromium; a missing browser is a failure here, not a skip.
test-browser: $(VENV)/.test $(VENV)/.browser
	QUORATE_BROWSER=required $(BIN)/python -m pytest -q tests/browser

# The built documentation in the same browser: offline, dark, on a telephone.
test-site: docs $(VENV)/.test $(VENV)/.browser
	QUORATE_BROWSER=required QUORATE_SITE=required \
		$(BIN)/python -m pytest -q tests/browser/test_site.py

# Statistics against the packages that have them too.
test-oracle: $(VENV)/.test $(VENV)/.oracle
	$(BIN)/python -m pytest -q tests/stats/test_oracle.py

# The lowest versions that pyproject.toml allows, in an environment of their own.
test-oldest:
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(VENV)-oldest/bin/python -m pip install --quiet --group test-oldest --editable .
	OMP_NUM_THREADS=1 $(VENV)-oldest/bin/python -m pytest -n auto --dist worksteal

# With models and frames of other libraries, in an environment of their own. Torch is
# the build for CPUs: one that pip finds by that name, which the registry of all packages
# does not have (its torch brings gigabytes for graphics cards), or one of torch's own
# index. Where neither can be had, its tests are skipped and say so.
test-ecosystem:
	$(PYTHON) -m venv $(VENV)-ecosystem
	$(VENV)-ecosystem/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(VENV)-ecosystem/bin/python -m pip install --quiet --group ecosystem --editable .
	-$(VENV)-ecosystem/bin/python -m pip install --quiet --retries 0 --timeout 20 \
		"torch==2.13.0+cpu" || timeout 100 $(VENV)-ecosystem/bin/python -m pip install \
		--quiet --retries 0 --timeout 20 \
		--index-url https://download.pytorch.org/whl/cpu torch
	QUORATE_ECOSYSTEM=required $(VENV)-ecosystem/bin/python -m pytest -q tests/ecosystem

test-slow: $(VENV)/.test
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal -m slow

# Every public door, the properties and the exact vote once more, without quorate's
# asserts (python -O) and with a NumPy that raises; see tests/strict.py.
STRICT := tests/project/test_strict.py tests/project/test_characterisation.py \
	tests/project/test_properties.py \
	tests/lazy/test_exact.py tests/votes/test_summary.py tests/scoring/test_scores.py
test-strict: $(VENV)/.test
	OMP_NUM_THREADS=1 QUORATE_STRICT=1 $(BIN)/python -m pytest -n auto -m "not slow" $(STRICT)

# What is promised, in 400 simulated worlds each (or WORLDS=2000), and figures of ensembles
# that have to be trained in 200; these first, which take longest.
WORLDS := 400
FIGURES := figures or pool
SIMULATED := tests/lazy/test_promises.py tests/choosing/test_promises.py tests/judging
simulate-promises: SELECTED = not ($(FIGURES))
simulate-figures: SELECTED = $(FIGURES)
simulate: simulate-figures simulate-promises
simulate-promises simulate-figures: simulate-%: $(VENV)/.test
	rm -f docs/results/reliability/$*.csv
	OMP_NUM_THREADS=1 QUORATE_WORLDS=$(WORLDS) QUORATE_FIGURES=docs/results/reliability/$*.csv \
		$(BIN)/python -m pytest -n auto --dist worksteal -m slow -k "$(SELECTED)" $(SIMULATED)
	$(BIN)/python tests/figures.py
	$(BIN)/python -m experiments results --mark $*

# Which figures of the documentation are older than their code, and with
# RESULTS="blend serving" these made anew; see docs/results/sources.toml.
results: $(VENV)/.bench
	$(BIN)/python -m experiments results $(RESULTS)

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.lint
	$(BIN)/mypy

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -n -b html docs docs/_build/html
	$(BIN)/python docs/check_links.py docs/_build/html

doctest: $(VENV)/.test $(VENV)/.docs
	$(BIN)/python -m pytest -q --doctest-modules src $(FOREIGN:%=--ignore=src/quorate/_ensembles/%)
	$(BIN)/python -m sphinx -W -q -b doctest docs docs/_build/doctest

bench: $(VENV)/.bench
	$(BIN)/python -m bench

# Small changes of the source that tests must notice; by hand, see CONTRIBUTING.md.
mutate: $(VENV)/.test
	OMP_NUM_THREADS=1 $(BIN)/python -m mutation $(MUTATE)

wheel: $(VENV)/.core
	rm -rf dist
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

# The transcript of the documentation from an empty environment on, then the built wheel
# there, away from the sources. "TRANSCRIPT=--write" brings the page up to date.
smoke: wheel
	$(BIN)/python tests/wheel.py dist/*.whl
	rm -rf $(VENV)-wheel
	$(PYTHON) -m venv $(VENV)-wheel
	$(VENV)-wheel/bin/python tests/transcript.py $(TRANSCRIPT)
	$(VENV)-wheel/bin/python -m pip install --quiet --no-deps --force-reinstall dist/*.whl
	cd dist && ../$(VENV)-wheel/bin/quorate demo
	cd dist && ../$(VENV)-wheel/bin/python ../tests/smoke.py

$(VENV)/.core: pyproject.toml hatch_build.py src/quorate/_native/forest.c
	@echo "Installing quorate and what it needs into $(VENV), once: about half a minute"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(GROUPS:%=$(VENV)/.%): $(VENV)/.%: $(VENV)/.core
	$(BIN)/python -m pip install --quiet --group $*
	@touch $@

clean:
	rm -rf $(VENV) $(VENV)-ecosystem $(VENV)-oldest $(VENV)-pure $(VENV)-wheel src/quorate/_native/_forest.* dist docs/_build docs/api/generated docs/gallery docs/sg_execution_times.rst .pytest_cache .mypy_cache .ruff_cache
