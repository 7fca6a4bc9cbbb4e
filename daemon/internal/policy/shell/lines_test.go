package shell

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// lineCase is a command line and all that the report about it says, as
// describe writes it.
type lineCase struct{ line, want string }

// checkLines compares the reports about lines with what is expected of them.
func checkLines(t *testing.T, at Place, analyse func(string, Place) Report, cases []lineCase) {
	t.Helper()
	for _, c := range cases {
		r := analyse(c.line, at)
		if got := describe(r); got != c.want {
			t.Errorf("%q\n got %s\nwant %s\n(%s)", c.line, got, c.want, r.Reason)
		}
		checkReport(t, c.line, r)
	}
}

// describe writes a report as one text: the columns of its grade and its rule
// (without "shell."), then "+" and the columns of its structure when that is not
// proven, then "argv" when the line can run without a shell. Each command
// follows behind a bar: the wrappers that lead to it, its columns, its rule, and
// its words, or the text of it behind "?" when the words are not known.
func describe(r Report) string {
	var b strings.Builder
	grade := func(g Grade, rule string) {
		b.WriteString(columns[g])
		if rule != "" {
			b.WriteString(" " + strings.TrimPrefix(rule, "shell."))
		}
	}
	grade(r.Grade, r.Rule)
	if r.Structure != Proven {
		b.WriteString(" +" + columns[r.Structure])
	}
	if r.Argv != nil {
		b.WriteString(" argv")
		if len(r.Commands) != 1 || !slices.Equal(r.Argv, r.Commands[0].Argv) {
			b.WriteString("=" + shownWords(r.Argv))
		}
	}
	for _, c := range r.Commands {
		b.WriteString(" | ")
		for _, wrapper := range c.Via {
			b.WriteString(wrapper + "> ")
		}
		grade(c.Grade, c.Rule)
		if b.WriteString(" "); c.Argv == nil {
			b.WriteString("?" + strings.ReplaceAll(c.Text, "\n", `\n`))
		} else {
			b.WriteString(shownWords(c.Argv))
		}
	}
	return b.String()
}

// plainWord matches a word that describe shows without quotes.
var plainWord = regexp.MustCompile(`^[\w./:=@%+,{};-]+$`)

func shownWords(words []string) string {
	shown := make([]string, 0, len(words))
	for _, w := range words {
		if !plainWord.MatchString(w) {
			w = fmt.Sprintf("%q", w)
		}
		shown = append(shown, w)
	}
	return strings.Join(shown, " ")
}

// checkReport holds what every report promises: a reason and a rule for each
// grade that is not proven, the grade of the whole as the highest one of its
// parts, and the rule of the whole as the rule of a part with that grade.
func checkReport(t *testing.T, line string, r Report) {
	t.Helper()
	highest := r.Structure
	for _, c := range r.Commands {
		highest = max(highest, c.Grade)
		if (c.Grade == Proven) != (c.Rule == "" && c.Reason == "") {
			t.Errorf("%q: the command %+v has no reason, or one too many", line, c)
		}
		if c.Text == "" {
			t.Errorf("%q: a command has no text", line)
		}
	}
	if r.Grade != highest || (r.Grade == Proven) != (r.Rule == "" && r.Reason == "") {
		t.Errorf("%q is %s by %q, and the highest of its parts is %s", line, columns[r.Grade], r.Rule, columns[highest])
	}
	decided := r.Structure == r.Grade || slices.ContainsFunc(r.Commands, func(c Command) bool { return c.Grade == r.Grade && c.Rule == r.Rule })
	if r.Grade > Proven && !decided {
		t.Errorf("%q is %s by %q, which is the rule of no part", line, columns[r.Grade], r.Rule)
	}
}
