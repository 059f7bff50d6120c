.DEFAULT_GOAL := help
.PHONY: help morning up down test check bench lock

help: ## Say what each target does
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1	\2/p' Makefile | expand -t 20

morning: ## Set everything up, start it, and run the demo's morning
	@bin/setup
	@exec bin/matins morning

up: ## Start everything and stay; Ctrl-C stops it
	@bin/setup
	@exec bin/matins up

down: ## Stop everything; data are kept
	@bin/setup
	@exec bin/matins down

test: ## Run every test
	@bin/setup test
	@exec .venv/bin/python -m pytest -n 4 --dist worksteal

check: ## Format, lint, types, import floors, documents, schema
	@bin/setup test
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/lint-imports
	.venv/bin/python -m pytest tests/docs tests/schema

bench: ## Measure how fast it is, beside the goals; four minutes
	@bin/setup
	@exec .venv/bin/python -m bench

LOCK = .venv/bin/uv pip compile -q --upgrade --no-annotate --no-header --no-emit-index-url --generate-hashes \
	--universal --python-version 3.11

lock: ## Take the newest versions into the lock files; measures what bin/setup says it fetches
	@bin/setup test
	$(LOCK) requirements.in -o requirements.lock
	$(LOCK) requirements-test.in -c requirements.lock -o requirements-test.lock
	$(LOCK) requirements-uv.in -o requirements-uv.lock
	@for lock in requirements requirements-test; do \
		wheels=$$(mktemp -d); \
		.venv/bin/python -m pip download -q --no-deps -r $$lock.lock -r requirements-uv.lock -d $$wheels; \
		echo "$$lock: $$(du -cb $$wheels/* | tail -n 1 | cut -f 1) bytes; write them as megabytes into bin/setup"; \
		rm -r $$wheels; \
	done
