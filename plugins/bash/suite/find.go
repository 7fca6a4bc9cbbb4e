package suite

import (
	"encoding/json"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Found is a way to run tests.
type Found struct {
	Framework string
	Command   string // a plain line for the folder that it was found for
}

// folder is a folder of a project that is looked at.
type folder struct {
	project fs.FS
	at      string
}

// mostRead is how much of one file is read to know what it is.
const mostRead = 1 << 20

// read is a file of the folder; one that is not there is empty.
func (f folder) read(name string) string {
	at := path.Join(f.at, name)
	if info, err := fs.Stat(f.project, at); err != nil || !info.Mode().IsRegular() { // a pipe would never open
		return ""
	}
	file, err := f.project.Open(at)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()                   // it was only read
	text, _ := io.ReadAll(io.LimitReader(file, mostRead)) // what was read says what it says
	return string(text)
}

// has reports whether there is something of a name.
func (f folder) has(name string) bool {
	_, err := fs.Stat(f.project, path.Join(f.at, name))
	return err == nil
}

// entries are what is in a folder below this one.
func (f folder) entries(name string) []fs.DirEntry {
	all, _ := fs.ReadDir(f.project, path.Join(f.at, name)) // none
	return all
}

// look says how the tests of a folder are run by each framework; an empty command is that there is no sign of it.
var look = map[string]func(folder) string{
	Go:       findGo,
	Cargo:    findCargo,
	Pytest:   findPytest,
	Unittest: findUnittest,
	NPM:      findNPM,
	Make:     findMake,
}

// Find is how the tests of a folder of a project are run: by the framework that is named, else by the one that it shows
// signs of. A Makefile counts where there is nothing else. More than one, or none, is an error that says what there is.
func Find(project fs.FS, dir, framework string) (Found, error) {
	f := folder{project, path.Clean(dir)}
	if info, err := fs.Stat(project, f.at); err != nil || !info.IsDir() {
		return Found{}, sdk.Errorf(sdk.NotFound, "there is no folder %.200q in the project", dir)
	}
	if framework != "" {
		if command := look[framework](f); command != "" {
			return Found{framework, command}, nil
		}
		return Found{}, sdk.Errorf(sdk.NotFound, "nothing %s has tests of %s%s", f.words(), framework, f.instead(framework))
	}
	var all []Found
	for _, name := range Frameworks() {
		if name == Make && len(all) > 0 {
			break
		}
		if command := look[name](f); command != "" {
			all = append(all, Found{name, command})
		}
	}
	switch len(all) {
	case 0:
		return Found{}, sdk.Errorf(sdk.NotFound, "no tests were found %s%s", f.words(), f.instead(""))
	case 1:
		return all[0], nil
	}
	var names []string
	for _, one := range all {
		names = append(names, one.Framework)
	}
	return Found{}, sdk.Errorf(sdk.Validation, "there are tests of %s %s: name one of them as framework", strings.Join(names, " and "), f.words())
}

// words say where the folder is.
func (f folder) words() string {
	if f.at == "." {
		return "in the root of the project"
	}
	return "in " + f.at
}

// mostNamed is how many folders with tests an error names.
const mostNamed = 8

// instead names the folders below this one, two levels down, in which there are tests.
func (f folder) instead(framework string) string {
	var found []string
	below := []string{f.at}
	for range 2 {
		var next []string
		for _, dir := range below {
			for _, e := range (folder{f.project, dir}).entries(".") {
				if !e.IsDir() || strings.HasPrefix(e.Name(), ".") || slices.Contains(notOwn, e.Name()) || len(next) == 1000 {
					continue
				}
				at := path.Join(dir, e.Name())
				next = append(next, at)
				for _, name := range Frameworks() {
					if (framework == "" || framework == name) && name != Make && look[name](folder{f.project, at}) != "" {
						found = append(found, at+" ("+name+")")
						break
					}
				}
			}
		}
		below = next
	}
	switch {
	case len(found) == 0 && framework == "":
		return "; known are " + strings.Join(Frameworks(), ", ") + ", and a person can name the command in the configuration (project { tests { command } })"
	case len(found) == 0:
		return ""
	}
	return "; name as dir one of " + strings.Join(found[:min(len(found), mostNamed)], ", ")
}

// notOwn are folders with what others wrote.
var notOwn = []string{"node_modules", "vendor", "target", "build", "dist", "venv", "__pycache__"}

func findGo(f folder) string {
	if !f.has("go.mod") {
		return ""
	}
	return "go test -json ./..."
}

func findCargo(f folder) string {
	if !f.has("Cargo.toml") {
		return ""
	}
	return "cargo test --workspace --no-fail-fast"
}

// findNPM finds the script test of a package, which is not the one that npm puts there to say that there is none.
func findNPM(f folder) string {
	var p struct {
		Scripts map[string]any `json:"scripts"`
	}
	text := f.read("package.json")
	if text == "" || json.Unmarshal([]byte(text), &p) != nil {
		return ""
	}
	script, _ := p.Scripts["test"].(string)
	if strings.TrimSpace(script) == "" || strings.Contains(script, "no test specified") {
		return ""
	}
	return "npm test"
}

// makeTarget is a rule for a target test or check.
var makeTarget = regexp.MustCompile(`(?m)^(test|check)[ \t]*::?(?:[^=]|$)`)

func findMake(f folder) string {
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} { // as make looks
		text := f.read(name)
		if text == "" {
			continue
		}
		target := ""
		for _, m := range makeTarget.FindAllStringSubmatch(text, -1) {
			if target = m[1]; target == "test" {
				break
			}
		}
		if target == "" {
			return ""
		}
		return "make " + target
	}
	return ""
}
