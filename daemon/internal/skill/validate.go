package skill

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/bothyd/bothy/daemon/internal/frontmatter"
	"github.com/bothyd/bothy/daemon/internal/watch"
	"github.com/bothyd/bothy/sdk"
)

// Verdict is what Validate says of one SKILL.md.
type Verdict struct {
	Path        string               `json:"path"`
	Name        string               `json:"name"`
	Loaded      bool                 `json:"loaded"`
	Repaired    bool                 `json:"repaired"`
	Diagnostics []sdk.FileDiagnostic `json:"diagnostics"` // never nil
}

// Failed reports whether a diagnostic is an error.
func (v Verdict) Failed() bool { return slices.ContainsFunc(v.Diagnostics, frontmatter.IsError) }

// Validate reads every SKILL.md in these folders, whatever the case of its name,
// and files named themselves, as strictly as the standard does. Folders called
// .git and node_modules are left out. It follows no link but one that is named
// itself, and executes nothing. A path that is not there is an error.
func Validate(ctx context.Context, paths []string) ([]*Verdict, error) {
	v := validation{ctx: ctx, all: []*Verdict{}, seen: map[string]bool{}, work: make(chan *Verdict, 256)}
	var reading sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		reading.Go(func() {
			for x := range v.work {
				x.read()
			}
		})
	}
	var err error
	for i := 0; i < len(paths) && err == nil; i++ {
		err = v.walk(paths[i])
	}
	close(v.work)
	reading.Wait()
	return v.all, cmp.Or(err, ctx.Err())
}

// validation is one Validate at work.
type validation struct {
	ctx  context.Context
	all  []*Verdict // in the order of the paths and of what is in them
	seen map[string]bool
	work chan *Verdict // is read while more is found
}

// walk finds what is to be read below a path, which may be a file.
func (v *validation) walk(path string) error {
	switch info, err := os.Stat(path); {
	case err != nil:
		return sdk.Errorf(sdk.NotFound, "%w; name a folder or a SKILL.md that is there", err)
	case !info.IsDir():
		v.add(filepath.Clean(path))
		return nil
	}
	// With a separator behind it a link that was named is its target.
	return filepath.WalkDir(path+string(filepath.Separator), func(p string, e fs.DirEntry, err error) error {
		p = filepath.Clean(p)
		if err != nil {
			d := frontmatter.Wrong("folder-unreadable", 1, 1, fmt.Sprintf("the folder cannot be looked into: %v", watch.Cause(err)), "Let your user read it, as with chmod u+rx.")
			v.all = append(v.all, &Verdict{Path: p, Name: SafeName(filepath.Base(p)), Diagnostics: []diagnostic{*d}})
		} else if strings.EqualFold(e.Name(), fileName) {
			v.add(p)
		}
		if e != nil && e.IsDir() && (err != nil || e.Name() == ".git" || e.Name() == "node_modules") {
			return fs.SkipDir
		}
		return v.ctx.Err()
	})
}

func (v *validation) add(path string) {
	if !v.seen[path] {
		v.seen[path] = true
		x := &Verdict{Path: path}
		v.all = append(v.all, x)
		v.work <- x
	}
}

// read reads the file and fills in the verdict.
func (v *Verdict) read() {
	path := v.Path
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	folder := filepath.Base(filepath.Dir(path))
	text, fault := frontmatter.Open(v.Path, MaxFile)
	d := Document{}
	if fault != nil {
		d.Name = SafeName(folder)
		d.note(fault)
	} else {
		d = parse(text, folder, true)
		if base := filepath.Base(path); base != fileName && strings.EqualFold(base, fileName) {
			d.note(frontmatter.Warning("file-name", 1, 1, "the file is called "+frontmatter.Show(base)+", which some agents do not find", "Rename it to SKILL.md."))
		}
	}
	v.Name, v.Loaded, v.Repaired = d.Name, d.Loaded, d.Repaired
	v.Diagnostics = append([]diagnostic{}, d.Diagnostics...)
}
