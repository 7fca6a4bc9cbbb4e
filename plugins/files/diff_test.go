package main

import (
	"context"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

func TestDiff(t *testing.T) {
	ctx := context.Background()
	tp := newProject(t, map[string]string{
		"a": "one\ntwo\n", "b": "one\n2\n", "same": "one\ntwo\n", "bin": "a\x00b", "d/": "", "link": "-> b", "out": "-> ../outside/secret",
		"latin": "caf\xe9\n", "big": strings.Repeat("x\n", 1000), ".git/config": "[core]\n",
	})
	text := func(s string) *string { return &s }
	tp.unchangedBy(func() {
		for name, tt := range map[string]struct {
			args diffArgs
			want string
		}{
			"two files":    {diffArgs{Path: "a", Other: "link"}, "--- a/a\n+++ b/b\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"},
			"a text":       {diffArgs{Path: "a", Text: text("one\n")}, "--- a/a\n+++ b/a\n@@ -1,2 +1 @@\n one\n-two\n"},
			"no text":      {diffArgs{Path: "b", Text: text("")}, "--- a/b\n+++ b/b\n@@ -1,2 +0,0 @@\n-one\n-2\n"},
			"the same":     {diffArgs{Path: "a", Other: "same"}, "There is no difference"},
			"its own text": {diffArgs{Path: "a", Text: text("one\ntwo\n")}, "There is no difference"},
			"binary":       {diffArgs{Path: "bin", Other: "a"}, "Files bin (3 bytes, sha256 " + hashOf("a\x00b") + ") and a (8 bytes, sha256 " + hashOf("one\ntwo\n") + ") differ; their lines are not compared\n"},
			"no UTF-8":     {diffArgs{Path: "latin", Text: text("")}, "# bytes that are no text are written as \\xNN\n--- a/latin\n+++ b/latin\n@@ -1 +0,0 @@\n-caf\\xe9\n"},
			"protected":    {diffArgs{Path: ".git/config", Other: "a"}, "--- a/.git/config\n+++ b/a\n@@ -1 +1,2 @@\n-[core]\n+one\n+two\n"},
		} {
			got, err := tp.diff(ctx, tt.args)
			if err != nil || got.text != tt.want || got.truncated {
				t.Errorf("%s: %q, %v", name, got.text, err)
			}
			if data := got.data.(diffData); data.Same != strings.HasPrefix(tt.want, "There is no") {
				t.Errorf("%s: %+v", name, data)
			}
		}
		for _, tt := range []struct {
			args    diffArgs
			outcome sdk.Outcome
		}{
			{diffArgs{Path: "a"}, sdk.Validation},
			{diffArgs{Path: "a", Other: "b", Text: text("")}, sdk.Validation},
			{diffArgs{Path: "gone", Other: "b"}, sdk.NotFound},
			{diffArgs{Path: "a", Other: "gone"}, sdk.NotFound},
			{diffArgs{Path: "d", Other: "a"}, sdk.Validation},
			{diffArgs{Path: "a", Other: "out"}, sdk.Permission},
			{diffArgs{Path: "../outside/secret", Text: text("")}, sdk.Permission},
			{diffArgs{Path: "/skills/x/SKILL.md", Other: "a"}, sdk.Permission},
		} {
			_, err := tp.diff(ctx, tt.args)
			wantOutcome(t, err, tt.outcome)
		}
	})
	tp.most = 100
	got, err := tp.diff(ctx, diffArgs{Path: "big", Text: text("")})
	tp.most = megabytes
	if err != nil || !strings.Contains(got.text, "differ; their lines are not compared") {
		t.Errorf("beyond the limit on a file: %q, %v", got.text, err)
	}
	tp.put("long", strings.Repeat("line\n", 50_000))
	got, err = tp.diff(ctx, diffArgs{Path: "long", Text: text("")})
	if err != nil || !got.truncated || len(got.text) > comparedDiff+200 || !strings.HasSuffix(got.text, " more are not shown; read the files in ranges of lines]\n") {
		t.Errorf("%d bytes, %v", len(got.text), err)
	}
	if data := got.data.(diffData); data.Lines != 50_003 || data.Diff != got.text {
		t.Errorf("%d lines", data.Lines)
	}
}

// TestDiffContext: how many lines are shown around a change is the caller's to say.
func TestDiffContext(t *testing.T) {
	before := strings.Repeat("same\n", 9) + "one\n" + strings.Repeat("same\n", 9)
	after := strings.Replace(before, "one", "two", 1)
	tp := newProject(t, map[string]string{"a": before})
	for lines, want := range map[int]string{-1: "@@ -9,3 +9,3 @@", 1: "@@ -9,3 +9,3 @@", 3: "@@ -7,7 +7,7 @@", 5000: "@@ -1,19 +1,19 @@"} {
		got, err := tp.diff(t.Context(), diffArgs{Path: "a", Text: &after, ContextLines: &lines})
		if err != nil || !strings.Contains(got.text, want) {
			t.Errorf("%d: got %q, %v", lines, got.text, err)
		}
	}
}
