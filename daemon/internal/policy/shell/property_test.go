package shell

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// pieces are what lines are made of that no grammar would make.
var pieces = []string{
	"ls", "rm", "-rf", "/", "x", "$x", "${x", "}", "{", "(", ")", "((", "))", "[[", "]]", "[", "]", "'", "\"", "`", "$(", "$((", "<<EOF", "\nEOF\n", "<<<", "<(", ">(", ">", ">>", "<", "2>&1", "&", "&&", "|", "||", "|&", ";", ";;",
	"\n", "\\", " ", "\t", "=", "a=", "if", "then", "fi", "for", "in", "do", "done", "case", "esac", "while", "f()", "function", "coproc", "time", "!", "eval", "sh -c", "env", "xargs", "#", "~", "*", "?", "a[", "@P", ":=", "..", ",", "select", "declare", "let",
}

func drawLine(t *rapid.T) string {
	if rapid.Bool().Draw(t, "from a row") {
		row := rapid.SampledFrom(rows).Draw(t, "row")
		return rapid.SampledFrom(row.lines).Draw(t, "line")
	}
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 30).Draw(t, "pieces"), rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
}

func TestAnalyseIsDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := drawLine(t)
		if a, b := Analyse(line, start), Analyse(line, start); !reflect.DeepEqual(a, b) {
			t.Fatalf("%q: %+v and %+v", line, a, b)
		}
		if a, b := Strict(line, start), Strict(line, start); !reflect.DeepEqual(a, b) {
			t.Fatalf("strict %q: %+v and %+v", line, a, b)
		}
	})
}

// TestReportHolds is about what every report promises, whatever the line.
func TestReportHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := drawLine(t)
		r := Analyse(line, start)
		highest := r.Structure
		for _, c := range r.Commands {
			highest = max(highest, c.Grade)
			if (c.Grade == Proven) != (c.Rule == "") {
				t.Fatalf("%q: %+v", line, c)
			}
		}
		switch {
		case r.Grade != highest:
			t.Fatalf("%q is %d, and the highest of its parts is %d", line, r.Grade, highest)
		case r.Grade > Proven && (r.Rule == "" || r.Reason == ""):
			t.Fatalf("%q: %+v says nothing", line, r)
		case r.Argv != nil && (len(r.Commands) == 0 || !slices.Equal(r.Argv, r.Commands[0].Argv)):
			t.Fatalf("%q: %+v", line, r)
		case Strict(line, start).Grade < r.Grade && !strings.HasPrefix(strings.TrimLeft(line, " \t\n'\"\\"), "awk") && !strings.Contains(line, "sed"):
			t.Fatalf("%q is %d, and only %d in the strict form", line, r.Grade, Strict(line, start).Grade)
		}
	})
}

// TestGradesAddUp joins lines: the whole is no better than a part of it. A line
// that opens something swallows the next one, so only what is read whole counts.
func TestGradesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawLine(t), drawLine(t)
		for _, line := range []string{a, b} {
			if r := Analyse(line, start); r.Rule == "shell.syntax" || strings.Contains(line, "<<") || strings.Contains(line, "#") || strings.Contains(line, "cd ") {
				t.Skip("cannot be joined")
			}
			if strings.HasSuffix(line, "\\") || strings.HasSuffix(line, "\n") || strings.HasSuffix(strings.TrimSpace(line), "&") || strings.HasSuffix(strings.TrimSpace(line), ";") || len(line) > 4000 {
				t.Skip("cannot be joined")
			}
		}
		whole := Analyse(a+" && "+b, start)
		if least := max(Analyse(a, start).Grade, Analyse(b, start).Grade); whole.Grade < least {
			t.Fatalf("%q is %d (%s) and a part of it %d", a+" && "+b, whole.Grade, whole.Reason, least)
		}
	})
}

func TestCommands(t *testing.T) {
	for _, c := range []struct {
		line string
		want []Command
	}{
		{`ls -la 'a b'`, []Command{{Text: `ls -la 'a b'`, Argv: []string{"ls", "-la", "a b"}}}},
		{`env nice nmap x; ls`, []Command{{Text: "env nice nmap x", Argv: []string{"env", "nice", "nmap", "x"}}, {Text: "nice nmap x", Argv: []string{"nice", "nmap", "x"}, Via: []string{"env"}}, {Text: "nmap x", Argv: []string{"nmap", "x"}, Via: []string{"env", "nice"}, Grade: Unproven}, {Text: "ls", Argv: []string{"ls"}}}},
		{`sh -c 'nmap x | cat'`, []Command{{Text: `sh -c 'nmap x | cat'`, Argv: []string{"sh", "-c", "nmap x | cat"}}, {Text: "nmap x", Argv: []string{"nmap", "x"}, Via: []string{"sh -c"}, Grade: Unproven}, {Text: "cat", Argv: []string{"cat"}, Via: []string{"sh -c"}}}},
		{`echo "$(nmap x)" > f`, []Command{{Text: `echo "$(nmap x)"`, Grade: Unproven}, {Text: "nmap x", Argv: []string{"nmap", "x"}, Grade: Unproven}}},
	} {
		r := Analyse(c.line, start)
		if len(r.Commands) != len(c.want) {
			t.Errorf("%q: %+v", c.line, r.Commands)
			continue
		}
		for i, got := range r.Commands {
			got.Rule, got.Reason, got.Instead, got.Dir, got.Loose = "", "", "", "", false
			if !reflect.DeepEqual(got, c.want[i]) {
				t.Errorf("%q: %+v, want %+v", c.line, got, c.want[i])
			}
		}
	}
}

func TestStructureAndArgv(t *testing.T) {
	for _, c := range []struct {
		line      string
		structure Grade
		argv      bool
	}{
		{"ls -la", Proven, true}, {"nmap x", Proven, true}, {"ls; ls", Proven, false}, {"ls > f", Contained, false}, {"nmap x > f", Contained, false}, {"make $x", Proven, false}, {"nmap $(ls)", Unproven, false}, {"LC_ALL=C ls", Proven, false},
		{"FOO=1 ls", Unproven, false}, {"echo x", Proven, false}, {"ls *", Proven, false}, {"ls ~", Proven, false}, {"sh -c ls", Proven, false}, {"env ls", Proven, true}, {"./ls", Proven, false}, {"ls &", Unproven, false}, {"for i in a; do ls; done", Contained, false},
		{"env X=1 ls", Contained, false}, {"! ls", Proven, false}, {"time ls", Proven, false}, {"cd x", Proven, false}, {"f() { ls; }", Unsafe, false}, {"ls 2>&1", Proven, false},
	} {
		r := Analyse(c.line, start)
		if r.Structure != c.structure || (r.Argv != nil) != c.argv {
			t.Errorf("%q: structure %d, argv %q", c.line, r.Structure, r.Argv)
		}
	}
}
