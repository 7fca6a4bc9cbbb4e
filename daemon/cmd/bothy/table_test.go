package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestTablesFitTheTerminal: its lines are not broken by it, and what is no
// terminal gets every cell whole.
func TestTablesFitTheTerminal(t *testing.T) {
	long := strings.Repeat("ä ", 100)
	header := []string{"NAME", "WHAT"}
	rows := [][]string{{"a", long}, {"bcdefgh", "/" + long + "/end"}, {"c", ""}}
	for _, terminal := range []bool{true, false} {
		var out bytes.Buffer
		c := &console{out: &out, outTTY: terminal}
		if err := c.table(header, rows); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		for _, line := range lines {
			if n := utf8.RuneCountInString(line); terminal && n > 80 {
				t.Errorf("%d characters: %s", n, line)
			}
		}
		if whole := strings.Contains(out.String(), long); whole == terminal {
			t.Errorf("on a terminal %v: %s", terminal, out.String())
		}
		if !strings.HasSuffix(lines[2], "/end") || lines[3] != "c        -" {
			t.Errorf("%q", lines[2:])
		}
	}
	names := [][]string{{"N", "M", "W"}, {strings.Repeat("n", 50), strings.Repeat("m", 40), "what there is to say of it"}}
	narrow(names, 80)
	if names[1][2] != "what there is t…" {
		t.Errorf("no room: %q", names[1][2])
	}
}
