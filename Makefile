# Vayu. `make` alone prints the targets.
#
# Needs Go, Node with npm, a C compiler (for -race) and make. Everything else
# comes through Go's module proxy and npm, pinned by go.sum and
# package-lock.json.

SHELL     := bash
GO        ?= go
FUZZTIME  ?= 10s
BENCHTIME ?= 1s
# As in the image and the archive: without cgo and without paths of this machine.
BUILD     := CGO_ENABLED=0 $(GO) build -trimpath
# The longest package takes two minutes with -race on two cores. After forty minutes a hanging
# test ends and prints its stacks.
TIMEOUT   ?= 40m
# SQLite is C code translated to Go. Race detection would make it three times slower, and it has
# no Go races of its own. Its allocator and the validator of JSON schemas have no goroutines.
# The callers of all of them stay instrumented. A package with generic code must not be in the list:
# the linker could use its copies of generic functions, as of sync.Map, in all packages, and the
# detector would report races that do not exist.
# -race also checks conversions of pointers. The driver of SQLite converts pointers to the memory of its allocator only.
UNRACED   := modernc.org/sqlite/lib modernc.org/libc modernc.org/memory github.com/santhosh-tekuri/jsonschema/v6
# Without debug information (-w) the linker takes half of the time. Stack traces do not need it.
RACE      := -race -ldflags=-w $(UNRACED:%=-gcflags=%=-race=false) -gcflags=modernc.org/sqlite=-d=checkptr=0
# Packages without goroutines, whose tests compute much: a tenth of all processor time with -race. Tests of other packages
# run their code with the race detector.
SINGLE    := ./internal/apidoc ./internal/arch ./ingest/source/file
# Arguments of `vayu serve` in `make run`: make run ARGS="--listen :9000".
ARGS      ?=

# The number of kills of each service in `make kills`.
KILLS     ?= 200

# The faults of `make faults` and `make partitions`: prefixes of their names, separated by
# commas.
FAULTS    ?=

BIN   := bin/vayu
CHAOS := bin/vayu-chaos.test
LINT  := bin/golangci-lint
SBOM  := bin/sbom
VULN  := bin/govulncheck
NPM   := node_modules/.package-lock.json
WEB   := internal/dashboard/web
PAGE  := internal/dashboard/dist/index.html
TYPES := $(WEB)/made/schema.d.ts
WEBSRC = $(shell git ls-files --cached --others --exclude-standard $(WEB) 2>/dev/null)
GOSRC  = $(shell git ls-files --cached --others --exclude-standard '*.go' 2>/dev/null | grep -v /testdata/)

.DEFAULT_GOAL := help
.PHONY: help run build web test test-race check format vet lint size new-source readme integration notebooks kills bench bench-views bench-webhooks bench-recharges bench-verifications bench-analysts bench-sql bench-export bench-reads bench-sensors bench-page scale proof drill soak cluster faults compose units partitions fuzz fuzz-contract ifsc sbom vuln release hooks clean forecast-score

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## build, then serve on 127.0.0.1:8080 with data in ./data; prints a curl that works
	$(BIN) serve --webhook-local $(ARGS)

build: $(NPM) $(PAGE) ## build bin/vayu with its dashboard, and fetch the engine's library beside it
	$(BUILD) -o $(BIN) ./cmd/vayu

test: $(NPM) web ## run every test
	$(GO) test -ldflags=-w -timeout $(TIMEOUT) ./...

# `make lint` has all analyzers of go vet.
test-race: $(NPM) $(PAGE) ## run every Go test, most with the race detector
	$(GO) test -vet=off -timeout $(TIMEOUT) $(SINGLE)
	CGO_ENABLED=1 $(GO) test $(RACE) -vet=off -timeout $(TIMEOUT) $$($(GO) list ./... | grep -vxF "$$($(GO) list $(SINGLE))")

check: format lint vuln web test-race readme ## what CI checks, without the tests of make integration; -j2 is faster

new-source: ## write the skeleton of a source and register it (NAME=acme)
	.ci/new-source "$(NAME)"

size: ## print the sizes of the project beside their limits and targets
	$(GO) test -count=1 -v -run 'TestSize$$' ./internal/arch

web: $(PAGE) ## check and test the dashboard's page
	npm run --silent dashboard:check

format: ## fail when a file is not gofmt'ed
	@bad=$$(gofmt -l $(GOSRC)); if [ -n "$$bad" ]; then echo "not gofmt'ed:"; echo "$$bad"; exit 1; fi

vet: ## go vet, with the integration and chaos tests: a part of lint
	$(GO) vet -tags integration,chaos ./...

# The linters keep the syntax of all packages. With fewer garbage collections they take a fifth less processor time.
lint: $(LINT) ## golangci-lint with .golangci.yml
	GOGC=200 $(LINT) run --build-tags integration,chaos ./...
	cd schema/sdk/go && ../../../$(LINT) run ./...

readme: build ## run the commands of README.md and docs/guides against a fresh binary
	.ci/readme README.md docs/guides/*.md

bin/vayu-crash: build
	$(BUILD) -tags crash -o $@ ./cmd/vayu

integration: bin/vayu-crash ## run the tests that need the built binary (build tag integration), other ClickHouse clients, SDKs, and a browser
	.ci/integration
	.ci/new-source --check
	.ci/sdk
	.ci/generators
	.ci/clients
	.ci/readers
	.ci/views
	.ci/notebooks
	.ci/alerts
	.ci/deploy
	.ci/browser

notebooks: build ## execute docs/notebooks and the queries of Grafana's dashboard of the air; results go to bin/notebooks (needs python3)
	.ci/notebooks

# CI kills each service 12 to 48 times; 200 kills take an hour. PostgreSQL and Kafka are
# required, as in CI.
kills: bin/vayu-crash ## run the tests that kill the service, KILLS times each
	VAYU_TEST_KILLS=$(KILLS) $(GO) test -tags integration -count=1 -v -timeout 3h -run 'TestIntegration.*(Killed|Instances|Kafka|Acknowledged)' ./cmd/vayu
	VAYU_TEST_KILLS=20 $(GO) test -count=1 -v -timeout 1h -run 'TestKilledReplay$$' ./query/alert/evaluation

bench: $(NPM) ## run every benchmark, BENCHTIME each
	$(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) -timeout 60m ./...

# Fixed counts: a rate needs several seconds, and a latency at 200 events a second needs ten.
# PostgreSQL and Kafka are measured if VAYU_TEST_POSTGRES and VAYU_TEST_KAFKA are set.
bench-webhooks: $(NPM) ## measure deliveries: throughput beside a bare client, latency beside slow and dead endpoints
	$(GO) test -run '^$$' -bench 'BenchmarkWebhooks$$' -benchtime 30000x -timeout 30m ./dispatch
	$(GO) test -run '^$$' -bench 'BenchmarkWebhookLatency' -benchtime 2000x -timeout 30m ./dispatch
	$(GO) test -run '^$$' -bench 'BenchmarkFailingNeighbour' -benchtime 2000x -timeout 30m ./dispatch
	$(GO) test -run '^$$' -bench 'BenchmarkWaiting' -benchtime 1x -timeout 30m ./dispatch

bench-views: $(NPM) ## measure each view over ten years of 600 stations beside one read of their hours (10 minutes)
	$(GO) test -run '^$$' -bench 'BenchmarkScaleViews' -benchtime 1x -timeout 30m -v ./pipeline/airquality

# PostgreSQL is measured if VAYU_TEST_POSTGRES is set.
bench-recharges: $(NPM) ## measure recharges to their final state beside the raw rows, latency at 200/s, and batches
	$(GO) test -run '^$$' -bench 'BenchmarkRecharge$$' -benchtime 10000x -timeout 30m ./pipeline/recharge
	$(GO) test -run '^$$' -bench 'BenchmarkLatency' -benchtime 3000x -timeout 30m ./pipeline/recharge
	$(GO) test -run '^$$' -bench 'BenchmarkHTTP' -benchtime 10000x -timeout 30m ./pipeline/recharge
	$(GO) test -run '^$$' -bench . -benchtime 3x -timeout 30m ./pipeline/batch

# PostgreSQL is measured if VAYU_TEST_POSTGRES is set.
bench-verifications: $(NPM) ## measure addresses at 200/s, a thousand slow penny drops at once, and batches of 10,000
	$(GO) test -run '^$$' -bench 'BenchmarkUPI$$' -benchtime 3000x -timeout 30m ./pipeline/verify
	$(GO) test -run '^$$' -bench 'BenchmarkHTTP' -benchtime 10000x -timeout 30m ./pipeline/verify
	$(GO) test -run '^$$' -bench 'BenchmarkWaiting$$' -benchtime 1x -timeout 30m ./pipeline/verify
	$(GO) test -run '^$$' -bench 'BenchmarkBulk' -benchtime 3x -timeout 30m ./pipeline/verify

bench-analysts: build ## measure GET /v1/aqi and pushed readings beside analysts whose queries would eat the machine (fails above twice the p99)
	$(GO) test -run '^$$' -bench 'BenchmarkBesideAnalysts$$' -benchtime 3000x -timeout 30m ./cmd/vayu

bench-sql: $(NPM) ## measure vayu sql beside curl (fails below 0.9), and its memory
	$(GO) test -run '^$$' -bench 'BenchmarkAgainstCurl$$' -benchtime 20x -timeout 20m ./query/console

bench-export: $(NPM) ## measure exports beside the same rows as the engine writes them, and the memory of ten million rows
	$(GO) test -run '^$$' -bench 'BenchmarkExport$$' -benchtime 3x -timeout 30m ./query/dataset
	$(GO) test -run '^$$' -bench 'BenchmarkExportMemory$$' -benchtime 1x -timeout 30m ./query/dataset

# A new data directory needs ten minutes until it has its history. VAYU_BENCH_DATA names one to use again.
bench-reads: build ## measure 5,000 mixed reads a second beside pushed readings and an export, and a bare mux in the same run
	$(GO) test -run '^$$' -bench 'BenchmarkMixedReads$$' -benchtime 150000x -timeout 30m ./cmd/vayu

bench-page: build ## measure every page of the dashboard on a phone: time until it is ready, longest task, scripts
	CONFIG=measure .ci/browser measure

# Ten minutes of a million sensors take 25 minutes and some 10 GB of memory. PostgreSQL is required
# (VAYU_TEST_POSTGRES).
SENSORS ?= 100000
MINUTES ?= 10
bench-sensors: build ## measure SENSORS sensors with a reading a minute for MINUTES through three ingest instances
	SENSORS=$(SENSORS) MINUTES=$(MINUTES) $(GO) test -run '^$$' -bench 'BenchmarkSensors$$' -benchtime 1x -timeout 60m ./cmd/vayu

# Each benchmark repeats itself as often as needed, so one run is enough. PostgreSQL and Kafka
# are measured if VAYU_TEST_POSTGRES and VAYU_TEST_KAFKA are set.
scale: $(NPM) ## measure growth: cities, years, stations, subscriptions, callers, partitions (docs/operations/scale.md)
	$(GO) test -run '^$$' -bench 'BenchmarkScale' -benchtime 1x -timeout 60m \
		./query ./ingest/loader ./pipeline/airquality ./dispatch/subscription ./dispatch ./internal/access ./dispatch/outbox ./dispatch/kafka

# CI compares 3 of the stations; all 15 take six minutes.
proof: build ## compare every figure of 15 stations in 2020 with an independent computation (needs python3)
	VAYU_TEST_STATIONS=15 $(GO) test -tags integration -count=1 -v -timeout 30m -run TestIntegrationFiguresEqual ./cmd/vayu

forecast-score: $(NPM) ## print the score of the forecast models on the shared archives, beside the published tables
	VAYU_TEST_FORECAST=1 $(GO) test -count=1 -v -timeout 60m -run 'TestPublishedTable|TestCoverage' ./pipeline/airquality/forecast

fuzz-contract: build ## have a fuzzer call the API in sequences for ten minutes, and compare replies with the contract
	VAYU_FUZZ_SECONDS=600 $(GO) test -tags integration -count=1 -v -timeout 60m -run TestIntegrationTheContractHolds ./cmd/vayu

cluster: $(CHAOS) ## run PostgreSQL, three Kafka brokers, ClickHouse and eight instances on this machine, until Ctrl-C
	exec $(CHAOS) -test.v -test.run '^TestCluster$$' $(ARGS)

faults: $(CHAOS) ## break everything in a cluster under load, one after the other (15 minutes; FAULTS=kill-api,roll for some)
	exec $(CHAOS) -test.v -test.run '^TestFaults$$' -only "$(FAULTS)" $(ARGS)

compose: build ## run docker-compose.yml in containers of a Docker engine of its own, and drive it (15 minutes; root only)
	.ci/compose

units: build ## boot a Debian, install the units of docs/operations/systemd, and test them under its systemd (5 minutes; root only)
	.ci/systemd

drill: build ## lose a machine under load, restore it from S3 and from the log of the store, and print RPO and RTO (3 minutes)
	.ci/disaster

# HOURS=6 EVENTS=5000 take three minutes. OLD="REF REF" begins with these versions.
soak: build ## run a week in an hour on a simulated clock, under load, with backups and upgrades, and prove books and trends
	HOURS="$(HOURS)" EVENTS="$(EVENTS)" SECONDS_PER_HOUR="$(SECONDS_PER_HOUR)" OLD="$(OLD)" .ci/soak

partitions: $(CHAOS) ## drop packets between the processes of a cluster under load, in one direction and both (root only)
	exec .ci/isolated $(CHAOS) -test.v -test.run '^TestPartitions$$' -only "$(FAULTS)" $(ARGS)

fuzz: $(NPM) ## run every fuzz target for FUZZTIME
	@set -e; git grep -oE --untracked '^func Fuzz[A-Za-z0-9_]+' -- '*_test.go' | while IFS=: read -r file target; do \
		echo "$${target#func } in $$(dirname $$file) for $(FUZZTIME)"; \
		$(GO) test -run '^$$' -fuzz "^$${target#func }$$" -fuzztime $(FUZZTIME) "./$$(dirname $$file)" < /dev/null; \
	done

# Run it after updating the package ifsc in package.json. A test fails if that was forgotten.
ifsc: $(NPM) ## regenerate the list of IFSC from the npm package ifsc
	$(GO) run ./pipeline/verify/ifsc/generate node_modules/ifsc pipeline/verify/ifsc/codes.gz

sbom: build $(SBOM) ## write the software bill of materials (CycloneDX) of bin/vayu and package-lock.json to bin/vayu.cdx.json
	$(SBOM) -version "$$(git describe --tags --always --dirty --abbrev=12)" -time "$$(git log -1 --format=%cI)" $(BIN) package-lock.json >bin/vayu.cdx.json

vuln: build $(VULN) ## check bin/vayu against known vulnerabilities (VULNDB=URL for another database)
	.ci/vuln

release: $(NPM) $(PAGE) $(SBOM) ## build bin/release/vayu-VERSION-linux-amd64.tar.gz (RELEASE_KEY=FILE signs it)
	.ci/archive

hooks: ## have git check the message of each commit that you make
	git config core.hooksPath .ci/hooks

clean: ## remove what was built; data and node_modules stay
	rm -rf bin internal/dashboard/dist/index.html internal/dashboard/dist/assets $(WEB)/made

$(NPM): package.json package-lock.json
	npm ci --no-audit --no-fund
	@touch $@

$(TYPES): $(NPM) $(wildcard schema/openapi.yaml schema/openapi/*.yaml)
	npm run --silent dashboard:types

$(PAGE): $(TYPES) $(WEBSRC) $(wildcard docs/*.md docs/guides/*.md docs/operations/*.md) schema/gazetteer/cities.csv CHANGELOG.md package.json
	npm run --silent dashboard:build
	@touch $@

$(CHAOS): build
	$(GO) test -c -trimpath -tags chaos -o $@ ./internal/testing/chaos

$(LINT): .ci/lint/go.mod .ci/lint/go.sum
	cd .ci/lint && $(GO) build -trimpath -o ../../$(LINT) github.com/golangci/golangci-lint/v2/cmd/golangci-lint

$(VULN): .ci/supply/go.mod .ci/supply/go.sum
	cd .ci/supply && $(GO) build -trimpath -o ../../$(VULN) golang.org/x/vuln/cmd/govulncheck

$(SBOM): $(wildcard .ci/supply/go.* .ci/supply/sbom/*.go)
	cd .ci/supply && $(GO) build -trimpath -o ../../$(SBOM) ./sbom
