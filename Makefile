# Targets for people; `make help` lists them.

GOLANGCI_LINT_VERSION := v2.15.0
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X github.com/sessctl/sessctl/cmd.buildVersion=$(VERSION)
BIN := bin/sessctl
LINTER := bin/golangci-lint-$(GOLANGCI_LINT_VERSION)
BENCH_DB ?= bench/sessions.db

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build bin/sessctl
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) .

.PHONY: demo
demo: build ## Build, make a damaged sample database, check it and view it
	@rm -rf demo && mkdir -p demo
	go run ./internal/tools/demo demo/session.db
	@echo; echo '$$ sessctl check demo/session.db'
	@$(BIN) check --fail-on never demo/session.db
	@echo; echo '$$ sessctl view demo/session.db -1'
	@$(BIN) view demo/session.db -1

.PHONY: test
test: ## Run all tests (a few minutes)
	go test ./...

.PHONY: test-race
test-race: ## Run all tests with the race detector, which needs a C compiler
	CGO_ENABLED=1 go test -race -timeout 30m ./...

.PHONY: test-long
test-long: ## Run the long campaigns: more random sessions, and every fuzz target
	SESSCTL_LONG=1 go test -timeout 60m ./...
	@set -e; for pkg in $$(go list ./...); do \
	  for target in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "== $$pkg $$target"; go test -run '^$$' -fuzz "^$$target$$" -fuzztime 60s $$pkg; \
	  done; \
	done

.PHONY: bench
bench: build ## Measure check on 1 GB against the sqlite3 program, which must be there, and views against exports
	@mkdir -p $(dir $(BENCH_DB))
	go run ./internal/tools/bench $(BIN) $(BENCH_DB)

.PHONY: lint
lint: $(LINTER) ## Run golangci-lint, which it installs into bin when that version is missing
	$(LINTER) run

$(LINTER):
	GOBIN=$(CURDIR)/bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
	mv bin/golangci-lint $@

.PHONY: tidy
tidy: ## Check that go.mod and go.sum are tidy
	go mod tidy -diff

.PHONY: platforms
platforms: ## Check that the program and its tests compile for other systems
	@set -e; for target in linux/arm64 darwin/arm64 windows/amd64; do \
	  echo "== $$target"; CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} go vet ./...; \
	done

.PHONY: ci
ci: ## Everything that guards a change
	.ci/run
