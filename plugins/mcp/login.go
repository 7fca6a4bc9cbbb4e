package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/loopback"
	"github.com/bothyd/bothy/sdk/plugin"
)

// loginVerb is the argument by which this program logs a person in, in the place of serving. It
// reads one line with a loginRequest, and then what the person types; it writes the steps, a line
// of JSON each, of which the last has done or failed.
const loginVerb = "login"

// loginInstead does that, and ends.
func loginInstead() {
	if len(os.Args) != 2 || os.Args[1] != loginVerb {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if serveLogin(ctx, os.Stdin, os.Stdout) != nil { // the last line says why
		os.Exit(1)
	}
	os.Exit(0)
}

// loginRequest is what to log in to.
type loginRequest struct {
	Name     string          `json:"name"`             // of the server
	Settings json.RawMessage `json:"settings"`         // its block, as Configure gets it
	Scopes   []string        `json:"scopes,omitempty"` // beside those that the server asks for
	Seconds  int             `json:"seconds"`          // how long the person may take
}

// loginStep is one line of the answer.
type loginStep struct {
	sdk.AuthStep
	Failed string `json:"failed,omitempty"`
}

// serveLogin does what one request says.
func serveLogin(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	show := func(s loginStep) error { return json.NewEncoder(out).Encode(s) }
	l, err := func() (sdk.Login, error) {
		var r loginRequest
		first, err := lines.ReadBytes('\n')
		if err == nil {
			err = json.Unmarshal(first, &r)
		}
		if err != nil {
			return sdk.Login{}, sdk.Errorf(sdk.Validation, "the request cannot be read: %w", err)
		}
		f := flow{loginRequest: r, show: func(s sdk.AuthStep) error { return show(loginStep{AuthStep: s}) }, typed: lines}
		if err := plugin.Decode(r.Settings, &f.settings); err != nil {
			return sdk.Login{}, err
		}
		return f.run(ctx)
	}()
	if err != nil {
		return errors.Join(err, show(loginStep{Failed: err.Error()}))
	}
	return show(loginStep{AuthStep: sdk.AuthStep{Done: &sdk.AuthDone{Account: hostOf(l.TokenURL), Secret: l.Text()}}})
}

// flow is one login.
type flow struct {
	loginRequest
	settings settings
	show     func(sdk.AuthStep) error
	typed    io.Reader // lines of the person, whose end ends the login; nil is nobody

	end      context.CancelFunc
	to       *url.URL
	met      nearness // of the server
	resource string
	got      *oauth2.Token
	config   *oauth2.Config
}

// Why a login is given up.
var errLate = errors.New("nobody logged in in time")

// run logs the person in, and tries what came of it.
func (f *flow) run(ctx context.Context) (sdk.Login, error) {
	if err := f.settings.check(); err != nil {
		return sdk.Login{}, err
	}
	switch {
	case f.settings.URL == "":
		return sdk.Login{}, sdk.Errorf(sdk.Validation, "the MCP server %s is a program of this machine: what it needs to log in is given by env", f.Name)
	case f.settings.authorized():
		return sdk.Login{}, sdk.Errorf(sdk.Validation, "the block of %s has a header Authorization, which goes before a login: take it out", f.Name)
	}
	var err error
	if f.to, err = url.Parse(f.settings.URL); err != nil {
		return sdk.Login{}, err
	}
	if f.to.Scheme != "https" && !loopback.IsLoopback(f.to.Hostname()) { // MCP 2025-11-25, Authorization: communication security
		return sdk.Login{}, sdk.Errorf(sdk.Validation, "the URL of %s is not encrypted, and every request would show the login's token to whoever is in between: write https:// in its block", f.Name)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(f.Seconds)*time.Second, errLate)
	defer cancel()
	ctx, f.end = context.WithCancel(ctx)
	defer f.end()
	err = f.authorize(ctx)
	if errors.Is(context.Cause(ctx), errLate) {
		err = sdk.Errorf(sdk.Timeout, "nobody logged in within %v", time.Duration(f.Seconds)*time.Second)
	}
	if err != nil {
		return sdk.Login{}, f.fault(err)
	}
	l := with(sdk.Login{
		ID: rand.Text(), Server: f.settings.URL, Near: f.met.near(), Resource: f.resource, TokenURL: f.config.Endpoint.TokenURL,
		ClientID: f.config.ClientID, ClientSecret: f.config.ClientSecret, ClientAuth: int(f.config.Endpoint.AuthStyle),
		Scopes: slices.Sorted(slices.Values(f.config.Scopes)), // the library has them in any order
	}, f.got)
	if l.ClientSecret == "" {
		l.ClientAuth = int(oauth2.AuthStyleInParams) // there is nothing but its name to send
	}
	if err := l.Check(); err != nil {
		return sdk.Login{}, f.fault(errors.New(sentence(err)))
	}
	_, answer, err := f.ask(ctx, l.Access)
	if err != nil {
		return sdk.Login{}, f.fault(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode == http.StatusUnauthorized {
		return sdk.Login{}, sdk.Errorf(sdk.Unavailable, "the MCP server %s refuses the token that its authorization server %s gave", f.Name, hostOf(l.TokenURL))
	}
	return l, nil
}

// authorize is the flow of OAuth 2.1 as MCP has it (2025-11-25, Authorization): the server says
// whom it believes, Bothy registers there, and the person logs in with PKCE.
func (f *flow) authorize(ctx context.Context) error {
	request, answer, err := f.ask(ctx, "")
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusUnauthorized { // some want a login for some of what they do; the well-known addresses say more
		_ = answer.Body.Close()
		answer = &http.Response{StatusCode: http.StatusUnauthorized, Header: http.Header{}, Body: http.NoBody, Request: request}
	}
	web := outward(f.to, f.met.near())
	web.Transport = &elder{server: f.to, next: web.Transport}
	port, err := land(f.settings.Redirect)
	if err != nil {
		return err
	}
	defer port.serve()()
	if f.typed != nil {
		go f.listen(port)
	}
	c := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: port.url.String(),
		AuthorizationCodeFetcher: func(ctx context.Context, a *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			return f.send(ctx, port, a.URL)
		},
		ScopeFilter:           f.scopes,
		RequestRefreshToken:   true,
		AcceptUnadvertisedIss: true, // one that does not match is refused
		Client:                web,
		NewTokenSource: func(_ context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			f.config, f.got = c, t
			return oauth2.StaticTokenSource(t), nil
		},
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "Bothy", RedirectURIs: []string{port.url.String()}, GrantTypes: []string{"authorization_code", "refresh_token"},
			ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: "none", SoftwareVersion: sdk.Version,
		}},
	}
	switch id := f.settings.ClientID; {
	case strings.HasPrefix(id, "https://") && f.settings.ClientSecret == "": // of a document about the client, which has no secret; where the server reads none, Bothy registers as without it
		c.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: id}
	case id != "":
		c.PreregisteredClient = &oauthex.ClientCredentials{ClientID: id}
		if f.settings.ClientSecret != "" {
			c.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: f.settings.ClientSecret}
		}
	}
	h, err := auth.NewAuthorizationCodeHandler(c)
	if err != nil {
		return sdk.Errorf(sdk.Validation, "%w", err)
	}
	if err := h.Authorize(ctx, request, answer); err != nil {
		return err
	}
	if f.got == nil {
		return errors.New("it has nothing to log in to")
	}
	return nil
}

// send has the person log in at an address.
func (f *flow) send(ctx context.Context, port *landing, at string) (*auth.AuthorizationResult, error) {
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("its authorization server names an address that no browser opens")
	}
	f.resource = u.Query().Get("resource")
	until, _ := ctx.Deadline()
	return port.wait(ctx, at, func() error {
		for _, s := range []sdk.AuthStep{{Open: at}, {Wait: &sdk.AuthWait{Message: "waiting until you have logged in at " + u.Host, Until: until}}} {
			if err := f.show(s); err != nil {
				return err
			}
		}
		return nil
	})
}

// listen takes addresses that the person types.
func (f *flow) listen(port *landing) {
	defer f.end() // who started this is gone
	for lines := bufio.NewScanner(f.typed); lines.Scan(); {
		if strings.TrimSpace(lines.Text()) != "" && !port.pasted(lines.Text()) {
			_ = f.show(sdk.AuthStep{Wait: &sdk.AuthWait{Message: "that is not the address that this login ends at"}})
		}
	}
}

// scopes are those that are asked for: those of the block, or what the server says, and what the person added.
func (f *flow) scopes(found []string) []string {
	if len(f.settings.Scopes) > 0 {
		found = f.settings.Scopes
	}
	all := slices.Clone(found)
	for _, s := range f.Scopes {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// ask asks the server for its tools, which those that want a login want one for. token may be
// empty.
func (f *flow) ask(ctx context.Context, token string) (*http.Request, *http.Response, error) {
	web := &http.Client{Timeout: f.settings.Timeout, Transport: withHeaders{to: f.to, headers: f.settings.Headers, next: http.DefaultTransport}, CheckRedirect: within}
	do := func(method string, body io.Reader) (*http.Request, *http.Response, error) {
		r, err := http.NewRequestWithContext(ctx, method, f.settings.URL, body)
		if err != nil {
			return nil, nil, err
		}
		r.Header.Set("Accept", "application/json, text/event-stream")
		if body != nil {
			r.Header.Set("Content-Type", "application/json")
		}
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		answer, err := web.Do(f.met.watched(r))
		return r, answer, err
	}
	if f.settings.Transport != "sse" {
		r, answer, err := do(http.MethodPost, bytes.NewReader([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`)))
		if err != nil || f.settings.Transport == "http" || answer.StatusCode != http.StatusNotFound && answer.StatusCode != http.StatusMethodNotAllowed {
			return r, answer, err
		}
		_ = answer.Body.Close()
	}
	return do(http.MethodGet, nil)
}

// fault is one sentence on why nobody is logged in. An answer of an authorization server is not in
// it but for what the protocol has for people.
func (f *flow) fault(err error) error {
	var known *sdk.Error
	var refused *oauth2.RetrieveError
	var unregistered *oauthex.ClientRegistrationError
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &known):
		return known
	case errors.As(err, &refused):
		err = errors.New(answerOf(err))
	case errors.As(err, &unregistered):
		err = fmt.Errorf("its authorization server does not register Bothy (%s): register a client there yourself, and give its client_id in the block", clip(strings.TrimSpace(unregistered.ErrorCode+" "+unregistered.ErrorDescription), 300))
	case strings.Contains(err.Error(), "no configured client registration methods") && f.settings.ClientID != "":
		err = errors.New("its authorization server reads no documents about clients, and registers none by itself: register one there, and give the client_id that it gets in the block")
	case strings.Contains(err.Error(), "no configured client registration methods"):
		err = errors.New("its authorization server registers no clients by itself: register one there, and give its client_id in the block")
	case strings.Contains(err.Error(), "registration"): // the answer follows, which may have a secret
		err = errors.New("its authorization server does not register Bothy: register a client there yourself, and give its client_id in the block")
	}
	return sdk.Errorf(sdk.Unavailable, "the login at the MCP server %s (%s) failed: %s", f.Name, f.settings.source(), clip(sentence(err), 500))
}

// hostOf is the host of an address, for people.
func hostOf(at string) string {
	u, err := url.Parse(at)
	if err != nil {
		return ""
	}
	return u.Host
}
