package main

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/kept"
	"github.com/bothyd/bothy/sdk/protect"
)

// The limits on a path. The depth also bounds how many folders are open at once.
const (
	maxPath  = 4096
	maxDepth = 128
)

// project is the project directory of one call. Everything goes through root,
// so that no name, no ".." and no symbolic link leads out of it.
type project struct {
	dir   string
	root  *os.Root
	rules protect.Rules
	most  int64  // bytes of a file that one call reads, writes or edits
	at    string // what its paths are shown below; empty for a project

	base    string // what a person agreed to; empty when nobody was asked
	agreed  *plan  // the plan that it stands for
	staging bool   // nothing is done: a person is to be shown what would be

	held   []string // paths that a command changed and a person has not agreed to
	looked []string // those of them that were read

	given given // what the run may change

	unsaved map[string]string // texts that a person's editor has otherwise than the disk
	shows   bool              // one of them is what the result has
	unsure  []string          // files of which that editor does not say how it has them

	changes  changes
	kept     kept.Store // of what they replace; its zero value is none
	attempts attempts
}

// openProject opens the directory that the host named; the caller closes it.
func openProject(dir string) (*project, error) {
	if !filepath.IsAbs(dir) {
		return nil, sdk.Errorf(sdk.Validation, "the call names no project directory; start it in a project or name one with --project")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fault("open the project", dir, err)
	}
	return &project{dir: dir, root: root}, nil
}

func (p *project) close() { _ = p.root.Close() } // nothing was written through it

// clean checks a path as a model wrote it and returns it relative to the
// project without "." and inner "..". Absolute paths, "~" and anything that
// leads out are outcome permission.
func (p *project) clean(name string) (string, error) {
	if p.at != "" { // openFor saw that it lies there
		name = "." + strings.TrimPrefix(path.Clean(name), p.at)
	}
	switch {
	case name == "":
		return "", sdk.Errorf(sdk.Validation, "the path is empty; name a file or folder of the project, such as src/main.go")
	case strings.ContainsRune(name, 0):
		return "", sdk.Errorf(sdk.Validation, "the path %q holds a NUL character; no file can have such a name", name)
	case len(name) > maxPath:
		return "", sdk.Errorf(sdk.Validation, "the path is %d bytes long; at most %d can be used", len(name), maxPath)
	case isSkill(name):
		return "", sdk.Errorf(sdk.Permission, "%s belongs to a skill, and skills can only be read; write into the project, with a relative path", shown(name))
	case name[0] == '/':
		if inside, ok := strings.CutPrefix(path.Clean(name), p.dir+"/"); ok {
			return "", sdk.Errorf(sdk.Permission, "%s is absolute; paths are relative to the project, so write %s", shown(name), shown(inside))
		}
		return "", sdk.Errorf(sdk.Permission, "%s is absolute; only paths relative to the project can be used", shown(name))
	case name[0] == '~':
		return "", sdk.Errorf(sdk.Permission, "%s: ~ is not expanded, and no home directory can be reached; for a file of that name write ./%s", shown(name), shown(name))
	}
	clean := path.Clean(name)
	if clean == ".." || strings.HasPrefix(clean, "../") {
		return "", sdk.Errorf(sdk.Permission, "%s leads outside the project; only files inside it can be used", shown(name))
	}
	if strings.Count(clean, "/") >= maxDepth {
		return "", sdk.Errorf(sdk.Validation, "%s is more than %d folders deep", shown(name), maxDepth)
	}
	return clean, nil
}
