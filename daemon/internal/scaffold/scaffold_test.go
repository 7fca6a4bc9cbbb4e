package scaffold

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/conformance"
)

// root is the checkout that the tests run in.
func root(t *testing.T) string {
	t.Helper()
	s, err := FindSDK("../../..", sdk.Version)
	if err != nil {
		t.Fatal(err)
	}
	return s.Checkout
}

// TestEveryKind: what is written is formatted, builds without the network,
// passes its own tests and keeps to the protocol.
func TestEveryKind(t *testing.T) {
	checkout := root(t)
	for _, kind := range Kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := Plugin{Name: "my-" + kind, Kind: kind, Dir: filepath.Join(t.TempDir(), "made", "here"), SDK: SDK{Checkout: checkout}}
			files, err := p.Write()
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"go.mod", "go.sum", "main.go", "main_test.go", "README.md", ".gitignore"} {
				if !slices.Contains(files, want) {
					t.Errorf("%s is not among %v", want, files)
				}
			}
			if out := run(t, p.Dir, "gofmt", "-l", "."); out != "" {
				t.Errorf("gofmt writes otherwise: %s", out)
			}
			run(t, p.Dir, "go", "build", "-ldflags=-s -w")
			run(t, p.Dir, "go", "test", "-vet=off", "-ldflags=-s -w", "./...")
			err = conformance.Binary(t.Context(), conformance.Options{Path: filepath.Join(p.Dir, "bothy-plugin-"+p.Name), Call: true}, func(f conformance.Finding) {
				if f.Severity == conformance.Failed || f.Severity == conformance.Warned {
					t.Errorf("%s: %s: %s", f.Severity, f.Name, f.Text)
				}
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// run runs a command of the plugin's author, who has no network.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "GOPROXY=off", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// TestNeeded: the list of modules is what the go command says the SDK is made of.
func TestNeeded(t *testing.T) {
	var have []string
	out := run(t, root(t), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./sdk/plugin", "./sdk/sdktest", "./sdk/client")
	for m := range strings.FieldsSeq(out) {
		if m != module && !slices.Contains(have, m) {
			have = append(have, m)
		}
	}
	slices.Sort(have)
	if !slices.Equal(have, needed) {
		t.Errorf("needed is\n%q\nand should be\n%q", needed, have)
	}
}

func TestRelease(t *testing.T) {
	p := Plugin{Name: "hello", Kind: "skill", Dir: t.TempDir(), SDK: SDK{Version: "1.2.3"}}
	files, err := p.Write()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(files, "skills/hello/SKILL.md") {
		t.Errorf("%v", files)
	}
	mod, err := os.ReadFile(filepath.Join(p.Dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(mod), "require github.com/bothyd/bothy v1.2.3\n") || strings.Contains(string(mod), "replace") {
		t.Errorf("%s", mod)
	}
}

func TestRefusals(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		p    Plugin
		want sdk.Outcome
		says string
	}{
		{Plugin{Name: "Hello", Kind: "tool"}, sdk.Validation, "cannot be a plugin's name"},
		{Plugin{Name: "../up", Kind: "tool"}, sdk.Validation, "cannot be a plugin's name"},
		{Plugin{Name: strings.Repeat("a", longest+1), Kind: "tool"}, sdk.Validation, "cannot be a plugin's name"},
		{Plugin{Name: "hello", Kind: "tools"}, sdk.Validation, "there are tool, provider"},
		{Plugin{Name: "hello", Kind: "tool", Dir: full}, sdk.Conflict, "holds mine"},
		{Plugin{Name: "hello", Kind: "tool", Dir: filepath.Join(full, "mine")}, sdk.Conflict, "no folder"},
	} {
		c.p.SDK.Version = "1.2.3"
		if _, err := c.p.Write(); sdk.OutcomeOf(err) != c.want || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c.p, err)
		}
	}
	if left, err := os.ReadDir(full); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}

func TestFindSDK(t *testing.T) {
	checkout, nowhere := root(t), t.TempDir()
	for _, c := range []struct {
		named, version string
		near           []string
		want           SDK
		outcome        sdk.Outcome
	}{
		{named: checkout, version: "1.0.0", want: SDK{Checkout: checkout}},
		{named: nowhere, version: "1.0.0", outcome: sdk.NotFound},
		{version: "1.0.0", near: []string{"", nowhere}, want: SDK{Version: "1.0.0"}},
		{version: "1.0.0-dev", near: []string{filepath.Join(checkout, "build", "bin")}, want: SDK{Checkout: checkout}},
		{version: "1.0.0-dev", near: []string{nowhere}, outcome: sdk.NotFound},
	} {
		got, err := FindSDK(c.named, c.version, c.near...)
		if got != c.want || err == nil != (c.outcome == "") || err != nil && sdk.OutcomeOf(err) != c.outcome {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
}

// TestEveryTemplateIsUsed: a template in no folder of a kind would be written
// by nobody.
func TestEveryTemplateIsUsed(t *testing.T) {
	written := map[string]bool{}
	for _, kind := range Kinds {
		files, err := Plugin{Name: "hello", Kind: kind, SDK: SDK{Version: "1.2.3"}}.files()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			written[kind+"/"+filepath.Base(f.path)] = true
			if strings.Contains(string(f.body), "{{") {
				t.Errorf("%s of the kind %s is not filled in", f.path, kind)
			}
		}
	}
	for _, kind := range []string{"tool", "agent"} {
		files, err := Plugin{Name: "hello", Kind: kind, Lang: "python"}.files()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			folder, base := "python", filepath.Base(f.path)
			if f.runs {
				folder, base = kind, "plugin.py"
			}
			written[folder+"/"+strings.TrimPrefix(base, ".")] = true
			if strings.Contains(string(f.body), "{"+"{") {
				t.Errorf("%s is not filled in", f.path)
			}
		}
	}
	err := fs.WalkDir(templates, "templates", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		kind := filepath.Base(filepath.Dir(p))
		if base := strings.TrimSuffix(d.Name(), ".tmpl"); kind != "templates" && !written[kind+"/"+base] {
			return errors.New(p)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
