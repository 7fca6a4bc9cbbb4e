package main

import "github.com/bothyd/bothy/daemon/cmd/internal/verbs"

type planCmd struct {
	New   planNewCmd               `cmd:"" help:"Have an agent write a plan for a goal, into a file to edit."`
	Check offline[verbs.PlanCheck] `cmd:"" help:"Read a plan and show every mistake where it stands."`
}
