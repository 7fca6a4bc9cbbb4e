package shell

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"mvdan.cc/sh/v3/syntax"
	"pgregory.net/rapid"
)

// FuzzAnalyse holds that no text makes the judge panic or allow what it could
// not read.
func FuzzAnalyse(f *testing.F) {
	for _, row := range rows {
		for _, line := range row.lines {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, line string) {
		r := Analyse(line, start)
		for _, c := range r.Commands {
			if r.Grade < c.Grade {
				t.Errorf("%q is %d and %q in it %d", line, r.Grade, c.Text, c.Grade)
			}
		}
		if f := checkBytes(line); f.grade > r.Grade {
			t.Errorf("%q is %d", line, r.Grade)
		}
		if s := Strict(line, start); s.Grade <= Contained && len(s.Argv) == 0 {
			t.Errorf("%q is allowed in the strict form, and there is nothing to run", line)
		}
	})
}

// FuzzDecode holds the decoder against bash: what a word is decoded to is what a
// program gets.
func FuzzDecode(f *testing.F) {
	for _, word := range []string{
		`a`, `'a b'`, `"a\"b\\c\$d\e"`, `a\ b`, `\a`, `''`, `""`, `a''b`, `"a'b"`, `'a"b'`, `a\\b`, `"a\` + "\n" + `b"`, "a\\\nb", `{a}`, `a{b`, `a}b`, `a,b`, `{a"b,c"}`, `a=b`, `a~b`, `\~`, `'~'`, `\*`, `"*"`, `[a`, `a]`, `!a`, `"!a"`, `%1`, `a#b`, `"\` + "`" + `"`, `a\`, "é", `{a}..b`,
		`a{"b,c"}`, `\{a,b}`, `{a\,b}`, `a"$"b`, `a$`, `"$"`, `$`, `a$"b"`, `-n`, `HEAD@{1}`, `{}`,
	} {
		f.Add(word)
	}
	bash := lookBash(f)
	f.Fuzz(func(t *testing.T, word string) {
		words, ok := exact(word)
		if !ok {
			return // no words that are known to the letter: nothing to compare
		}
		line := `printf '%s\0' x ` + word
		out, err := run(t.TempDir(), nil, bash, "--noprofile", "--norc", "-c", line)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		want := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")[1:]
		if !slices.Equal(words, want) {
			t.Errorf("%q is decoded to %q, and bash makes %q of it", word, words, want)
		}
	})
}

// exact are the words of a text when they are one simple command's, all known to
// the letter.
func exact(text string) ([]string, bool) {
	if checkBytes(text).grade > Proven {
		return nil, false
	}
	line := "printf x " + text
	stmts, err := parse(line)
	if err != nil || len(stmts) != 1 || len(stmts[0].Redirs) > 0 || stmts[0].Background {
		return nil, false
	}
	c, is := stmts[0].Cmd.(*syntax.CallExpr)
	if !is || len(c.Assigns) > 0 {
		return nil, false
	}
	j := newJudge(line, start)
	var words []string
	for _, w := range j.words(c.Args)[2:] {
		if !w.known || w.glob || w.tilde || w.why.grade > Proven {
			return nil, false
		}
		words = append(words, w.text)
	}
	return words, len(words) > 0
}

func lookBash(t testing.TB) string {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash to compare with")
	}
	return bash
}

// run runs a program in a folder, with no environment but what is given, for a
// few seconds at most, and ends all that it started.
func run(dir string, env []string, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append([]string{"HOME=" + dir, "PATH=/nowhere"}, env...), time.Second
	out, err := cmd.Output()
	return string(out), err
}

// FuzzAllowed runs what is allowed without a question in the restricted mode:
// no program runs that is not in the line for all to see, and nothing outside of
// the workspace changes. One line is made by the grammar from a number, the
// other one by the fuzzer from the rows.
func FuzzAllowed(f *testing.F) {
	bash := lookBash(f)
	s := newScene(f, bash)
	for n, row := range rows {
		for _, line := range row.lines {
			f.Add(n, line)
		}
	}
	made := rapid.Custom(s.grammar)
	f.Fuzz(func(t *testing.T, seed int, line string) {
		s.check(t, bash, made.Example(seed))
		s.check(t, bash, line)
	})
}

func TestAllowed(t *testing.T) {
	bash := lookBash(t)
	s := newScene(t, bash)
	ran := 0
	for _, row := range rows {
		for _, line := range row.lines {
			ran += s.check(t, bash, line)
		}
	}
	made := rapid.Custom(s.grammar)
	for seed := range 1000 {
		ran += s.check(t, bash, made.Example(seed))
	}
	if ran < 100 {
		t.Errorf("only %d lines ran, which proves nothing", ran)
	}
}

// check runs a line that is allowed, and returns how many ran.
func (s scene) check(t testing.TB, bash, line string) int {
	r := Analyse(line, s.place)
	if r.Grade > Contained || !s.mayRun(line) {
		return 0
	}
	s.reset(t)
	before := s.outside(t)
	// A line may fail; what it does counts.
	_, _ = run(s.place.Dir, s.env, bash, "--noprofile", "--norc", "-c", "ulimit -f 64; enable -n kill ulimit exec suspend enable\n"+line)
	if after := s.outside(t); after != before {
		t.Fatalf("%q is %d, and outside of the workspace there is\n%s instead of\n%s", line, r.Grade, after, before)
	}
	called, err := os.ReadFile(s.calls)
	if err != nil {
		return 1 // only builtins ran
	}
	for name := range bytes.FieldsSeq(called) {
		seen := slices.ContainsFunc(r.Commands, func(c Command) bool { return len(c.Argv) > 0 && c.Argv[0] == string(name) })
		if !seen || programs[string(name)] == nil && wrappers[string(name)] == nil {
			t.Fatalf("%q is %d and runs %s, which was not seen in it: %+v", line, r.Grade, name, r.Commands)
		}
	}
	return 1
}

// TestSceneSees holds that a line that did harm would be seen.
func TestSceneSees(t *testing.T) {
	bash := lookBash(t)
	s := newScene(t, bash)
	s.reset(t)
	before := s.outside(t)
	if _, err := run(s.place.Dir, s.env, bash, "--noprofile", "--norc", "-c", "canary; echo x > ../../out/canary"); err != nil {
		t.Fatal(err)
	}
	if s.outside(t) == before {
		t.Error("a canary file was overwritten, and nobody saw it")
	}
	if calls, err := os.ReadFile(s.calls); err != nil || string(calls) != "canary\n" {
		t.Errorf("a canary program ran, and what was seen is %q, %v", calls, err)
	}
}
