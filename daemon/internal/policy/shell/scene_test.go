package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

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

// insideStubs run what they are given, as the real ones do: by
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

// absolute is a path that a line names from the root, wherever in a word.
var absolute = regexp.MustCompile(`(^|[^A-Za-z0-9_.*?\]}/])/+[^\s;&|<>()'"]*`)

// harmful is what no line may have that runs here: other ways to write a path
// from the root or one that climbs, and what would end other processes.
var harmful = regexp.MustCompile(`/dev/(tcp|udp)|\$\{?[A-Z]|//|\\/|/\\|\$['"]|~[^/\s;]|\.[{'"\\]|\{[^}]*\.|kill|printf`)

// repeats is what would let a path climb further than it says.
var repeats = regexp.MustCompile(`while|until|for|\(\)|function|eval|trap|xargs|source`)

// mayRun reports whether a line can do no harm even if the policy has a hole: it
// names no path from the root that is not in the scene, and climbs no further
// than to its root.
func (s scene) mayRun(line string) bool {
	for _, path := range absolute.FindAllString(line, -1) {
		if p := path[strings.IndexByte(path, '/'):]; p != "/dev/null" && !strings.HasPrefix(p, s.root+"/") {
			return false
		}
	}
	climbs := strings.Count(line, "..")
	return climbs <= 2 && !(climbs > 0 && repeats.MatchString(line)) && !harmful.MatchString(line)
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
