package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// edits are all that changes a configuration or a lock that lies at path. Each changes what
// editedFile says.
var edits = map[string]func(path string) (bool, error){
	"SetSkill":   func(path string) (bool, error) { return SetSkill(path, "tidy", true) },
	"UnsetSkill": func(path string) (bool, error) { return UnsetSkill(path, "tidy") },
	"SetPlugin": func(path string) (bool, error) {
		return SetPlugin(path, PluginEdit{Kind: "plugin", Label: "hello", Path: "/new"})
	},
	"RemoveBlock": func(path string) (bool, error) { return RemoveBlock(path, "plugin", "hello") },
	"EditLock": func(path string) (bool, error) {
		was, now, err := EditLock(path, func(l *Lock) error {
			l.Plugins["hello"] = Locked{Plugin: "hello", Version: "2", Digest: someDigest}
			return nil
		})
		return len(DiffLock(was, now)) > 0, err
	},
}

// editedFile is a file that each of the edits changes, with comments around what it changes;
// kept are its lines that no edit touches, in their order.
func editedFile(verb string) (text string, kept []string) {
	if verb == "EditLock" {
		kept = []string{"# of aaa", `plugin "aaa" {`, "# inside", "# of hello", "# why", "# of zzz", `plugin "zzz" {`, "# the end"}
		digest := "  digest = \"" + someDigest + "\"\n"
		return "version = 2\n\n# of aaa\nplugin \"aaa\" {\n  # inside\n" + digest + "}\n\n# of hello\nplugin \"hello\" {\n  # why\n  version = \"1\" \n" + digest + "}\n\n# of zzz\nplugin \"zzz\" {\n" + digest + "}\n\n# the end\n", kept
	}
	kept = []string{"# mine", "log {", "level = \"debug\" # loud", "# of hello", "# of tidy", "// after", `agent "a" {`, "/* the", "end */"}
	return "# mine\nlog {\n\tlevel = \"debug\" # loud\n}\n\n# of hello\nplugin \"hello\" {\n  path = \"/old\"\n}\n\n# of tidy\nskill \"tidy\" {\n  enabled = false\n}\n// after\n\nagent \"a\" {\n}\n/* the\nend */\n", kept
}

// inThisOrder reports the first line that does not stand behind the one before it.
func inThisOrder(text string, lines []string) string {
	for _, line := range lines {
		_, rest, found := strings.Cut(text, line)
		if !found {
			return line
		}
		text = rest
	}
	return ""
}

// TestEveryEditKeeps: comments and order stay, with either end of line, and also where the file
// is reached by links; the mode stays, and nothing else is left in the folder.
func TestEveryEditKeeps(t *testing.T) {
	for verb, do := range edits {
		for _, eol := range []string{"\n", "\r\n"} {
			for _, links := range []int{0, 1, 2} {
				text, kept := editedFile(verb)
				dir := t.TempDir()
				real, path := filepath.Join(dir, "real", "file.hcl"), filepath.Join(dir, "real", "file.hcl")
				writeFile(t, real, strings.ReplaceAll(text, "\n", eol))
				if err := os.Chmod(real, 0o640); err != nil {
					t.Fatal(err)
				}
				for n := range links {
					link := filepath.Join(dir, strings.Repeat("l", n+1))
					if err := os.Symlink(path, link); err != nil {
						t.Fatal(err)
					}
					path = link
				}
				changed, err := do(path)
				after := read(t, real)
				if err != nil || !changed || after == strings.ReplaceAll(text, "\n", eol) {
					t.Errorf("%s, %q, %d links: changed %v, %v", verb, eol, links, changed, err)
				}
				if lost := inThisOrder(after, kept); lost != "" {
					t.Errorf("%s, %q: %q is gone, or elsewhere:\n%s", verb, eol, lost, after)
				}
				if bare := strings.Count(after, "\n") - strings.Count(after, "\r\n"); eol == "\r\n" && bare > 0 && verb != "EditLock" {
					t.Errorf("%s: %d lines end otherwise:\n%q", verb, bare, after)
				}
				info, err := os.Lstat(real)
				if err != nil || info.Mode() != 0o640 {
					t.Errorf("%s: %v %v", verb, info.Mode(), err)
				}
				if files, err := os.ReadDir(filepath.Dir(real)); err != nil || len(files) != 1 {
					t.Errorf("%s leaves %v %v", verb, files, err)
				}
				if links > 0 {
					if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
						t.Errorf("%s: the link is one no more: %v %v", verb, info.Mode(), err)
					}
				}
				if again, err := do(path); again || err != nil || read(t, real) != after {
					t.Errorf("%s, the second time: %v %v", verb, again, err)
				}
			}
		}
	}
}

// TestEveryEditRefuses: a file that was written half, that is no file, or that leads nowhere is
// left as it is, and the error says where.
func TestEveryEditRefuses(t *testing.T) {
	for verb, do := range edits {
		text, _ := editedFile(verb)
		for at := range len(text) { // what an editor that was stopped leaves
			half := text[:at]
			if at == 0 || strings.Count(half, "{") == strings.Count(half, "}") {
				continue // it may be whole
			}
			path := filepath.Join(t.TempDir(), "file.hcl")
			writeFile(t, path, half)
			changed, err := do(path)
			if changed || sdk.OutcomeOf(err) != sdk.Validation || !strings.Contains(err.Error(), path+":") || read(t, path) != half {
				t.Fatalf("%s of the first %d bytes: %v %v", verb, at, changed, err)
			}
		}
		dir := t.TempDir()
		nowhere, loop, below := filepath.Join(dir, "nowhere"), filepath.Join(dir, "loop"), filepath.Join(dir, "plain", "file.hcl")
		writeFile(t, filepath.Join(dir, "plain"), "")
		if err := errors.Join(os.Symlink(filepath.Join(dir, "none"), nowhere), os.Symlink(loop, loop)); err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]sdk.Outcome{nowhere: sdk.Conflict, loop: sdk.Conflict, dir: sdk.Conflict, below: sdk.Conflict} {
			if changed, err := do(path); changed || sdk.OutcomeOf(err) != want {
				t.Errorf("%s of %s: %v %v", verb, path, changed, err)
			}
		}
	}
}

// TestEditBeginsAnew: what an editor saves while an edit is made is edited in its place, and
// somebody who saves each time is told of.
func TestEditBeginsAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.hcl")
	writeFile(t, path, "# one\n")
	rounds := 0
	changed, err := edit(path, func(text []byte) ([]byte, error) {
		if rounds++; rounds == 1 {
			writeFile(t, path, "# saved meanwhile\n")
		}
		return append(text, "# edited\n"...), nil
	})
	if err != nil || !changed || rounds != 2 || read(t, path) != "# saved meanwhile\n# edited\n" {
		t.Errorf("%d rounds: %v %v %q", rounds, changed, err, read(t, path))
	}
	rounds = 0
	changed, err = edit(path, func(text []byte) ([]byte, error) {
		rounds++
		writeFile(t, path, strings.Repeat("# again\n", rounds))
		return append(text, "# edited\n"...), nil
	})
	if changed || sdk.OutcomeOf(err) != sdk.Conflict || rounds != editTries || strings.Contains(read(t, path), "edited") {
		t.Errorf("%d rounds: %v %v %q", rounds, changed, err, read(t, path))
	}
	own := errors.New("no")
	if changed, err := edit(path, func([]byte) ([]byte, error) { return nil, own }); changed || !errors.Is(err, own) {
		t.Errorf("%v %v", changed, err)
	}
	for _, name := range []string{"new/config.hcl", "new/lower/config.hcl"} { // folders are made
		fresh := filepath.Join(t.TempDir(), name)
		if changed, err := SetSkill(fresh, "tidy", false); err != nil || !changed {
			t.Errorf("%s: %v %v", name, changed, err)
		}
		if info, err := os.Stat(filepath.Dir(fresh)); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
}

// TestConfineIsWritten: a new block, and one without a confine block, has what is open, and
// nothing else; one that has its own keeps it.
func TestConfineIsWritten(t *testing.T) {
	for name, c := range map[string]struct {
		confine *Confine
		text    string
		want    string
	}{
		"nothing":    {nil, "", "plugin \"s\" {\n  path = \"/x\"\n}\n"},
		"closed":     {&Confine{}, "", "plugin \"s\" {\n  path = \"/x\"\n  confine {\n  }\n}\n"},
		"everything": {&Confine{Paths: []string{"/a", "/${b}"}, ReadPaths: []string{"~/c"}, Network: true, BestEffort: true}, "", "plugin \"s\" {\n  path = \"/x\"\n  confine {\n    best_effort = true\n    network     = true\n    paths       = [\"/a\", \"/$${b}\"]\n    read_paths  = [\"~/c\"]\n  }\n}\n"},
		"lacking":    {&Confine{Network: true}, "plugin \"s\" {\n  path = \"/x\" # here\n}\n", "plugin \"s\" {\n  path = \"/x\" # here\n  confine {\n    network = true\n  }\n}\n"},
		"in a line":  {&Confine{}, "plugin \"s\" { path = \"/x\" }\r\n", "plugin \"s\" {\r\n  path = \"/x\" \r\n  confine {\r\n  }\r\n}\r\n"},
		"is there":   {&Confine{Network: true}, "plugin \"s\" {\n  path = \"/x\"\n  confine {}\n}\n", "plugin \"s\" {\n  path = \"/x\"\n  confine {}\n}\n"},
	} {
		e := PluginEdit{Kind: "plugin", Label: "s", Path: "/x", Confine: c.confine}
		got, err := setPlugin([]byte(c.text), "config.hcl", e)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, c.want)
			continue
		}
		if cfg := usable(t, filepath.Join(t.TempDir(), "config.hcl"), string(got)); c.confine != nil && cfg.Plugins[len(cfg.Plugins)-1].Confine == nil {
			t.Errorf("%s: it is read as unconfined", name)
		}
	}
}
