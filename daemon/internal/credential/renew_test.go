package credential

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// aLogin is one that was renewed n times.
func aLogin(id, n string) sdk.Login {
	return sdk.Login{ID: id, Server: "https://far.example/mcp", Access: "access-token-1-" + n, Refresh: "refresh-token-1-" + n, ClientSecret: "the-secret-of-the-client"}
}

// TestRenew: a value is renewed where it is, and only from what is there; what it has is told before.
func TestRenew(t *testing.T) {
	ctx := context.Background()
	one, two := aLogin("a", "one").Text(), aLogin("a", "two").Text()
	for place, give := range map[Place]func(*fixture) error{
		Keyring: func(f *fixture) error { _, err := f.Login(ctx, "mcp.far", one, false); return err },
		File:    func(f *fixture) error { _, err := f.Login(ctx, "mcp.far", one, true); return err },
		Memory: func(f *fixture) error {
			f.ring.fails = errors.New("it is locked")
			_, err := f.Login(ctx, "mcp.far", one, false)
			return err
		},
	} {
		f := newFixture(t)
		if err := f.Renew(ctx, "mcp.far", one, two); sdk.OutcomeOf(err) != sdk.NotFound {
			t.Errorf("%s, of nothing: %v", place, err)
		}
		if err := give(f); err != nil {
			t.Fatal(err)
		}
		f.want(t, "mcp.far", one, place)
		if err := f.Renew(ctx, "mcp.far", two, one); sdk.OutcomeOf(err) != sdk.Conflict {
			t.Errorf("%s, of another: %v", place, err)
		}
		if err := f.Renew(ctx, "mcp.far", one, two); err != nil {
			t.Errorf("%s: %v", place, err)
		}
		f.want(t, "mcp.far", two, place)
		for _, value := range []string{"access-token-1-one", "refresh-token-1-one", "access-token-1-two", "refresh-token-1-two", "the-secret-of-the-client"} {
			if !f.learned.has(value) {
				t.Errorf("%s: %s was told to nobody", place, value)
			}
		}
		if place == File {
			if keys, err := readFile(f.Path()); err != nil || keys["mcp.far"] != two {
				t.Errorf("the file has %v, %v", keys, err)
			}
		}
	}
	f := newFixture(t)
	f.env["mcp.far"] = one
	if err := f.Renew(ctx, "mcp.far", one, two); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("of the environment: %v", err)
	}
	f = newFixture(t)
	if _, err := f.Login(ctx, "mcp.far", one, false); err != nil {
		t.Fatal(err)
	}
	f.ring.fails = errors.New("it burns")
	if err := f.Renew(ctx, "mcp.far", one, two); sdk.OutcomeOf(err) != sdk.Unavailable || strings.Contains(err.Error(), "token") {
		t.Errorf("by a keyring that fails: %v", err)
	}
	f.want(t, "mcp.far", one, Keyring)
}

// TestLoginsAreNoKeys: nobody types one, nobody is told that one is lacking, and no client gives one.
func TestLoginsAreNoKeys(t *testing.T) {
	f, ctx := newFixture(t), context.Background()
	a, _ := answers(f)
	a.Logins = func() map[string]string { return map[string]string{"mcp.far": "mcp far"} }
	if _, err := a.Login(ctx, rpc.KeyLogin{Of: "mcp.far", Key: "typed"}); sdk.OutcomeOf(err) != sdk.Validation || !strings.Contains(err.Error(), "`bothy mcp login far`") {
		t.Errorf("typed: %v", err)
	}
	if _, err := a.Login(ctx, rpc.KeyLogin{Of: "mcp.other", Key: aLogin("a", "one").Text()}); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("of no block: %v", err)
	}
	word := sdk.Login{ID: "a", Server: "https://far.example/mcp", Access: "function"}
	if _, err := a.Login(ctx, rpc.KeyLogin{Of: "mcp.far", Key: word.Text()}); sdk.OutcomeOf(err) != sdk.Validation || f.learned.has("function") {
		t.Errorf("a word: %v", err)
	}
	text := aLogin("a", "one").Text()
	if given, err := a.Give(ctx, 1, rpc.KeysGive{Keys: map[string]string{"mcp.far": text}}); err != nil || len(given.Taken) != 0 {
		t.Errorf("given: %+v, %v", given, err)
	}
	for _, name := range a.Lacks() {
		if name == "mcp.far" {
			t.Error("it is lacking")
		}
	}
	if _, err := a.Logout(ctx, rpc.KeyRef{Of: "mcp.far"}); sdk.OutcomeOf(err) != sdk.NotFound || err.Error() != "nobody has logged in to far" {
		t.Errorf("out before in: %v", err)
	}
	for _, k := range a.List().Keys {
		if k.Name == "mcp.far" {
			t.Error("it is listed before anybody logged in")
		}
	}
	kept, err := a.Login(ctx, rpc.KeyLogin{Of: "mcp.far", Key: text})
	if err != nil || kept.Place != rpc.KeyInKeyring || len(kept.UsedBy) != 1 || kept.UsedBy[0] != "mcp far" {
		t.Errorf("%+v, %v", kept, err)
	}
	listed := false
	for _, k := range a.List().Keys {
		listed = listed || k.Name == "mcp.far" && k.Place == rpc.KeyInKeyring && len(k.UsedBy) == 1
	}
	if !listed {
		t.Errorf("listed are %+v", a.List().Keys)
	}
	if _, err := a.Logout(ctx, rpc.KeyRef{Of: "mcp.far"}); err != nil {
		t.Error(err)
	}
	f.want(t, "mcp.far", "", "")
}

// TestKeepLogin: what takes the place of a login is the same login.
func TestKeepLogin(t *testing.T) {
	f, ctx := newFixture(t), context.Background()
	one := aLogin("a", "one").Text()
	if _, err := f.Login(ctx, "mcp.far", one, true); err != nil {
		t.Fatal(err)
	}
	l := Logins{f.Keys}
	if got, err := l.Login(ctx, "mcp.far"); got != one || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	elsewhere := aLogin("a", "two")
	elsewhere.Server = "https://evil.example/mcp"
	word := aLogin("a", "two")
	word.Access = "internationalization"
	for name, now := range map[string]string{"no login": "hunter2", "a word": word.Text(), "another": aLogin("b", "two").Text(), "elsewhere": elsewhere.Text(), "longer than a key": aLogin("a", strings.Repeat("x", maxKey)).Text()} {
		if err := l.KeepLogin(ctx, "mcp.far", one, now); sdk.OutcomeOf(err) != sdk.Validation {
			t.Errorf("%s: %v", name, err)
		}
	}
	two := aLogin("a", "two").Text()
	if err := l.KeepLogin(ctx, "mcp.far", one, two); err != nil {
		t.Error(err)
	}
	f.want(t, "mcp.far", two, File)
}
