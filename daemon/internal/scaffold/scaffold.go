// Package scaffold writes the beginning of a plugin: a Go module that builds,
// passes its own tests and the conformance test, and runs in a daemon; or a script in
// Python with the package that it needs.
package scaffold

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	bothy "github.com/bothyd/bothy"
	"github.com/bothyd/bothy/sdk"
)

//go:embed templates
var templates embed.FS

// Kinds are what a plugin can begin as.
var Kinds = []string{"tool", "provider", "skill", "hook", "channel", "agent"}

// Plugin says what is to be written.
type Plugin struct {
	Name string // the NAME of bothy-plugin-NAME
	Kind string
	Lang string // "go", also when it is empty, or "python", which has the kinds tool and agent
	Dir  string // where; it must be empty, or not there yet
	SDK  SDK
}

// SDK is where the module finds Bothy's: a checkout, or else a released version.
type SDK struct {
	Checkout string // absolute path
	Version  string // without the v
}

var name = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// longest leaves room for the names of sockets and tools.
const longest = 40

// Check says what is wrong with the name or the kind.
func (p Plugin) Check() error {
	switch {
	case !name.MatchString(p.Name) || len(p.Name) > longest:
		return sdk.Errorf(sdk.Validation, "%q cannot be a plugin's name: write lower case letters, digits and single dashes between them, a letter first, at most %d characters", p.Name, longest)
	case !slices.Contains(Kinds, p.Kind):
		return sdk.Errorf(sdk.Validation, "there is no kind %q; there are %s", p.Kind, strings.Join(Kinds, ", "))
	}
	switch p.Lang {
	case "", "go":
	case "python":
		if p.Kind != "tool" && p.Kind != "agent" {
			return sdk.Errorf(sdk.Validation, "in Python only the kinds tool and agent are begun for you: the same folder may have hooks and code skills, which docs/python.md tells of")
		}
	default:
		return sdk.Errorf(sdk.Validation, "plugins are begun in go and python: one in another language speaks plain gRPC, as docs/plugin-protocol.md says, and examples/python-tool is a whole one to begin from")
	}
	return nil
}

// Tool is the plugin's name as the name of a tool.
func (p Plugin) Tool() string { return strings.ReplaceAll(p.Name, "-", "_") }

// Block is what the configuration says to have the plugin run.
func (p Plugin) Block() string {
	path := "/where/it/is/bothy-plugin-" + p.Name
	switch p.Kind {
	case "provider":
		return fmt.Sprintf("provider %q {\n  plugin = %q\n  path   = %q\n}", p.Name, p.Name, path)
	case "channel":
		return fmt.Sprintf("plugin %q {\n  path     = %q\n  grants   = [\"channel\"]\n  projects = [\"/a/project/of/yours\"]\n}", p.Name, path)
	}
	if p.Kind == "agent" {
		return fmt.Sprintf("plugin %q {\n  path   = %q\n  agents = [%q]\n}", p.Name, path, p.Name)
	}
	return fmt.Sprintf("plugin %q {\n  path = %q\n}", p.Name, path)
}

// Write writes the plugin and returns the paths of its files below Dir. It
// overwrites nothing: a folder that holds anything is refused.
func (p Plugin) Write() ([]string, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	files, err := p.files()
	if err != nil {
		return nil, err
	}
	if err := vacant(p.Dir); err != nil {
		return nil, err
	}
	var written []string
	for _, f := range files {
		file := filepath.Join(p.Dir, filepath.FromSlash(f.path))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return written, fmt.Errorf("make the plugin's folder: %w", err)
		}
		if err := create(file, f); err != nil {
			return written, fmt.Errorf("write the plugin: %w", err)
		}
		written = append(written, f.path)
	}
	return written, nil
}

// vacant refuses a folder in which there is something.
func vacant(dir string) error {
	list, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return sdk.Errorf(sdk.Conflict, "%s is there and is no folder that can be read: %w", dir, err)
	case len(list) > 0:
		return sdk.Errorf(sdk.Conflict, "%s is there and holds %s: nothing is overwritten; name another folder with --to", dir, list[0].Name())
	}
	return nil
}

func create(path string, is file) error {
	mode := fs.FileMode(0o644)
	if is.runs {
		mode = 0o755
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(is.body)
	return errors.Join(err, f.Close())
}

// file is one that is written; its path is below the plugin's folder.
type file struct {
	path string
	body []byte
	runs bool // it is a program
}

// files are all that the plugin is made of.
func (p Plugin) files() ([]file, error) {
	folders := []string{"templates", "templates/" + p.Kind}
	var files []file
	if p.Lang == "python" {
		folders = []string{"templates/python", "templates/python/" + p.Kind}
		err := fs.WalkDir(bothy.Python, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			body, err := bothy.Python.ReadFile(name)
			files = append(files, file{path: "bothy/" + path.Base(name), body: body})
			return err
		})
		if err != nil {
			return nil, err
		}
	} else {
		mod, sum, err := p.SDK.module("example.com/bothy-plugin-" + p.Name)
		if err != nil {
			return nil, err
		}
		files = []file{{path: "go.mod", body: mod}, {path: "go.sum", body: sum}}
	}
	for _, folder := range folders {
		list, err := templates.ReadDir(folder)
		if err != nil {
			return nil, err
		}
		for _, entry := range list {
			if entry.IsDir() {
				continue
			}
			t, err := template.ParseFS(templates, path.Join(folder, entry.Name()))
			if err != nil {
				return nil, err
			}
			var body bytes.Buffer
			if err := t.Execute(&body, p); err != nil {
				return nil, err
			}
			name := strings.TrimSuffix(entry.Name(), ".tmpl")
			files = append(files, file{path: p.place(name), body: body.Bytes(), runs: name == "plugin.py"})
		}
	}
	return files, nil
}

// place is where a template goes, which may not keep its name.
func (p Plugin) place(name string) string {
	switch name {
	case "SKILL.md":
		return path.Join("skills", p.Name, name)
	case "plugin.py":
		return "bothy-plugin-" + p.Name
	case "gitignore":
		return ".gitignore"
	}
	return name
}
