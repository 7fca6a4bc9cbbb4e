package shell

import (
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk/protect"
)

// TestLinks: what a line writes below a link is judged by where that leads.
func TestLinks(t *testing.T) {
	place := Place{Workspace: "/workspace", Dir: "/workspace", Home: "/home/bothy"}
	// As if g led to .git, a/l to .git/refs, out to /etc, e to .env and v to .vscode.
	to := []string{"g", ".git", "a/l", ".git/refs", "out", "/etc", "e", ".env", "v", ".vscode", "ok", "src"}
	led := func(named string) (string, bool) {
		for i := 0; i < len(to); i += 2 {
			if rest, is := strings.CutPrefix(named, to[i]); is && (rest == "" || rest[0] == '/') {
				parts := strings.Split(to[i+1]+rest, "/")
				for n := 1; n < len(parts); n++ {
					if parts[n] == ".." {
						parts = slices.Delete(parts, n-1, n+1)
						n -= 2
					}
				}
				return strings.Join(parts, "/"), true
			}
		}
		return "", false
	}
	for line, want := range map[string]struct {
		grade   Grade
		refused bool
	}{
		"echo x > g/commondir": {Unsafe, true}, "echo x > /workspace/g/commondir": {Unsafe, true}, "cd g && echo x > commondir": {Unsafe, true},
		"echo x > a/l/../config": {Unsafe, true}, "cd a/l && echo x > ../hooks/pre-commit": {Unsafe, true}, "cd -P a/l && cd .. && echo x > config": {Unsafe, true},
		"echo x > g/HEAD": {Unsafe, true}, "cd a/l && cd .. && echo x > config": {Contained, false},
		"cp x g/commondir": {Unproven, true}, "mv x g/info/attributes": {Unproven, true}, "tee g/hooks/x": {Unproven, true}, "cp -t g x": {Unproven, true}, "cp x .git/": {Unproven, true},
		"mv .claude x": {Unproven, true}, "cp .claude/x y": {Unproven, false}, "rm -r g/hooks": {Unproven, true}, "sed -i s/a/b/ g/config": {Unproven, true}, "ln -s x .bothy": {Unproven, true},
		"cp dot/.bashrc .": {Unproven, true}, "cp a.go b/": {Unproven, false}, "chmod +x g/hooks/x": {Unproven, true},
		"echo x > out/hosts": {Unsafe, false}, "echo x > v/tasks.json": {Unproven, false}, "echo x > ok/main.go": {Contained, false}, "mkdir -p g/hooks": {Unproven, true},
		"cat e": {Unsafe, false}, "cat < e": {Unsafe, false}, "cat g/config": {Proven, false}, "cat out/hosts": {Proven, false}, "env -C a/l touch ../config": {Unproven, true},
	} {
		named := Named(line, place, false)
		place := place
		place.Links = map[string]string{}
		for _, name := range named {
			if real, is := led(name); is {
				place.Links[name] = real
			}
		}
		got := Analyse(line, place)
		if got.Grade != want.grade || (got.Refused != "") != want.refused {
			t.Errorf("%s: grade %d, want %d; refused %q (%s) with %q", line, got.Grade, want.grade, got.Refused, got.Reason, place.Links)
		}
	}
	open := place
	open.Open = true
	if got := Analyse("echo x > .git/config; tee .bashrc", open); got.Grade != Contained || got.Refused != "" {
		t.Errorf("in a folder of the run's own: %+v", got)
	}
	set := place
	set.Rules = &protect.Rules{Ask: []string{"Makefile"}, Free: []string{".vscode"}}
	if got := Analyse("echo x > Makefile", set); got.Grade != Unproven {
		t.Errorf("what is set to be asked: %+v", got)
	}
	if got := Analyse("echo x > .vscode/tasks.json", set); got.Grade != Contained {
		t.Errorf("what is set to be free: %+v", got)
	}
}
