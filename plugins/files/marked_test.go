package main

import (
	"context"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestEditByMarkers: regions are made on what the file has, all or none, and a file that is not there is begun only by what
// holds without a text.
func TestEditByMarkers(t *testing.T) {
	const pair = "<<SEARCH\nold\nSEARCH\n<<REPLACE\nnew\nREPLACE"
	for _, tt := range []struct {
		name, path, edit string
		want             string // the file; of a refusal as it was
		outcome          sdk.Outcome
		says             string
	}{
		{"a pair", "a", pair, "x\nnew\ny\n", "", "+new"},
		{"in one line", "a", "<<SEARCH old SEARCH<<REPLACE new REPLACE", "x\nnew\ny\n", "", ""},
		{"a pair twice", "a", pair + "\n<<SEARCH1\nnew\nSEARCH1\n<<REPLACE1\nnewer\nREPLACE1", "x\nnewer\ny\n", "", ""},
		{"with its line endings", "dos", "<<APPEND\nc\nAPPEND", "a\r\nold\r\nc\r\n", "", ""},
		{"indented", "tabs", "<<SEARCH\nif x {\n  y()\n}\nSEARCH\n<<REPLACE\nif x {\n  y()\n  z()\n}\nREPLACE", "\tif x {\n\t  y()\n\t  z()\n\t}\n", "", "check the result"},
		{"text outside", "a", "I change it:\n" + pair, "x\nnew\ny\n", "", "was left out"},
		{"the whole", "a", "<<NEW\nz\nNEW", "z", "", ""},
		{"the second is nowhere", "a", pair + "\n<<DELETE\nnone\nDELETE", "x\nold\ny\n", sdk.Conflict, "a: <<DELETE"},
		{"in two places", "twice", pair, "old\nold\n", sdk.Conflict, "1 and 2"},
		{"not closed", "a", "<<SEARCH\nold\n", "x\nold\ny\n", sdk.Validation, ""},
		{"as sed", "a", "s/old/new/", "x\nold\ny\n", sdk.Validation, "<<SEARCH"},
		{"as JSON", "a", `{"search":"old","replace":"new"}`, "x\nold\ny\n", sdk.Validation, "<<SEARCH"},
		{"as sed, of what is empty", "empty", "s/old/new/", "s/old/new/", "", ""},
		{"no edit at all", "a", "new", "x\nold\ny\n", sdk.Validation, "old_text is empty"},
		{"begun", "p/q", "<<PREPEND\none\nPREPEND", "one", "", "Created p/q"},
		{"nothing to find", "p/q", pair, "", sdk.Conflict, "there is no text yet"},
		{"binary", "bin", pair, "old\x00", sdk.Validation, "binary"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tp := newProject(t, map[string]string{"a": "x\nold\ny\n", "dos": "a\r\nold\r\n", "tabs": "\tif x {\n\t\ty()\n\t}\n", "twice": "old\nold\n", "empty": "", "bin": "old\x00"})
			before := tp.snapshot()
			got, err := tp.edit(context.Background(), editArgs{Path: tt.path, NewText: tt.edit})
			text := got.text
			if err != nil {
				text = err.Error()
			}
			if err != nil != (tt.outcome != "") || err != nil && sdk.OutcomeOf(err) != tt.outcome || !strings.Contains(text, tt.says) {
				t.Errorf("%v %s", err, text)
			}
			if tt.outcome != "" && tt.path == "p/q" {
				if len(tp.snapshot()) != len(before) {
					t.Error("a folder was made")
				}
				return
			}
			if now := tp.get(tt.path); now != tt.want {
				t.Errorf("it is %q", now)
			}
		})
	}
}

// TestBegunMeanwhile: what an edit makes of nothing does not take the place of a file that came since it was looked.
func TestBegunMeanwhile(t *testing.T) {
	tp := newProject(t, map[string]string{"b": "x\n"})
	file, _, err := tp.begun(editArgs{Path: "a", NewText: "<<APPEND\none\nAPPEND"})
	if err != nil || file == nil {
		t.Fatal(file, err)
	}
	if file, _, err := tp.begun(editArgs{Path: "b", NewText: "<<APPEND\none\nAPPEND"}); err != nil || file != nil {
		t.Fatal(file, err)
	}
	tp.put("a", "theirs\n")
	if _, err := tp.planWriteAs(context.Background(), *file, lookup{fresh: true}); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Error(err)
	}
	if _, err := tp.writeAs(context.Background(), *file, lookup{fresh: true}); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Error(err)
	}
	if now := tp.get("a"); now != "theirs\n" {
		t.Errorf("it is %q", now)
	}
}
