package shell

import (
	"slices"
	"strings"
	"testing"
)

// verbs are what an instruction to a model begins with; "only" stands before one.
var verbs = strings.Fields("call close compare correct do give leave name only pass print put quote read redirect rename run save say send stay test use work write")

// TestTwoTexts: whatever is not harmless has a reason for the person, and for the model
// what to do instead, which begins with a verb; neither says what the other does.
func TestTwoTexts(t *testing.T) {
	check := func(line, rule, reason, instead string, g Grade) {
		if g <= Contained && instead == "" {
			return
		}
		first, _, _ := strings.Cut(instead, " ")
		if !slices.Contains(verbs, first) {
			t.Errorf("%.80q, %s: a model is told %q", line, rule, instead)
		}
		if reason == "" || strings.Contains(reason, instead) || strings.Contains(instead, reason) || strings.Contains(reason+instead, "%!") {
			t.Errorf("%.80q, %s: a person reads %q, and a model %q", line, rule, reason, instead)
		}
	}
	var lines []string
	for _, row := range rows {
		lines = append(lines, row.lines...)
	}
	for _, more := range tricky {
		lines = append(lines, more...)
	}
	for _, more := range tableRows {
		lines = append(lines, more...)
	}
	rules := map[string]bool{}
	for _, line := range lines {
		for _, r := range []Report{Analyse(line, start), Strict(line, start)} {
			rules[r.Rule] = true
			check(line, r.Rule, r.Reason, r.Instead, r.Grade)
			for _, c := range r.Commands {
				check(line, c.Rule, c.Reason, c.Instead, c.Grade)
			}
		}
	}
	if len(rules) < 20 {
		t.Errorf("only %d rules were seen: %v", len(rules), rules)
	}
}

// TestSays: arguments go where their verbs went, and what they hold is no separator.
func TestSays(t *testing.T) {
	for _, c := range []struct {
		got  why
		want why
	}{
		{says("%s reads %q; write below %s", "cat", "a; b", "/w"), why{`cat reads "a; b"`, "write below /w"}},
		{says("no ; here, %d%% of it; send %s", 9, "x"), why{"no ; here, 9% of it", "send x"}},
		{says("writes %s", "a; b"), why{reason: "writes a; b"}},
	} {
		if c.got != c.want {
			t.Errorf("got %+v, want %+v", c.got, c.want)
		}
	}
}
