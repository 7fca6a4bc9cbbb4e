package shell

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestProvenCallsTouchNothing runs random calls that are proven with the real
// programs of this machine: nothing may change, and no program that they could
// start by an option may have been started.
func TestProvenCallsTouchNothing(t *testing.T) {
	bench := newRealBench(t)
	var names []string
	for name := range programs {
		if _, err := exec.LookPath(name); err == nil && !slices.Contains([]string{"yes", "sleep", "tail", "free"}, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	word := rapid.OneOf(
		rapid.SampledFrom(strings.Fields("a out canary ./x.sh sub 5 - list . HEAD -- -v -o -f --output=out --file=a + 1p p canary:a -exec ; -Ocanary log config --get a.b")),
		rapid.StringMatching(`-[a-zA-Z0-9](a|out|canary)?`), rapid.StringMatching(`--[a-z]{3,8}(=canary)?`))
	rapid.Check(t, func(t *rapid.T) {
		argv := append([]string{rapid.SampledFrom(names).Draw(t, "name")}, rapid.SliceOfN(word, 0, 4).Draw(t, "words")...)
		if programs[argv[0]](call{argv: argv, place: bench.place}).grade != Proven {
			return
		}
		bench.run(argv)
		if now := bench.state(); now != bench.before {
			t.Fatalf("%q is proven, and made\n%s\nof\n%s", argv, now, bench.before)
		}
	})
}

// realBench is a workspace for real programs. What they could start is a canary,
// which leaves a file behind.
type realBench struct {
	t      *testing.T
	root   string
	place  Place
	before string
}

func newRealBench(t *testing.T) *realBench {
	root := t.TempDir()
	workspace := filepath.Join(root, "workspace")
	b := &realBench{t: t, root: root, place: Place{Workspace: workspace, Dir: workspace, Home: root}}
	for _, dir := range []string{filepath.Join(workspace, "sub"), filepath.Join(root, "bin")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	canary := "#!/bin/sh\necho \"$0\" >> " + filepath.Join(root, "sang") + "\n"
	files := map[string]string{"workspace/a": "b a\n1 2\n", "workspace/list": "/etc/hosts\x00", "workspace/x.sh": canary}
	for name := range strings.FieldsSeq("canary sh bash less more vi editor ssh rsh pr gpg gzip xz bzip2 zstd") {
		files["bin/"+name] = canary
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.before = b.state()
	return b
}

func (b *realBench) run(argv []string) {
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Second)
	defer cancel()
	path, err := exec.LookPath(argv[0])
	if err != nil {
		b.t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, path, argv[1:]...)
	cmd.Dir = b.place.Dir
	cmd.Env = []string{"PATH=" + filepath.Join(b.root, "bin") + ":/usr/bin:/bin", "HOME=" + b.root, "LC_ALL=C", "PAGER=canary", "EDITOR=canary"}
	_ = cmd.Run() // most calls are mistakes; what they leave behind is the question
}

// state is every file below the root, with what is in it.
func (b *realBench) state() string {
	var all []string
	err := filepath.WalkDir(b.root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			all = append(all, path)
			return err
		}
		text, err := os.ReadFile(path)
		all = append(all, fmt.Sprintf("%s %q", path, text))
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.Join(all, "\n")
}
