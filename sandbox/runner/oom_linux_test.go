package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestOOMOfACommand counts in a control group of our own.
func TestOOMOfACommand(t *testing.T) {
	for name, c := range map[string]struct {
		file          string
		before, after int
		ended         bool
		want          bool
	}{
		"v2, the command":          {"memory.events", 1, 2, true, true},
		"v2, a child of it":        {"memory.events", 1, 2, false, true},
		"v2, an earlier command":   {"memory.events", 2, 2, true, false},
		"v1, the command":          {"memory/memory.oom_control", 0, 1, true, true},
		"v1, perhaps another":      {"memory/memory.oom_control", 0, 1, false, false},
		"no control group to see":  {"other", 0, 1, true, false},
		"v1, killed for no memory": {"memory/memory.oom_control", 4, 4, true, false},
	} {
		counter := oomCounter{events: t.TempDir()}
		write := func(kills int) {
			path := filepath.Join(counter.events, c.file)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf("oom_kill_disable 0\nunder_oom 0\noom %d\noom_kill %d\n", kills+7, kills)
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		write(c.before)
		counter.begin()
		write(c.after)
		if got := counter.killed(c.ended); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestParseOOMKills(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want int64
	}{
		"as the kernel writes it": {"low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n", 2},
		"none":                    {"low 0\noom 1\n", 0},
		"empty":                   {"", 0},
		"not a number":            {"oom_kill many\n", 0},
	} {
		if got := parseOOMKills([]byte(c.in)); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}
