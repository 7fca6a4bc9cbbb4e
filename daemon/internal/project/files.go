package project

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/protect"
	"github.com/bothyd/bothy/sdk/rpc"
)

// maxListed is how many names are looked at for one list; what lies deeper than that is
// left out.
const maxListed = 50_000

// Files tells people what files a project has and what they say: what a person may
// name in a prompt. Nothing that holds secrets by its name is among them, and nothing
// outside of the project.
type Files struct{}

// Find finds files by a query, the best first. Links and what git ignores are left out.
func (Files) Find(ctx context.Context, p rpc.FilesParams) (rpc.Files, error) {
	root, where, err := openFiles(p.Project)
	if err != nil {
		return rpc.Files{}, err
	}
	defer func() { _ = root.Close() }() // it was only read
	all, whole := walk(ctx, root, ignoredAbove(where))
	if err := ctx.Err(); err != nil {
		return rpc.Files{}, err
	}
	found := rank(all, p.Query)
	return rpc.Files{Project: where, Files: found[:min(p.Limit, len(found))], Found: len(found), Partial: !whole}, nil
}

// openFiles opens a project, and says where it lies.
func openFiles(project string) (*os.Root, string, error) {
	where, err := filepath.EvalSymlinks(project)
	if err != nil {
		return nil, "", sdk.Errorf(sdk.NotFound, "the project directory cannot be found: %w", err)
	}
	root, err := openRoot(where)
	if err != nil {
		return nil, "", sdk.Errorf(sdk.NotFound, "%w", err)
	}
	return root, where, nil
}

// walk lists the files of a project, those of outer folders first. False is that it has
// more.
func walk(ctx context.Context, root *os.Root, rules ignored) (all []string, whole bool) {
	type folder struct {
		at    string
		rules ignored
	}
	tree, seen := root.FS(), 0
	for queue := []folder{{".", rules}}; len(queue) > 0 && ctx.Err() == nil; queue = queue[1:] {
		dir := queue[0]
		entries, err := fs.ReadDir(tree, dir.at)
		if err != nil {
			continue // it may not be read, or has just gone
		}
		within := strings.TrimPrefix(dir.at, ".")
		own := slices.Clip(dir.rules)
		if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ignoreFile && e.Type().IsRegular() }) {
			own = append(own, ignoreRules(readIgnore(root.OpenFile(path.Join(dir.at, ignoreFile), os.O_RDONLY|syscall.O_NONBLOCK, 0)), within, "")...)
		}
		for _, e := range entries {
			if seen++; seen > maxListed {
				return all, false
			}
			at := path.Join(dir.at, e.Name())
			if e.Name() == ".git" || protect.Secret(at) || own.ignores(at, e.IsDir()) {
				continue
			}
			switch {
			case e.IsDir():
				queue = append(queue, folder{at, own})
			case e.Type().IsRegular():
				all = append(all, at)
			}
		}
	}
	return all, true
}

// rank are the paths that a query fits, best first. It fits a path whose characters are
// in it in this order, whatever their case.
func rank(all []string, query string) []string {
	type scored struct {
		at    string
		score int
	}
	query = strings.ToLower(strings.Join(strings.Fields(query), ""))
	var found []scored
	for _, at := range all {
		if score, fits := fuzzy(strings.ToLower(at), query); fits {
			found = append(found, scored{at, score})
		}
	}
	slices.SortFunc(found, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(strings.Count(a.at, "/"), strings.Count(b.at, "/")),
			cmp.Compare(len(a.at), len(b.at)), cmp.Compare(a.at, b.at))
	})
	paths := make([]string, len(found))
	for i, f := range found {
		paths[i] = f.at
	}
	return paths
}

// fuzzy scores how well a query fits a path: in one piece is better than scattered, in
// the file's name better than in its folders, and the begin of a word better than within.
func fuzzy(at, query string) (score int, fits bool) {
	if query == "" {
		return 0, true
	}
	name := path.Base(at)
	switch i := strings.Index(name, query); {
	case name == query:
		return 1000, true
	case i == 0:
		return 900, true
	case i > 0 && begins(name, i):
		return 800, true
	case i > 0:
		return 700, true
	case strings.Contains(at, query):
		return 600, true
	}
	if score, fits := scattered(name, query); fits {
		return 200 + score, true
	}
	return scattered(at, query)
}

func begins(text string, i int) bool { return i == 0 || strings.IndexByte("/_-. ", text[i-1]) >= 0 }

// scattered scores the characters of a query, each found behind the one before.
func scattered(text, query string) (score int, fits bool) {
	next, last := 0, -2
	for _, r := range query {
		i := strings.IndexRune(text[next:], r)
		if i < 0 {
			return 0, false
		}
		i += next
		switch {
		case i == last:
			score += 3
		case begins(text, i):
			score += 2
		}
		next = i + len(string(r))
		last = next
	}
	return min(score, 99), true
}
