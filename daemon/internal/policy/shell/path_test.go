package shell

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var here = Place{Workspace: "/workspace", Dir: "/workspace/src", Home: "/home/bothy"}

func TestResolve(t *testing.T) {
	for _, c := range []struct {
		operand, abs string
		write, read  bool
	}{
		{"main.go", "/workspace/src/main.go", true, true},
		{"./a/../b", "/workspace/src/b", true, true},
		{"../x", "/workspace/x", true, true},
		{"../..", "/", false, false},
		{"../../x", "/x", false, false},
		{"a/../../../b", "/b", false, false},
		{"..", "/workspace", false, true},
		{".", "/workspace/src", true, true},
		{"", "/workspace/src", true, true},
		{"/workspace/", "/workspace", false, true},
		{"/workspace2/x", "/workspace2/x", false, false},
		{"//workspace//x", "/workspace/x", true, true},
		{"/etc/hosts", "/etc/hosts", false, false},
		{"/tmp/x", "/tmp/x", false, false},
		{"-", "-", true, true},
		{"~", "/home/bothy", false, false},
		{"~/x", "/home/bothy/x", false, false},
		{"~root/x", "/home/~root/x", false, false},
		{"~+/x", "/home/~+/x", false, false},
		{"~-", "/home/~-", false, false},
		{"../.git/config", "/workspace/.git/config", false, true},
		{"../.git", "/workspace/.git", false, true},
		{"../.GIT/hooks/pre-commit", "/workspace/.GIT/hooks/pre-commit", false, true},
		{"../.bothy/config.hcl", "/workspace/.bothy/config.hcl", false, true},
		{"../.agents", "/workspace/.agents", false, true},
		{"../.claude", "/workspace/.claude", false, true},
		{"../.claude/skills/x", "/workspace/.claude/skills/x", false, true},
		{"../.claude/notes", "/workspace/.claude/notes", false, true},
		{"../bothy.lock", "/workspace/bothy.lock", false, true},
		{"../bothy.lock2", "/workspace/bothy.lock2", true, true},
		{"sub/.git/config", "/workspace/src/sub/.git/config", false, true},
	} {
		abs, inside := here.resolve(c.operand)
		if abs != c.abs || inside != c.write {
			t.Errorf("resolve(%q) = %q, %t; want %q, %t", c.operand, abs, inside, c.abs, c.write)
		}
		abs, inside = here.resolveRead(c.operand)
		if abs != c.abs || inside != c.read {
			t.Errorf("resolveRead(%q) = %q, %t; want %q, %t", c.operand, abs, inside, c.abs, c.read)
		}
	}
}

func TestNothingIsInsideNoWorkspace(t *testing.T) {
	for _, operand := range []string{"a", "/", "/workspace/x", "."} {
		if abs, inside := (Place{}).resolveRead(operand); inside {
			t.Errorf("resolveRead(%q) = %q, inside, though there is no workspace", operand, abs)
		}
	}
}

// What is inside has the workspace's path in front and no dots in it, whatever
// was asked.
func TestInsideIsBelow(t *testing.T) {
	part := rapid.SampledFrom([]string{"a", "..", ".", "", "~", "-", "workspace", ".git", "etc", "...", ".. "})
	rapid.Check(t, func(t *rapid.T) {
		operand := strings.Join(rapid.SliceOfN(part, 0, 8).Draw(t, "parts"), "/")
		abs, inside := here.resolve(operand)
		if !inside || abs == "-" {
			return
		}
		if !strings.HasPrefix(abs, "/workspace/") || strings.Contains(abs+"/", "/../") || strings.Contains(abs+"/", "/.git/") {
			t.Fatalf("resolve(%q) = %q, inside", operand, abs)
		}
	})
}

func TestSecret(t *testing.T) {
	for abs, want := range map[string]bool{
		"/home/bothy/.ssh/id_ed25519":  true,
		"/root/.ssh":                   true,
		"/workspace/.env":              true,
		"/workspace/a/.ENV":            true,
		"/workspace/prod.env":          true,
		"/workspace/.env.local":        true,
		"/workspace/.env.example":      false,
		"/workspace/.environment":      false,
		"/workspace/env":               false,
		"/proc/self/environ":           true,
		"/proc/1/task/1/environ":       true,
		"/proc/cpuinfo":                false,
		"/workspace/environ":           false,
		"/home/x/.aws/credentials":     true,
		"/home/x/.config/gh/hosts.yml": true,
		"/home/x/.docker/config.json":  true,
		"/etc/shadow":                  true,
		"/etc/hosts":                   false,
		"/run/secrets/db":              true,
		"/workspace/tls/server.key":    true,
		"/workspace/tls/cert.pem":      false,
		"/workspace/id_rsa":            true,
		"/workspace/id_rsa.pub":        false,
	} {
		if got := secret(abs); got != want {
			t.Errorf("secret(%q) = %t", abs, got)
		}
	}
}
