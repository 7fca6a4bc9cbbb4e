package config

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy"
)

// BenchmarkLoad reads the built-in configuration, and one of a person who has a lot of it.
func BenchmarkLoad(b *testing.B) {
	var many strings.Builder
	for n := range 100 {
		fmt.Fprintf(&many, "plugin \"p%d\" {\n  path   = \"/p\"\n  url    = env(\"X\", \"y\")\n  grants = [\"tools\"]\n}\nagent \"a%d\" {\n  max_turns = %d\n}\nrule \"r%d\" {\n  decision = \"deny\"\n  tools    = [\"t%d\"]\n}\n", n, n, n+1, n, n)
	}
	for name, text := range map[string]string{"nothing": "", "many": many.String()} {
		path := filepath.Join(b.TempDir(), "config.hcl")
		writeFile(b, path, text)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				cfg, diags := loadFrom(Source{Defaults: bothy.DefaultConfig, DefaultsName: bothy.DefaultConfigName, Path: path, Getenv: environment(), Secrets: &Secrets{}})
				if cfg == nil {
					b.Fatal(diags)
				}
			}
		})
	}
}

// BenchmarkEdit puts a block into a long file and takes it out.
func BenchmarkEdit(b *testing.B) {
	text := []byte(strings.Repeat("# a comment\nagent \"a\" {\n  tools = [\"*\"]\n}\n", 1000))
	text = []byte(strings.ReplaceAll(string(text), "agent \"a\"", "x \"a\""))
	for b.Loop() {
		with, err := setSkill(text, "x", "s", false)
		if err == nil {
			_, err = unsetSkill(with, "x", "s")
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWorkspace reads the own file of a project, as each decision about a call in it does.
func BenchmarkWorkspace(b *testing.B) {
	cfg, _ := load(b, "")
	for name, text := range map[string]string{
		"none": "", "usual": "workspace {\n  agent = \"chat\"\n  deny  = [\"bash\"]\n}\nrule \"careful\" {\n  decision = \"propose\"\n  paths    = [\"db/**\"]\n}\nguard {\n  max_turns = 5\n}\nprotect {\n  refuse = [\"keys/**\"]\n}\n",
	} {
		project := b.TempDir()
		if text != "" {
			writeFile(b, WorkspaceFile(project), text)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if w, diags := WorkspaceOf(project, cfg); diags.HasErrors() || (w.Guards.MaxTurns > 0) != (text != "") {
					b.Fatal(w, diags)
				}
			}
		})
	}
}
