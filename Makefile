# `make help` lists the targets; what they do stands in scripts/.
SHELL := /bin/bash
.DEFAULT_GOAL := build

GO      ?= go
PREFIX  ?= /usr/local
VERSION ?= $(shell scripts/version)
LDFLAGS := -s -w -X github.com/bothyd/bothy/sdk.Version=$(VERSION)

# Podman's packages want cgo and C libraries without these tags.
TAGS    := remote,containers_image_openpgp,exclude_graphdriver_btrfs
GOFLAGS := $(strip $(filter-out -tags=% -buildvcs=%,$(GOFLAGS)) -buildvcs=false -tags=$(TAGS))
export GO GOFLAGS

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

.PHONY: proto
proto: ## regenerate sdk/internal/pb from sdk/proto
	scripts/proto sdk/internal/pb
