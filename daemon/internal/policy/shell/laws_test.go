package shell

import (
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
	"pgregory.net/rapid"
)

// allLines are the lines of every table.
var allLines = slices.Concat(wrapLines, runnerLines, wordLines, redirectLines, assignLines, builtinLines, pipeLines, denyLines, placeLines,
	walkLines, argvLines, gitLines, languageLines)

// drawTabled draws a line of the tables that can be read.
func drawTabled(t *rapid.T, label string) string {
	c := rapid.SampledFrom(allLines).Draw(t, label)
	if stmts, err := parse(c.line); err != nil || len(stmts) == 0 || strings.Contains(c.want, " syntax") {
		t.Skip("it cannot be read")
	}
	return c.line
}

// isSimple reports whether a line is one command, which a wrapper can stand
// before.
func isSimple(line string) bool {
	stmts, err := parse(line)
	if err != nil || len(stmts) != 1 || strings.ContainsAny(line, ";\n#") {
		return false
	}
	call, simple := stmts[0].Cmd.(*syntax.CallExpr)
	return simple && len(call.Args) > 0 && len(call.Assigns)+len(stmts[0].Redirs) == 0 && !stmts[0].Negated && !stmts[0].Background
}

// TestWrappersNeverLower: what a wrapper runs is judged as it is alone. A builtin
// becomes a program by it, so only lines whose first word is a program count.
func TestWrappersNeverLower(t *testing.T) {
	wrapping := []string{
		"env", "env -i", "env -u X", "env LC_ALL=C", "nice", "nice -n 5", "nohup", "timeout 5", "timeout -k 1 5", "stdbuf -oL", "ionice -c 3", "setsid", "sudo", "doas", "chroot d",
		"unshare -r", "busybox", "toybox", "flock f", "command", "command -p", "exec", "strace", "strace -f", "fakeroot", "taskset 1", "nice --what", "unshare --root d", "sudo --user root", "watch", "watch --interval 1", "watch -x",
	}
	tried := 0
	for _, c := range allLines {
		r := Analyse(c.line, start)
		if !isSimple(c.line) || strings.Contains(c.want, " syntax") {
			continue
		}
		if words := r.Commands[0].Argv; words == nil || isBuiltin(words[0]) || wrappers[words[0]] != nil {
			continue // the shell itself would run it
		}
		for _, wrapper := range wrapping {
			name := strings.Fields(wrapper)[0]
			if slices.Contains(launchers, name) && programs[r.Commands[0].Argv[0]] == nil {
				continue // of a launcher's words only names of programs are known for commands
			}
			if name == "watch" && wrapper != "watch -x" && slices.Contains(r.Commands[0].Argv, "") {
				continue // an empty word is gone once it joins the words
			}
			tried++
			if whole := Analyse(wrapper+" "+c.line, start); whole.Grade < r.Grade {
				t.Errorf("%q is %s (%s), and behind %q only %s", c.line, columns[r.Grade], r.Reason, wrapper, columns[whole.Grade])
			}
		}
	}
	if tried < 10_000 {
		t.Errorf("only %d lines were tried", tried)
	}
}

// TestShellsNeverLower: a text of sh -c is judged as if it stood in the line.
func TestShellsNeverLower(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := drawTabled(t, "line")
		r := Analyse(line, start)
		if strings.Contains(line, "'") {
			t.Skip("it cannot be quoted plainly")
		}
		for _, runs := range []string{"sh -c", "bash -ec", "dash -c", "zsh -c", "env sh -c", "eval", "flock f -c", "script -c", "trap -- 'x' EXIT; eval"} {
			whole := Analyse(runs+" '"+line+"'", start)
			if whole.Grade < r.Grade {
				t.Fatalf("%q is %s (%s), and behind %s only %s", line, columns[r.Grade], r.Reason, runs, columns[whole.Grade])
			}
		}
	})
}

// TestAppendingNeverLowers: another command behind a line, or in front of it,
// leaves what the line is.
func TestAppendingNeverLowers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line, other := drawTabled(t, "line"), rapid.SampledFrom([]string{"ls", "nmap x", "touch a", "cat .env", "rm -rf /", "X=1 ls", "sh -c ls", "true"}).Draw(t, "other")
		if strings.ContainsAny(line, "#") || strings.Contains(line, "<<") || strings.HasSuffix(line, "&") || strings.HasSuffix(line, ";") || strings.HasSuffix(line, "\\") {
			t.Skip("what follows would be a part of it")
		}
		r := Analyse(line, start)
		for _, joined := range []string{line + "; " + other, line + " && " + other, line + " || " + other, line + "\n" + other, other + "; " + line, "{ " + line + "; }", "( " + line + " )", "if " + line + "; then " + other + "; fi", "for i in a; do " + line + "; done"} {
			if whole := Analyse(joined, start); whole.Grade < r.Grade {
				t.Fatalf("%q is %s (%s), and %q only %s", line, columns[r.Grade], r.Reason, joined, columns[whole.Grade])
			}
		}
	})
}

// quotings are ways to write a static word.
var quotings = []func(string) string{
	func(w string) string { return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'" },
	func(w string) string {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(w) + `"`
	},
	func(w string) string {
		var b strings.Builder
		for _, r := range w {
			if r != '\n' {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
		}
		return b.String()
	},
	func(w string) string { return "''" + "'" + strings.ReplaceAll(w, "'", `'"'"'`) + "'" + `""` },
}

// TestQuotingChangesNothing: how a static word is quoted changes neither what a
// program gets nor what is thought of it.
func TestQuotingChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Analyse(drawTabled(t, "line"), start)
		if len(r.Commands) == 0 {
			t.Skip("there is no command")
		}
		words := r.Commands[0].Argv
		if len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return w == "" || strings.Contains(w, "\n") }) {
			t.Skip("no words, or such that not every quoting can write")
		}
		reports := make([]Report, 0, len(quotings))
		for _, quote := range quotings {
			line := make([]string, 0, len(words))
			for _, w := range words {
				line = append(line, quote(w))
			}
			quoted := Analyse(strings.Join(line, " "), start)
			if len(quoted.Commands) == 0 || !slices.Equal(quoted.Commands[0].Argv, words) {
				t.Fatalf("%q written as %q: %+v", words, line, quoted.Commands)
			}
			reports = append(reports, quoted)
		}
		for _, other := range reports[1:] {
			if describeGrades(other) != describeGrades(reports[0]) {
				t.Fatalf("%q: %s, and quoted otherwise %s", words, describe(reports[0]), describe(other))
			}
		}
	})
}

// describeGrades is describe without words.
func describeGrades(r Report) string {
	for i := range r.Commands {
		r.Commands[i].Argv, r.Commands[i].Text = []string{"x"}, "x"
	}
	if r.Argv != nil {
		r.Argv = []string{"x"}
	}
	return describe(r)
}

// TestDeniedStaysDenied: no other part of a line makes up for one that is denied.
func TestDeniedStaysDenied(t *testing.T) {
	denied := slices.DeleteFunc(slices.Clone(allLines), func(c lineCase) bool {
		return !strings.HasPrefix(c.want, "XXX") || strings.ContainsAny(c.line, "\n#\"'") && strings.Contains(c.want, "+QXX")
	})
	rapid.Check(t, func(t *rapid.T) {
		line, before, behind := rapid.SampledFrom(denied).Draw(t, "denied").line, drawTabled(t, "before"), drawTabled(t, "behind")
		if strings.Contains(before+behind, "<<") || strings.ContainsAny(before, "#\n") || strings.HasSuffix(before, "&") || strings.HasSuffix(before, ";") || strings.HasSuffix(line, "&") {
			t.Skip("it takes in what follows")
		}
		if strings.Contains(line, "rm ") || strings.Contains(line, "find ") || strings.Contains(line, "dev") {
			before = "ls" // a cd in it would decide
		}
		for _, whole := range []string{before + "; " + line, before + " | { " + line + "; }", before + "\n" + line + "\n" + behind, "echo $(" + line + ")", "echo \"${x:-$(" + line + ")}\""} {
			if r := Analyse(whole, start); r.Grade != Denied && r.Rule != "shell.syntax" {
				t.Fatalf("%q is %s (%s)", whole, columns[r.Grade], r.Reason)
			}
		}
	})
}

// TestProvenIsStatic: a line that is proven has only commands whose words are
// all known, and so has every part of it.
func TestProvenIsStatic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := drawLine(t)
		if rapid.Bool().Draw(t, "tabled") {
			line = drawTabled(t, "line")
		}
		r := Analyse(line, start)
		if r.Grade != Proven {
			t.Skip("not proven")
		}
		for _, c := range r.Commands {
			declares := strings.HasPrefix(c.Text, "export") // an assignment, judged as structure
			if c.Argv == nil && !declares || r.Structure != Proven {
				t.Fatalf("%q is proven with %+v", line, c)
			}
		}
	})
}

// TestCommandsInOrder: commands that stand in the line itself are listed as they
// stand there.
func TestCommandsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.SampledFrom([]string{"ls a", "nmap b", "cat c", "touch d", "echo $(nmap e) f", "env X=1 nmap g", "sh -c 'nmap h; ls i'", "nmap j > k", "(nmap l)", "if ls m; then nmap n; fi"}), 1, 8).Draw(t, "commands")
		line := texts[0]
		for i, text := range texts[1:] {
			line += []string{"; ", " && ", " || ", "\n", " | "}[(i+len(text))%5] + text
		}
		at := 0
		for _, c := range Analyse(line, start).Commands {
			from := strings.Index(line[at:], c.Text)
			if from < 0 {
				t.Fatalf("%q: %q is not behind the command before it", line, c.Text)
			}
			at += from
		}
	})
}

// TestOutsideIsNeverProven: what is proven below the workspace is not where the
// whole line runs outside of it and names a relative path.
func TestOutsideIsNeverProven(t *testing.T) {
	outside := Place{Workspace: "/workspace", Dir: "/etc", Home: "/home/bothy"}
	for _, line := range []string{"cat a", "ls", "ls a", "grep x a", "find", "find a", "head a", "touch a", "mkdir a", "tee a", "git log", "git status", "cat < a", "ls > a", "> a", "sort -o a b", "cd a", "test -f a", "[ -f a ]", "tar -tf a", "sed -n 1p a", "stat a", "env cat a", "sh -c 'cat a'", "ls -- *", "cat ./a", "diff a b"} {
		if r := Analyse(line, outside); r.Grade < Unproven {
			t.Errorf("%q in /etc: %s", line, columns[r.Grade])
		}
		if r := Analyse(line, start); r.Grade > Contained {
			t.Errorf("%q in the workspace: %s (%s)", line, columns[r.Grade], r.Reason)
		}
	}
}
