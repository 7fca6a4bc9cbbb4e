package main

import "testing"

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
