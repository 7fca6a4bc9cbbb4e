package main

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

// TestStagedProperties draws calls over a small project: staging changes
// nothing, carrying out what was shown makes of the project what the difference
// says, and any change in between is a conflict.
func TestStagedProperties(t *testing.T) {
	paths := []string{"a", "b", "d/a", "d/e/a", "new", "n/m/o", "d", "d/e"}
	path := rapid.SampledFrom(paths)
	text := rapid.StringMatching(`([ab\t+-]{0,3}\n){0,4}[ab]{0,2}`)
	client := served(t)
	done := 0
	rapid.Check(t, func(rt *rapid.T) {
		tp := &testProject{t: t, outside: t.TempDir()}
		var err error
		if tp.project, err = openProject(t.TempDir()); err != nil {
			t.Fatal(err)
		}
		tp.most = megabytes
		defer tp.close()
		s := staging{tp, client}
		for _, name := range paths[:4] {
			s.put(name, text.Draw(rt, name))
		}
		name, arguments := drawCall(rt, path, text)
		before := contents(s)
		staged, err := s.stage(name, arguments)
		if after := contents(s); !maps.Equal(before, after) {
			rt.Fatalf("staging made %v of %v", after, before)
		}
		if err != nil {
			if got, err := client.Invoke(context.Background(), s.call(name, arguments, ""), nowhere{t}); err == nil && got.Success {
				rt.Fatalf("%s %v was refused and can be done", name, arguments)
			}
			return
		}
		touched := rapid.SampledFrom(append([]string{""}, slices.Sorted(maps.Keys(before))...)).Draw(rt, "touched")
		if touched != "" && !strings.HasSuffix(touched, "/") && strings.Contains(staged.Diff, " a/"+touched+" ") {
			s.put(touched, before[touched]+"!")
			was := contents(s)
			got := s.invoke(name, arguments, staged.Base)
			if got.Success || got.Outcome != sdk.Conflict || !maps.Equal(was, contents(s)) {
				rt.Fatalf("%s %v after a change of %s: %+v", name, arguments, touched, got)
			}
			return
		}
		if got := s.invoke(name, arguments, staged.Base); !got.Success {
			rt.Fatalf("%s %v: %+v", name, arguments, got)
		}
		if want, after := patched(rt, before, staged.Diff), contents(s); !maps.Equal(want, after) {
			rt.Fatalf("%s %v made\n%v, and the difference says\n%v\n%s", name, arguments, after, want, staged.Diff)
		}
		done++
	})
	if done < 10 {
		t.Errorf("%d calls were carried out", done)
	}
}

func drawCall(rt *rapid.T, path, text *rapid.Generator[string]) (string, object) {
	at, to, overwrite := path.Draw(rt, "path"), path.Draw(rt, "to"), rapid.Bool().Draw(rt, "overwrite")
	switch name := rapid.SampledFrom([]string{"write_file", "edit_file", "create_directory", "delete_path", "move_path", "copy_path"}).Draw(rt, "tool"); name {
	case "write_file":
		return name, object{"path": at, "content": text.Draw(rt, "content")}
	case "edit_file":
		return name, object{"path": at, "old_text": rapid.SampledFrom([]string{"a", "b", "a\n", "ab"}).Draw(rt, "old"), "new_text": text.Draw(rt, "new")}
	case "create_directory":
		return name, object{"path": at}
	case "delete_path":
		return name, object{"path": at, "recursive": overwrite}
	default:
		return name, object{"source": at, "destination": to, "overwrite": overwrite}
	}
}
