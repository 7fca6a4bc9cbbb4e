package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

func TestList(t *testing.T) {
	ctx := context.Background()
	tp := newProject(t, map[string]string{
		"b.txt": "12345", "a/x": "x", "a/deep/y": "y", ".hidden": "", ".git/HEAD": "ref", "link": "-> a", "empty/": "", "odd\nname": "",
		"a-b": "",
	})
	if err := syscall.Mkfifo(filepath.Join(tp.dir, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := tp.list(ctx, listArgs{})
	want := ".git/\n.hidden  0 bytes\na/\na-b  0 bytes\nb.txt  5 bytes\nempty/\nfifo  (fifo)\nlink -> a\n\"odd\\nname\"  0 bytes\n"
	if err != nil || got.text != want {
		t.Errorf("%v\n%s", err, got.text)
	}
	data := got.data.(listData)
	if data.Total != 9 || data.Entries[4].Size != 5 || data.Entries[4].Modified.IsZero() || data.Entries[7].Target != "a" {
		t.Errorf("%+v", data)
	}
	got, err = tp.list(ctx, listArgs{Path: "link", Recursive: true})
	if err != nil || got.text != "a/deep/\na/deep/y  1 byte\na/x  1 byte\n" {
		t.Errorf("%v\n%s", err, got.text)
	}
	got, err = tp.list(ctx, listArgs{Recursive: true})
	if err != nil || strings.Contains(got.text, "HEAD") || !strings.Contains(got.text, ".git/") {
		t.Errorf("%v\n%s", err, got.text)
	}
	got, err = tp.list(ctx, listArgs{Path: "empty"})
	if err != nil || got.text != "empty is empty\n" || got.data.(listData).Entries == nil {
		t.Errorf("%v\n%s", err, got.text)
	}
	two := 2
	got, err = tp.list(ctx, listArgs{Limit: &two})
	if err != nil || !got.truncated || len(got.data.(listData).Entries) != 2 || !strings.Contains(got.text, "[7 more of 9;") {
		t.Errorf("%v\n%s", err, got.text)
	}
	_, err = tp.list(ctx, listArgs{Path: "b.txt"})
	wantOutcome(t, err, sdk.Validation, "not a directory")
	_, err = tp.list(ctx, listArgs{Path: "gone"})
	wantOutcome(t, err, sdk.NotFound, "gone")
}

func TestFind(t *testing.T) {
	ctx := context.Background()
	tp := newProject(t, map[string]string{
		"main.go": "", "cmd/a.go": "", "cmd/a_test.go": "", "cmd/deep/b.go": "", "doc.md": "", ".git/x.go": "", "out": "-> ../outside",
		"sub/.git/y.go": "", "self": "-> .", "folder.go/": "", "link.go": "-> main.go",
	})
	tests := []struct {
		path, pattern string
		want          []string
	}{
		{"", "**/*.go", []string{"cmd/a.go", "cmd/a_test.go", "cmd/deep/b.go", "link.go", "main.go"}},
		{".", "*.go", []string{"link.go", "main.go"}},
		{"", "./*.md", []string{"doc.md"}},
		{"cmd", "*.go", []string{"cmd/a.go", "cmd/a_test.go"}},
		{"cmd", "**", []string{"cmd/a.go", "cmd/a_test.go", "cmd/deep/b.go"}},
		{"", "cmd/**/b.go", []string{"cmd/deep/b.go"}},
		{"", "**/secret", []string{}},
		{".git", "**", []string{".git/x.go"}},
		{"self/cmd", "deep/*", []string{"cmd/deep/b.go"}},
	}
	for _, tt := range tests {
		got, err := tp.find(ctx, findArgs{Pattern: tt.pattern, Path: tt.path})
		if err != nil {
			t.Errorf("%s in %q: %v", tt.pattern, tt.path, err)
			continue
		}
		if data := got.data.(findData); !slices.Equal(data.Paths, tt.want) || data.Total != len(tt.want) {
			t.Errorf("%s in %q: %+v", tt.pattern, tt.path, data)
		}
	}
	got, err := tp.find(ctx, findArgs{Pattern: "*.rs"})
	if err != nil || !strings.Contains(got.text, "use **/*.rs") {
		t.Errorf("%v\n%s", err, got.text)
	}
	one := 1
	got, err = tp.find(ctx, findArgs{Pattern: "**/*.go", Limit: &one})
	if err != nil || !got.truncated || got.data.(findData).More != 4 || got.text != "cmd/a.go\n[4 more of 5; make the pattern narrower]\n" {
		t.Errorf("%v\n%s", err, got.text)
	}
	for _, pattern := range []string{"", "[a", strings.Repeat("{a,b}", 20)} {
		_, err = tp.find(ctx, findArgs{Pattern: pattern})
		wantOutcome(t, err, sdk.Validation, "pattern")
	}
	_, err = tp.find(ctx, findArgs{Pattern: "*", Path: "main.go"})
	wantOutcome(t, err, sdk.Validation, "not a directory")
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = tp.find(ended, findArgs{Pattern: "**"})
	wantOutcome(t, err, sdk.Aborted)
}

func TestGrep(t *testing.T) {
	ctx := context.Background()
	tp := newProject(t, map[string]string{
		"a.txt": "one\ntwo\nthree\nfour\nfive\nsix\nseven\n", "src/b.go": "func Two() {}\r\n// two\r\n", "src/deep/c.go": "two",
		"bin": "two\x00", ".git/HEAD": "two", "link": "-> a.txt", "latin": "tw\xf6 two\n",
		"long": strings.Repeat("x", 5000) + "needle" + strings.Repeat("y", 5000) + "\n",
	})
	tests := []struct {
		args grepArgs
		want string
	}{
		{grepArgs{Pattern: "two"}, "a.txt:2:two\nlatin:1:tw\uFFFD two\nsrc/b.go:2:// two\nsrc/deep/c.go:1:two\n[1 binary file skipped]\n"},
		{grepArgs{Pattern: "two", Glob: "*.go"}, "src/b.go:2:// two\nsrc/deep/c.go:1:two\n"},
		{grepArgs{Pattern: "two", Glob: "src/*.go"}, "src/b.go:2:// two\n"},
		{grepArgs{Pattern: "two", Path: "src", Glob: "deep/*"}, "src/deep/c.go:1:two\n"},
		{grepArgs{Pattern: "two", Path: "link"}, "a.txt:2:two\n"},
		{grepArgs{Pattern: "TWO", Path: "src", IgnoreCase: true}, "src/b.go:1:func Two() {}\nsrc/b.go:2:// two\nsrc/deep/c.go:1:two\n"},
		{grepArgs{Pattern: `two$`, Path: "src/b.go"}, "src/b.go:2:// two\n"},
		{grepArgs{Pattern: "f", Path: "a.txt", Context: 1}, "a.txt-3-three\na.txt:4:four\na.txt:5:five\na.txt-6-six\n"},
		{grepArgs{Pattern: "two|seven", Path: "a.txt", Context: 1}, "a.txt-1-one\na.txt:2:two\na.txt-3-three\n--\na.txt-6-six\na.txt:7:seven\n"},
		{grepArgs{Pattern: "two|six", Path: "a.txt", Context: 2}, "a.txt-1-one\na.txt:2:two\na.txt-3-three\na.txt-4-four\na.txt-5-five\na.txt:6:six\na.txt-7-seven\n"},
		{grepArgs{Pattern: "^two", Glob: "{a.txt,c.go}", Context: 1}, "a.txt-1-one\na.txt:2:two\na.txt-3-three\n--\nsrc/deep/c.go:1:two\n"},
		{grepArgs{Pattern: "nothing"}, "no line matches in the 5 files searched in .\n[1 binary file skipped]\n"},
		{grepArgs{Pattern: "two", Path: ".git"}, ".git/HEAD:1:two\n"},
	}
	for _, tt := range tests {
		got, err := tp.grep(ctx, tt.args)
		if err != nil || got.text != tt.want {
			t.Errorf("%+v: %v\n%s", tt.args, err, got.text)
		}
	}
	got, err := tp.grep(ctx, grepArgs{Pattern: "needle"})
	if m := got.data.(grepData).Matches; err != nil || len(m) != 1 || len(m[0].Text) > shownText+10 || !strings.Contains(m[0].Text, "xneedley") {
		t.Errorf("%v, %+v", err, m)
	}
	got, err = tp.grep(ctx, grepArgs{Pattern: "f", Path: "a.txt", Context: 1})
	if m := got.data.(grepData).Matches; err != nil || m[0].Line != 4 || !slices.Equal(m[0].Before, []string{"three"}) || !slices.Equal(m[0].After, []string{"five"}) {
		t.Errorf("%v, %+v", err, m)
	}
	for _, tt := range []struct {
		args  grepArgs
		words string
	}{
		{grepArgs{}, "empty"}, {grepArgs{Pattern: "("}, "RE2"}, {grepArgs{Pattern: "a", Context: 21}, "0 to 20"},
		{grepArgs{Pattern: "a", Glob: "[a"}, "pattern"}, {grepArgs{Pattern: strings.Repeat("a", maxPattern+1)}, "at most"},
		{grepArgs{Pattern: "((a{1000}){1000}){1000}"}, "RE2"},
	} {
		_, err := tp.grep(ctx, tt.args)
		wantOutcome(t, err, sdk.Validation, tt.words)
	}
}

func TestGrepCaps(t *testing.T) {
	ctx := context.Background()
	tp := newProject(t, map[string]string{
		"many": strings.Repeat("x\n", 250), "very": strings.Repeat("y\n", countedUpTo+5),
		"wide": strings.Repeat("z", maxMatched) + "needle\nneedle\n",
	})
	got, err := tp.grep(ctx, grepArgs{Pattern: "x"})
	if data := got.data.(grepData); err != nil || !got.truncated || len(data.Matches) != usualMatches || data.Total != 250 || !strings.Contains(got.text, "[150 more of 250 ") {
		t.Errorf("%v, %d of %d", err, len(data.Matches), data.Total)
	}
	most := 5000
	got, err = tp.grep(ctx, grepArgs{Pattern: "y", Limit: &most})
	if data := got.data.(grepData); err != nil || len(data.Matches) != mostMatches || data.Total != countedUpTo || !data.Stopped || !strings.Contains(got.text, "[more than 10000 lines match") {
		t.Errorf("%v, %d of %d", err, len(data.Matches), data.Total)
	}
	got, err = tp.grep(ctx, grepArgs{Pattern: "needle"})
	if data := got.data.(grepData); err != nil || data.Total != 1 || data.Matches[0].Line != 2 {
		t.Errorf("a line beyond the limit: %v, %+v", err, data)
	}
}

// TestGrepAgainstNaiveSearch compares with a search over the whole text.
func TestGrepAgainstNaiveSearch(t *testing.T) {
	tp := newProject(t, nil)
	rapid.Check(t, func(rt *rapid.T) {
		content := rapid.StringMatching(`([abc]{0,3}\n){0,12}[abc]{0,2}`).Draw(rt, "content")
		around := rapid.IntRange(0, 3).Draw(rt, "context")
		tp.put("f", content)
		got, err := tp.grep(context.Background(), grepArgs{Pattern: "a", Path: "f", Context: around})
		if err != nil {
			rt.Fatal(err)
		}
		all := strings.Split(strings.TrimSuffix(content, "\n"), "\n")
		if content == "" {
			all = nil
		}
		shown := map[int]bool{}
		var want []found
		for i, line := range all {
			if !strings.Contains(line, "a") {
				continue
			}
			want = append(want, found{"f", i + 1, line, all[max(0, i-around):i], all[i+1 : min(len(all), i+1+around)]})
			for n := max(0, i-around); n < min(len(all), i+1+around); n++ {
				shown[n] = true
			}
		}
		data := got.data.(grepData)
		if fmt.Sprint(data.Matches) != fmt.Sprint(want) {
			rt.Fatalf("%q: got %v, want %v", content, data.Matches, want)
		}
		written := strings.Count(got.text, "\n") - strings.Count(got.text, "--\n")
		if len(want) > 0 && written != len(shown) {
			rt.Fatalf("%q: %d lines shown, want %d:\n%s", content, written, len(shown), got.text)
		}
	})
}

func TestWalksSayWhatTheyCouldNotRead(t *testing.T) {
	tr := &tree{}
	tr.failed("gone", &os.PathError{Err: syscall.ENOENT})
	tr.failed("a", &os.PathError{Op: "openat", Path: "x", Err: syscall.EIO})
	for range 12 {
		tr.failed("b", errors.New("no"))
	}
	if notes := tr.notes(); !strings.Contains(notes, "a: input/output error") || !strings.Contains(notes, "and 3 more") || strings.Contains(notes, "gone") {
		t.Error(notes)
	}
}

func TestGrepGoesOnWhereItMayNotRead(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything: this needs an ordinary user")
	}
	tp := newProject(t, map[string]string{"a": "x", "locked/": "", "shut": "x"})
	for name, mode := range map[string]os.FileMode{"locked": 0, "shut": 0} {
		if err := os.Chmod(filepath.Join(tp.dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	got, err := tp.grep(context.Background(), grepArgs{Pattern: "x"})
	if err != nil || !strings.Contains(got.text, "a:1:x") || len(got.data.(grepData).Unreadable) != 2 {
		t.Errorf("%v\n%s", err, got.text)
	}
	if err := os.Chmod(filepath.Join(tp.dir, "locked"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func FuzzGrep(f *testing.F) {
	f.Add("a", "a\nb\n", "*", 1)
	f.Add("(?m)^$", "\r\n\r\n", "**/x", 2)
	f.Add(`\`, "", "[", 0)
	f.Fuzz(func(t *testing.T, pattern, content, glob string, around int) {
		tp := newProject(t, map[string]string{"d/f": content})
		got, err := tp.grep(context.Background(), grepArgs{Pattern: pattern, Glob: glob, Context: around})
		if err != nil {
			if sdk.OutcomeOf(err) != sdk.Validation {
				t.Fatal(err)
			}
			return
		}
		for _, m := range got.data.(grepData).Matches {
			if m.Path != "d/f" || m.Line < 1 || m.Line > 1+strings.Count(content, "\n") {
				t.Fatalf("%+v", m)
			}
		}
	})
}
