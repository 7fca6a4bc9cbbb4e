package main

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestEntries holds that each flag of the verbs comes to what it says, for the run that is meant.
func TestEntries(t *testing.T) {
	b := withDaemon(t, nil)
	b.daemon.detail = eventful(b.project)
	b.daemon.detail.entries = []sdk.Entry{
		{Path: "known://a", State: sdk.StateFailed, Outcome: sdk.NotFound, Visibility: sdk.Archived, Writer: sdk.WriterModel, Turn: 3},
	}
	for _, c := range []struct{ args, want string }{
		{"get known://a --line=-2 -n 1 --preview --filter f", `[{"verb":"get","path":"known://a","filter":"f","line":-2,"limit":1,"preview":true}]`},
		{"set known://a text --append --summary s --visibility archived --state failed --outcome o --attributes {\"p\":1} --pattern --filter f",
			`[{"verb":"set","path":"known://a","body":"text","append":true,"state":"failed","outcome":"o","visibility":"archived","attributes":{"p":1},"summary":"s","pattern":true,"filter":"f"}]`},
		{"set known://** --visibility summarized", `[{"verb":"set","path":"known://**","visibility":"summarized"}]`},
		{"rm known://* --filter f", `[{"verb":"rm","path":"known://*","filter":"f"}]`},
		{"cp known://a known://b --visibility visible", `[{"verb":"cp","path":"known://a","to":"known://b","visibility":"visible"}]`},
		{"mv known://a known://b -r 7", `[{"verb":"mv","path":"known://a","to":"known://b"}]`},
	} {
		b.want(t, exitOK, strings.Fields("entries "+c.args)...)
		if got, want := b.out.String(), "brave-1 "+c.want+"\n"; got != want {
			t.Errorf("%s: %s, want %s", c.args, got, want)
		}
	}
	b.want(t, exitOK, "entries")
	if got := strings.Join(strings.Fields(b.out.String()), " "); !strings.HasPrefix(got, "PATH STATUS VISIBILITY TURN WRITER UPDATED known://a 404 archived 3 model") {
		t.Errorf("listed: %s", got)
	}
	b.want(t, exitUsage, "entries", "set", "known://a", "--attributes", "{")
	b.want(t, exitUsage, "entries", "ls", "-n", "0")
}
