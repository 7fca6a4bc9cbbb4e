package policy

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestStrictForm: without a shell, what is not known to be harmless is denied in
// every mode, attended or not, and only a rule allows it. Nobody is asked.
func TestStrictForm(t *testing.T) {
	for line, want := range map[string]sdk.Verdict{
		"ls -la docs": sdk.Allow, "env": sdk.Allow, `grep "a;b" f`: sdk.Allow, `awk '$1 > 5 {print $2}' f`: sdk.Allow, "echo ''": sdk.Allow, "cat /skills/pdf/SKILL.md": sdk.Allow,
		"nmap 10.0.0.5": sdk.Deny, "LS": sdk.Deny, "/bin/ls": sdk.Deny, "FOO=1 ls": sdk.Deny, "xargs rm": sdk.Deny, "node -e 1": sdk.Deny, "python3 -c 1": sdk.Deny, "find . -delete": sdk.Deny,
		`awk 'BEGIN{system("id")}'`: sdk.Deny, `sed 's/a/id/e' f`: sdk.Deny, "sort --compress-program=sh f": sdk.Deny, "git -c core.pager=id log": sdk.Deny, "cat .env": sdk.Deny,
		`sh -c "env id"`: sdk.Deny, "sort < in.txt": sdk.Deny, "sleep 1 & id": sdk.Deny, "": sdk.Deny, "cat ../x": sdk.Deny, "tar -I sh -xf x": sdk.Deny, "env python3 x.py": sdk.Deny,
	} {
		for _, mode := range modes {
			for _, attended := range []bool{false, true} {
				a := lineOf(line)
				a.Mode, a.Attended = mode, attended
				d := New(Settings{Shell: "argv"}).Decide(a)
				if d.Verdict != want || d.Reason == "" {
					t.Errorf("%q in %s: %s (%s)", line, mode, d.Verdict, d.Reason)
				}
				for _, c := range d.Commands {
					if c.Verdict == sdk.Propose {
						t.Errorf("%q in %s is shown as a proposal: %+v", line, mode, c)
					}
				}
			}
		}
	}
}

// TestStrictRule: a rule allows a command of the strict form, and neither the
// shell around it nor what no rule lifts.
func TestStrictRule(t *testing.T) {
	set := Settings{Shell: "argv", Rules: []sdk.PolicyRule{{Name: "go", Source: "f:1", Verdict: sdk.Allow, Commands: []string{"go test", "nmap", "rm", "cat"}}}}
	for line, want := range map[string]sdk.Verdict{
		"go test ./...": sdk.Allow, "nmap 10.0.0.5": sdk.Allow, "go vet ./...": sdk.Deny, "nmap x > f": sdk.Deny, "nmap x | nmap y": sdk.Deny, "X=1 nmap x": sdk.Deny, "/bin/nmap x": sdk.Deny,
		"rm -rf /": sdk.Deny, "cat ~/.ssh/id_rsa": sdk.Deny, "cat /home/bothy/.ssh/id_rsa": sdk.Deny, "nmap $x": sdk.Deny,
	} {
		for _, mode := range modes {
			a := lineOf(line)
			a.Mode = mode
			d := New(set).Decide(a)
			if d.Verdict != want || d.Verdict == sdk.Allow && strings.Join(d.Argv, " ") != line {
				t.Errorf("%q in %s: %s by %s (%s), argv %q", line, mode, d.Verdict, d.Rule, d.Reason, d.Argv)
			}
		}
	}
}

// TestSkillsAreRead: what a run has loaded is read as the workspace is, and
// nothing else is done with it.
func TestSkillsAreRead(t *testing.T) {
	for line, want := range map[string]string{
		"cat /skills/pdf/SKILL.md": "AAA", "ls /skills/pdf": "AAA", "ls /skills": "AAA", "cd /skills/pdf && cat notes": "AAA", "cat < /skills/pdf/x": "AAA", "grep -rn x /skills": "AAA", "cat /skills/pdf/../xls/a": "AAA",
		"python3 /skills/pdf/run.py": "QXA", "/skills/pdf/run.sh": "QXA", "touch /skills/x": "QXA", "cd /skills && touch x": "QXA", "cat /skills2/x": "QXA", "cat /skills/../etc/hosts": "QXA",
		"echo x > /skills/x": "QXX", "cat /skills/pdf/.env": "QXX", "cat < /skills/../etc/hosts": "QXX", "rm -rf /skills": "XXX",
	} {
		for i, mode := range modes {
			a := lineOf(line)
			a.Mode = mode
			got := map[sdk.Verdict]byte{sdk.Allow: 'A', sdk.Propose: 'Q', sdk.Deny: 'X'}[New(Settings{}).Decide(a).Verdict]
			if got != want[i] {
				t.Errorf("%q in %s: %c, want %c", line, mode, got, want[i])
			}
		}
	}
}
