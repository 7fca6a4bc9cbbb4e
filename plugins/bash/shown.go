package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/match"
)

const (
	// mostShown is how much of a file is compared to show a difference.
	mostShown = 1 << 20
	// mostListed is how many paths of a folder are shown.
	mostListed = 500
)

// stage shows the difference between the project and what would be applied.
func stage(ctx context.Context, m *sandbox.Manager, run sandbox.RunSpec, in applyArguments) (sdk.Staged, error) {
	waiting, err := m.Waiting(ctx, run)
	if err != nil {
		return sdk.Staged{}, classified(err)
	}
	s := stager{base: sha256.New()}
	for _, p := range in.Paths {
		i := slices.IndexFunc(waiting, func(h sandbox.Held) bool { return h.Path == p.Path && h.Digest == p.Digest })
		if i < 0 {
			return sdk.Staged{}, sdk.Errorf(sdk.Conflict, "%s is no longer what the command made of it: a later command changed it, or the run was reset", p.Path)
		}
		fmt.Fprintf(s.base, "%q %s\n", p.Path, p.Digest)
		// Of a folder that merely has another mode New holds no more than that.
		c := waiting[i].Change
		s.deep = c.Whole || c.Was.Kind != sandbox.NodeDirectory || c.Is.Kind != sandbox.NodeDirectory
		s.show(p.Path, filepath.Join(run.Project, filepath.FromSlash(p.Path)), waiting[i].New)
	}
	return sdk.Staged{Diff: s.diff.String(), Base: hex.EncodeToString(s.base.Sum(nil))}, nil
}

// stager shows what would be applied, path by path, and sums up what is in the project
// at those paths: an answer is bound to that.
type stager struct {
	diff   strings.Builder
	base   hash.Hash
	deep   bool // folders are shown with what is in them
	listed int
}

// show shows one path, given where it lies in the project and where what would be
// applied lies; of a folder all that is in it.
func (s *stager) show(name, oldAt, newAt string) {
	old, oldText := shownState(oldAt)
	now, nowText := shownState(newAt)
	fmt.Fprintf(s.base, "%q %+v\n", name, old)
	if s.listed++; s.listed <= mostListed {
		s.one(name, old, now, oldText, nowText, newAt)
	} else if s.listed == mostListed+1 {
		fmt.Fprintf(&s.diff, "%s and what follows are not shown\n", name)
	}
	if !s.deep || old.Kind != "directory" && now.Kind != "directory" {
		return
	}
	for _, entry := range entriesOf(oldAt, newAt) {
		s.show(path.Join(name, entry), below(oldAt, entry), below(newAt, entry))
	}
}

// one shows what becomes of one path by itself.
func (s *stager) one(name string, old, now sdk.FileState, oldText, nowText []byte, newAt string) {
	switch {
	case old.Kind+now.Kind == "" || !isText(old) || !isText(now) || old.Hash == now.Hash:
	case utf8.Valid(oldText) && utf8.Valid(nowText) && (oldText != nil || old.Kind == "") && (nowText != nil || now.Kind == ""):
		s.diff.WriteString(match.DiffFiles(named(old, name), named(now, name), string(oldText), string(nowText)))
	default:
		fmt.Fprintf(&s.diff, "%s: other contents (%d bytes), not shown\n", name, sizeOf(newAt))
	}
	if old.Kind != now.Kind || old.Target != now.Target || old.Mode != now.Mode {
		fmt.Fprintf(&s.diff, "%s: %s becomes %s\n", name, described(old), described(now))
	}
}

// entriesOf are the names in two folders, in order; what is no folder has none.
func entriesOf(folders ...string) (names []string) {
	for _, folder := range folders {
		if info, err := os.Lstat(folder); err != nil || !info.IsDir() {
			continue
		}
		entries, _ := os.ReadDir(folder) // the digest is of all; one that is closed shows nothing
		for _, e := range entries {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// below is a path in a folder; of no folder it is none.
func below(folder, name string) string {
	if folder == "" {
		return ""
	}
	return filepath.Join(folder, name)
}

func sizeOf(at string) int64 {
	info, err := os.Lstat(at)
	if err != nil {
		return 0
	}
	return info.Size()
}

// named is the path of a file that is there; of none it is empty.
func named(s sdk.FileState, path string) string {
	if s.Kind == "" {
		return ""
	}
	return path
}

func isText(s sdk.FileState) bool { return s.Kind == "" || s.Kind == "file" }

// shownState reads what lies at a path, with contents that can be shown. An empty
// path, or one at which nothing lies, is nothing.
func shownState(at string) (sdk.FileState, []byte) {
	if at == "" {
		return sdk.FileState{}, nil
	}
	info, err := os.Lstat(at)
	if err != nil || info.Mode()&fs.ModeType&^(fs.ModeDir|fs.ModeSymlink) != 0 {
		return sdk.FileState{}, nil
	}
	state, text, _ := stateOf(at, os.Open)
	if info.Size() > mostShown {
		text = nil
	}
	return state, text
}

func described(s sdk.FileState) string {
	switch s.Kind {
	case "":
		return "nothing"
	case "link":
		return "a link to " + s.Target
	case "directory":
		return "a folder"
	}
	return fmt.Sprintf("a file of mode %o", s.Mode)
}
