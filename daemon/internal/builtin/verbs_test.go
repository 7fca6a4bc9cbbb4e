package builtin

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/store"
	"github.com/bothyd/bothy/sdk"
)

// openStore is a fresh store with a scheme of each shared scope: in memory where there is some, and for a benchmark on disk.
func openStore(t testing.TB) *store.Store {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "bothy-verbs-")
	if _, measures := t.(*testing.B); measures || err != nil {
		_ = os.RemoveAll(dir) // it is empty
		dir = t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s, err := store.Open(t.Context(), filepath.Join(dir, "bothy.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []sdk.Scheme{
		{Name: "wiki", Scope: "project", Category: sdk.CategoryData, ModelVisible: true},
		{Name: "lore", Scope: "global", Category: sdk.CategoryData, ModelVisible: true},
		{Name: "house", Scope: "project", Category: sdk.CategoryData, ModelVisible: true, WritableBy: []sdk.Writer{sdk.WriterPlugin}},
	} {
		if err := s.RegisterScheme(t.Context(), x); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// bench is a run with the verbs of one writer.
type bench struct {
	*Verbs
	t   testing.TB
	s   *store.Store
	use sdk.EntryUse
}

func newBench(t testing.TB) *bench {
	t.Helper()
	s := openStore(t)
	t.Cleanup(func() { _ = s.Close() })
	return newBenchIn(t, s, "/p")
}

func newBenchIn(t testing.TB, s *store.Store, root string) *bench {
	t.Helper()
	p, err := s.OpenProject(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.CreateRun(t.Context(), sdk.Run{Project: p.ID, Agent: "chat"})
	if err != nil {
		t.Fatal(err)
	}
	redact := func(text string) string { return strings.ReplaceAll(text, "hunter2", "[gone]") }
	return &bench{NewVerbs(s, Patterns, redact), t, s, sdk.EntryUse{Run: r, Writer: sdk.WriterModel, Turn: 3}}
}

// do uses a verb and commits what it came to.
func (b *bench) do(c sdk.EntryCall) (sdk.EntryDone, error) {
	b.t.Helper()
	p := b.Plan(b.t.Context(), b.use, []sdk.EntryCall{c})[0]
	if p.Err != nil {
		return sdk.EntryDone{}, p.Err
	}
	b.commit(p.Writes...)
	return p.Done, nil
}

func (b *bench) commit(writes ...sdk.Write) {
	b.t.Helper()
	if _, err := b.s.Commit(b.t.Context(), sdk.Change{Run: b.use.Run.ID, Writes: writes}); err != nil {
		b.t.Fatal(err)
	}
}

// as is the same run for another writer.
func (b *bench) as(w sdk.Writer) *bench {
	other := *b
	other.use.Writer = w
	return &other
}

func (b *bench) must(c sdk.EntryCall) sdk.EntryDone {
	b.t.Helper()
	d, err := b.do(c)
	if err != nil {
		b.t.Fatalf("%+v: %v", c, err)
	}
	return d
}

// at is the entry at a path in a word; "" when the run finds none.
func (b *bench) at(path string) string {
	b.t.Helper()
	all, err := b.s.Entries(b.t.Context(), sdk.EntryQuery{Run: b.use.Run.ID, Path: path, Shared: true})
	if err != nil {
		b.t.Fatal(err)
	}
	if len(all) == 0 {
		return ""
	}
	e := all[0]
	return strings.TrimSpace(fmt.Sprintf("%q %d %s %s %s", e.Body, e.Status(), e.Visibility, e.Writer, e.Attributes))
}

func set(path, body string) sdk.EntryCall {
	return sdk.EntryCall{Verb: sdk.VerbSet, Path: path, Body: &body}
}

func get(path string) sdk.EntryCall { return sdk.EntryCall{Verb: sdk.VerbGet, Path: path} }

func on(verb sdk.Verb, path, to string) sdk.EntryCall {
	return sdk.EntryCall{Verb: verb, Path: path, To: to}
}

func with(c sdk.EntryCall, change func(*sdk.EntryCall)) sdk.EntryCall {
	change(&c)
	return c
}

// spec: primitives
func TestVerbsRefuse(t *testing.T) {
	b := newBench(t)
	b.commit(
		sdk.Write{Path: "log://turn_1/bash/call", Body: new("ran"), Writer: sdk.WriterSystem},
		sdk.Write{Path: "assistant://1", Body: new("said"), Writer: sdk.WriterSystem},
		sdk.Write{Path: "skill://x", Body: new("text"), Writer: sdk.WriterSystem},
		sdk.Write{Path: "known://grows", Body: new(""), State: sdk.StateStreaming, Writer: sdk.WriterPlugin},
		sdk.Write{Path: "known://here", Body: new("a\nb\nc\n"), Writer: sdk.WriterModel},
		sdk.Write{Path: "known://there", Body: new("d"), Writer: sdk.WriterModel},
	)
	long := "known://" + strings.Repeat("x", sdk.MaxTarget)
	for _, c := range []struct {
		name string
		call sdk.EntryCall
		want sdk.Outcome
	}{
		{"no verb", sdk.EntryCall{Verb: "do", Path: "known://a"}, sdk.Validation},
		{"no path", set("", "x"), sdk.Validation},
		{"a long target", set(long, "x"), sdk.Validation},
		{"a control character", set("known://a\nb", "x"), sdk.Validation},
		{"no UTF-8", set("known://\xff", "x"), sdk.Validation},
		{"a scheme that nobody has", set("nowhere://a", "x"), sdk.Validation},
		{"nothing behind the scheme", set("known://", "x"), sdk.Validation},
		{"a file", set("src/main.go", "x"), sdk.Validation},
		{"to read a file", get("README.md"), sdk.Validation},
		{"to move to a file", on(sdk.VerbMove, "known://here", "here.txt"), sdk.Validation},
		{"a secret in a path", set("known://hunter2", "x"), sdk.Validation},
		{"nothing to set", sdk.EntryCall{Verb: sdk.VerbSet, Path: "known://here"}, sdk.Validation},
		{"a field of another verb", with(get("known://here"), func(c *sdk.EntryCall) { c.Body = new("x") }), sdk.Validation},
		{"attributes that are none", with(set("known://a", "x"), func(c *sdk.EntryCall) { c.Attributes = []byte(`[1]`) }), sdk.Validation},
		{"a level that is none", with(set("known://a", "x"), func(c *sdk.EntryCall) { c.Visibility = "hidden" }), sdk.Validation},
		{"a state that is none", with(set("known://a", "x"), func(c *sdk.EntryCall) { c.State = "done" }), sdk.Validation},
		{"an outcome of success", with(set("known://a", "x"), func(c *sdk.EntryCall) { c.Outcome = "timeout" }), sdk.Validation},
		{"a body that is no text", set("known://a", "\xff"), sdk.Validation},
		{"to append nothing", with(get("known://here"), func(c *sdk.EntryCall) { c.Verb, c.Append = sdk.VerbSet, true }), sdk.Validation},
		{"a pattern that is none", get("/(/"), sdk.Validation},
		{"lines of more than one", with(get("known://*"), func(c *sdk.EntryCall) { c.Line = 1 }), sdk.Validation},
		{"lines at a level", with(get("known://here"), func(c *sdk.EntryCall) { c.Line, c.Visibility = 1, sdk.Summarized }), sdk.Validation},
		{"a list at a level", with(get("known://*"), func(c *sdk.EntryCall) { c.Preview, c.Visibility = true, sdk.Summarized }), sdk.Validation},
		{"to move to nowhere", on(sdk.VerbMove, "known://here", ""), sdk.Validation},
		{"to copy to nowhere", on(sdk.VerbCopy, "known://here", ""), sdk.Validation},
		{"a level for nothing", with(on(sdk.VerbMove, "unknown://*", ""), func(c *sdk.EntryCall) { c.Visibility = sdk.Archived }), sdk.NotFound},
		{"lines below none", with(get("known://here"), func(c *sdk.EntryCall) { c.Limit = -2 }), sdk.Validation},
		{"an end that is none", sdk.EntryCall{Verb: sdk.VerbUpdate, Status: 404}, sdk.Validation},
		{"a source that is its destination", on(sdk.VerbCopy, "known://here", "known://here"), sdk.Validation},
		{"the audit", get("assistant://1"), sdk.Permission},
		{"to write the audit", set("change://x", "x"), sdk.Permission},
		{"to copy the audit", on(sdk.VerbCopy, "assistant://1", "known://a"), sdk.Permission},
		{"what happened", set("log://turn_1/bash/call", "x"), sdk.Permission},
		{"to remove what happened", on(sdk.VerbRemove, "log://turn_1/bash/call", ""), sdk.Permission},
		{"to move what happened", on(sdk.VerbMove, "LOG://turn_1/bash/call", "known://a"), sdk.Permission},
		{"what others write", set("skill://x", "x"), sdk.Permission},
		{"to remove what others write", on(sdk.VerbRemove, "skill://x", ""), sdk.Permission},
		{"to remove all that happened", on(sdk.VerbRemove, "log://**", ""), sdk.Permission},
		{"a question", with(set("known://a", "x"), func(c *sdk.EntryCall) { c.State = sdk.StateProposed }), sdk.Permission},
		{"a stream", with(set("known://a", "x"), func(c *sdk.EntryCall) { c.State = sdk.StateStreaming }), sdk.Permission},
		{"what is not there", get("known://gone"), sdk.NotFound},
		{"to change what is not there", with(set("known://gone", ""), func(c *sdk.EntryCall) { c.Body, c.Visibility = nil, sdk.Archived }), sdk.NotFound},
		{"to remove what is not there", on(sdk.VerbRemove, "known://gone", ""), sdk.NotFound},
		{"to copy what is not there", on(sdk.VerbCopy, "known://gone", "known://a"), sdk.NotFound},
		{"to move what is not there", on(sdk.VerbMove, "known://gone", "known://a"), sdk.NotFound},
		{"a pattern that finds nothing", get("unknown://**"), sdk.NotFound},
		{"a filter that finds nothing", with(get("known://here"), func(c *sdk.EntryCall) { c.Filter = "zzz" }), sdk.NotFound},
		{"to copy what grows", on(sdk.VerbCopy, "known://grows", "known://a"), sdk.Conflict},
		{"to copy over what grows", on(sdk.VerbCopy, "known://here", "known://grows"), sdk.Conflict},
	} {
		if d, err := b.do(c.call); sdk.OutcomeOf(err) != c.want || err == nil {
			t.Errorf("%s: %+v, %v; want %s", c.name, d, err, c.want)
		}
	}
	if got := b.at("known://a"); got != "" {
		t.Errorf("what was refused wrote %s", got)
	}
}

// spec: entries primitives
func TestVerbsDo(t *testing.T) {
	for _, c := range []struct {
		name  string
		calls []sdk.EntryCall
		path  string
		want  string
	}{
		{"set makes an entry", []sdk.EntryCall{set("KNOWN://a", "x")}, "known://a", `"x" 200 visible model`},
		{"set overwrites and ends a failure", []sdk.EntryCall{with(set("known://a", "x"), func(c *sdk.EntryCall) { c.State, c.Outcome = sdk.StateFailed, sdk.Conflict }), set("known://a", "y")}, "known://a", `"y" 200 visible model`},
		{"set at a level", []sdk.EntryCall{with(set("known://a", "x"), func(c *sdk.EntryCall) { c.Visibility = sdk.Summarized })}, "known://a", `"x" 200 summarized model`},
		{"append", []sdk.EntryCall{set("known://a", "x"), with(set("known://a", "y"), func(c *sdk.EntryCall) { c.Append = true })}, "known://a", `"xy" 200 visible model`},
		{"append makes an entry", []sdk.EntryCall{with(set("known://a", "y"), func(c *sdk.EntryCall) { c.Append = true })}, "known://a", `"y" 200 visible model`},
		{"a summary, cut", []sdk.EntryCall{with(set("known://a", "x"), func(c *sdk.EntryCall) { c.Summary = strings.Repeat("ü", 90) })}, "known://a", `"x" 200 visible model {"summary":"` + strings.Repeat("ü", 80) + `"}`},
		{"a state alone", []sdk.EntryCall{set("known://a", "x"), with(set("known://a", ""), func(c *sdk.EntryCall) { c.Body, c.State, c.Outcome = nil, sdk.StateFailed, "stale" })}, "known://a", `"x" 500 visible model`},
		{"a level for a pattern", []sdk.EntryCall{set("known://a/b", "x"), with(set("known://**", ""), func(c *sdk.EntryCall) { c.Body, c.Visibility = nil, sdk.Archived })}, "known://a/b", `"x" 200 archived model`},
		{"a body for a pattern", []sdk.EntryCall{set("known://a", "x"), with(set("known://*", "y"), func(c *sdk.EntryCall) { c.Pattern = true })}, "known://a", `"y" 200 visible model`},
		{"a path is its own text", []sdk.EntryCall{set("known://a*", "star"), set("known://ab", "x"), on(sdk.VerbRemove, "known://a*", "")}, "known://ab", `"x" 200 visible model`},
		{"a path with dots is a path", []sdk.EntryCall{set("known://a/../b", "x")}, "known://a/../b", `"x" 200 visible model`},
		{"rm", []sdk.EntryCall{set("known://a", "x"), on(sdk.VerbRemove, "known://a", "")}, "known://a", ""},
		{"rm by an expression", []sdk.EntryCall{set("known://abc", "x"), set("known://b", "x"), on(sdk.VerbRemove, `/^known:\/\/a\w+$/`, "")}, "known://abc", ""},
		{"rm of a pattern", []sdk.EntryCall{set("known://a", "x"), set("known://b", "x"), on(sdk.VerbRemove, "known://*", "")}, "known://b", ""},
		{"cp", []sdk.EntryCall{with(set("known://a", "x"), func(c *sdk.EntryCall) { c.Summary = "s" }), on(sdk.VerbCopy, "known://a", "unknown://b")}, "unknown://b", `"x" 200 visible model {"summary":"s"}`},
		{"cp over what was there", []sdk.EntryCall{
			with(set("known://b", "y"), func(c *sdk.EntryCall) { c.Attributes = []byte(`{"p":{"q":1,"r":2},"s":3}`) }),
			with(set("known://a", "x"), func(c *sdk.EntryCall) { c.Attributes = []byte(`{"p":{"q":1}}`) }),
			on(sdk.VerbCopy, "known://a", "known://b"),
		}, "known://b", `"x" 200 visible model {"p":{"q":1}}`},
		{"mv", []sdk.EntryCall{set("known://a", "x"), on(sdk.VerbMove, "known://a", "known://b")}, "known://a", ""},
		{"mv to a level", []sdk.EntryCall{set("known://a", "x"), with(on(sdk.VerbMove, "known://a", ""), func(c *sdk.EntryCall) { c.Visibility = sdk.Archived })}, "known://a", `"x" 200 archived model`},
		{"mv of a pattern to a level", []sdk.EntryCall{set("known://a", "x"), set("known://b", "x"), with(on(sdk.VerbMove, "known://*", ""), func(c *sdk.EntryCall) { c.Visibility = sdk.Summarized })}, "known://b", `"x" 200 summarized model`},
		{"a body brings into sight", []sdk.EntryCall{with(set("known://a", "x"), func(c *sdk.EntryCall) { c.Visibility = sdk.Archived }), set("known://a", "y")}, "known://a", `"y" 200 visible model`},
		{"a body at a level, over what is visible", []sdk.EntryCall{set("known://a", "x"), with(set("known://a", "y"), func(c *sdk.EntryCall) { c.Visibility = sdk.Archived })}, "known://a", `"y" 200 archived model`},
		{"a summary alone", []sdk.EntryCall{with(set("known://a", "x"), func(c *sdk.EntryCall) { c.Attributes = []byte(`{"n":1}`) }), {Verb: sdk.VerbSet, Path: "known://a", Summary: "s", Visibility: sdk.Summarized}}, "known://a", `"x" 200 summarized model {"n":1,"summary":"s"}`},
		{"update", []sdk.EntryCall{{Verb: sdk.VerbUpdate, Body: new("half")}, {Verb: sdk.VerbUpdate, Body: new("all"), Status: 200}}, "update://turn_3", `"all" 200 visible model {"status":200}`},
	} {
		apart, together := newBench(t), newBench(t)
		for _, call := range c.calls {
			apart.must(call)
		}
		for i, p := range together.Plan(t.Context(), together.use, c.calls) {
			if p.Err != nil {
				t.Fatalf("%s: %+v: %v", c.name, c.calls[i], p.Err)
			}
			defer together.commit() // nothing: what follows has it
			together.commit(p.Writes...)
		}
		for how, b := range map[string]*bench{"apart": apart, "together": together} {
			if got := b.at(c.path); got != c.want {
				t.Errorf("%s, %s: %s is %s, want %s", c.name, how, c.path, got, c.want)
			}
		}
	}
}

// TestUpdateWithoutAText: a model that goes on is told that it was noted; an end without a text says nothing to anybody.
func TestUpdateWithoutAText(t *testing.T) {
	for status, want := range map[int]string{0: "noted", sdk.StatusRunning: "noted", sdk.StatusOK: "", sdk.StatusNoContent: "", sdk.StatusUnable: ""} {
		if done := newBench(t).must(sdk.EntryCall{Verb: sdk.VerbUpdate, Status: status}); done.Text != want {
			t.Errorf("%d: %q, want %q", status, done.Text, want)
		}
	}
}

// spec: wrong_get_state
func TestGetReads(t *testing.T) {
	b := newBench(t)
	b.must(with(set("known://a", "1\n2\n3\n4"), func(c *sdk.EntryCall) { c.Visibility = sdk.Archived }))
	b.must(with(set("known://b", "other"), func(c *sdk.EntryCall) { c.Visibility = sdk.Archived }))
	for _, c := range []struct {
		call       sdk.EntryCall
		want       string
		visibility string
	}{
		{with(get("known://a"), func(c *sdk.EntryCall) { c.Line, c.Limit = 2, 2 }), "[lines 2 to 3 of 4]\n2\n3\n", "archived"},
		{with(get("known://a"), func(c *sdk.EntryCall) { c.Line = -2 }), "[lines 3 to 4 of 4]\n3\n4", "archived"},
		{with(get("known://a"), func(c *sdk.EntryCall) { c.Line = -9; c.Limit = 1 }), "[lines 1 to 1 of 4]\n1\n", "archived"},
		{with(get("known://a"), func(c *sdk.EntryCall) { c.Limit = 1 }), "[lines 1 to 1 of 4]\n1\n", "archived"},
		{with(get("known://a"), func(c *sdk.EntryCall) { c.Line = 9 }), "[no such line: there are 4]\n", "archived"},
		{with(get("known://a"), func(c *sdk.EntryCall) { c.Line, c.Limit = 3, math.MaxInt }), "[lines 3 to 4 of 4]\n3\n4", "archived"},
		{with(get("known://a"), func(c *sdk.EntryCall) { c.Line, c.Limit = math.MaxInt, math.MaxInt }), "[no such line: there are 4]\n", "archived"},
		{with(get("known://a"), func(c *sdk.EntryCall) { c.Line, c.Limit = math.MinInt, 1 }), "[lines 1 to 1 of 4]\n1\n", "archived"},
		{with(get("known://**"), func(c *sdk.EntryCall) { c.Preview = true }), "known://a 200 archived\nknown://b 200 archived", "archived"},
		{with(get("known://**"), func(c *sdk.EntryCall) { c.Filter = "3" }), "[known://a 200 visible 7 bytes]\n1\n2\n3\n4", "visible"},
		{with(get("known://a"), func(c *sdk.EntryCall) { c.Visibility = sdk.Summarized }), "1\n2\n3\n4", "summarized"},
		{with(get("known://*"), func(c *sdk.EntryCall) { c.Filter, c.Visibility = "3", sdk.Archived }), "[known://a 200 archived 7 bytes]\n1\n2\n3\n4", "archived"},
		{with(get("known://a"), func(c *sdk.EntryCall) { c.Visibility = sdk.Visible }), "1\n2\n3\n4", "visible"},
		{get("known://a"), "1\n2\n3\n4", "visible"},
	} {
		d := b.must(c.call)
		if d.Text != c.want {
			t.Errorf("%+v: %q, want %q", c.call, d.Text, c.want)
		}
		if got, want := b.at("known://a"), `"1\n2\n3\n4" 200 `+c.visibility+` model`; got != want {
			t.Errorf("%+v leaves %s", c.call, got)
		}
	}
	if got := b.at("known://b"); got != `"other" 200 archived model` {
		t.Errorf("the other one is %s", got)
	}
	if d := b.as(sdk.WriterClient).must(with(get("known://a"), func(c *sdk.EntryCall) { c.Line, c.Limit = 2, 2 })); d.Text != "2\n3\n" {
		t.Errorf("a client reads the lines %q", d.Text)
	}
	d := b.must(get("known://*"))
	if want := "[known://a 200 visible 7 bytes]\n1\n2\n3\n4\n\n[known://b 200 visible 5 bytes]\nother"; d.Text != want || len(d.Entries) != 2 || d.Entries[1].Body != "other" || d.Entries[1].Visibility != sdk.Visible {
		t.Errorf("both: %q, %+v", d.Text, d.Entries)
	}
	b.commit(sdk.Write{Path: "log://turn_1/x/1", Body: new("no"), State: sdk.StateFailed, Outcome: sdk.Timeout, Phase: sdk.PhaseEnded, Visibility: sdk.Archived, Writer: sdk.WriterSystem, Turn: 1})
	if d := b.must(get("log://turn_1/x/1")); d.Text != "[log://turn_1/x/1 500 visible timeout 2 bytes]\nno" {
		t.Errorf("a failure reads %q", d.Text)
	}
	if got := b.at("log://turn_1/x/1"); got != `"no" 500 visible system` {
		t.Errorf("to look at it made it %s", got)
	}
	if e, err := b.s.Entry(t.Context(), b.use.Run.ID, "log://turn_1/x/1"); err != nil || e.Turn != 1 || e.Version != 1 {
		t.Errorf("to look at it moved it: %+v, %v", e, err)
	}
}

// TestGetIsBounded holds get, and set where it does the same, to what may become visible at once.
// spec: wrong_size_gate
func TestGetIsBounded(t *testing.T) {
	see := func(path string) sdk.EntryCall {
		return sdk.EntryCall{Verb: sdk.VerbSet, Path: path, Visibility: sdk.Visible}
	}
	b := newBench(t)
	var writes []sdk.Write
	for i := range mostGot + 1 {
		writes = append(writes, sdk.Write{Path: fmt.Sprintf("known://n%03d", i), Body: new("x"), Visibility: sdk.Archived, Writer: sdk.WriterModel})
	}
	b.commit(writes...)
	for _, c := range []sdk.EntryCall{get("known://**"), see("known://**"), with(see("known://**"), func(c *sdk.EntryCall) { c.State = sdk.StateResolved })} {
		if _, err := b.do(c); sdk.OutcomeOf(err) != sdk.Overflow {
			t.Errorf("%s of all at once: %v", c.Verb, err)
		}
	}
	if got := b.at("known://n000"); got != `"x" 200 archived model` {
		t.Errorf("which made one %s", got)
	}
	if d := b.must(with(get("known://**"), func(c *sdk.EntryCall) { c.Preview = true })); len(d.Entries) != mostGot+1 || d.Entries[0].Body != "" {
		t.Errorf("a preview has %d entries", len(d.Entries))
	}
	b.must(set("known://long", strings.Repeat("line\n", mostGotBytes/5+1)))
	for _, c := range []sdk.EntryCall{get("known://long"), with(get("known://long"), func(c *sdk.EntryCall) { c.Line = 1 }), see("known://long"), see("known://lon*")} {
		if _, err := b.do(c); sdk.OutcomeOf(err) != sdk.Overflow {
			t.Errorf("%+v of a long one: %v", c, err)
		}
	}
	if d := b.must(with(get("known://long"), func(c *sdk.EntryCall) { c.Line, c.Limit = -1, 1 })); d.Text != "[lines 209716 to 209716 of 209716]\nline\n" || len(d.Entries) != 1 || d.Entries[0].Body != "" {
		t.Errorf("its last line is %q, with %d bytes", d.Text, len(d.Entries[0].Body))
	}
	b.must(get("known://n00*"))
	if got := b.at("known://n009"); got != `"x" 200 visible model` {
		t.Errorf("a part of them: %s", got)
	}
}

// TestPatternsAreBounded: what patterns change at once, and what is told of it.
func TestPatternsAreBounded(t *testing.T) {
	b := newBench(t)
	var writes []sdk.Write
	for i := range mostChanged + 1 {
		writes = append(writes, sdk.Write{Path: fmt.Sprintf("known://n%04d", i), Body: new("x"), Writer: sdk.WriterModel})
	}
	b.commit(writes...)
	hide := func(path string) sdk.EntryCall {
		return with(set(path, ""), func(c *sdk.EntryCall) { c.Body, c.Visibility = nil, sdk.Archived })
	}
	body := with(set("known://**", "y"), func(c *sdk.EntryCall) { c.Pattern = true })
	for _, c := range []sdk.EntryCall{hide("known://**"), body, on(sdk.VerbRemove, "known://**", "")} {
		if _, err := b.do(c); sdk.OutcomeOf(err) != sdk.Overflow {
			t.Errorf("%+v of all: %v", c, err)
		}
	}
	if d := b.must(with(get("known://**"), func(c *sdk.EntryCall) { c.Preview = true })); len(d.Entries) != mostListed || d.More != 1 || !strings.HasSuffix(d.Text, "known://n0999 200 visible\n... and 1 more") {
		t.Errorf("a preview has %d entries and %d more: %s", len(d.Entries), d.More, d.Text[len(d.Text)-60:])
	}
	d := b.must(hide("known://n0*"))
	if len(d.Entries) != mostTold || d.More != 1000-mostTold || d.Entries[0].Path != "known://n0000" || d.Entries[0].Visibility != sdk.Archived || d.Text != "1000 entries are archived now" {
		t.Errorf("hidden are %d entries and %d more: %s", len(d.Entries), d.More, d.Text)
	}
	all := b.Plan(t.Context(), b.use, []sdk.EntryCall{on(sdk.VerbRemove, "known://n00*", ""), on(sdk.VerbRemove, "known://n0[1-9]*", ""), on(sdk.VerbRemove, "known://n1*", ""), hide("known://n1*")})
	for i, want := range []sdk.Outcome{"", "", sdk.Overflow, sdk.Overflow} {
		if sdk.OutcomeOf(all[i].Err) != want && (want != "" || all[i].Err != nil) {
			t.Errorf("call %d of one answer: %v", i, all[i].Err)
		}
	}
	if m := metadataOf(all[1].Done); m["entries"] != 900 {
		t.Errorf("it is recorded as %v", m)
	}
	large := []byte(`{"k":"` + strings.Repeat("x", mostGotBytes/2) + `"}`)
	for i := range 4 {
		b.must(with(set(fmt.Sprintf("unknown://n%d", i), "x"), func(c *sdk.EntryCall) { c.Attributes = large }))
	}
	if d := b.must(with(get("unknown://*"), func(c *sdk.EntryCall) { c.Preview = true })); len(d.Entries) != 1 || d.More != 3 {
		t.Errorf("of large ones there are %d and %d more", len(d.Entries), d.More)
	}
}

// counting is a store that tells how many bytes of bodies it gave at once, and together.
type counting struct {
	Stored
	most, sum int
}

func (c *counting) Entries(ctx context.Context, q sdk.EntryQuery) ([]sdk.Entry, error) {
	all, err := c.Stored.Entries(ctx, q)
	n := 0
	for _, e := range all {
		n += len(e.Body)
	}
	c.most, c.sum = max(c.most, n), c.sum+n
	return all, err
}

// TestPatternsReadFewBodies: to list, to remove, to change and to add to what is there none, to filter one after the
// other, and to read no more than are told.
func TestPatternsReadFewBodies(t *testing.T) {
	b := newBench(t)
	for i := range 2 * many {
		b.must(set(fmt.Sprintf("known://n%d", i), strings.Repeat("x", 64<<10)+fmt.Sprint(i%8)))
	}
	b.must(on(sdk.VerbRemove, "known://n1", ""))
	filter := func(text string) func(*sdk.EntryCall) { return func(c *sdk.EntryCall) { c.Filter = text } }
	more := with(set("known://n?", "more"), func(c *sdk.EntryCall) { c.Append, c.Pattern = true, true })
	for _, c := range []struct {
		calls []sdk.EntryCall
		most  int // of what is read of bodies; none while they are filtered
		want  string
	}{
		{[]sdk.EntryCall{with(get("known://*"), func(c *sdk.EntryCall) { c.Preview = true })}, 0, ""},
		{[]sdk.EntryCall{with(get("known://*"), func(c *sdk.EntryCall) { c.Preview, c.Filter = true, "/7$/" })}, 0, "known://n15"},
		{[]sdk.EntryCall{with(on(sdk.VerbRemove, "known://*", ""), filter("/x7$/"))}, 0, "8 entries"},
		{[]sdk.EntryCall{more, with(on(sdk.VerbRemove, "known://*", ""), filter("/x2more$/"))}, 0, "1 entries"},
		{[]sdk.EntryCall{more, with(get("known://n3"), func(c *sdk.EntryCall) { c.Line, c.Limit = -1, 1 })}, 65 << 10, "x3more"},
		{[]sdk.EntryCall{with(get("known://*"), filter("/x3$/"))}, 8 * 65 << 10, "x3"},
		{[]sdk.EntryCall{get("known://*")}, 2 << 20, ""},
	} {
		s := &counting{Stored: b.s}
		done := NewVerbs(s, Patterns, func(text string) string { return text }).Plan(t.Context(), b.use, c.calls)
		last := done[len(done)-1]
		if s.sum > c.most || !strings.Contains(last.Done.Text, c.want) {
			t.Errorf("%+v: read %d bytes, %v, %.60s", c.calls, s.sum, last.Err, last.Done.Text)
		}
	}
}

// TestWhatRunsShare holds what a run finds of its project and of everybody: archived until
// get makes a view, archived again after rm, and none of the audit.
func TestWhatRunsShare(t *testing.T) {
	mine := newBench(t)
	theirs, far := newBenchIn(t, mine.s, "/p"), newBenchIn(t, mine.s, "/q")
	mine.as(sdk.WriterPlugin).must(set("house://rules", "be kind"))
	mine.must(set("lore://all", "for all"))
	mine.commit(sdk.Write{Path: "trust://x", Body: new("yes"), Writer: sdk.WriterSystem})
	for _, b := range []*bench{theirs, far} {
		if got := b.at("lore://all"); got != `"for all" 200 archived` {
			t.Errorf("another run finds %s", got)
		}
	}
	if got := far.at("house://rules"); got != "" {
		t.Errorf("another project finds %s", got)
	}
	d := theirs.must(with(get("**"), func(c *sdk.EntryCall) { c.Preview = true }))
	if d.Text != "house://rules 200 archived\nlore://all 200 archived" {
		t.Errorf("a pattern finds %s", d.Text)
	}
	if d := theirs.must(get("house://rules")); d.Text != "be kind" {
		t.Errorf("get reads %q", d.Text)
	}
	if got := theirs.at("house://rules"); got != `"be kind" 200 visible plugin` {
		t.Errorf("then it is %s", got)
	}
	if _, err := theirs.do(set("house://rules", "mine")); sdk.OutcomeOf(err) != sdk.Permission {
		t.Errorf("a model writes what plugins write: %v", err)
	}
	if _, err := theirs.do(on(sdk.VerbRemove, "house://rules", "")); sdk.OutcomeOf(err) != sdk.Permission {
		t.Errorf("a model removes what plugins write: %v", err)
	}
	theirs.must(get("lore://all"))
	theirs.must(on(sdk.VerbRemove, "lore://all", ""))
	if got := theirs.at("lore://all"); got != `"for all" 200 archived` {
		t.Errorf("after rm it is %s", got)
	}
	if got := mine.at("lore://all"); got != `"for all" 200 visible model` {
		t.Errorf("of which its writer has %s", got)
	}
	if _, err := theirs.do(on(sdk.VerbRemove, "lore://all", "")); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("rm of what is not in sight: %v", err)
	}
	theirs.must(set("lore://all", "better"))
	if got := mine.at("lore://all"); got != `"better" 200 visible model` {
		t.Errorf("what another run wrote is %s", got)
	}
}

// TestWhatIsSharedOutlastsItsMove holds that an entry which calls of one answer make and move is there for the calls
// behind, as it is for the next answer.
func TestWhatIsSharedOutlastsItsMove(t *testing.T) {
	b := newBench(t)
	change := with(set("lore://a", ""), func(c *sdk.EntryCall) { c.Body, c.Attributes = nil, []byte(`{"k":1}`) })
	for _, p := range b.Plan(t.Context(), b.use, []sdk.EntryCall{set("lore://a", "x"), on(sdk.VerbMove, "lore://a", "known://a"), change}) {
		if p.Err != nil {
			t.Fatal(p.Err)
		}
		b.commit(p.Writes...)
	}
	if got := b.at("lore://a"); got != `"x" 200 visible model {"k":1}` {
		t.Errorf("it is %s", got)
	}
	more := with(set("known://a", "y"), func(c *sdk.EntryCall) { c.Append = true })
	for _, p := range b.Plan(t.Context(), b.use, []sdk.EntryCall{on(sdk.VerbRemove, "known://a", ""), more, on(sdk.VerbCopy, "known://a", "known://b")}) {
		b.commit(p.Writes...)
	}
	if got := b.at("known://b"); got != `"y" 200 visible model` {
		t.Errorf("a copy of what was made anew is %s", got)
	}
}

// TestPrivateRunsShareNothing: a run that a channel made, in which strangers write, finds nothing of its project and of
// everybody, whichever way it looks, and changes none of it; what a plugin keeps for it there it has.
func TestPrivateRunsShareNothing(t *testing.T) {
	mine := newBench(t)
	mine.must(set("wiki://rules", "be kind"))
	mine.must(set("lore://all", "for all"))
	r, err := mine.s.CreateRun(t.Context(), sdk.Run{Project: mine.use.Run.Project, Agent: "chat", Private: true})
	if err != nil {
		t.Fatal(err)
	}
	theirs := *mine
	theirs.use.Run = r
	for path, body := range map[string]string{"wiki://rules": "be kind", "lore://all": "for all"} {
		if got := theirs.at(path); got != "" {
			t.Errorf("it finds %s", got)
		}
		for _, c := range []sdk.EntryCall{get(path), get(path + "*"), with(get(path), func(c *sdk.EntryCall) { c.Preview = true }), with(get("**"), func(c *sdk.EntryCall) { c.Filter = "*" }),
			on(sdk.VerbCopy, path, "known://a"), with(set(path, ""), func(c *sdk.EntryCall) { c.Body, c.Visibility = nil, sdk.Visible })} {
			if d, err := theirs.do(c); sdk.OutcomeOf(err) != sdk.NotFound {
				t.Errorf("%+v: %+v, %v", c, d, err)
			}
		}
		if _, err := mine.s.Commit(t.Context(), sdk.Change{Run: r.ID, Writes: []sdk.Write{{Path: path, Look: true, Visibility: sdk.Visible, Writer: sdk.WriterModel}}}); sdk.OutcomeOf(err) != sdk.NotFound {
			t.Errorf("a look: %v", err)
		}
		for _, w := range []sdk.Writer{sdk.WriterModel, sdk.WriterClient} {
			if _, err := theirs.as(w).do(set(path, "mine")); sdk.OutcomeOf(err) != sdk.Permission {
				t.Errorf("%s writes: %v", w, err)
			}
		}
		if got := mine.at(path); got != fmt.Sprintf("%q 200 visible model", body) {
			t.Errorf("its owner has %s", got)
		}
	}
	theirs.as(sdk.WriterPlugin).must(set("wiki://guest", "you"))
	if d := theirs.must(with(get("**"), func(c *sdk.EntryCall) { c.Preview = true })); d.Text != "wiki://guest 200 visible" {
		t.Errorf("it has %s", d.Text)
	}
}

func TestReachOfACaller(t *testing.T) {
	b := newBench(t)
	b.must(set("known://a", "x"))
	b.must(set("unknown://a", "x"))
	b.use.Within = func(path string) bool { return sdk.SchemeOf(path) == "unknown" }
	if d := b.must(with(get("**"), func(c *sdk.EntryCall) { c.Preview = true })); d.Text != "unknown://a 200 visible" {
		t.Errorf("a pattern finds %s", d.Text)
	}
}

// spec: writer_tiers
func TestWritersOfClients(t *testing.T) {
	b := newBench(t).as(sdk.WriterClient)
	b.must(set("known://a", "mended"))
	if _, err := b.do(set("wiki://a", "x")); sdk.OutcomeOf(err) != sdk.Permission {
		t.Errorf("a scheme of a plugin: %v", err)
	}
	if _, err := b.do(set("run://x", "go")); sdk.OutcomeOf(err) != sdk.Permission {
		t.Errorf("a run: %v", err)
	}
}

// TestAppendToAStream holds that text goes behind what was streamed.
func TestAppendToAStream(t *testing.T) {
	b := newBench(t).as(sdk.WriterPlugin)
	b.must(with(set("known://s", "a"), func(c *sdk.EntryCall) { c.State = sdk.StateStreaming }))
	more := func(text string) { b.must(with(set("known://s", text), func(c *sdk.EntryCall) { c.Append = true })) }
	more("b")
	more("c")
	if got := b.at("known://s"); got != `"abc" 102 visible plugin` {
		t.Errorf("it is %s", got)
	}
	b.must(with(set("known://s", ""), func(c *sdk.EntryCall) { c.Body, c.State = nil, sdk.StateResolved }))
	if got := b.at("known://s"); got != `"abc" 200 visible plugin` {
		t.Errorf("at its end it is %s", got)
	}
}

// TestStalePlans holds that what changed between plan and commit is refused, not lost.
func TestStalePlans(t *testing.T) {
	b := newBench(t)
	for _, path := range []string{"known://a", "known://over", "lore://a"} {
		b.must(set(path, "x"))
	}
	b.must(on(sdk.VerbRemove, "lore://a", "")) // out of this run's sight
	for name, c := range map[string]struct {
		call  sdk.EntryCall
		other sdk.EntryCall
		want  sdk.Outcome
	}{
		"a move of what was written":      {on(sdk.VerbMove, "known://a", "known://b"), set("known://a", "newer"), sdk.Conflict},
		"a copy of what was written":      {on(sdk.VerbCopy, "known://a", "known://c"), set("known://a", "newer"), sdk.Conflict},
		"a copy of what got an attribute": {on(sdk.VerbCopy, "known://a", "known://c"), with(set("known://a", ""), func(c *sdk.EntryCall) { c.Body, c.Attributes = nil, []byte(`{"k":1}`) }), sdk.Conflict},
		"a copy of what went":             {on(sdk.VerbCopy, "known://a", "known://c"), on(sdk.VerbRemove, "known://a", ""), sdk.Conflict},
		"a copy of what all have":         {on(sdk.VerbCopy, "lore://a", "known://c"), set("lore://a", "newer"), sdk.Conflict},
		"a copy to where something came":  {on(sdk.VerbCopy, "known://a", "known://new"), set("known://new", "x"), sdk.Conflict},
		"a copy over what was written":    {on(sdk.VerbCopy, "known://a", "known://over"), set("known://over", "newer"), sdk.Conflict},
		"a move to where something came":  {on(sdk.VerbMove, "known://a", "known://fresh"), set("known://fresh", "x"), sdk.Conflict},
		"a look at what went":             {with(set("known://a", ""), func(c *sdk.EntryCall) { c.Body, c.Visibility = nil, sdk.Summarized }), on(sdk.VerbRemove, "known://a", ""), sdk.NotFound},
		"a change of what went": {with(set("known://a", ""), func(c *sdk.EntryCall) {
			c.Body, c.Attributes = nil, []byte(`{"k":1}`)
		}), on(sdk.VerbRemove, "known://a", ""), sdk.Conflict},
		"a body for what went, by a pattern": {with(set("known://*", "y"), func(c *sdk.EntryCall) { c.Pattern = true }), on(sdk.VerbRemove, "known://a", ""), sdk.Conflict},
		"a removal of what went":             {on(sdk.VerbRemove, "known://a", ""), on(sdk.VerbRemove, "known://a", ""), sdk.NotFound},
	} {
		b.must(set("known://a", "x"))
		p := b.Plan(t.Context(), b.use, []sdk.EntryCall{c.call})[0]
		b.must(c.other)
		_, err := b.s.Commit(context.Background(), sdk.Change{Run: b.use.Run.ID, Writes: p.Writes})
		if p.Err != nil || sdk.OutcomeOf(err) != c.want {
			t.Errorf("%s: %v, %v", name, p.Err, err)
		}
	}
}

// searching is a pattern that fits all, and tells of each body that it is asked about.
type searching func()

func (s searching) Match(string) (bool, error)  { return true, nil }
func (s searching) Search(string) (bool, error) { s(); return true, nil }

// TestAFilterEndsWithItsCaller holds that bodies are not searched any more when nobody waits for it.
func TestAFilterEndsWithItsCaller(t *testing.T) {
	b := newBench(t)
	for _, path := range []string{"known://a", "known://b", "known://c"} {
		b.must(set(path, "x"))
	}
	ctx, cancel := context.WithCancel(t.Context())
	searched := 0
	b.patterns = func() Parse {
		return func(string) (Pattern, bool, error) { return searching(func() { searched++; cancel() }), false, nil }
	}
	p := b.Plan(ctx, b.use, []sdk.EntryCall{with(get("known://*"), func(c *sdk.EntryCall) { c.Filter = "x" })})[0]
	if p.Err == nil || searched != 1 {
		t.Errorf("%d bodies were searched: %v", searched, p.Err)
	}
}

// TestWhatGetMakesVisibleIsInSight: a model that is shown entries reads there what get found, if all of that are data or questions, and
// nothing that get read in part.
func TestWhatGetMakesVisibleIsInSight(t *testing.T) {
	b := newBench(t)
	b.commit(
		sdk.Write{Path: "known://a", Body: new("alpha"), Writer: sdk.WriterModel}, sdk.Write{Path: "unknown://a", Body: new("why?"), Writer: sdk.WriterModel},
		sdk.Write{Path: "update://turn_1", Body: new("so far"), Writer: sdk.WriterModel},
	)
	for _, c := range []struct {
		call sdk.EntryCall
		want bool
	}{
		{get("known://a"), true},
		{get("unknown://*"), true},
		{get("update://turn_1"), false},
		{get("*://*"), false},
		{with(get("known://a"), func(c *sdk.EntryCall) { c.Line = 1 }), false},
		{with(get("known://a"), func(c *sdk.EntryCall) { c.Preview = true }), false},
		{with(get("known://a"), func(c *sdk.EntryCall) { c.Visibility = sdk.Summarized }), false},
		{with(get("known://a"), func(c *sdk.EntryCall) { c.Visibility = sdk.Visible }), true},
		{set("known://b", "beta"), false},
	} {
		p := b.Plan(t.Context(), b.use, []sdk.EntryCall{c.call})[0]
		if p.Err != nil || p.InSight != c.want {
			t.Errorf("%+v is in sight: %t, %v", c.call, p.InSight, p.Err)
		}
	}
}

// TestWhatIsShownOtherwiseIsNotInSight: of a stream that goes on, and of what a plugin says the words of, the result of get is all that
// a model reads of the text.
func TestWhatIsShownOtherwiseIsNotInSight(t *testing.T) {
	b := newBench(t)
	b.commit(
		sdk.Write{Path: "known://s", Body: new("a"), State: sdk.StateStreaming, Writer: sdk.WriterPlugin},
		sdk.Write{Path: "unknown://b", Body: new("why?"), Writer: sdk.WriterModel},
	)
	b.commit(sdk.Write{Path: "known://s", Chunk: &sdk.Chunk{Channel: 1, Text: "b"}, Writer: sdk.WriterPlugin})
	plan := func(path string, want bool) {
		t.Helper()
		if p := b.Plan(t.Context(), b.use, []sdk.EntryCall{get(path)})[0]; p.Err != nil || p.InSight != want {
			t.Errorf("%s is in sight: %t, %v", path, p.InSight, p.Err)
		}
	}
	plan("known://s", false)
	b.commit(sdk.Write{Path: "known://s", State: sdk.StateResolved, Writer: sdk.WriterPlugin})
	plan("known://s", true)
	by := "a plugin"
	b.Worded(func() map[string]string { return map[string]string{"unknown": by} })
	plan("unknown://b", false)
	plan("*://*", false)
	plan("known://s", true)
	by = ""
	plan("unknown://b", true)
}
