package main

import "github.com/bothyd/bothy/daemon/cmd/internal/verbs"

type planCmd struct {
	Check offline[verbs.PlanCheck] `cmd:"" help:"Read a plan and show every mistake where it stands."`
}
