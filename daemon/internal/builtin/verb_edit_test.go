package builtin

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestSetEdits: what a model writes into the body of set is an edit of the entry, whole or not at all.
func TestSetEdits(t *testing.T) {
	const pair = "<<SEARCH\na\nSEARCH\n<<REPLACE\nb\nREPLACE"
	for _, c := range []struct {
		name, was, body string
		want            string
		outcome         sdk.Outcome
		says            string
	}{
		{"E1", "", "<<NEW\nhi\nNEW", "hi", "", "known://it is made"},
		{"E7", "a", "<<REPLACE\nz\nREPLACE", "z", "", ""},
		{"E9", "q", "<<SEARCH\na\nSEARCH\n<<REPLACE\nz\nREPLACE", "q", sdk.Conflict, "known://it: "},
		{"E10", "a", pair + "\n<<SEARCH1\nb\nSEARCH1\n<<REPLACE1\nc\nREPLACE1", "c", "", ""},
		{"E11", "a", "<<SEARCH a SEARCH", "a", sdk.Validation, "<<REPLACE"},
		{"E16", "a", "<<NEW hi", "a", sdk.Validation, ""},
		{"E17", "old", "<<EOF\ntext\nEOF", "text", "", ""},
		{"E19", "SEARCH", "<<SEARCH1\nSEARCH\nSEARCH1 <<REPLACE1\nx\nREPLACE1", "x", "", ""},
		{"E20", "a", "<<SEARCH1 a SEARCH", "a", sdk.Validation, ""},
		{"E21", "a", "vec<<SEARCH", "vec<<SEARCH", "", "written, 11 bytes"},
		{"E22", "a", "<<new x new", "<<new x new", "", "a marker is <<"},
		{"E23", "a", "<b><<NEW x NEW", "x", "", "was left out"},
		{"E27", "a", "<<NEWS x NEWS", "x", "", ""},
		{"E29", "a", "<<NEW\nNEWER\nNEW", "NEWER", "", ""},
		{"E31", "\tfoo()", "<<SEARCH\nfoo()\nSEARCH\n<<REPLACE\nbar()\nbaz()\nREPLACE", "\tbar()\n\tbaz()", "", "indentation"},
		{"E32", "x", "<<SEARCH SEARCH <<REPLACE x REPLACE", "x", sdk.Validation, ""},
		{"95", "x", "s/x/y/g", "x", sdk.Validation, "<<SEARCH"},
		{"95, on an empty one", "", "s/x/y/g", "s/x/y/g", "", ""},
		{"96", "x", `{"search":"x","replace":"y"}`, "x", sdk.Validation, "<<SEARCH"},
		{"96, on an empty one", "", `{"search":"x","replace":"y"}`, `{"search":"x","replace":"y"}`, "", ""},
		{"97", "", "<<NEW\nhi\nNEW", "hi", "", ""},
		{"two places", "a\nb\na\n", pair, "a\nb\na\n", sdk.Conflict, "1 and 3"},
		{"the second does not hold", "a\n", pair + "\n<<DELETE\nnone\nDELETE", "a\n", sdk.Conflict, ""},
		{"lines behind", "a\n", "<<APPEND\nb\nAPPEND", "a\nb\n", "", ""},
		{"nothing changes", "a\n", "<<SEARCH\na\nSEARCH\n<<REPLACE\na\nREPLACE", "a\n", "", "the same as before"},
		{"as the packet shows it", "a", "<<:::known://it\nb\n:::known://it", "<<:::known://it\nb\n:::known://it", "", ""},
		{"nothing", "a", " \n", "a", sdk.Validation, "nothing to write"},
		{"emptied", "a", "<<REPLACE\nREPLACE", "", "", ""},
		{"nothing, where nothing is", "", "", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			if c.was != "" {
				b.commit(sdk.Write{Path: "known://it", Body: &c.was, Writer: sdk.WriterModel, State: sdk.StateResolved, Visibility: sdk.Visible})
			}
			done, err := b.do(sdk.EntryCall{Verb: sdk.VerbSet, Path: "known://it", Body: &c.body})
			text := done.Text
			if err != nil {
				text = err.Error()
			}
			if err != nil != (c.outcome != "") || err != nil && sdk.OutcomeOf(err) != c.outcome || !strings.Contains(text, c.says) {
				t.Errorf("%v %s", err, text)
			}
			if e, err := b.s.Entry(t.Context(), b.use.Run.ID, "known://it"); err == nil && e.Body != c.want || err != nil && c.outcome == "" {
				t.Errorf("it is %q (%v), want %q", e.Body, err, c.want)
			}
		})
	}
}

// TestSetEditsAll: an edit of a text that has to be there is made on all entries that a pattern fits (E33), or on none; what
// stands for the whole text makes an entry of that name.
func TestSetEditsAll(t *testing.T) {
	const pair = "<<SEARCH\nport = 80\nSEARCH\n<<REPLACE\nport = 8080\nREPLACE"
	bodies := func(b *bench) (all string) {
		for _, path := range []string{"known://a_1", "known://a_2", "known://b", "known://a_*"} {
			if e, err := b.s.Entry(t.Context(), b.use.Run.ID, path); err == nil {
				all += path[len("known://"):] + "=" + e.Body + " "
			}
		}
		return strings.TrimSpace(all)
	}
	for _, c := range []struct {
		name, path, body, filter string
		want                     string
		outcome                  sdk.Outcome
	}{
		{"a pair", "known://a_*", "<<SEARCH\nx\nSEARCH\n<<REPLACE\ny\nREPLACE", "", "a_1=y a_2=y z b=x", ""},
		{"lines behind", "known://a_*", "<<APPEND\nend\nAPPEND", "", "a_1=x\nend a_2=x z\nend b=x", ""},
		{"in one of them alone", "known://a_*", "<<DELETE\nz\nDELETE", "", "a_1=x a_2=x z b=x", sdk.Conflict},
		{"with a filter", "known://a_*", "<<DELETE z DELETE", "z", "a_1=x a_2=x  b=x", ""},
		{"none fits", "known://c_*", pair, "", "a_1=x a_2=x z b=x", sdk.NotFound},
		{"of the name", "known://a_*", "<<NEW\nn\nNEW", "", "a_1=x a_2=x z b=x a_*=n", ""},
	} {
		b := newBench(t)
		for path, text := range map[string]string{"known://a_1": "x", "known://a_2": "x z", "known://b": "x"} {
			b.commit(sdk.Write{Path: path, Body: &text, Writer: sdk.WriterModel, State: sdk.StateResolved, Visibility: sdk.Visible})
		}
		_, err := b.do(sdk.EntryCall{Verb: sdk.VerbSet, Path: c.path, Body: &c.body, Filter: c.filter})
		if err != nil != (c.outcome != "") || err != nil && sdk.OutcomeOf(err) != c.outcome {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := bodies(b); got != c.want {
			t.Errorf("%s: they are %q, want %q", c.name, got, c.want)
		}
	}
}

// TestSecondEdit: a second edit of an entry is one of what the first left, and what changed since it was planned is not lost.
func TestSecondEdit(t *testing.T) {
	b := newBench(t)
	text := "a\n"
	b.commit(sdk.Write{Path: "known://it", Body: &text, Writer: sdk.WriterModel, State: sdk.StateResolved, Visibility: sdk.Visible})
	first, second := "<<SEARCH\na\nSEARCH\n<<REPLACE\nb\nREPLACE", "<<SEARCH\nb\nSEARCH\n<<REPLACE\nc\nREPLACE"
	set := func(body string) sdk.EntryCall {
		return sdk.EntryCall{Verb: sdk.VerbSet, Path: "known://it", Body: &body}
	}
	plans := b.Plan(t.Context(), b.use, []sdk.EntryCall{set(first), set("<<DELETE\nnone\nDELETE"), set(second)})
	if plans[0].Err != nil || sdk.OutcomeOf(plans[1].Err) != sdk.Conflict || plans[2].Err != nil {
		t.Fatalf("%v, %v, %v", plans[0].Err, plans[1].Err, plans[2].Err)
	}
	other := "a\nmore\n"
	b.commit(sdk.Write{Path: "known://it", Body: &other, Writer: sdk.WriterModel, State: sdk.StateResolved})
	if _, err := b.s.Commit(t.Context(), sdk.Change{Run: b.use.Run.ID, Writes: plans[0].Writes}); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("a stale edit: %v", err)
	}
	plans = b.Plan(t.Context(), b.use, []sdk.EntryCall{set(first), set(second)})
	b.commit(append(plans[0].Writes, plans[1].Writes...)...)
	if e, err := b.s.Entry(t.Context(), b.use.Run.ID, "known://it"); err != nil || e.Body != "c\nmore\n" {
		t.Errorf("it is %q, %v", e.Body, err)
	}
}

// TestOthersWriteAsItStands: a client and a plugin write texts, in which markers are text.
func TestOthersWriteAsItStands(t *testing.T) {
	for _, writer := range []sdk.Writer{sdk.WriterClient, sdk.WriterPlugin} {
		b := newBench(t)
		b.use.Writer = writer
		text := "<<APPEND\nx\nAPPEND"
		if _, err := b.do(sdk.EntryCall{Verb: sdk.VerbSet, Path: "known://it", Body: &text}); err != nil {
			t.Fatal(err)
		}
		if e, err := b.s.Entry(t.Context(), b.use.Run.ID, "known://it"); err != nil || e.Body != text {
			t.Errorf("%s: %q, %v", writer, e.Body, err)
		}
	}
}

// TestEditedFile: a model's edit of a file stands for edit_file where it counts what the file has, which the plugin reads; else
// for write_file with the text itself.
func TestEditedFile(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{"x\n", `write_file {"content":"x\n","path":"a"}`},
		{"<<NEW\nx\ny\nNEW", `write_file {"content":"x\ny","path":"a"}`},
		{"<<REPLACE\nREPLACE", `write_file {"content":"","path":"a"}`},
		{"<<EOF\nx\nEOF", `write_file {"content":"x","path":"a"}`},
		{"<<APPEND\nx\nAPPEND", `edit_file {"new_text":"<<APPEND\nx\nAPPEND","old_text":"","path":"a"}`},
		{"I see.\n<<NEW\nx\nNEW", `edit_file {"new_text":"I see.\n<<NEW\nx\nNEW","old_text":"","path":"a"}`},
		{"s/x/y/", `edit_file {"new_text":"s/x/y/","old_text":"","path":"a"}`},
		{"<<SEARCH x SEARCH", `write_file !`},
		{"<<NEW\nx", `write_file !`},
		{" ", `write_file !`},
	} {
		arguments, err := json.Marshal(map[string]string{"path": "a", "body": c.body})
		if err != nil {
			t.Fatal(err)
		}
		f, is, err := standing(sdk.WriterModel).File("set", arguments)
		var plain any
		got := f.Tool + " !"
		if is && err == nil {
			_ = json.Unmarshal(f.Arguments, &plain)
			var b strings.Builder
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			_ = e.Encode(plain)
			got = f.Tool + " " + strings.TrimSpace(b.String())
		}
		if got != c.want {
			t.Errorf("%q stands for %s (%v), want %s", c.body, got, err, c.want)
		}
	}
}
