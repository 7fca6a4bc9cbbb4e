package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
)

const (
	soon      = 30 * time.Second // before its end a token is renewed
	renewTime = 20 * time.Second // for a renewal and for keeping it
	keepAgain = time.Minute      // after a login could not be kept
)

// tokens are those of a person's login at the server. They are renewed by themselves, and what is
// new is kept before it is used: a restart goes on with it.
type tokens struct {
	name   string // of the server
	what   string // the server, for people
	daemon host.Host
	url    string
	log    *slog.Logger

	changing sync.Mutex // held over a renewal, and over keeping what came of one; taken before mu

	mu       sync.Mutex // nothing is waited for under it
	kept     string     // the login as it is kept; empty for none
	login    sdk.Login
	ended    error // why kept can be renewed no more
	renewing *renewal
}

// renewal is one that is under way: all who need a token wait for it.
type renewal struct {
	done  chan struct{} // closed when what follows is known
	token string
	err   error
}

// errNoLogin says that nobody has logged in, or not here.
var errNoLogin = errors.New("nobody has logged in")

// openTokens has the server reached with a login, where its block leaves it to one.
func (s *server) openTokens(ctx context.Context) {
	if s.settings.URL == "" || s.settings.authorized() {
		return
	}
	s.tokens = &tokens{name: s.name, what: s.name + " (" + s.settings.source() + ")", url: s.settings.URL, daemon: host.From(ctx), log: s.log}
	s.tokens.open(ctx)
}

// open reads the login that is kept. What is wrong with it is told when the server wants one.
func (t *tokens) open(ctx context.Context) {
	text, err := t.daemon.Login(ctx)
	if err == nil {
		err = t.take(text)
	}
	if err != nil && sdk.OutcomeOf(err) != sdk.NotFound {
		t.log.Debug("there is no login to go on with", "error", err)
	}
}

// take goes on with the login that is kept; empty is none.
func (t *tokens) take(text string) error {
	var l sdk.Login
	if text != "" {
		var err error
		if l, err = sdk.ParseLogin(text); err != nil {
			return sdk.Errorf(sdk.Unavailable, "the login that is kept for the MCP server %s cannot be read: `bothy mcp login %s`", t.what, t.name)
		}
		if l.Server != t.url {
			return sdk.Errorf(sdk.Unavailable, "the login that is kept for the MCP server %s is for another url: `bothy mcp login %s`", t.what, t.name)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept, t.login, t.ended = text, l, nil
	return nil
}

// bearer is a token for a request now; empty where nobody has logged in.
func (t *tokens) bearer(ctx context.Context) (string, error) {
	t.mu.Lock()
	l := t.login
	t.mu.Unlock()
	left := time.Until(l.Expiry)
	if l.Access == "" || l.Expiry.IsZero() || left > soon {
		return l.Access, nil
	}
	token, err := t.renew(ctx, l.Access)
	if err != nil && left > 0 && ctx.Err() == nil {
		t.log.Warn("the login could not be renewed; its token goes on for a moment", "error", sentence(err))
		return l.Access, nil
	}
	return token, err
}

// renew is another token than the one that is of no use any more.
func (t *tokens) renew(ctx context.Context, used string) (string, error) {
	t.mu.Lock()
	if t.login.Access != used && t.login.Access != "" {
		defer t.mu.Unlock()
		return t.login.Access, nil
	}
	r := t.renewing
	if r == nil {
		r = &renewal{done: make(chan struct{})}
		t.renewing = r
		go func() {
			t.changing.Lock()
			defer t.changing.Unlock()
			// It is of no call: one that is cancelled would lose the token that was sent for it.
			ctx, cancel := context.WithTimeout(context.Background(), renewTime)
			defer cancel()
			r.token, r.err = t.another(ctx, used)
			t.mu.Lock()
			t.renewing = nil
			t.mu.Unlock()
			close(r.done)
		}()
	}
	t.mu.Unlock()
	select {
	case <-r.done:
		return r.token, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// again reads the login once more, which a person may have made anew, and is its token where that is
// another than was used.
func (t *tokens) again(ctx context.Context, used string) (string, error) {
	text, err := t.daemon.Login(ctx)
	switch {
	case sdk.OutcomeOf(err) == sdk.NotFound && err != nil:
		if err := t.take(""); err != nil {
			return "", err
		}
		return "", errNoLogin
	case err != nil:
		return "", err
	}
	t.mu.Lock()
	same := text == t.kept
	t.mu.Unlock()
	if !same {
		if err := t.take(text); err != nil {
			return "", err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.login.Access != used {
		return t.login.Access, nil
	}
	return "", nil
}

// another asks the authorization server for a token.
func (t *tokens) another(ctx context.Context, used string) (string, error) {
	if token, err := t.again(ctx, used); token != "" || err != nil {
		return token, err
	}
	t.mu.Lock()
	kept, l, ended := t.kept, t.login, t.ended
	t.mu.Unlock()
	if ended == nil && l.Refresh == "" {
		ended = t.over("its token is valid no more, and there is none to renew it with")
	}
	if ended != nil {
		return "", ended
	}
	server, err := url.Parse(l.Server)
	if err != nil {
		return "", t.over("its address cannot be read")
	}
	web := outward(server, l.Near)
	defer web.CloseIdleConnections()
	got, err := exchange(ctx, web, l)
	if err == nil {
		if l = with(l, got); l.Check() != nil { // what it was renewed with counts no more
			return "", t.finish(sentence(l.Check()))
		}
		return t.keep(ctx, kept, l)
	}
	said := answerOf(err)
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) && slices.Contains([]string{"invalid_grant", "invalid_client", "unauthorized_client"}, refused.ErrorCode) {
		// Another process may have renewed it meanwhile, and kept what it got.
		if token, err := t.again(ctx, used); token != "" || err != nil {
			return token, err
		}
		return "", t.finish(said)
	}
	if errors.Is(err, errPrivate) { // as of a login that was made before its server was known to be near
		return "", t.over(said)
	}
	return "", sdk.Errorf(sdk.Unavailable, "the login at the MCP server %s could not be renewed: %s", t.what, said)
}

// answerOf is what an authorization server said in the place of a token. Of the answer itself nothing is in
// it but what the protocol has for people.
func answerOf(err error) string {
	var refused *oauth2.RetrieveError
	switch {
	case errors.As(err, &refused) && refused.ErrorCode != "":
		return refusedLogin(refused.ErrorCode, refused.ErrorDescription).Error()
	case errors.As(err, &refused):
		return fmt.Sprintf("the authorization server answered with the status %d", refused.Response.StatusCode)
	}
	return sentence(err)
}

// over says that the person has to log in again.
func (t *tokens) over(why string) error {
	return sdk.Errorf(sdk.Unavailable, "the login at the MCP server %s has ended (%s): `bothy mcp login %s`", t.what, why, t.name)
}

// finish has nobody ask for another token of the login that is kept.
func (t *tokens) finish(why string) error {
	ended := t.over(why)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = ended
	return ended
}

// keep gives what is new to the daemon and goes on with it.
func (t *tokens) keep(ctx context.Context, was string, l sdk.Login) (string, error) {
	text := l.Text()
	err := t.daemon.KeepLogin(ctx, was, text)
	switch outcome := sdk.OutcomeOf(err); {
	case err == nil:
		t.mu.Lock()
		defer t.mu.Unlock()
		t.kept, t.login, t.ended = text, l, nil
	case outcome == sdk.NotFound || outcome == sdk.Conflict: // a person logged out meanwhile, or in again
		return t.again(ctx, "")
	default:
		t.log.Warn("the login was renewed and could not be kept: after a restart of this server it may have to be made again", "error", err)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.login = l // kept stays, so that the next renewal takes its place
		time.AfterFunc(keepAgain, func() { t.keepLater(was, l) })
	}
	return l.Access, nil
}

// keepLater tries once more, unless something newer is there, which it would take the place of.
func (t *tokens) keepLater(was string, l sdk.Login) {
	t.changing.Lock()
	defer t.changing.Unlock()
	t.mu.Lock()
	newest := t.login.Access == l.Access && t.kept == was
	t.mu.Unlock()
	if !newest {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), renewTime)
	defer cancel()
	_, _ = t.keep(ctx, was, l) // what is wrong is in the log
}

// exchange has the tokens of a login renewed, for the same resource (RFC 6749, section 6; RFC 8707,
// section 2.2).
func exchange(ctx context.Context, web *http.Client, l sdk.Login) (*oauth2.Token, error) {
	c := oauth2.Config{ClientID: l.ClientID, ClientSecret: l.ClientSecret, Endpoint: oauth2.Endpoint{TokenURL: l.TokenURL, AuthStyle: oauth2.AuthStyle(l.ClientAuth)}}
	return c.Exchange(context.WithValue(ctx, oauth2.HTTPClient, web), "", oauth2.SetAuthURLParam("grant_type", "refresh_token"),
		oauth2.SetAuthURLParam("refresh_token", l.Refresh), oauth2.SetAuthURLParam("resource", l.Resource))
}

// with is a login with the tokens that a server gave for it.
func with(l sdk.Login, t *oauth2.Token) sdk.Login {
	l.Access, l.Refresh, l.Expiry = t.AccessToken, t.RefreshToken, t.Expiry
	if granted, is := t.Extra("scope").(string); is && granted != "" {
		l.Scopes = slices.Sorted(strings.FieldsSeq(granted)) // a server may repeat them in the order that they were asked for, which is any
	}
	return l
}

// unauthorized says how to log in where nobody has.
func (t *tokens) unauthorized(err error) error {
	if errors.Is(err, errNoLogin) {
		return sdk.Errorf(sdk.Unavailable, "the MCP server %s wants a login: `bothy mcp login %s`", t.what, t.name)
	}
	return err
}

// scopeWord is a scope that can stand in a command line as it is. The protocol allows others (RFC 6749,
// section 3.3), which a person has to write themselves.
var scopeWord = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/+@=,-]{0,199}$`)

// insufficient says how to log in for more. What was granted is among it, since a login takes the place
// of the one before.
func (t *tokens) insufficient(scopes []string) error {
	t.mu.Lock()
	all := slices.Clone(t.login.Scopes)
	t.mu.Unlock()
	for _, s := range scopes {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	command := "bothy mcp login " + t.name
	for _, s := range all {
		if !scopeWord.MatchString(s) || len(all) > 50 {
			return sdk.Errorf(sdk.Permission, "the MCP server %s wants a login for more than it was made for, by scopes that cannot be shown: `%s --scope SCOPE`", t.what, command)
		}
		command += " --scope " + s
	}
	return sdk.Errorf(sdk.Permission, "the MCP server %s wants a login for more than it was made for: `%s`", t.what, command)
}
