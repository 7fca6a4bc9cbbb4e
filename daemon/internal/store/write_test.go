package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

var allWriters = []sdk.Writer{sdk.WriterSystem, sdk.WriterPlugin, sdk.WriterClient, sdk.WriterModel, "", "nobody"}

// writeKinds are the ways in which an entry that streams can be written.
var writeKinds = map[string]func(*sdk.Write){
	"body":       func(w *sdk.Write) { w.Body = body("new") },
	"state":      func(w *sdk.Write) { w.State = sdk.StateResolved },
	"visibility": func(w *sdk.Write) { w.Visibility = sdk.Archived },
	"attributes": func(w *sdk.Write) { w.Attributes = object(`{"a":1}`) },
	"phase":      func(w *sdk.Write) { w.Phase = sdk.PhaseEnded },
	"outcome":    func(w *sdk.Write) { w.Outcome = sdk.Timeout },
	"chunk":      func(w *sdk.Write) { w.Chunk = &sdk.Chunk{Channel: 1, Text: "x"} },
	"remove":     func(w *sdk.Write) { w.Remove = true },
	"nothing":    func(*sdk.Write) {},
}

// spec: writer_tiers wrong_partial_writes
func TestWritableByHoldsForEveryKindOfWrite(t *testing.T) {
	f := newFixture(t)
	if err := f.RegisterScheme(t.Context(), sdk.Scheme{Name: "note", Scope: "project", WritableBy: []sdk.Writer{sdk.WriterClient}}); err != nil {
		t.Fatal(err)
	}
	for _, scheme := range *f.schemes.Load() {
		path := scheme.Name + "://x"
		if scheme.Name == "file" {
			path = "dir/x"
		}
		for _, writer := range allWriters {
			for name, kind := range writeKinds {
				create := sdk.Write{Path: path, State: sdk.StateStreaming, Writer: scheme.WritableBy[0]}
				w := sdk.Write{Path: path, Writer: writer}
				kind(&w)
				f.commit(create)
				if scheme.Admits(writer) {
					f.commit(w)
				} else {
					err := f.refuse(sdk.Permission, sdk.Change{Writes: []sdk.Write{w}})
					if !strings.Contains(err.Error(), path) {
						t.Errorf("%s by %q: %v does not name the path", name, writer, err)
					}
					// A refused write takes the rest of its change with it.
					f.refuse(sdk.Permission, sdk.Change{Writes: []sdk.Write{known("known://beside", "x"), w}})
				}
			}
		}
	}
	if _, err := f.Entry(t.Context(), f.run.ID, "known://beside"); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("half a change is there: %v", err)
	}
	f.verify()
}

// spec: wrong_escaped_slash wrong_url_query
func TestPaths(t *testing.T) {
	f := newFixture(t)
	for _, path := range []string{
		"a", "dir/a.go", "known://a", "known://a b/ü?x=1#y", "://odd", "https://example.org/a?b=c://d", "known://a/b", "known://a%2Fb", "known://100%",
		"known://" + strings.Repeat("x", sdk.MaxPath-8), strings.Repeat("é", sdk.MaxPath/2),
	} {
		f.commit(known(path, "x"))
		scope := runScope(f.run.ID)
		if sdk.SchemeOf(path) == fileScheme {
			scope = projectScope(f.project.ID)
		}
		if e := f.entry(path); e.Path != path || e.Scope != scope {
			t.Errorf("%.40q came back as %.40q in %s", path, e.Path, e.Scope)
		}
	}
	f.commit(known("KNOWN://A", "upper"))
	if e := f.entry("known://A"); e.Body != "upper" || e.Path != "known://A" {
		t.Errorf("%+v", e)
	}
	for _, path := range []string{
		"", "known://", "known://a\x00b", "a\nb", "a\x7f", "a\u0085b", "a\xffb", "kn own://a", "über://a", "a/b://c", "nothing://a",
		strings.Repeat("x", sdk.MaxPath+1), strings.Repeat("é", sdk.MaxPath/2) + "x", strings.Repeat("s", 65) + "://a",
	} {
		f.refuse(sdk.Validation, sdk.Change{Writes: []sdk.Write{known(path, "x")}})
	}
	if _, err := f.Entry(t.Context(), f.run.ID, "a\x00"); sdk.OutcomeOf(err) != sdk.Validation {
		t.Error(err)
	}
	f.verify()
}

// spec: schema
func TestSchemeIsComputedAsTheNounsSay(t *testing.T) {
	f := newFixture(t)
	for _, path := range []string{"a", "x/y", "known://a", "Https://b", "://c", "log://turn_1/bash/x"} {
		f.commit(known(path, "x"))
		canonical, scheme, err := parsePath(path)
		if err != nil {
			t.Fatal(err)
		}
		var stored string
		found, err := (&tx{s: f.Store}).one(`SELECT scheme FROM entries WHERE path = ?`, []any{canonical}, &stored)
		if err != nil || !found || stored != scheme || stored != sdk.SchemeOf(path) {
			t.Errorf("%s: SQLite says %q, parsePath %q, SchemeOf %q (%v)", path, stored, scheme, sdk.SchemeOf(path), err)
		}
	}
}

// spec: schema
func TestScopes(t *testing.T) {
	f := newFixture(t)
	for _, scope := range []string{"run", "project", "global"} {
		if err := f.RegisterScheme(t.Context(), sdk.Scheme{Name: "in" + scope, Scope: scope}); err != nil {
			t.Fatal(err)
		}
		f.commit(known("in"+scope+"://a", "mine"))
	}
	sibling := f.newRun(sdk.Run{})
	elsewhere, err := f.OpenProject(t.Context(), "/home/me/other")
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := f.CreateRun(t.Context(), sdk.Run{Project: elsewhere.ID})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path    string
		scope   string
		sibling string // what is seen there after a write that keeps the body
		other   string
	}{
		{"inrun://a", runScope(f.run.ID), "", ""},
		{"inproject://a", fmt.Sprintf("project:%d", f.project.ID), "mine", ""},
		{"inglobal://a", "global", "mine", "mine"},
	} {
		if e := f.entry(c.path); e.Scope != c.scope {
			t.Errorf("%s lies in %s, want %s", c.path, e.Scope, c.scope)
		}
		for run, want := range map[int64]string{sibling.ID: c.sibling, stranger.ID: c.other} {
			if _, err := f.Entry(t.Context(), run, c.path); sdk.OutcomeOf(err) != sdk.NotFound {
				t.Errorf("%s is seen without a view: %v", c.path, err)
			}
			if _, err := f.Commit(t.Context(), sdk.Change{Run: run, Writes: []sdk.Write{{Path: c.path, Writer: sdk.WriterModel, Create: true}}}); err != nil {
				t.Fatal(err)
			}
			e, err := f.Entry(t.Context(), run, c.path)
			if err != nil || e.Body != want || e.Version != 1 {
				t.Errorf("%s: %+v, want body %q (%v)", c.path, e, want, err)
			}
		}
	}
	// What a scope shares is one entry; a removal takes one view of it.
	f.commit(known("inglobal://a", "changed"))
	if e, err := f.Entry(t.Context(), stranger.ID, "inglobal://a"); err != nil || e.Body != "changed" {
		t.Errorf("%+v %v", e, err)
	}
	f.commit(sdk.Write{Path: "inglobal://a", Writer: sdk.WriterModel, Remove: true})
	if e, err := f.Entry(t.Context(), stranger.ID, "inglobal://a"); err != nil || e.Body != "changed" {
		t.Errorf("%+v %v", e, err)
	}
	f.verify()
}

// spec: entries upsert_semantics schemes_status_visibility
func TestSetKeepsWhatIsNotNamed(t *testing.T) {
	f := newFixture(t)
	path := "log://turn_1/bash/ls"
	first := f.commit(sdk.Write{
		Path: path, Body: body("b"), Attributes: object(`{"tool":"bash","arguments":{"command":"ls","n":1}}`), Writer: sdk.WriterSystem,
		State: sdk.StateStreaming, Phase: sdk.PhaseRecorded, Visibility: sdk.Summarized, Turn: 1, Loop: 7,
	}).Entries[0]
	if first.Version != 1 || first.Phase != sdk.PhaseRecorded || first.Turn != 1 || first.Loop != 7 || first.Writer != sdk.WriterSystem {
		t.Fatalf("%+v", first)
	}
	f.commit(sdk.Write{Path: path, Writer: sdk.WriterPlugin, Expect: sdk.PhaseRecorded, Phase: sdk.PhaseStarted})
	e := f.entry(path)
	if e.Body != "b" || e.State != sdk.StateStreaming || e.Visibility != sdk.Summarized || e.Turn != 1 || e.Loop != 7 || e.Version != 2 || e.Phase != sdk.PhaseStarted || e.Writer != sdk.WriterPlugin {
		t.Fatalf("%+v", e)
	}
	f.commit(sdk.Write{Path: path, Writer: sdk.WriterSystem, State: sdk.StateFailed, Outcome: sdk.Exit(3), Attributes: object(`{"arguments":{"n":null},"duration_ms":4}`)})
	if e = f.entry(path); e.Outcome != "exit:3" || e.Status() != 500 || string(e.Attributes) != `{"arguments":{"command":"ls"},"duration_ms":4,"tool":"bash"}` {
		t.Fatalf("%+v %s", e, e.Attributes)
	}
	// An outcome goes with its state; a hash is that of the body.
	f.commit(sdk.Write{Path: path, Writer: sdk.WriterSystem, State: sdk.StateResolved, Body: body("other")})
	sum := sha256.Sum256([]byte("other"))
	if e = f.entry(path); e.Outcome != "" || e.Hash != hex.EncodeToString(sum[:]) || e.Version != 4 {
		t.Fatalf("%+v", e)
	}
	if plain := f.commit(sdk.Write{Path: "known://blank", Writer: sdk.WriterModel}).Entries[0]; plain.State != sdk.StateResolved || plain.Visibility != sdk.Visible || plain.Body != "" || plain.Attributes != nil {
		t.Fatalf("defaults: %+v", plain)
	}
	f.verify()
}

func TestReceiptIsWhatIsRead(t *testing.T) {
	f := newFixture(t)
	r := f.commit(known("known://a", "x"), sdk.Write{Path: "KNOWN://b", Writer: sdk.WriterPlugin, Attributes: object(`{"z":[1.50,"<&>"],"a":{}}`), State: sdk.StateFailed, Outcome: sdk.Timeout})
	if r.Seq != f.Seq() || len(r.Entries) != 2 {
		t.Fatalf("%+v", r)
	}
	for _, want := range r.Entries {
		if got := f.entry(want.Path); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("read\n%+v, receipt\n%+v", got, want)
		}
	}
	if a := string(r.Entries[1].Attributes); a != `{"a":{},"z":[1.50,"<&>"]}` {
		t.Error(a)
	}
}

func TestCreateAndExpect(t *testing.T) {
	f := newFixture(t)
	create := known("known://a", "x")
	create.Create = true
	f.commit(create)
	f.refuse(sdk.Conflict, sdk.Change{Writes: []sdk.Write{create}})
	f.refuse(sdk.Conflict, sdk.Change{Writes: []sdk.Write{{Path: "known://a", Writer: sdk.WriterModel, Expect: sdk.PhaseRecorded, Body: body("y")}}})
	f.refuse(sdk.Conflict, sdk.Change{Writes: []sdk.Write{{Path: "known://none", Writer: sdk.WriterModel, Expect: sdk.PhaseRecorded}}})
	f.commit(sdk.Write{Path: "known://a", Writer: sdk.WriterModel, Remove: true})
	f.refuse(sdk.NotFound, sdk.Change{Writes: []sdk.Write{{Path: "known://a", Writer: sdk.WriterModel, Remove: true}}})
	// What was removed does not come back with the next write.
	again := f.commit(sdk.Write{Path: "known://a", Writer: sdk.WriterModel, Create: true}).Entries[0]
	if again.Body != "" || again.Version != 1 {
		t.Fatalf("%+v", again)
	}
	f.verify()
}

func TestWritesThatMakeNoSense(t *testing.T) {
	f := newFixture(t)
	chunk := &sdk.Chunk{Channel: 1, Text: "x"}
	for name, w := range map[string]sdk.Write{
		"state":            {State: "done"},
		"visibility":       {Visibility: "hidden"},
		"phase":            {Phase: "later"},
		"chunk and body":   {Chunk: chunk, Body: body("x")},
		"chunk and end":    {Chunk: chunk, State: sdk.StateResolved},
		"chunk and remove": {Chunk: chunk, Remove: true},
		"channel":          {Chunk: &sdk.Chunk{Text: "x"}},
		"create, remove":   {Create: true, Remove: true},
		"array":            {Attributes: object(`[1]`)},
		"null":             {Attributes: object(`null`)},
		"no JSON":          {Attributes: object(`{"a":`)},
		"two values":       {Attributes: object(`{} {}`)},
		"empty":            {Attributes: object(``)},
	} {
		t.Run(name, func(t *testing.T) {
			w.Path, w.Writer = "known://a", sdk.WriterModel
			f.t = t
			f.refuse(sdk.Validation, sdk.Change{Writes: []sdk.Write{w}})
		})
	}
	f.t = t
	f.refuse(sdk.NotFound, sdk.Change{Run: 99})
	f.refuse(sdk.Validation, sdk.Change{Notes: []sdk.Note{{Kind: sdk.KindEntrySet}}})
	f.refuse(sdk.Validation, sdk.Change{Notes: []sdk.Note{{Kind: "note.x", Data: func() {}}}})
}

func TestBodiesAreKeptByteForByte(t *testing.T) {
	f := newFixture(t)
	for _, text := range []string{"", "\x00", "a\x00b\x00", "\xff\xfe", "line\r\n\u2028", strings.Repeat("é", 1<<20)} {
		f.commit(known("known://a", text))
		if got := f.entry("known://a").Body; got != text {
			t.Errorf("%.20q came back as %.20q", text, got)
		}
	}
	deep := strings.Repeat(`{"a":`, 3000) + "1" + strings.Repeat("}", 3000)
	f.commit(sdk.Write{Path: "known://deep", Writer: sdk.WriterModel, Attributes: object(deep)})
	if got := string(f.entry("known://deep").Attributes); got != deep {
		t.Errorf("%.40s", got)
	}
	f.verify()
}

func TestMergePatch(t *testing.T) {
	// The examples of RFC 7386, appendix A, that speak of objects; and our own.
	for _, c := range [][3]string{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, ``},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`{"e":null}`, `{"a":1}`, `{"a":1,"e":null}`},
		{``, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
		{`{"a":"x"}`, `{"a":{"b":{"c":1,"d":null}}}`, `{"a":{"b":{"c":1}}}`},
		{``, `{"b":12345678901234567890.10,"a":[null,"<"]}`, `{"a":[null,"<"],"b":12345678901234567890.10}`},
		{``, `{"a":1,"a":2}`, `{"a":2}`},
	} {
		got, changed, err := mergeAttributes([]byte(c[0]), object(c[1]))
		if err != nil || string(got) != c[2] {
			t.Errorf("%s + %s = %s, want %s (%v)", c[0], c[1], got, c[2], err)
		}
		again, changedAgain, err := mergeAttributes(got, object(c[1]))
		if err != nil || string(again) != c[2] || len(changedAgain) != 0 {
			t.Errorf("%s + %s is not stable: %s, changed %v (%v)", c[0], c[1], again, changedAgain, err)
		}
		if c[0] != c[2] && len(changed) == 0 {
			t.Errorf("%s + %s: nothing changed", c[0], c[1])
		}
	}
}

// spec: schema
func TestForksShareUntilOneWrites(t *testing.T) {
	f := newFixture(t)
	streaming := sdk.Write{Path: "log://turn_1/bash/x", Writer: sdk.WriterSystem, State: sdk.StateStreaming}
	f.commit(known("known://a", "a"), known("known://b", "b"), known("known://c", "c"), known("known://d", "d"), streaming)
	l := f.enqueue(f.run.ID, "p")
	f.claim(f.run.ID)
	if _, err := f.Commit(t.Context(), sdk.Change{Run: f.run.ID, OpenTurn: &sdk.Turn{Loop: l.ID}}); err != nil {
		t.Fatal(err)
	}
	child := f.newRun(sdk.Run{Parent: f.run.ID})
	grandchild := f.newRun(sdk.Run{Parent: child.ID})
	if child.Turns != 1 || child.Agent != "chat" || child.Model != "m" || child.Status != 100 {
		t.Fatalf("%+v", child)
	}
	var bodies int
	if _, err := (&tx{s: f.Store}).one(`SELECT count(*) FROM entries`, nil, &bodies); err != nil || bodies != 6 {
		t.Fatalf("%d entries after two forks (%v)", bodies, err)
	}
	if _, err := f.Entry(t.Context(), child.ID, streaming.Path); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("the parent's running action is seen by the child: %v", err)
	}
	f.commit(known("known://a", "parent's"), sdk.Write{Path: "known://b", Writer: sdk.WriterModel, Remove: true})
	for _, w := range []sdk.Write{known("known://c", "child's"), {Path: "known://d", Writer: sdk.WriterModel, Visibility: sdk.Archived}} {
		if _, err := f.Commit(t.Context(), sdk.Change{Run: child.ID, Writes: []sdk.Write{w}}); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string][3]string{ // run, child, grandchild
		"known://a": {"parent's", "a", "a"},
		"known://b": {"-", "b", "b"},
		"known://c": {"c", "child's", "c"},
		"known://d": {"d", "d", "d"},
	}
	for path, bodies := range want {
		for i, run := range []int64{f.run.ID, child.ID, grandchild.ID} {
			got := "-"
			if e, err := f.Entry(t.Context(), run, path); err == nil {
				got = e.Body
			}
			if got != bodies[i] {
				t.Errorf("%s in run %d is %q, want %q", path, i, got, bodies[i])
			}
		}
	}
	if f.entry("known://d").Visibility != sdk.Visible {
		t.Error("the child archived the parent's entry")
	}
	all, err := f.Entries(t.Context(), sdk.EntryQuery{Run: child.ID, Pattern: "known://*"})
	if err != nil || len(all) != 4 || all[0].Path != "known://a" || all[3].Path != "known://d" {
		t.Errorf("%v %v", all, err)
	}
	if next := f.enqueue(child.ID, "again"); next.Sequence != 2 {
		t.Errorf("the child's loop is %d", next.Sequence)
	}
	f.verify()
}
