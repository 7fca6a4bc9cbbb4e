package policy

import (
	"slices"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestRememberedCommand: what an answer leaves covers the same command with and without its
// plain options, and nothing wider.
func TestRememberedCommand(t *testing.T) {
	for asked, c := range map[string]struct{ covers, not []string }{
		"python3 -m unittest -v": {
			[]string{"python3 -m unittest", "python3 -m unittest -v", "python3 -m unittest --quiet", "ls && python3 -m unittest | tail -3", "timeout 60 python3 -m unittest"},
			[]string{
				"python3 -m unittest tests.a", "python3 -m unittest -k x", "python3 -m unittest -s sub", "python3 -m unittest -v -f", "python3 -m pytest", "python3", "python3 -m unittest -- -v",
				"cd sub && python3 -m unittest", "python3 -m unittest < x", "echo x | python3 -m unittest", "env PYTHONPATH=x python3 -m unittest", "/tmp/python3 -m unittest",
				"python3 -m unittest; make", "python3 -m unittest > .git/config",
			},
		},
		"python3 -m unittest": {[]string{"python3 -m unittest -v", "python3 -m unittest --verbose"}, []string{"python3 -m unittest -b", "python -m unittest"}},
		"make test":           {[]string{"make test", "make -s test", "make test --trace"}, []string{"make", "make install", "make test install", "make -C sub test", "make -f x test", "make test CC=evil", "make -n test"}},
		"make -j4":            {[]string{"make -j4", "make -s -j4"}, []string{"make", "make -j4 -s", "make -j8"}},
		"go test -v ./a":      {[]string{"go test ./a", "go test -json ./a"}, []string{"go test ./b", "go test ./...", "go test -exec x ./a", "go vet ./a", "go test ./a -args -v"}},
		"git push origin":     {[]string{"git push -q origin"}, []string{"git push", "git push --force origin", "git push origin main", "git pull origin", "git -C x push origin"}},
		"rm old.txt":          {[]string{"rm -v old.txt"}, []string{"rm -f old.txt", "rm -r old.txt", "rm new.txt", "rm old.txt new.txt", "xargs rm old.txt", "find . -exec rm old.txt \\;"}},
		"cat /etc/hosts":      {[]string{"cat -n /etc/hosts", "cat --number /etc/hosts"}, []string{"cat /etc/passwd", "cat /etc/hosts /etc/passwd", "head /etc/hosts"}},
		"ls /etc":             {[]string{"ls -la /etc"}, []string{"ls -R /etc", "ls -laR /etc", "ls /etc /home", "ls --recursive /etc"}},
		"nothing-known -v":    {[]string{"nothing-known -v"}, []string{"nothing-known", "nothing-known -v -v"}},
	} {
		var rule sdk.PolicyRule
		for _, seen := range New(Settings{}).Decide(attended(asked)).Commands {
			if seen.Whole != nil {
				rule.Whole = append(rule.Whole, *seen.Whole)
			}
		}
		rule.Name, rule.Source, rule.Verdict, rule.Tools = "remembered_1", SourceRemembered, sdk.Allow, []string{"p__bash"}
		if len(rule.Whole) != 1 {
			t.Errorf("%s: %+v is remembered", asked, rule.Whole)
			continue
		}
		p := New(Settings{Rules: []sdk.PolicyRule{rule}})
		for _, line := range slices.Concat(c.covers, c.not) {
			d := p.Decide(attended(line))
			if covers := slices.Contains(c.covers, line); (d.Verdict == sdk.Allow) != covers {
				t.Errorf("%q after %q: %s by %s (%s)", line, asked, d.Verdict, d.Rule, d.Reason)
			}
		}
		other := attended(asked)
		if other.Tool.Name = "other"; p.Decide(other).Verdict == sdk.Allow {
			t.Errorf("%s of another tool is allowed", asked)
		}
		if d := p.Decide(sdk.PolicyRequest{Tool: tool("bash", true, destructive), Project: "/p", Attended: true}); d.Verdict == sdk.Allow {
			t.Error("a call without a command is allowed")
		}
	}
}

// TestNotRemembered: what a command does that is given more than its words cannot be said.
func TestNotRemembered(t *testing.T) {
	for _, line := range []string{"make < x", "cat x | git apply", "xargs rm", "env CC=x make", "cd $x; make", "$x"} {
		some := false
		for _, seen := range New(Settings{}).Decide(attended(line)).Commands {
			some = some || seen.Verdict != sdk.Allow && seen.Whole == nil
		}
		if !some {
			t.Errorf("%s can be remembered whole", line)
		}
	}
}

func attended(line string) sdk.PolicyRequest {
	r := ofLine(line)
	r.Project, r.Attended = "/p", true
	return r
}
