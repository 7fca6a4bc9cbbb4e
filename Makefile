# `make help` lists the targets; what they do stands in scripts/.
SHELL := /bin/bash
.DEFAULT_GOAL := build

GO      ?= go
PREFIX  ?= /usr/local
VERSION ?= $(shell scripts/version)

# Everything is built without cgo, which Podman's packages allow with these tags; grpcnotrace leaves out a page of gRPC's that
# nobody opens, and with it 3 MB of each program.
TAGS    := remote,containers_image_openpgp,exclude_graphdriver_btrfs,grpcnotrace
GOFLAGS := $(strip $(filter-out -tags=% -buildvcs=%,$(GOFLAGS)) -buildvcs=false -tags=$(TAGS))
CGO_ENABLED := 0
export GO GOFLAGS TAGS VERSION CGO_ENABLED

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

# scripts/set-up installs what is missing and comes back for the target with -here: in this tree for an ordinary
# user; for root in a copy of it, as the unprivileged user bothy.
.PHONY: run test check bench run-here test-here check-here bench-here interop-here
run: ## set up, start the daemon, run a first prompt
	@scripts/set-up run
run-here: build
	@scripts/first-run

test: ## set up and run every test
	@scripts/set-up test
test-here: build
	@scripts/test

check: ## everything that should hold before a change is merged
	@scripts/set-up check
check-here: build
	@scripts/check

bench: ## print the benchmark ratios
	@scripts/set-up bench
bench-here: build
	@scripts/bench

interop-here: build
	@scripts/test interop

.PHONY: build
build: ## make the layout of an installation under build/
	@scripts/build

.PHONY: install
install: build ## copy that layout to PREFIX
	@scripts/install '$(DESTDIR)$(PREFIX)'

.PHONY: proto
proto: ## regenerate sdk/internal/pb from sdk/proto
	scripts/proto sdk/internal/pb

.PHONY: spec
spec: ## print the anchors of docs/spec-anchors.txt that no test names
	@scripts/spec

.PHONY: tables
tables: ## write the generated tables of docs/ anew
	$(GO) test ./daemon/internal/config -run TestGeneratedTables -count=1 -args -update

.PHONY: clean
clean: ## remove everything that was built
	rm -rf build bin
