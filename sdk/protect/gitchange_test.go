package protect

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestGitConfigChange(t *testing.T) {
	branch := "[branch \"topic/x\"]\n\tremote = origin\n\tmerge = refs/heads/topic/x\n"
	remote := "[remote \"origin\"]\n\turl = git@example.org:a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n"
	custom := newConfig + "[alias]\n\tx = \"!echo \\\"a\\\" # b\"\n"
	const absent = "\x00"
	for _, c := range []struct {
		was, is string
		want    Class
	}{
		{absent, newConfig, Free}, {absent, "", Free}, {absent, newConfig + remote + branch, Asked}, {absent, remote, Asked},
		{absent, newConfig + "[extensions]\n\tobjectformat = sha256\n", Free}, {absent, strings.ReplaceAll(newConfig, "bare = false", "bare = true"), Free},
		{absent, newConfig + "[user]\n\temail = x\n", Refused}, {absent, newConfig + "\tworktree = ..\n", Refused}, {absent, newConfig + "\thooksPath = x\n", Refused},
		{absent, newConfig + "[include]\n\tpath = x\n", Refused}, {absent, "[core]\n\tfsmonitor = ./x\n", Refused}, {absent, "[core]\n\tfilemode = ./x\n", Refused},
		{absent, "[core]\n  bare = false\n", Refused}, {absent, "\tbare = false\n", Refused}, {absent, newConfig + "[extensions]\n\tworktreeConfig = true\n", Refused},
		{newConfig, newConfig, Free}, {newConfig, newConfig + branch, Asked}, {newConfig, newConfig + remote + branch, Asked}, {custom + remote, custom + branch, Asked},
		{custom, branch + custom, Asked}, {newConfig + remote, newConfig, Asked}, {newConfig + remote, newConfig + strings.ReplaceAll(remote, "example", "other"), Asked},
		{newConfig, absent, Refused}, {newConfig, newConfig + "[user]\n\temail = x\n", Refused}, {newConfig, "", Refused}, {newConfig, newConfig + "\tpager = ./x\n", Refused},
		{newConfig, newConfig + "[branch \"x\"]\n\tmergeoptions = -s evil\n", Refused}, {newConfig, newConfig + "[branch \"x\"]\n\tremote = ext::sh -c x\n", Refused},
		{newConfig, newConfig + "[remote \"x\"]\n\turl = ext::sh -c x\n", Refused}, {newConfig, newConfig + "[remote \"x\"]\n\tpushurl = ssh://-oProxyCommand=x/y\n", Refused},
		{newConfig, newConfig + "[remote \"x\"]\n\turl = -u./x\n", Refused}, {newConfig, newConfig + "[remote \"x\"]\n\tuploadpack = ./x\n", Refused},
		{newConfig, newConfig + "[remote \"x\"]\n\tvcs = x\n", Refused}, {newConfig, newConfig + "[remote \"x\"]\n\tproxy = x\n", Refused},
		{newConfig, newConfig + "[remote \"x\"]\n\turl = \"x\n[core]\n\tpager = ./x\"\n", Refused}, {newConfig, newConfig + "[remote \"x\"] url = y\n", Refused},
		{newConfig, newConfig + "[remote \"x\"]\n\turl = y \\\n[core]\n\tpager = ./x\n", Refused}, {newConfig, newConfig + "[REMOTE \"x\"]\n\turl = y\n", Refused},
		// A section in the middle takes what stands behind it along.
		{"[core]\n\tpager = less\n", "[core]\n" + remote + "\tpager = less\n", Refused}, {"[a]\n\tx = y\\\n[b]\n\tz = 1\n", "[a]\n\tx = y\\\n" + branch + "[b]\n\tz = 1\n", Refused},
		{"[a]\n\tx = y", "[a]\n\tx = y" + branch, Refused}, {"[a]\n\tx = y", "[a]\n\tx = y\n" + branch, Refused},
	} {
		change := Change{Path: ".git/config", Was: File, Is: File}
		change.Read, change.ReadBefore = func() ([]byte, error) { return []byte(c.is), nil }, func() ([]byte, error) { return []byte(c.was), nil }
		if c.was == absent {
			change.Was = Nothing
		}
		if c.is == absent {
			change.Is = Nothing
		}
		if got := gitConfigChange(change, ".git/config"); got.Class != c.want {
			t.Errorf("from %q\n  to %q\n got %s, want %s", c.was, c.is, got.Class, c.want)
		}
	}
	for _, c := range []Change{{Was: File, Is: Link}, {Was: Link, Is: File}, {Was: File, Is: Directory}, {Is: File}, {Was: File, Is: File}} {
		if got := gitConfigChange(c, "x"); got.Class != Refused {
			t.Errorf("%+v: got %s", c, got.Class)
		}
	}
}

// FuzzGitConfigChange: what is not refused says to git itself nothing else than
// before, but for branches and servers, and the few settings of a new one.
func FuzzGitConfigChange(f *testing.F) {
	f.Add(newConfig, newConfig+"[branch \"x\"]\n\tremote = origin\n")
	f.Add(newConfig+"[alias]\n\tx = !y\\\n", newConfig+"[alias]\n\tx = !y\\\n[remote \"a\"]\n\turl = b\n")
	f.Add("", "[core]\n\tbare = false\n")
	f.Add("[a]\n", "[remote \"a\"]\n\turl = b\n[a]\n")
	f.Fuzz(func(t *testing.T, was, is string) {
		change := Change{Path: ".git/config", Was: File, Is: File}
		change.Read, change.ReadBefore = func() ([]byte, error) { return []byte(is), nil }, func() ([]byte, error) { return []byte(was), nil }
		if was == "" {
			change.Was = Nothing
		}
		if gitConfigChange(change, "x").Class == Refused || was == is {
			return
		}
		before, readable := settingsOf(t, was)
		after, stillReadable := settingsOf(t, is)
		if !readable {
			return // git reads nothing of either
		}
		if !stillReadable {
			t.Fatalf("git cannot read %q any more", is)
		}
		if !slices.Equal(before, after) {
			t.Fatalf("from %q to %q git sees %q instead of %q", was, is, after, before)
		}
	})
}

// settingsOf are what git reads in a configuration, in its order, without those
// that may be others.
func settingsOf(t *testing.T, text string) (all []string, readable bool) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("git", "config", "--no-includes", "-z", "-l", "-f", file)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.Output()
	if err != nil {
		return nil, false
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		key, _, _ := strings.Cut(line, "\n")
		section, rest, _ := strings.Cut(key, ".")
		name := rest[strings.LastIndexByte(rest, '.')+1:]
		_, init := initKeys["["+section+"]"][name]
		if line != "" && !slices.Contains(serverKeys[section], name) && !init {
			all = append(all, line)
		}
	}
	return all, true
}
