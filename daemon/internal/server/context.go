package server

import (
	"slices"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// readInto takes from an entry of a run, in their order, what getRun tells of the run as a
// whole.
func readInto(d *rpc.RunDetail, run int64, e sdk.Entry) {
	switch {
	case e.Path == sdk.HoldPath:
		d.Held = e.Holds(run)
	case e.Scheme() == "assistant" && e.State == sdk.StateResolved:
		if at, err := sdk.ReplyOf(e.Attributes); err == nil {
			d.Context = contextUse(at, d.Context)
		}
	case e.Phase != sdk.PhaseNone:
		at, _ := sdk.ActionOf(e) // what can be read of it is enough
		if i := slices.IndexFunc(d.Loops, func(l sdk.Loop) bool { return l.ID == e.Loop }); i >= 0 && at.Finished() {
			d.Loops[i].Result = at.ExactArguments()
		}
		for _, in := range at.Instructions {
			instructed(d, rpc.RunInstructions{File: in.File, Of: "folder", Untrusted: in.Untrusted})
		}
	}
}

// readSystem takes from the entries of a run which files its last system text has.
func readSystem(d *rpc.RunDetail, entries []sdk.Entry) {
	_, text, _ := sdk.LastSystemText(entries)
	for _, in := range text.Instructions {
		of := "project"
		if in.User {
			of = "user"
		}
		instructed(d, rpc.RunInstructions{File: in.File, Of: of, Untrusted: in.Untrusted})
	}
}

func instructed(d *rpc.RunDetail, in rpc.RunInstructions) {
	i := slices.IndexFunc(d.Instructions, func(x rpc.RunInstructions) bool { return x.File == in.File && (x.Of == "user") == (in.Of == "user") })
	if i < 0 {
		d.Instructions = append(d.Instructions, in)
		return
	}
	d.Instructions[i].Untrusted = in.Untrusted
}

// contextUse is what an answer tells; before when it tells nothing.
func contextUse(at sdk.Reply, before *rpc.ContextUse) *rpc.ContextUse {
	use := rpc.ContextUse{Tokens: at.Estimate, Limit: at.Context, Estimated: at.Usage == nil || at.Usage.Estimated}
	if at.Usage != nil {
		use.Tokens = at.Usage.Prompt + at.Usage.Completion
	}
	if use.Tokens == 0 {
		return before
	}
	if use.Limit > 0 {
		use.Share = min(float64(use.Tokens)/float64(use.Limit), 1)
	}
	return &use
}
