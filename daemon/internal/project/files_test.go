package project

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

func TestFilesOfAProject(t *testing.T) {
	repository := tree(t, map[string]string{
		".gitignore": "*.log\n/sub/above/\n", ".git/HEAD": "x", ".git/info/exclude": "mine.txt\n", "outside.go": "",
		"sub/.gitignore": "# made\nbuild/\n!keep.log\n/only.txt\ndocs/**/x.md\n\\#odd\n", "sub/a.go": "", "sub/x.log": "", "sub/keep.log": "",
		"sub/build/out.go": "", "sub/lib/build/out.go": "", "sub/only.txt": "", "sub/lib/only.txt": "", "sub/above/x.go": "",
		"sub/mine.txt": "", "sub/docs/x.md": "", "sub/docs/de/x.md": "", "sub/docs/y.md": "", "sub/#odd": "",
		"sub/.env": "", "sub/lib/id_rsa": "", "sub/.ssh/config": "", "sub/.env.example": "", "sub/lib/.gitignore": "*.tmp\n!x.log\n", "sub/lib/a.tmp": "", "sub/lib/x.log": "", "sub/a.tmp": "",
	})
	root := filepath.Join(repository, "sub")
	link(t, "../outside.go", filepath.Join(root, "leads-out.go"))
	link(t, ".env", filepath.Join(root, "plain.txt"))
	link(t, "..", filepath.Join(root, "up"))
	got, err := Files{}.Find(context.Background(), rpc.FilesParams{Project: root, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{".env.example", ".gitignore", "a.go", "a.tmp", "docs/y.md", "keep.log", "lib/.gitignore", "lib/only.txt", "lib/x.log"}
	slices.Sort(got.Files)
	if !slices.Equal(got.Files, want) || got.Found != len(want) || got.Partial {
		t.Errorf("found %q, want %q (%+v)", got.Files, want, got)
	}
	if _, err := (Files{}).Find(context.Background(), rpc.FilesParams{Project: filepath.Join(root, "none"), Limit: 1}); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("no project: %v", err)
	}
}

func TestRankOfFiles(t *testing.T) {
	all := []string{"daemon/internal/server/server.go", "daemon/internal/server/server_test.go", "README.md", "sdk/rpc/prompt.go", "docs/serve/er.md", "main.go", "cmd/main/main.go", "sdk/client/call.go"}
	for query, want := range map[string]string{
		"server":  "daemon/internal/server/server.go",
		"MAIN":    "main.go",
		"rpcprom": "sdk/rpc/prompt.go",
		"sdk/rpc": "sdk/rpc/prompt.go",
		"rdm":     "README.md",
		"call":    "sdk/client/call.go",
		"er.md":   "docs/serve/er.md",
		"zzz":     "",
	} {
		first := ""
		if found := rank(all, query); len(found) > 0 {
			first = found[0]
		}
		if first != want {
			t.Errorf("%s finds %q first, want %q", query, first, want)
		}
	}
	if got := rank(all, ""); len(got) != len(all) || got[0] != "main.go" {
		t.Errorf("without a query: %q", got)
	}
}

func TestReadingFiles(t *testing.T) {
	outside := tree(t, map[string]string{"x.txt": "out"})
	root := tree(t, map[string]string{
		"a.txt": "one\ntwo\nthree\nfour", "empty.txt": "", ".env": "KEY=1", "b.bin": "x\x00y", "latin.txt": "caf\xe9\n",
		"long.txt": strings.Repeat("0123456789abcdé\n", 20_000), "d/c.txt": "c\n",
	})
	link(t, filepath.Join(outside, "x.txt"), filepath.Join(root, "out.txt"))
	link(t, outside, filepath.Join(root, "outdir"))
	link(t, ".env", filepath.Join(root, "innocent.txt"))
	link(t, "d/c.txt", filepath.Join(root, "within.txt"))
	for _, c := range []struct {
		a       sdk.Attachment
		text    string
		to, all int
		fails   sdk.Outcome
	}{
		{a: sdk.Attachment{Path: "a.txt"}, text: "one\ntwo\nthree\nfour", to: 4, all: 4},
		{a: sdk.Attachment{Path: "./a.txt", From: 2, To: 3}, text: "two\nthree\n", to: 3, all: 4},
		{a: sdk.Attachment{Path: "a.txt", From: 4, To: 99}, text: "four", to: 4, all: 4},
		{a: sdk.Attachment{Path: "empty.txt"}, text: "", to: 0, all: 0},
		{a: sdk.Attachment{Path: "within.txt"}, text: "c\n", to: 1, all: 1},
		{a: sdk.Attachment{Path: "a.txt", From: 5}, fails: sdk.Validation},
		{a: sdk.Attachment{Path: "a.txt", From: 3, To: 2}, fails: sdk.Validation},
		{a: sdk.Attachment{Path: "a.txt", From: -1}, fails: sdk.Validation},
		{a: sdk.Attachment{Path: ".env"}, fails: sdk.Permission},
		{a: sdk.Attachment{Path: "innocent.txt"}, fails: sdk.Permission},
		{a: sdk.Attachment{Path: "out.txt"}, fails: sdk.Permission},
		{a: sdk.Attachment{Path: "outdir/x.txt"}, fails: sdk.Permission},
		{a: sdk.Attachment{Path: "../x.txt"}, fails: sdk.Validation},
		{a: sdk.Attachment{Path: filepath.Join(outside, "x.txt")}, fails: sdk.Validation},
		{a: sdk.Attachment{Path: ""}, fails: sdk.Validation},
		{a: sdk.Attachment{Path: "d"}, fails: sdk.Permission},
		{a: sdk.Attachment{Path: "none.txt"}, fails: sdk.NotFound},
		{a: sdk.Attachment{Path: "b.bin"}, fails: sdk.Validation},
		{a: sdk.Attachment{Path: "latin.txt"}, fails: sdk.Validation},
	} {
		got, err := Files{}.Read(context.Background(), rpc.FileParams{Project: root, Path: c.a.Path, From: c.a.From, To: c.a.To})
		if sdk.OutcomeOf(err) != c.fails && err != nil || (err == nil) != (c.fails == "") {
			t.Errorf("%+v: %v, want %q", c.a, err, c.fails)
		}
		if err == nil && (got.Text != c.text || got.To != c.to || got.Lines != c.all || got.Cut) {
			t.Errorf("%+v: %+v", c.a, got)
		}
	}
	long, err := Files{}.Read(context.Background(), rpc.FileParams{Project: root, Path: "long.txt"})
	if err != nil || !long.Cut || long.Lines != 20_000 || len(long.Text) > maxAttached || len(long.Text) < maxAttached-4 || long.To >= long.Lines {
		t.Errorf("a long one: cut %v, %d of %d lines, %d bytes: %v", long.Cut, long.To, long.Lines, len(long.Text), err)
	}
}

func TestAttachedFiles(t *testing.T) {
	root := tree(t, map[string]string{"a.md": "a\n```\nb\n", "b.go": "1\n2\n3\n", "long.txt": strings.Repeat("x\n", maxAttached)})
	text, _, err := Files{}.Attached(context.Background(), root, []sdk.Attachment{{Path: "a.md"}, {Path: "b.go", From: 2, To: 2}})
	want := "The person attached a.md, lines 1 to 3 of 3:\n````\na\n```\nb\n````\n\nThe person attached b.go, lines 2 to 2 of 3:\n```\n2\n```"
	if err != nil || text != want {
		t.Errorf("%q, want %q (%v)", text, want, err)
	}
	text, _, err = Files{}.Attached(context.Background(), root, []sdk.Attachment{{Path: "long.txt"}})
	if err != nil || !strings.Contains(text, "the end was left out") {
		t.Errorf("%.200q %v", text, err)
	}
	if _, _, err = (Files{}).Attached(context.Background(), root, []sdk.Attachment{{Path: "long.txt"}, {Path: "long.txt"}, {Path: "long.txt"}}); sdk.OutcomeOf(err) != sdk.Overflow {
		t.Errorf("too much: %v", err)
	}
}
