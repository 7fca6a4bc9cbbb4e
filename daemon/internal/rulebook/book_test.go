package rulebook

import (
	"context"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sdk"
)

type shelf struct{ entries []sdk.Entry }

func (s *shelf) Entries(context.Context, sdk.EntryQuery) ([]sdk.Entry, error) { return s.entries, nil }

// TestRulesHoldFromTheirCommit: whoever judges between the commit of a rule and the end of the answer judges by it.
func TestRulesHoldFromTheirCommit(t *testing.T) {
	s := &shelf{}
	b := New(s, hclog.NewNullLogger())
	read := func() int { return len(b.Allowing("/p")) }
	read() // which is kept
	done := b.Change()
	if read() != 0 {
		t.Error("a rule holds before it is recorded")
	}
	w := Write(sdk.RememberedRule{ID: "r", PolicyRule: sdk.PolicyRule{Name: "remembered_r", Project: "/p", Verdict: sdk.Allow, Tools: []string{"web_fetch"}}})
	s.entries = []sdk.Entry{{Path: w.Path, Attributes: w.Attributes, Writer: sdk.WriterSystem}}
	if read() != 1 {
		t.Error("a rule that is recorded does not hold until its answer has ended")
	}
	done()
	s.entries = nil
	if read(); read() != 0 {
		t.Error("nothing is read again")
	}
	s.entries = []sdk.Entry{{Path: w.Path, Attributes: w.Attributes, Writer: sdk.WriterSystem}}
	if read() != 0 {
		t.Error("rules are read each time")
	}
}
