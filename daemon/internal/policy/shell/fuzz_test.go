package shell

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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
			t.Skip("no words that are known to the letter")
		}
		line := `printf '%s\0' x ` + word
		out, err := run(t, t.TempDir(), nil, bash, "--noprofile", "--norc", "-c", line)
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
// few seconds at most.
func run(t testing.TB, dir string, env []string, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append([]string{"HOME=" + dir, "PATH=/nowhere"}, env...), time.Second
	out, err := cmd.Output()
	return string(out), err
}

// scene is a place in a temporary folder where lines run under bash: a PATH that
// has only stubs, which write down that they were called and do nothing, and a
// file outside of the workspace that nothing may touch.
type scene struct {
	root, calls string
	place       Place
	env         []string
}

// stubbed are the names that lines are made of. The first ones are in the table.
var stubbed = []string{
	"ls", "cat", "wc", "head", "tail", "sort", "grep", "find", "git", "touch", "tee", "mkdir", "env", "nice", "timeout", "nohup", "uniq", "cut", "tr", "sed", "awk", "stat",
	"rm", "mv", "cp", "curl", "wget", "python3", "perl", "sh", "dash", "node", "make", "xargs", "sudo", "dd", "canary", "ln", "chmod", "tar", "ssh", "nc", "vim", "id",
}

// inside are the stubs that run what they are given, as the real ones do: by
// bash, and in turn only stubs.
var insideStubs = map[string]string{
	"env":     `while [[ $1 == *=* || $1 == -i ]]; do shift; done; [[ $# -gt 0 ]] && "$@"; true`,
	"nice":    `[[ $1 == -n ]] && shift 2; "$@"`,
	"nohup":   `"$@"`,
	"timeout": `shift; "$@"`,
	"sh":      `BASH --noprofile --norc "$@"`,
	"dash":    `BASH --noprofile --norc "$@"`,
	"xargs":   `while read -r line; do "$@" "$line"; done; true`,
	"find":    `for a; do if [[ $go ]]; then [[ $a == ";" || $a == "+" ]] && break; words+=("$a"); fi; [[ $a == -exec ]] && go=1; done; [[ $go ]] && "${words[@]}"; true`,
	"cat":     `if [[ $1 ]]; then for a; do [[ -r $a ]] && read -r line < "$a" && echo "$line"; done; else while read -r line; do echo "$line"; done; fi; true`,
	"tee":     `while read -r line; do echo "$line"; for a; do echo "$line" > "$a"; done; done; true`,
	"touch":   `for a; do [[ $a == -* ]] || : >> "$a"; done; true`,
}

func newScene(t testing.TB, bash string) scene {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := scene{root: root, calls: filepath.Join(root, "calls")}
	s.place = Place{Workspace: filepath.Join(root, "w"), Dir: filepath.Join(root, "w", "d"), Home: filepath.Join(root, "home")}
	bin := filepath.Join(root, "bin")
	for _, dir := range []string{bin, s.place.Dir, s.place.Home, filepath.Join(root, "out")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range stubbed {
		body := strings.ReplaceAll(insideStubs[name], "BASH", bash)
		text := fmt.Sprintf("#!%s\nprintf '%%s\\n' '%s' >> '%s'\nulimit -u 400 -f 64 2>/dev/null\n%s\n", bash, name, s.calls, body)
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.env = []string{"PATH=" + bin, "HOME=" + s.place.Home, "TMPDIR=" + filepath.Join(root, "out")}
	return s
}

// reset makes the scene as it was: two files in the workspace, and the canary
// outside of it.
func (s scene) reset(t testing.TB) {
	for _, dir := range []string{"w", "out", "home"} {
		if err := os.RemoveAll(filepath.Join(s.root, dir)); err != nil {
			t.Fatal(err)
		}
	}
	_ = os.Remove(s.calls)
	for _, dir := range []string{s.place.Dir, s.place.Home, filepath.Join(s.root, "out")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"w/f", "w/d/f", "out/canary"} {
		if err := os.WriteFile(filepath.Join(s.root, name), []byte("canary\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// outside is all that lies outside of the workspace, with what is in it.
func (s scene) outside(t testing.TB) string {
	var b strings.Builder
	err := filepath.WalkDir(s.root, func(p string, d os.DirEntry, err error) error {
		if p == s.place.Workspace {
			return filepath.SkipDir
		}
		if err != nil || d.IsDir() || p == s.calls || filepath.Dir(p) == filepath.Join(s.root, "bin") {
			return err
		}
		text, err := os.ReadFile(p)
		fmt.Fprintf(&b, "%s=%s\n", p, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// absolute is a path that a line names from the root, wherever in a word. A line
// with one that is not in the scene is never run: on the day on which the policy
// has a hole this test must do no harm.
var absolute = regexp.MustCompile(`(^|[^A-Za-z0-9_.*?\]}/])/+[^\s;&|<>()'"]*|~|\.\.`)

func (s scene) mayRun(line string) bool {
	climbs := strings.Count(line, "..")
	for _, path := range absolute.FindAllString(line, -1) {
		at := strings.IndexByte(path, '/')
		if at < 0 { // a tilde is the home of the scene, unless it is another's
			if path == "~" && regexp.MustCompile(`~[^/\s;]`).MatchString(line) {
				return false
			}
			continue
		}
		if p := path[at:]; p != "/dev/null" && !strings.HasPrefix(p, s.root+"/") {
			return false
		}
	}
	return climbs <= 2 && !regexp.MustCompile(`/dev/(tcp|udp)|\bkill\b|\$\{?[A-Z]|ulimit|\bexec\b|/{2}|\\/|/\\|\$'|printf`).MatchString(line)
}

// grammar draws lines that are like those that models write, and some that are
// like those that they should not.
func (s scene) grammar(t *rapid.T) string {
	word := func() string {
		w := rapid.SampledFrom([]string{
			"f", "d", "../f", "-n", "-l", "-rf", "--", "-", "'a b'", "\"x\"", "a\\ b", "*", "?", "[a]", "{f,g}", "$x", "${x}", "\"$x\"", "$(canary)", "`canary`", "\"$(canary x)\"", "${x:-$(canary)}", "<(canary)", "$((1+1))",
			"@out", "@out/canary", "@w/f", "~", "~/x", "\"{}\"", "';'", "\\;", "-exec", "-o", "-delete", "x=1", "canary", "-c", "'canary'", "\"canary; canary\"", "a=$(canary)", "'$(canary)'", "\\$(canary)", "$((a[$(canary)]))", "'a[$(canary)]'", "-v", "-i", "-S",
			"../../out/canary", "--files0-from=@out/canary", "-e", "-f", "--output=@out/canary", "1p", "''",
		}).Draw(t, "word")
		return w
	}
	simple := func() string {
		names := append(slices.Clone(stubbed), "echo", "true", "test", "[", "[[", "cd", "eval", "read", "declare", "let", "export", "trap", "command", "builtin", "time", "!", ".", "source", "mapfile", "set", "'l's", "c\\anary", "\"canary\"", "$x", "{ls,x}", "unset", "alias", "type", "pwd", "wait", "hash", "(", "{")
		parts := []string{rapid.SampledFrom(names).Draw(t, "name")}
		if rapid.IntRange(0, 3).Draw(t, "known") > 0 {
			parts[0] = rapid.SampledFrom(stubbed[:22]).Draw(t, "known name")
		}
		for range rapid.IntRange(0, 4).Draw(t, "words") {
			parts = append(parts, word())
		}
		if rapid.IntRange(0, 4).Draw(t, "redirects") == 0 {
			op := rapid.SampledFrom([]string{">", ">>", "<", ">|", "&>", ">&", "<>", "2>", "2>&1 >", "<<<", "3>"}).Draw(t, "redirection")
			parts = append(parts, op+" "+rapid.SampledFrom([]string{"f", "g", "@out/canary", "../f", "../../out/canary", "/dev/null", "$x", "@w/g", "~/x", ">(canary)", "<(canary)", "\"f\"", "x*"}).Draw(t, "target"))
		}
		if rapid.IntRange(0, 8).Draw(t, "assigns") == 0 {
			parts = slices.Insert(parts, 0, rapid.SampledFrom([]string{"x=1", "LC_ALL=C", "x=$(canary)", "BASH_ENV=f", "a[$(canary)]=1", "PS4='$(canary)'", "x=canary", "TZ=UTC"}).Draw(t, "assignment"))
		}
		return strings.Join(parts, " ")
	}
	line := simple()
	for range rapid.IntRange(0, 3).Draw(t, "more") {
		line += rapid.SampledFrom([]string{" && ", " || ", " | ", "; ", "\n", " & ", " |& "}).Draw(t, "join") + simple()
	}
	switch rapid.IntRange(0, 12).Draw(t, "form") {
	case 0:
		line = "(" + line + ")"
	case 1:
		line = "if " + line + "; then canary; fi"
	case 2:
		line = "sh -c '" + strings.ReplaceAll(line, "'", `'\''`) + "'"
	case 3:
		line = "f() { " + line + "; }; f"
	case 4:
		line = "cat <<EOF\n" + line + "\nEOF\n"
	case 5:
		line = "for x in " + line + "; do canary; done"
	}
	if rapid.IntRange(0, 5).Draw(t, "mutates") == 0 && len(line) > 0 {
		at := rapid.IntRange(0, len(line)-1).Draw(t, "at")
		line = line[:at] + rapid.SampledFrom([]string{"", "'", "\"", "\\", "$", "`", "\n", ";", " ", "{", "}", "("}).Draw(t, "into") + line[at+1:]
	}
	line = strings.ReplaceAll(line, "@out", filepath.Join(s.root, "out"))
	return strings.ReplaceAll(line, "@w", s.place.Workspace)
}

// FuzzAllowed runs what is allowed without a question in the restricted mode:
// no program runs that is not in the line for all to see, and nothing outside of
// the workspace changes.
func FuzzAllowed(f *testing.F) {
	bash := lookBash(f)
	s := newScene(f, bash)
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { s.check(f, t, bash, s.grammar(t)) }))
}

func TestAllowed(t *testing.T) {
	bash := lookBash(t)
	s := newScene(t, bash)
	for _, row := range rows {
		for _, line := range row.lines {
			s.check(t, t, bash, line)
		}
	}
	rapid.Check(t, func(r *rapid.T) { s.check(t, r, bash, s.grammar(r)) })
}

// failer is what both kinds of tests have.
type failer interface {
	Fatalf(format string, args ...any)
}

func (s scene) check(tb testing.TB, t failer, bash, line string) {
	r := Analyse(line, s.place)
	if r.Grade > Contained || !s.mayRun(line) {
		return
	}
	s.reset(tb)
	before := s.outside(tb)
	// A line may fail; what it does counts.
	_, _ = run(tb, s.place.Dir, s.env, bash, "--noprofile", "--norc", "-c", "ulimit -f 64; "+"cd "+s.place.Dir+"\n"+line)
	if after := s.outside(tb); after != before {
		t.Fatalf("%q is %d, and outside of the workspace there is\n%s instead of\n%s", line, r.Grade, after, before)
	}
	called, err := os.ReadFile(s.calls)
	if err != nil {
		return // nothing ran
	}
	for name := range bytes.FieldsSeq(called) {
		seen := slices.ContainsFunc(r.Commands, func(c Command) bool { return len(c.Argv) > 0 && c.Argv[0] == string(name) })
		if !seen || programs[string(name)] == nil && wrappers[string(name)] == nil {
			t.Fatalf("%q is %d and runs %s, which was not seen in it: %+v", line, r.Grade, name, r.Commands)
		}
	}
}
