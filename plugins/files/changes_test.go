package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/kept"
)

// changed runs an operation and returns what it told of, in short.
func (tp *testProject) changed(do func() error) string {
	tp.project.changes = changes{}
	if err := do(); err != nil {
		tp.t.Fatal(err)
	}
	var lines []string
	for _, c := range tp.project.changes.list {
		line := c.Path + ":"
		if c.From != "" {
			line += " from " + c.From
		}
		line += " " + short(c.Before) + " > " + short(c.After)
		if c.Undo != nil {
			b, _ := json.Marshal(string(c.Undo.Removed))
			line += " " + string(b)
		}
		if c.Kept != "" {
			line += " kept"
		}
		if c.Lost != "" {
			line += " lost"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func short(s *sdk.FileState) string {
	switch {
	case s == nil:
		return "-"
	case s.Kind == "link":
		return "link " + s.Target
	case s.Kind == "file" && s.Hash == "":
		return "file?"
	default:
		return s.Kind
	}
}

func TestChangesTellWhatWasDone(t *testing.T) {
	ctx := context.Background()
	files := map[string]string{"a": "one\ntwo\n", "d/x": "x", "d/e/y": "y", "l": "-> a", "big": strings.Repeat("b", mostKept+1)}
	for name, c := range map[string]struct {
		do   func(p *project) error
		want string
	}{
		"new file":        {func(p *project) error { _, err := p.write(ctx, writeArgs{"n", "new"}); return err }, `n: - > file`},
		"new folders":     {func(p *project) error { _, err := p.write(ctx, writeArgs{"m/n/f", "new"}); return err }, "m: - > directory\nm/n: - > directory\nm/n/f: - > file"},
		"replaced":        {func(p *project) error { _, err := p.write(ctx, writeArgs{"a", "one\n2\n"}); return err }, `a: file > file "two"`},
		"the same":        {func(p *project) error { _, err := p.write(ctx, writeArgs{"a", "one\ntwo\n"}); return err }, ``},
		"through a link":  {func(p *project) error { _, err := p.write(ctx, writeArgs{"l", ""}); return err }, `a: file > file "one\ntwo\n"`},
		"large":           {func(p *project) error { _, err := p.write(ctx, writeArgs{"big", "x"}); return err }, `big: file? > file lost`},
		"edited":          {func(p *project) error { _, err := p.edit(ctx, editArgs{"a", "one", "1"}); return err }, `a: file > file "one"`},
		"folder":          {func(p *project) error { _, err := p.create(ctx, createArgs{"n/m"}); return err }, "n: - > directory\nn/m: - > directory"},
		"folder is there": {func(p *project) error { _, err := p.create(ctx, createArgs{"d"}); return err }, ``},
		"deleted":         {func(p *project) error { _, err := p.delete(ctx, deleteArgs{Path: "a"}); return err }, `a: file > - "one\ntwo\n"`},
		"link deleted":    {func(p *project) error { _, err := p.delete(ctx, deleteArgs{Path: "l"}); return err }, `l: link a > -`},
		"tree deleted": {func(p *project) error { _, err := p.delete(ctx, deleteArgs{Path: "d", Recursive: true}); return err },
			"d/e/y: file > - \"y\"\nd/e: directory > -\nd/x: file > - \"x\"\nd: directory > -"},
		"large deleted": {func(p *project) error { _, err := p.delete(ctx, deleteArgs{Path: "big"}); return err }, `big: file? > - lost`},
		"moved":         {func(p *project) error { _, err := p.move(ctx, moveArgs{Source: "d", Destination: "n"}); return err }, `n: from d - > directory`},
		"moved over": {func(p *project) error {
			_, err := p.move(ctx, moveArgs{Source: "d/x", Destination: "a", Overwrite: true})
			return err
		}, "a: file > - \"one\\ntwo\\n\"\na: from d/x - > file?"},
		"copied":      {func(p *project) error { _, err := p.copy(ctx, moveArgs{Source: "a", Destination: "n"}); return err }, `n: - > file`},
		"tree copied": {func(p *project) error { _, err := p.copy(ctx, moveArgs{Source: "d", Destination: "n"}); return err }, "n: - > directory\nn/e: - > directory\nn/e/y: - > file\nn/x: - > file"},
	} {
		t.Run(name, func(t *testing.T) {
			tp := newProject(t, files)
			if got := tp.changed(func() error { return c.do(tp.project) }); got != c.want {
				t.Errorf("told\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestChangesOfStrangeNames: a name that does not get through to the daemon is
// said to be lost, and never told as another.
func TestChangesOfStrangeNames(t *testing.T) {
	ctx := context.Background()
	tp := newProject(t, map[string]string{"d/x": "x"})
	if err := os.WriteFile(filepath.Join(tp.dir, "d", "\xff"), nil, 0o600); err != nil {
		t.Skip("the file system takes no such name: ", err)
	}
	got := tp.changed(func() error { _, err := tp.copy(ctx, moveArgs{Source: "d", Destination: "e"}); return err })
	if got != "e: - > directory lost" {
		t.Errorf("copied: %s", got)
	}
	got = tp.changed(func() error {
		_, err := tp.delete(ctx, deleteArgs{Path: "d", Recursive: true})
		return err
	})
	if got != "d: directory > - lost" {
		t.Errorf("deleted: %s", got)
	}
}

// TestChangesOfTooMuch: what cannot be kept is said to be lost, never left out.
func TestChangesOfTooMuch(t *testing.T) {
	ctx := context.Background()
	tp := newProject(t, map[string]string{"d/1": strings.Repeat("1", mostKept/2), "d/2": strings.Repeat("2", mostKept/2), "d/3": "3"})
	got := tp.changed(func() error {
		_, err := tp.delete(ctx, deleteArgs{Path: "d", Recursive: true})
		return err
	})
	if got != "d: directory > - lost" {
		t.Errorf("a large tree: %s", got)
	}
	for i := range mostChanges + 1 {
		if err := os.WriteFile(filepath.Join(tp.dir, "many"+strings.Repeat("x", i%200)+"-"+hashOf(strings.Repeat("y", i))[:8]), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got = tp.changed(func() error {
		if err := os.Mkdir(filepath.Join(tp.dir, "all"), 0o700); err != nil {
			return err
		}
		names, err := filepath.Glob(filepath.Join(tp.dir, "many*"))
		for _, n := range names {
			err = os.Rename(n, filepath.Join(tp.dir, "all", filepath.Base(n)))
		}
		if err == nil {
			_, err = tp.copy(ctx, moveArgs{Source: "all", Destination: "copy"})
		}
		return err
	})
	if got != "copy: - > directory lost" {
		t.Errorf("a copy of many files: %.200s", got)
	}
}

// TestChangesOfMuch: what is too long for a result lies in the store, and so does a list of many changes.
func TestChangesOfMuch(t *testing.T) {
	ctx := context.Background()
	big := strings.Repeat("b", mostKept+1)
	files := map[string]string{"big": big, "d/big": big + "2", "d/small": "x"}
	for name, c := range map[string]struct {
		do   func(p *project) error
		want string
	}{
		"replaced": {func(p *project) error { _, err := p.write(ctx, writeArgs{"big", "x"}); return err }, "big: file > file kept"},
		"the same": {func(p *project) error { _, err := p.write(ctx, writeArgs{"big", big}); return err }, ""},
		"deleted":  {func(p *project) error { _, err := p.delete(ctx, deleteArgs{Path: "big"}); return err }, "big: file > - kept"},
		"a tree": {func(p *project) error { _, err := p.delete(ctx, deleteArgs{Path: "d", Recursive: true}); return err },
			"d/big: file > - kept\nd/small: file > - \"x\"\nd: directory > -"},
	} {
		t.Run(name, func(t *testing.T) {
			tp := newProject(t, files)
			tp.most = 2 * mostKept
			tp.kept = kept.In(t.TempDir())
			if got := tp.changed(func() error { return c.do(tp.project) }); got != c.want {
				t.Errorf("told\n%s\nwant\n%s", got, c.want)
			}
			for _, x := range tp.project.changes.list {
				if x.Kept != "" && (x.Check() != nil || !tp.kept.Has(x.Kept)) {
					t.Errorf("%+v is not kept: %v", x, x.Check())
				}
			}
		})
	}
	t.Run("no store", func(t *testing.T) {
		tp := newProject(t, files)
		tp.put("no", "folder")
		tp.kept = kept.In(filepath.Join(tp.dir, "no"))
		got := tp.changed(func() error { _, err := tp.delete(ctx, deleteArgs{Path: "big"}); return err })
		if got != "big: file? > - lost" {
			t.Errorf("told %s", got)
		}
	})
	t.Run("a long list", func(t *testing.T) {
		c := changes{list: make([]sdk.FileChange, sdk.MostChanges+1)}
		var inline, stored sdk.ToolResult
		c.tell(&inline, kept.Store{})
		c.tell(&stored, kept.In(t.TempDir()))
		if len(inline.Changes) != len(c.list) || len(stored.Changes) != 0 || !kept.IsDigest(stored.ChangesKept) {
			t.Errorf("%d, %d, %q", len(inline.Changes), len(stored.Changes), stored.ChangesKept)
		}
	})
}

// asked is a context that does something each time it is asked whether it has ended.
type asked struct {
	context.Context
	err func() error
}

func (a asked) Err() error { return a.err() }

// TestDeletionThatIsGivenUp: a call that ends while a folder is kept deletes nothing
// that it could not bring back.
func TestDeletionThatIsGivenUp(t *testing.T) {
	for given := 0; ; given++ {
		tp := newProject(t, map[string]string{"d/x": "x", "d/e/y": "y"})
		left := given
		ctx := asked{context.Background(), func() error {
			if left--; left < 0 {
				return context.Canceled
			}
			return nil
		}}
		_, err := tp.delete(ctx, deleteArgs{Path: "d", Recursive: true})
		if err != nil {
			wantOutcome(t, err, sdk.Aborted)
			if tp.get("d/x") != "x" || tp.get("d/e/y") != "y" || len(tp.changes.list) > 0 {
				t.Fatalf("given up at %d, and it told %+v", given, tp.changes.list)
			}
			continue
		}
		if told := tp.changes.list; len(told) != 4 || told[3].Lost != "" {
			t.Fatalf("given up at %d, deleted, and kept %+v", given, told)
		}
		return
	}
}

// TestChangesOfWhatIsWrittenTo: what somebody writes to while it is kept is kept as
// it was read.
func TestChangesOfWhatIsWrittenTo(t *testing.T) {
	for name, want := range map[string]string{
		"d":     "d/log: file > - \"........\"\nd: directory > -",
		"d/log": "d/log: file > - \"........\"",
	} {
		tp := newProject(t, map[string]string{"d/log": ""})
		times := 0
		ctx := asked{context.Background(), func() error {
			if times++; times <= 8 {
				tp.put("d/log", strings.Repeat(".", times))
			}
			return nil
		}}
		got := tp.changed(func() error { _, err := tp.delete(ctx, deleteArgs{Path: name, Recursive: true}); return err })
		if got != want {
			t.Errorf("%s told\n%s\nwant\n%s", name, got, want)
		}
	}
}

// TestUndoOfAWriteGivesTheBytesBack holds whatever the bytes are.
func TestUndoOfAWriteGivesTheBytesBack(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(rt *rapid.T) {
		before := string(rapid.SliceOf(rapid.Byte()).Draw(rt, "before"))
		tp := newProject(t, map[string]string{"f": "x"})
		if err := os.WriteFile(filepath.Join(tp.dir, "f"), []byte(before), 0o600); err != nil {
			rt.Fatal(err)
		}
		after := rapid.String().Draw(rt, "after")
		tp.changed(func() error { _, err := tp.write(ctx, writeArgs{"f", after}); return err })
		for _, c := range tp.project.changes.list {
			text, err := json.Marshal(c) // as it goes through the daemon
			if err != nil {
				rt.Fatal(err)
			}
			var read sdk.FileChange
			if err := json.Unmarshal(text, &read); err != nil {
				rt.Fatal(err)
			}
			if got, ok := read.Undo.Apply(after); !ok || got != before || read.Before.Hash != hashOf(before) {
				rt.Fatalf("%q taken back is %q, want %q", after, got, before)
			}
		}
	})
}
