package opening

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/config"
)

// homeWith is a home with programs and folders, and a PATH that leads to its programs.
func homeWith(t *testing.T) string {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home = filepath.Join(home, "me")
	for _, dir := range []string{"notes", ".ssh", ".local/bin", ".local/lib", ".cargo/bin", "node/bin", "node/lib"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		".cargo/bin/rusty": "x", ".local/bin/tool": "x", "node/bin/nodex": "x", "node/lib/cli.js": "#!/usr/bin/env -S nodex\n",
		".cargo/bin/docker": "x", ".cargo/bin/npx": "x", "notes/a.txt": "x", ".netrc": "x",
	} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"node/bin/cli": "../lib/cli.js", "hidden": ".ssh", "root": "/"} {
		if err := os.Symlink(to, filepath.Join(home, link)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", home)
	t.Setenv("PATH", strings.Join([]string{home + "/.cargo/bin", home + "/.local/bin", home + "/node/bin"}, ":"))
	return home
}

// TestOf: what a command line opens is what it needs, and each opening is told.
func TestOf(t *testing.T) {
	home := homeWith(t)
	for name, c := range map[string]struct {
		command string
		args    []string
		reads   []string
		network bool
		open    bool // confined = false
		says    []string
	}{
		"a folder":         {command: "/x", args: []string{home + "/notes"}, reads: []string{"notes"}, says: []string{"paths = [\"" + home + "/notes\"] in its confine block lets it write"}},
		"a file":           {command: "/x", args: []string{home + "//notes/./a.txt"}, reads: []string{"notes/a.txt"}, says: []string{"It may read"}},
		"the root":         {command: "/x", args: []string{"/", "//", "/./", "/root/.."}, says: []string{"It names /: "}},
		"the home":         {command: "/x", args: []string{home, home + "/", home + "/notes/.."}, says: []string{"It names " + home + ": "}},
		"above the home":   {command: "/x", args: []string{filepath.Dir(home), home + "/../"}, says: []string{"It names"}},
		"hidden":           {command: "/x", args: []string{home + "/.ssh", home + "/notes/../.ssh", home + "/.netrc", home + "/.local/lib"}, says: []string{"It names " + home + "/.ssh: "}},
		"by a link":        {command: "/x", args: []string{home + "/hidden", home + "/root"}, says: []string{"It names " + home + "/hidden: "}},
		"the machine":      {command: "/x", args: []string{"/etc", "/etc/hosts", "/proc", "/sys", "/dev", "/dev/null", "/run"}, says: []string{"It names /etc/hosts: "}},
		"docker":           {command: "docker", args: []string{home + "/notes"}, open: true, says: []string{"It has confined = false"}},
		"docker by a path": {command: home + "/.cargo/bin/docker", reads: []string{".cargo/bin/docker"}},
		"npx":              {command: "npx", reads: []string{".cargo/bin/npx"}, network: true, says: []string{"It has network = true"}},
		"npx by a path":    {command: home + "/.cargo/bin/npx", reads: []string{".cargo/bin/npx"}},
		"of cargo":         {command: "rusty", reads: []string{".cargo/bin/rusty"}},
		"of local":         {command: "tool", reads: []string{".local/bin/tool", ".local/lib"}},
		"a script":         {command: "cli", reads: []string{"node/bin/cli", "node/lib", "node/bin/nodex"}},
		"not there":        {command: "/x", args: []string{home + "/missing", "relative"}},
	} {
		t.Run(name, func(t *testing.T) {
			var e config.MCPEdit
			notes := strings.Join(Of(&e, c.command, c.args, true), "\n")
			var want []string
			for _, path := range c.reads {
				want = append(want, filepath.Join(home, path))
			}
			if !slices.Equal(e.Confine.ReadPaths, want) || len(e.Confine.Paths) > 0 || e.Confine.Network != c.network || e.Unconfined != c.open {
				t.Errorf("%+v, want to read %q", e, want)
			}
			for _, part := range c.says {
				if !strings.Contains(notes, part) {
					t.Errorf("%q lacks %q", notes, part)
				}
			}
			if len(c.says) == 0 && notes != "" {
				t.Errorf("it says %q", notes)
			}
			// Nothing is open to one of a file that was named; all is told.
			e = config.MCPEdit{}
			notes = strings.Join(Of(&e, c.command, c.args, false), "\n")
			if len(e.Confine.ReadPaths)+len(e.Confine.Paths) > 0 || e.Confine.Network || e.Unconfined {
				t.Errorf("named: %+v", e)
			}
			for _, path := range want {
				if !strings.Contains(notes, "\""+path+"\"] in its confine block opens it") {
					t.Errorf("named: %q does not say how to open %s", notes, path)
				}
			}
			if c.network != strings.Contains(notes, "network = true") || c.open != strings.Contains(notes, "confined = false") {
				t.Errorf("named: %q", notes)
			}
		})
	}
}

// TestByFlag: what the person opens is not opened again, and is told.
func TestByFlag(t *testing.T) {
	home := homeWith(t)
	e := config.MCPEdit{Confine: config.Confine{Paths: []string{home + "/notes/"}, Network: true}}
	if notes := Of(&e, "/x", []string{home + "/notes"}, true); len(e.Confine.ReadPaths) > 0 || len(notes) != 1 || !strings.Contains(notes[0], "network = true") {
		t.Errorf("%+v %q", e, notes)
	}
}
