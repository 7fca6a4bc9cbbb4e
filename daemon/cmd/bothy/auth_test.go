package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk/rpc"
)

// askedFor are keys as a configuration asks for them.
func askedFor() rpc.Keys {
	return rpc.Keys{
		Keys: []rpc.Key{
			{Name: "BOT_NAME", UsedBy: []string{"plugin bot"}},
			{Name: "BOT_TOKEN", UsedBy: []string{"plugin bot"}},
			{Name: "OLD_KEY", Place: rpc.KeyInFile},
			{Name: "OPENAI_API_KEY", Place: rpc.KeyInKeyring, UsedBy: []string{"provider lab", "provider openai"}},
		},
		File: "/c/credentials.json", Keyring: "it is locked",
	}
}

func TestAuthLogin(t *testing.T) {
	b := withDaemon(t, nil)
	b.daemon.keys.list = askedFor()
	b.c.in = strings.NewReader("sk-4711\n")
	b.want(t, exitOK, "login", "openai")
	if want := (rpc.KeyLogin{Of: "OPENAI_API_KEY", Key: "sk-4711"}); len(b.daemon.keys.logins) != 1 || b.daemon.keys.logins[0] != want {
		t.Errorf("given %+v", b.daemon.keys.logins)
	}
	if out, err := b.out.String(), b.err.String(); out != "OPENAI_API_KEY is in the daemon, until it ends\n" || !strings.Contains(err, "there is no keyring") || strings.Contains(out+err, "sk-4711") {
		t.Errorf("%q, %q", out, err)
	}
	b.c.in = strings.NewReader("-----BEGIN\nline\n-----END\n")
	b.want(t, exitOK, "auth", "login", "BOT_TOKEN", "--file", "--json")
	if got := b.daemon.keys.logins[1]; !got.File || got.Key != "-----BEGIN\nline\n-----END" || !strings.Contains(b.out.String(), `"place": "file"`) {
		t.Errorf("%+v, %s", got, b.out.String())
	}
	for args, says := range map[string]string{
		"auth login":                    "bot, lab, openai",
		"auth login bot":                "BOT_NAME, BOT_TOKEN",
		"auth login nope":               "bot, lab, openai",
		"auth login OLD_KEY":            "no key is called so",
		"auth login openai sk-argument": "make another one",
	} {
		b.c.in = strings.NewReader("sk-4711\n")
		if code := b.run(strings.Fields(args)...); code != exitUsage || !strings.Contains(b.err.String(), says) || strings.Contains(b.err.String(), "sk-") {
			t.Errorf("%s: exit %d, %q", args, code, b.err.String())
		}
	}
	for _, text := range []string{"", "\n", " \n"} {
		b.c.in = strings.NewReader(text)
		if code := b.run("auth", "login", "openai"); code != exitUsage || !strings.Contains(b.err.String(), "no key was given") {
			t.Errorf("%q: exit %d, %q", text, code, b.err.String())
		}
	}
	if len(b.daemon.keys.logins) != 2 {
		t.Errorf("given %+v", b.daemon.keys.logins)
	}
}

func TestAuthListAndLogout(t *testing.T) {
	b := withDaemon(t, nil)
	b.daemon.keys.list = askedFor()
	b.want(t, exitOK, "auth")
	for _, row := range []string{"BOT_TOKEN +nowhere +plugin bot", "OLD_KEY +/c/credentials.json +-", "OPENAI_API_KEY +the keyring +provider lab, provider openai"} {
		if !regexp.MustCompile("(?m)^" + row + "$").MatchString(b.out.String()) {
			t.Errorf("no %s in\n%s", row, b.out.String())
		}
	}
	if !strings.Contains(b.err.String(), "the keyring is not asked: it is locked") {
		t.Error(b.err.String())
	}
	b.want(t, exitOK, "auth", "list", "openai", "--json")
	if text := b.out.String(); !strings.Contains(text, `"place": "keyring"`) || strings.Contains(text, "BOT") {
		t.Error(text)
	}
	b.want(t, exitUsage, "auth", "list", "nope")
	b.want(t, exitOK, "logout", "openai")
	if b.out.String() != "OPENAI_API_KEY was removed from: keyring\n" || !strings.Contains(b.err.String(), "still in the daemon's environment") || b.daemon.keys.gone[0].Of != "openai" {
		t.Errorf("%q, %q", b.out.String(), b.err.String())
	}
}

// TestMCPLogout: the login of a server is a key of its own name.
func TestMCPLogout(t *testing.T) {
	b := withDaemon(t, nil)
	b.want(t, exitOK, "mcp", "logout", "far")
	if len(b.daemon.keys.gone) != 1 || b.daemon.keys.gone[0].Of != "mcp.far" || b.out.String() != "logged out of far; the login was removed from: keyring\n" {
		t.Errorf("%+v, %q", b.daemon.keys.gone, b.out.String())
	}
}

// TestKeysOfTheEnvironmentAreGivenOnce: those alone that the daemon lacks, when work is given to
// it, and said; a look at something gives none.
func TestKeysOfTheEnvironmentAreGivenOnce(t *testing.T) {
	b := withDaemon(t, twoTurns)
	b.daemon.keys.lacks = []string{"A_KEY", "B_KEY", "C_KEY"}
	b.c.environ = append(b.c.environ, "A_KEY=aaaaaa", "B_KEY=", "OTHER_KEY=oooooo")
	b.want(t, exitOK, "runs")
	if len(b.daemon.keys.given) != 0 {
		t.Fatalf("given without need: %v", b.daemon.keys.given)
	}
	b.want(t, exitOK, "run", "who am I?")
	if g := b.daemon.keys.given; len(g) != 1 || len(g[0]) != 1 || g[0]["A_KEY"] != "aaaaaa" {
		t.Errorf("given %v", g)
	}
	if text := b.err.String(); strings.Count(text, "gave the daemon A_KEY from this environment") != 1 || strings.Contains(text, "aaaaaa") {
		t.Error(text)
	}
	b.want(t, exitOK, "run", "who am I?")
	if len(b.daemon.keys.given) != 1 || strings.Contains(b.err.String(), "gave the daemon") {
		t.Errorf("given again: %v, %s", b.daemon.keys.given, b.err.String())
	}
}
