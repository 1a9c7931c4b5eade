# Every target sets up what it needs: `make release` and `make test` work in a bare checkout.
PYTHON ?= python3
RECIPE ?= quickstart
VERSION ?=
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help release test quick check schema bench clean

help: ## Show this help
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

release: $(INSTALLED) ## Build releases/RECIPE/VERSION (RECIPE=quickstart): mine, extract, verify, label, dedupe, check, write
	$(BIN)/curate run $(RECIPE) $(if $(VERSION),--version $(VERSION))

test: $(INSTALLED) ## Run all tests
	$(BIN)/python -m pytest -n 2 --dist worksteal

quick: $(INSTALLED) ## Run the tests that take no real project
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

check: $(INSTALLED) ## Check style, types and whether generated files are up to date
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

schema: $(INSTALLED) ## Write schema/tables/*.json anew from curate/records.py
	$(BIN)/python -m curate.derive schema/tables

bench: $(INSTALLED) ## Measure speed side by side with a floor or a peer
	$(BIN)/python -m benchmarks

clean: ## Remove the virtual environment and this workspace's store; shared caches stay
	rm -rf $(VENV) .curate

$(INSTALLED): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "curate needs Python 3.11 or newer; name one: make PYTHON=python3.11 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'uv>=0.9'
	$(BIN)/uv pip install --quiet --python $(BIN)/python --editable '.[dev]'
	@touch $@
