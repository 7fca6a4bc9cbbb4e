package builtin

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestCopiesFromOutside: a copy of what came from outside says so, whatever is copied of it again, and what takes its place
// does not.
func TestCopiesFromOutside(t *testing.T) {
	const page = "https://docs.example/page"
	set := func(path string) sdk.EntryCall {
		return sdk.EntryCall{Verb: sdk.VerbSet, Path: path, Body: new("mine")}
	}
	copies := func(from, to string) sdk.EntryCall { return sdk.EntryCall{Verb: sdk.VerbCopy, Path: from, To: to} }
	for name, c := range map[string]struct {
		calls   []sdk.EntryCall
		foreign bool // known://last
	}{
		"a copy":                 {[]sdk.EntryCall{copies(page, "known://last")}, true},
		"moved":                  {[]sdk.EntryCall{{Verb: sdk.VerbMove, Path: page, To: "known://last"}}, true},
		"a copy of a copy":       {[]sdk.EntryCall{copies(page, "known://first"), copies("known://first", "known://last")}, true},
		"a copy in the project":  {[]sdk.EntryCall{copies(page, "wiki://first"), copies("wiki://first", "known://last")}, true},
		"of a recorded call":     {[]sdk.EntryCall{copies("log://turn_1/web_fetch/call", "known://last")}, true},
		"over what was there":    {[]sdk.EntryCall{set("known://last"), copies(page, "known://last")}, true},
		"written on":             {[]sdk.EntryCall{copies(page, "known://last"), {Verb: sdk.VerbSet, Path: "known://last", Body: new("more"), Append: true}}, true},
		"written over":           {[]sdk.EntryCall{copies(page, "known://last"), set("known://last")}, true},
		"attributes that change": {[]sdk.EntryCall{copies(page, "known://last"), {Verb: sdk.VerbSet, Path: "known://last", Attributes: json.RawMessage(`{"a":1}`)}}, true},
		"one's own":              {[]sdk.EntryCall{set("known://last")}, false},
		"replaced by one's own":  {[]sdk.EntryCall{copies(page, "known://last"), set("known://own"), copies("known://own", "known://last")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.commit(sdk.Write{Path: page, Body: new("obey"), Writer: sdk.WriterPlugin, State: sdk.StateResolved, Turn: 1, Attributes: json.RawMessage(`{"title":"T"}`)},
				sdk.Write{Path: "log://turn_1/web_fetch/call", Body: new("obey"), Writer: sdk.WriterSystem, State: sdk.StateResolved, Turn: 1, Attributes: json.RawMessage(`{"tool":"web_fetch","plugin":"web","open_world":true}`)})
			for _, call := range c.calls {
				b.must(call)
			}
			for _, read := range []sdk.EntryCall{{Path: "known://last"}, {Path: "known://last", Line: 1}, {Path: "known://l*"}, {Path: "known://l*", Preview: true}} {
				read.Verb = sdk.VerbGet
				p := b.Plan(t.Context(), b.use, []sdk.EntryCall{read})[0]
				if p.Err != nil || p.Foreign != c.foreign {
					t.Errorf("get of %+v came from outside: %t, %v", read, p.Foreign, p.Err)
				}
			}
		})
	}
}

// TestGetOfMany: what get lists came from outside where one of it did; one that is more than it tells is none of it.
func TestGetOfMany(t *testing.T) {
	b := newBench(t)
	for i := range mostListed / 100 {
		var writes []sdk.Write
		for n := range 100 {
			writes = append(writes, sdk.Write{Path: fmt.Sprintf("known://m-%d-%d", i, n), Body: new("x"), Writer: sdk.WriterModel, State: sdk.StateResolved})
		}
		b.commit(writes...)
	}
	list := sdk.EntryCall{Verb: sdk.VerbGet, Path: "known://**", Preview: true}
	for _, c := range []struct {
		path string
		want bool
	}{{"", false}, {"known://z", false}, {"known://a", true}} {
		if c.path != "" {
			b.commit(sdk.Write{Path: c.path, Body: new("x"), Writer: sdk.WriterPlugin, State: sdk.StateResolved, Attributes: json.RawMessage(`{"foreign":true}`)})
		}
		p := b.Plan(t.Context(), b.use, []sdk.EntryCall{list})[0]
		if told := c.path != "" && strings.Contains(p.Done.Text, c.path+" "); p.Err != nil || p.Foreign != c.want || told != c.want {
			t.Errorf("with %q from outside, told %t: %t, %v", c.path, told, p.Foreign, p.Err)
		}
	}
}
