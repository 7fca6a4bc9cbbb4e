//go:build linux

package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestProbing(t *testing.T) {
	v := sharedViewer(t)
	top := t.TempDir()
	memory := filepath.Join(otherFileSystem(t), "views")
	at := func(path string) string { return filepath.Join(top, path) }
	for _, dir := range []string{"project/sub", "views", "open", "around/project"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(at("open"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("project"), at("link")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		project string
		dirs    []string
		mount   string // on the folder sub
		dir     string
		copied  bool
		reason  string
	}{
		"beside":             {project: "project", dirs: []string{at("views"), memory}, dir: at("views")},
		"not there yet":      {project: "project", dirs: []string{at("new")}, dir: at("new")},
		"no way there":       {project: "project", dirs: []string{at("no/new"), at("views")}, dir: at("views")},
		"in memory":          {project: "project", dirs: []string{memory}, dir: memory, copied: true},
		"the second":         {project: "project", dirs: []string{at("open"), memory}, dir: memory, copied: true},
		"without a project":  {dirs: []string{at("views")}, dir: at("views")},
		"somebody else's":    {project: "project", dirs: []string{at("open")}, reason: "not yours alone"},
		"inside":             {project: "project", dirs: []string{at("project/sub")}, reason: "lies inside the project"},
		"around":             {project: "around/project", dirs: []string{at("around")}, reason: "the project lies inside of it"},
		"no folder":          {project: "project", dirs: []string{"/proc/views"}, reason: "/proc/views: "},
		"a link":             {project: "link", dirs: []string{at("views")}, reason: "cannot be opened"},
		"missing":            {project: "missing", dirs: []string{at("views")}, reason: "no such file"},
		"a mount below":      {project: "project", dirs: []string{at("views")}, mount: "mount -t tmpfs none sub", reason: "sub is mounted inside the project"},
		"read-only":          {project: "project/sub", dirs: []string{at("views")}, mount: "mount -t tmpfs -o ro none sub", reason: "read-only"},
		"not to be written":  {project: "../../../../../../../../../../usr", dirs: []string{at("views")}, reason: "may not be written to"},
		"on proc":            {project: "../../../../../../../../../../proc/self/task", dirs: []string{at("views")}, reason: "cannot be opened"},
		"changes on overlay": {project: "project", dirs: []string{at("project/sub/m/views")}, mount: "mkdir -p sub/l sub/u sub/w sub/m ../gone; mount -t overlay -o userxattr,lowerdir=sub/l,upperdir=sub/u,workdir=sub/w none sub/m", reason: "is mounted inside the project"},
		"upper on overlay":   {project: "around", dirs: []string{at("project/sub/m/views")}, mount: "mkdir -p sub/l sub/u sub/w sub/m; mount -t overlay -o userxattr,lowerdir=sub/l,upperdir=sub/u,workdir=sub/w none sub/m", reason: "mounts no overlay with its changes there"},
		"project on overlay": {project: "project/sub/m", dirs: []string{at("views")}, mount: "mkdir -p sub/l sub/u sub/w sub/m; mount -t overlay -o userxattr,lowerdir=sub/l,upperdir=sub/u,workdir=sub/w none sub/m", dir: at("views"), copied: true},
		"changes on ramfs":   {project: "around", dirs: []string{at("project/sub/views")}, mount: "mount -t ramfs none sub && chmod 700 sub", reason: "in an overlay with its changes there, one cannot"},
		"little space":       {project: "around", dirs: []string{at("project/sub/views")}, mount: "mount -t tmpfs -o size=1m,mode=700 none sub", reason: "it has 1 MB free"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.mount != "" {
				if out, err := inNamespaces(t, at("project"), c.mount); err != nil {
					t.Fatal(out, err)
				}
				defer func() { // also of what is mounted in what is mounted
					if out, err := inNamespaces(t, at("project"), "umount -l sub/m 2>/dev/null || umount -l sub; rm -rf sub/*"); err != nil {
						t.Error(out, err)
					}
				}()
			}
			project := c.project
			if project != "" {
				project = at(project)
			}
			there := func() string {
				out, err := inNamespaces(t, top, "find . "+filepath.Dir(memory))
				if err != nil {
					t.Error(out, err)
				}
				return out
			}
			before := there()
			p, err := v.probe(t.Context(), project, c.dirs)
			if err != nil || p.Dir != c.dir || p.Copied != c.copied || !strings.Contains(p.Reason, c.reason) || (p.Reason == "") != (c.reason == "") {
				t.Errorf("got %+v %v", p, err)
			}
			if after := there(); after != before {
				t.Errorf("something was left: %s", after)
			}
		})
	}
}
