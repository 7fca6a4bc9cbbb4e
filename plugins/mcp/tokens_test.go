package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/sdktest"
)

// loggedIn is a daemon that has a login.
func loggedIn(l sdk.Login) *sdktest.Daemon {
	d := &sdktest.Daemon{}
	d.SetLogin(l.Text())
	return d
}

// entered is a server with somebody who has logged in, and the plugin that goes there.
func entered(t *testing.T, change func(*authServer)) (*authServer, *sdktest.Daemon, *mcpServer) {
	t.Helper()
	a := served(t, change)
	l, err := sitter{}.logsIn(t.Context(), t, a.block(""))
	if err != nil {
		t.Fatal(err)
	}
	d := loggedIn(l)
	m, err := configuredBy(t, d, a.block(""))
	if err != nil {
		t.Fatal(err)
	}
	return a, d, m
}

// echoes calls the server's tool.
func echoes(t *testing.T, m *mcpServer) error {
	t.Helper()
	r, err := call(t, m, "mcp__fake__echo", `{"a":1}`)
	if err == nil && r.Output != `{"a":1}` {
		err = fmt.Errorf("it answers %+v", r)
	}
	return err
}

// login is the one that is kept.
func kept(t *testing.T, d *sdktest.Daemon) sdk.Login {
	t.Helper()
	text, err := d.Login(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l, err := sdk.ParseLogin(text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestRenewal: a token that ends is renewed before it is used, and one that counts no more after it was; what
// is new is kept, so that another process goes on with it.
func TestRenewal(t *testing.T) {
	for _, kind := range []string{"http", "sse"} {
		t.Run(kind, func(t *testing.T) {
			a, d, m := entered(t, func(a *authServer) { a.kind, a.expires = kind, 1 })
			if err := echoes(t, m); err != nil {
				t.Error(err)
			}
			first := kept(t, d)
			if n, _ := a.seen(); n == 0 {
				t.Error("a token that ends within a second was not renewed")
			}
			a.mu.Lock()
			a.expires = 3600
			a.mu.Unlock()
			if err := echoes(t, m); err != nil {
				t.Error(err)
			}
			second := kept(t, d)
			if second.Refresh == first.Refresh || second.ID != first.ID || time.Until(second.Expiry) < 50*time.Minute {
				t.Errorf("kept %+v, then %+v", first, second)
			}
			n, _ := a.seen()
			if err := echoes(t, m); err != nil {
				t.Error(err)
			}
			if again, _ := a.seen(); again != n {
				t.Error("a token that is good was renewed")
			}
			a.revoke(false)
			if err := echoes(t, m); err != nil {
				t.Error(err)
			}
			// After a restart.
			m.close()
			m, err := configuredBy(t, d, a.block(""))
			if err != nil {
				t.Fatal(err)
			}
			if err := echoes(t, m); err != nil {
				t.Error(err)
			}
			if _, logins := a.seen(); logins != 1 {
				t.Errorf("%d logins", logins)
			}
		})
	}
}

// TestRenewalIsOne: of many calls at once, and whoever is cancelled meanwhile.
func TestRenewalIsOne(t *testing.T) {
	a, d, m := entered(t, nil)
	hold := make(chan struct{})
	a.hold = hold
	a.revoke(false)
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			if err := echoes(t, m); err != nil {
				t.Error(err)
			}
		})
	}
	gone, cancel := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, err := m.Invoke(gone, sdk.Invocation{Tool: "mcp__fake__echo", Arguments: json.RawMessage(`{}`), CallID: "gone"}, &sdktest.Recorder{})
		left <- err
	}()
	cancel()
	if err := <-left; err == nil {
		t.Error("a call that was cancelled has an answer")
	}
	before := kept(t, d)
	close(hold)
	calls.Wait()
	if n, _ := a.seen(); n != 1 || kept(t, d).Refresh == before.Refresh {
		t.Errorf("renewed %d times", n)
	}
}

// TestLoginEnded: one sentence says what to do, the authorization server is not asked again and again, and a
// new login counts at once.
func TestLoginEnded(t *testing.T) {
	a, d, m := entered(t, nil)
	a.revoke(true)
	for range 3 {
		if err := echoes(t, m); err == nil || !strings.Contains(err.Error(), "has ended (the authorization server refused: invalid_grant): `bothy mcp login fake`") || sdk.OutcomeOf(err) != sdk.Unavailable {
			t.Errorf("%v", err)
		}
	}
	if n, _ := a.seen(); n != 1 {
		t.Errorf("asked %d times", n)
	}
	l, err := sitter{}.logsIn(t.Context(), t, a.block(""))
	if err != nil {
		t.Fatal(err)
	}
	d.SetLogin(l.Text())
	if err := echoes(t, m); err != nil {
		t.Errorf("after a new login: %v", err)
	}
	d.SetLogin("")
	a.revoke(true)
	if err := echoes(t, m); err == nil || !strings.HasSuffix(err.Error(), "wants a login: `bothy mcp login fake`") {
		t.Errorf("logged out: %v", err)
	}
}

// TestRenewalFails: for a moment, which ends no login and tells nothing that the server said.
func TestRenewalFails(t *testing.T) {
	a, _, m := entered(t, nil)
	a.mu.Lock()
	a.broken = true
	a.mu.Unlock()
	a.revoke(false)
	if err := echoes(t, m); err == nil || !strings.Contains(err.Error(), "could not be renewed") || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	a.mu.Lock()
	a.broken = false
	a.mu.Unlock()
	if err := echoes(t, m); err != nil {
		t.Error(err)
	}
}

// forgetful is a daemon that cannot keep a login for a time.
type forgetful struct {
	*sdktest.Daemon
	fails bool
}

// KeepLogin implements host.Host.
func (f *forgetful) KeepLogin(ctx context.Context, was, now string) error {
	if f.fails {
		return sdk.Errorf(sdk.Unavailable, "the keyring is locked")
	}
	return f.Daemon.KeepLogin(ctx, was, now)
}

// TestRenewalIsNotKept: the process goes on with what it has, and keeps it with the next renewal.
func TestRenewalIsNotKept(t *testing.T) {
	a := served(t, nil)
	l, err := sitter{}.logsIn(t.Context(), t, a.block(""))
	if err != nil {
		t.Fatal(err)
	}
	f := &forgetful{loggedIn(l), true}
	m, err := configuredBy(t, f, a.block(""))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		a.revoke(false)
		if err := echoes(t, m); err != nil {
			t.Error(err)
		}
	}
	if kept(t, f.Daemon).Access != l.Access {
		t.Error("it was kept")
	}
	f.fails = false
	a.revoke(false)
	if err := echoes(t, m); err != nil || kept(t, f.Daemon).Access == l.Access {
		t.Errorf("not kept later: %v", err)
	}
}

// slow is a daemon that keeps a login only when it is let.
type slow struct {
	*forgetful
	begun, let chan struct{}
}

// KeepLogin implements host.Host.
func (s *slow) KeepLogin(ctx context.Context, was, now string) error {
	if s.begun == nil {
		return s.forgetful.KeepLogin(ctx, was, now)
	}
	close(s.begun)
	s.begun = nil
	<-s.let
	return s.Daemon.KeepLogin(ctx, was, now)
}

// TestRenewalOutlivesAnOlderOne: what could not be kept at first takes the place of nothing that was renewed
// meanwhile, whose token alone renews the login.
func TestRenewalOutlivesAnOlderOne(t *testing.T) {
	a := served(t, nil)
	l, err := sitter{}.logsIn(t.Context(), t, a.block(""))
	if err != nil {
		t.Fatal(err)
	}
	d := &slow{forgetful: &forgetful{loggedIn(l), true}}
	m, err := configuredBy(t, d, a.block(""))
	if err != nil {
		t.Fatal(err)
	}
	renewed := func() {
		a.revoke(false)
		if err := echoes(t, m); err != nil {
			t.Error(err)
		}
	}
	renewed()
	to := m.server.tokens
	to.mu.Lock()
	was, first := to.kept, to.login
	to.mu.Unlock()
	begun := make(chan struct{})
	d.begun, d.let = begun, make(chan struct{})
	var both sync.WaitGroup
	both.Go(func() { to.keepLater(was, first) })
	<-begun
	second := make(chan struct{})
	go func() { defer close(second); renewed() }()
	select {
	case <-second: // it went before
	case <-time.After(300 * time.Millisecond): // it waits, as it should
	}
	close(d.let)
	both.Wait()
	<-second
	d.fails = false
	renewed()
	if kept(t, d.Daemon).Access == l.Access {
		t.Error("nothing was kept")
	}
}

// TestRenewalByAWord: what anybody can guess is no token, which the daemon would hide in every text.
func TestRenewalByAWord(t *testing.T) {
	a, d, m := entered(t, nil)
	was := kept(t, d)
	a.mu.Lock()
	a.word = "token"
	a.mu.Unlock()
	a.revoke(false)
	if err := echoes(t, m); err == nil || !strings.Contains(err.Error(), "a token that anybody can guess") {
		t.Errorf("%v", err)
	}
	if got := kept(t, d); got.Access != was.Access {
		t.Errorf("kept is %s", got.Access)
	}
}

// TestMoreScopes: what a login does not cover is said with the command that covers it, and what that does counts
// for the process that runs.
func TestMoreScopes(t *testing.T) {
	a, d, m := entered(t, nil)
	_, err := call(t, m, "mcp__fake__fail", `{}`)
	if err == nil || !strings.HasSuffix(err.Error(), "wants a login for more than it was made for: `bothy mcp login fake --scope read --scope write`") || sdk.OutcomeOf(err) != sdk.Permission {
		t.Fatal(err)
	}
	l, err := sitter{scopes: []string{"read", "write"}}.logsIn(t.Context(), t, a.block(""))
	if err != nil || strings.Join(l.Scopes, " ") != "read write" {
		t.Fatalf("%v, %v", l.Scopes, err)
	}
	d.SetLogin(l.Text())
	if r, err := call(t, m, "mcp__fake__fail", `{}`); err != nil || r.Success || !strings.Contains(r.Error+r.Output, "no such issue") {
		t.Errorf("%+v, %v", r, err)
	}
	// What could not be typed is no part of a command.
	tok := &tokens{name: "fake", what: "fake"}
	if err := tok.insufficient([]string{"$(reboot)"}); strings.Contains(err.Error(), "reboot") {
		t.Error(err)
	}
	block, err := sitter{}.logsIn(t.Context(), t, a.block(`, "scopes":["other"]`))
	if err != nil || strings.Join(block.Scopes, " ") != "other" {
		t.Errorf("the block asks for %v, %v", block.Scopes, err)
	}
}

// TestTokensStay: no other server is sent a token, by whatever way it is named.
func TestTokensStay(t *testing.T) {
	a, d, _ := entered(t, nil)
	var mu sync.Mutex
	var told []string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		told = append(told, r.Header.Get("Authorization"))
		mu.Unlock()
		http.Error(w, "no", http.StatusTeapot)
	}))
	t.Cleanup(other.Close)
	l := kept(t, d)
	redirecting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+l.Access {
			t.Error("the server of the login gets no token")
		}
		http.Redirect(w, r, other.URL+"/mcp", http.StatusTemporaryRedirect)
	}))
	t.Cleanup(redirecting.Close)
	l.Server = redirecting.URL
	for _, transport := range []string{"http", "sse"} {
		if _, err := configuredBy(t, loggedIn(l), fmt.Sprintf(`{"url":%q, "transport":%q}`, redirecting.URL, transport)); err == nil {
			t.Error("a redirect ends somewhere")
		}
	}
	// Of a block whose url is another now, and of one that has a header of its own.
	if _, err := configuredBy(t, loggedIn(l), fmt.Sprintf(`{"url":%q}`, other.URL)); err == nil {
		t.Error("it answers")
	}
	if _, err := configuredBy(t, loggedIn(l), fmt.Sprintf(`{"url":%q, "headers":{"authorization":"Bearer own"}}`, other.URL)); err == nil {
		t.Error("it answers")
	}
	mu.Lock()
	defer mu.Unlock()
	if len(told) < 4 {
		t.Errorf("the other server was asked %d times", len(told))
	}
	for _, h := range told {
		if h != "" && h != "Bearer own" {
			t.Errorf("the other server is told %s", h)
		}
	}
	m, err := configuredBy(t, d, a.block(""))
	if err != nil {
		t.Fatal(err)
	}
	d.SetLogin(l.Text()) // for another url
	a.revoke(false)
	if err := echoes(t, m); err == nil || !strings.Contains(err.Error(), "is for another url: `bothy mcp login fake`") {
		t.Errorf("%v", err)
	}
}
