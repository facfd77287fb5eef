# Targets for people; `make help` lists them.

GOLANGCI_LINT_VERSION := v2.15.0
ACTIONLINT_VERSION := v1.7.12
GORELEASER_VERSION := v2.16.0
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT = $(shell git rev-parse HEAD 2>/dev/null)
DATE = $(shell TZ=UTC0 git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd 2>/dev/null)
BUILD := github.com/sessctl/sessctl/cmd.build
LDFLAGS = -s -w -X $(BUILD)Version=$(VERSION) -X $(BUILD)Commit=$(COMMIT) -X $(BUILD)Date=$(DATE)
BIN := bin/sessctl
LINTER := bin/golangci-lint-$(GOLANGCI_LINT_VERSION)
RELEASER := bin/goreleaser-$(GORELEASER_VERSION)
BENCH_DB ?= bench/sessions.db
BENCH_FLAGS ?= # such as -processors 1, or -roots 8000 with another BENCH_DB
# Of random cases, so that a commit passes or fails for good; 0 draws new ones.
SEED ?= 1

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

# As many packages are tested at a time as there are processors, so that each has one, which
# costs a third less than to hand its work about. test-race and test-long give them all.
.PHONY: test
test: ## Run all tests (a few minutes), but for those of releases and with a server of PostgreSQL
	RAPID_SEED=$(SEED) RAPID_CHECKS=20 GOGC=400 \
	  sh internal/tools/memory.sh go test -cpu 1 -timeout 30m $$(go list ./... | grep -v /internal/release)

.PHONY: picture
picture: ## Write docs/picture.svg from what the program prints
	go test ./cmd -count=1 -run TestPicture -update

.PHONY: schemas
schemas: ## Fetch what tests of report formats validate with, into bin/schemas
	sh internal/tools/schemas.sh bin/schemas

.PHONY: actionlint
actionlint: bin/actionlint-$(ACTIONLINT_VERSION) ## Install actionlint, with which the tests read the workflows of docs/ci.md

bin/actionlint-$(ACTIONLINT_VERSION):
	GOBIN=$(CURDIR)/bin go install github.com/rhysd/actionlint/cmd/actionlint@$(ACTIONLINT_VERSION)
	mv bin/actionlint $@

# It takes the packages that start goroutines; what others lock, they lock in the tests of these:
# cmd checks stores of all kinds and plans their repairs, several at a time. A race shows in the
# first of random cases or in none. Without the setting of GORACE, each process waits for a
# second before it ends.
.PHONY: test-race
test-race: ## Run the tests that can show a race with the race detector, which needs a C compiler
	RAPID_SEED=$(SEED) RAPID_CHECKS=25 GORACE=atexit_sleep_ms=0 CGO_ENABLED=1 go test -race -short -timeout 30m $$(grep -rlE --include='*.go' --exclude='*_test.go' \
	  '^[[:space:]]*go (func|[[:alpha:]_.]+)\(|\.Go\(' cmd internal | xargs -n1 dirname | sort -u | sed 's,^,./,')

.PHONY: test-db
test-db: ## Run the tests with servers of PostgreSQL and PgBouncer, which must be there
	SESSCTL_MUST_POSTGRES=1 go test -timeout 30m ./internal/store/postgres/...

.PHONY: test-dist
test-dist: package-test ## Run the tests of what a release has: install script, action, packages, pages in a browser
	go test ./internal/release
	SESSCTL_BROWSE=$${SESSCTL_BROWSE:-1} go test ./internal/render -run InABrowser

.PHONY: test-long
test-long: platforms ## Run the long campaigns: more random sessions, every fuzz target, and all platforms
	SESSCTL_LONG=1 RAPID_CHECKS=300 go test -timeout 3h ./...
	@set -e; for pkg in $$(go list ./...); do \
	  for target in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "== $$pkg $$target"; go test -run '^$$' -fuzz "^$$target$$" -fuzztime 60s $$pkg; \
	  done; \
	done

.PHONY: bench
bench: build ## Measure check on 1 GB against the sqlite3 program, which must be there, and views against exports
	@mkdir -p $(dir $(BENCH_DB))
	go test ./internal/tools/bench -run '^$$' -bench Tables -timeout 0 -sessctl $(abspath $(BIN)) -database $(abspath $(BENCH_DB)) $(BENCH_FLAGS)

.PHONY: lint
lint: $(LINTER) ## Run golangci-lint, which it installs into bin when that version is missing
	$(LINTER) run

$(LINTER):
	GOBIN=$(CURDIR)/bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
	mv bin/golangci-lint $@

.PHONY: tidy
tidy: ## Check that go.mod and go.sum are tidy
	go mod tidy -diff

# No file of ours is for one kind of processor, so CI takes one of each system.
PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64 freebsd/amd64
# Whose tests are compiled: CI takes those that name a system, or something of one.
PLATFORM_PACKAGES ?= ./...

.PHONY: platforms
platforms: ## Check that the program links and its tests compile for other systems
	@set -e; for target in $(PLATFORMS); do \
	  echo "== $$target"; export CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/}; \
	  go vet -trimpath $(PLATFORM_PACKAGES); go build -trimpath -o /dev/null .; \
	done

# Wine 8 is too old, and a display or a setting is needed: CONTRIBUTING.md.
WINE ?= wine
WINDOWS_TESTS := ./internal/atomicfile ./internal/config ./internal/ui ./internal/store/sqlite

.PHONY: test-windows
test-windows: ## Run the tests of what differs between systems as Windows programs, where wine is
	CGO_ENABLED=0 GOOS=windows WINEDEBUG=-all go test -p 1 -exec $(WINE) $(WINDOWS_TESTS)

.PHONY: share
share: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct)
share: ## Write the man pages and completions into share
	go run ./internal/tools/share share $(patsubst v%,%,$(VERSION))

# What a snapshot leaves out needs accounts or programs that a release has: syft,
# cosign, a registry.
SNAPSHOT := release --snapshot --clean --skip=sbom,sign,ko

# goreleaser asks git for the address of the project, which a clone without a remote
# does not know.
snapshot package-test: export GIT_CONFIG_COUNT = 1
snapshot package-test: export GIT_CONFIG_KEY_0 = remote.origin.url
snapshot package-test: export GIT_CONFIG_VALUE_0 = https://github.com/sessctl/sessctl

.PHONY: snapshot
snapshot: $(RELEASER) ## Build what a release has, for all systems, into dist; nothing is published
	$(RELEASER) check
	$(RELEASER) $(SNAPSHOT)

.PHONY: package-test
package-test: $(RELEASER) ## Build the packages for this machine, install the deb where that is possible, and use it
	$(RELEASER) check
	@mkdir -p bin && sed -e 's/^    goos: .*/    goos: [linux]/' -e 's/^    goarch: .*/    goarch: [$(shell go env GOARCH)]/' .goreleaser.yaml > bin/goreleaser.yaml
	$(RELEASER) $(SNAPSHOT),homebrew --config bin/goreleaser.yaml
	.ci/packages dist
	rm -rf dist share bin/goreleaser.yaml

$(RELEASER):
	GOBIN=$(CURDIR)/bin go install github.com/goreleaser/goreleaser/v2@$(GORELEASER_VERSION)
	mv bin/goreleaser $@

.PHONY: ci
ci: ## Everything that guards a change
	.ci/run
