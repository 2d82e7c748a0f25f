# Two commands, on a machine with nothing but Python 3.11 or newer and make:
#   make sweep    measure this machine
#   make test     every check that needs no GPU
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=
# What measuring a GPU needs, by the CUDA version that the driver supports; nothing where there is no driver. The
# environment holds one CUDA: another one, such as that of the tests, replaces it.
EXTRA ?= $(shell nvidia-smi 2>/dev/null | \
  sed -n -e 's/.*CUDA Version: 12\..*/cuda12/p' -e 's/.*CUDA Version: 1[3-9]\..*/cuda13/p' | head -n 1)

.PHONY: sweep quick test lint types contracts unit schema clean

sweep: $(VENV)/installed$(EXTRA)
	$(BIN)/python -m ert_numba sweep $(ARGS)

quick: $(VENV)/installed$(EXTRA)
	$(BIN)/python -m ert_numba sweep --quick $(ARGS)

test: lint types contracts unit

lint: $(VENV)/tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/tested
	$(BIN)/mypy

contracts: $(VENV)/tested
	$(BIN)/lint-imports

unit: $(VENV)/tested
	$(BIN)/python -m pytest -n auto --dist loadscope --cov --cov-report=term:skip-covered $(ARGS)

# After a change to a record that is stored: its JSON Schema under results/schema.
schema: $(VENV)/installed$(EXTRA)
	$(BIN)/python -c 'import appprof.application, appprof.verify, ert_numba.store.schema as schema; schema.write_schemas()'

$(VENV)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed, $$($(PYTHON) --version) was found: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/installed$(EXTRA): $(VENV)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.$(if $(EXTRA),[$(EXTRA)])'
	rm -f $(if $(EXTRA),$(VENV)/installed* $(VENV)/tested)
	touch $@

$(VENV)/tested: $(VENV)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	rm -f $(VENV)/installed*
	touch $@ $(VENV)/installed

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache htmlcov .coverage
