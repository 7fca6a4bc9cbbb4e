package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// sitter is a person who logs in: what their browser does with an address, and what they type.
type sitter struct {
	browse func(address string) // nil opens it and follows
	scopes []string
	wait   int // seconds; 0 is a minute
	typed  io.Reader
}

// follows is a browser.
func follows(t *testing.T) func(string) {
	return func(address string) {
		answer, err := http.Get(address)
		if err != nil {
			t.Errorf("the browser: %v", err)
			return
		}
		defer func() { _ = answer.Body.Close() }()
		text, _ := io.ReadAll(answer.Body)
		if answer.StatusCode != http.StatusOK || !strings.Contains(string(text), "close this page") {
			t.Errorf("the browser ends at %s: %s %s", answer.Request.URL, answer.Status, text)
		}
	}
}

// logsIn has the person log in to a block, by the verb as it is.
func (p sitter) logsIn(ctx context.Context, t *testing.T, block string) (sdk.Login, error) {
	t.Helper()
	if p.browse == nil {
		p.browse = follows(t)
	}
	if p.wait == 0 {
		p.wait = 60
	}
	request, err := json.Marshal(loginRequest{Name: "fake", Settings: json.RawMessage(block), Scopes: p.scopes, Seconds: p.wait})
	if err != nil {
		t.Fatal(err)
	}
	in, out := io.Reader(p.typed), io.Writer(nil)
	if in == nil {
		silent, hands := io.Pipe()
		t.Cleanup(func() { _ = hands.Close() })
		in = silent
	}
	steps, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- serveLogin(ctx, io.MultiReader(strings.NewReader(string(request)+"\n"), in), out)
		_ = out.(io.Closer).Close()
	}()
	var last loginStep
	for lines := bufio.NewScanner(steps); lines.Scan(); {
		last = loginStep{}
		if err := json.Unmarshal(lines.Bytes(), &last); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		if last.Open != "" {
			go p.browse(last.Open)
		}
	}
	err = <-ended
	if (err == nil) != (last.Done != nil) || (err != nil) != (last.Failed != "") {
		t.Errorf("%v, and the last step is %+v", err, last)
	}
	if err != nil {
		return sdk.Login{}, err
	}
	l, err := sdk.ParseLogin(last.Done.Secret)
	if err != nil {
		t.Error(err)
	}
	return l, nil
}

// TestLogin: wherever a server says who lets people in, and however clients are known there.
func TestLogin(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*authServer)
		more   string
	}{
		"metadata of OAuth":                {nil, ""},
		"metadata of OpenID":               {func(a *authServer) { a.metadata = "openid" }, ""},
		"an issuer with a path":            {func(a *authServer) { a.metadata = "path" }, ""},
		"an issuer with a path, of OpenID": {func(a *authServer) { a.metadata = "appended" }, ""},
		"at the known address":             {func(a *authServer) { a.challenge = false }, ""},
		"without metadata, as in 2025-03":  {func(a *authServer) { a.metadata, a.challenge = "old", false }, ""},
		"its own metadata, as in 2025-03":  {func(a *authServer) { a.metadata, a.challenge, a.called, a.own = "oauth", false, "/oauth", true }, ""},
		"a secret in the form":             {func(a *authServer) { a.method = "client_secret_post" }, ""},
		"a secret in a header":             {func(a *authServer) { a.method = "client_secret_basic" }, ""},
		"SSE":                              {func(a *authServer) { a.kind = "sse" }, ""},
		"SSE, as its block says":           {func(a *authServer) { a.kind = "sse" }, `, "transport":"sse"`},
		"a client that is known":           {func(a *authServer) { a.method, a.clients["me"] = "", "s3cret-of-me" }, `, "client_id":"me", "client_secret":"s3cret-of-me"`},
		"a document about the client":      {func(a *authServer) { a.documents, a.clients["https://me.example/doc"] = true, "" }, `, "client_id":"https://me.example/doc"`},
		"a document that nobody reads":     {nil, `, "client_id":"https://me.example/doc"`},
		"an address with a secret":         {func(a *authServer) { a.method, a.clients["https://me.example/doc"] = "", "s3cret-of-me" }, `, "client_id":"https://me.example/doc", "client_secret":"s3cret-of-me"`},
		"a place that is known":            {nil, `, "redirect":"http://localhost:0/back"`},
	} {
		t.Run(name, func(t *testing.T) {
			a := served(t, c.change)
			l, err := sitter{}.logsIn(t.Context(), t, a.block(c.more))
			if err != nil {
				t.Fatal(err)
			}
			if l.Server != a.resource || l.Resource != a.resource || l.TokenURL != a.url+"/token" || strings.Join(l.Scopes, " ") != "read" || l.Refresh == "" || time.Until(l.Expiry) < 50*time.Minute {
				t.Errorf("logged in as %+v", l)
			}
			d := loggedIn(l)
			m, err := configuredBy(t, d, a.block(c.more))
			if err != nil {
				t.Fatal(err)
			}
			if r, err := call(t, m, "mcp__fake__echo", `{"a":1}`); err != nil || r.Output != `{"a":1}` {
				t.Errorf("%+v, %v", r, err)
			}
			// What was granted is renewed by whatever way it was.
			a.revoke(false)
			if r, err := call(t, m, "mcp__fake__echo", `{"a":2}`); err != nil || r.Output != `{"a":2}` {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

// TestLoginRefused: each in one sentence, with nothing in it that is nobody's business.
func TestLoginRefused(t *testing.T) {
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	t.Cleanup(other.Close)
	for name, c := range map[string]struct {
		change func(*authServer)
		block  string // for that of the server
		more   string
		want   string
	}{
		"the person says no": {change: func(a *authServer) { a.denies = true }, want: "the login was refused: access_denied the person said no"},
		"another issuer":     {change: func(a *authServer) { a.iss = "https://evil.example" }, want: "does not match expected issuer"},
		"another name":       {change: func(a *authServer) { a.called = "/oauth" }, want: "does not match issuer URL"},
		"another name, of 2025-03": {change: func(a *authServer) {
			a.metadata, a.challenge, a.called, a.own = "oauth", false, "https://evil.example", true
		}, want: "does not match issuer URL"},
		"no PKCE":         {change: func(a *authServer) { a.noPKCE = true }, want: "does not implement PKCE"},
		"no registration": {change: func(a *authServer) { a.method = "" }, want: "registers no clients by itself: register one there, and give its client_id in the block"},
		"a document that nobody reads": {change: func(a *authServer) { a.method = "" }, more: `, "client_id":"https://me.example/doc"`,
			want: "reads no documents about clients, and registers none by itself: register one there, and give the client_id that it gets"},
		"a refused registration":     {change: func(a *authServer) { a.method, a.metadata, a.challenge = "", "old", false }, want: "does not register Bothy (invalid_client_metadata we know you not): register a client there yourself"},
		"a code that is sent on":     {change: func(a *authServer) { a.redirects = other.URL }, want: "it redirects to another address, which is not followed"},
		"a word for a token":         {change: func(a *authServer) { a.word = "internationalization" }, want: "a token that anybody can guess"},
		"a program":                  {block: `{"command":"a", "timeout":"25s"}`, want: "the MCP server fake is a program of this machine"},
		"a server in the clear":      {block: `{"url":"http://far.example/mcp", "timeout":"25s"}`, want: "the URL of fake is not encrypted"},
		"a header":                   {more: `, "headers":{"authorization":"Bearer x"}`, want: "has a header Authorization"},
		"a place elsewhere":          {more: `, "redirect":"http://evil.example:80/x"`, want: "it must be an address of this machine"},
		"a place that is no HTTP":    {more: `, "redirect":"https://localhost:80/x"`, want: "it must be http://"},
		"a server that is not there": {block: `{"url":"http://127.0.0.1:1/hidden", "timeout":"25s"}`, want: "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			a := served(t, c.change)
			block := c.block
			if block == "" {
				block = a.block(c.more)
			}
			_, err := sitter{browse: func(at string) {
				if answer, err := http.Get(at); err == nil {
					_ = answer.Body.Close()
				}
			}}.logsIn(t.Context(), t, block)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "hidden") {
				t.Errorf("%v", err)
			}
		})
	}
	if elsewhere.Load() != 0 {
		t.Error("the code went to another server")
	}
}

// TestLoginEnds: an answer that is not of this login ends nothing, and nothing waits without an end.
func TestLoginEnds(t *testing.T) {
	a := served(t, nil)
	// Another page sends a code of its own first.
	forged := func(address string) {
		u, err := url.Parse(address)
		if err != nil {
			t.Error(err)
			return
		}
		for _, q := range []string{"?code=evil", "?code=evil&state=", "?code=evil&state=guess", "?error=access_denied"} {
			answer, err := http.Get(u.Query().Get("redirect_uri") + q)
			if err != nil || answer.StatusCode != http.StatusBadRequest {
				t.Errorf("%s: %v, %v", q, answer, err)
				continue
			}
			_ = answer.Body.Close()
		}
	}
	l, err := sitter{browse: func(at string) { forged(at); follows(t)(at) }}.logsIn(t.Context(), t, a.block(""))
	if err != nil || l.Access == "" {
		t.Errorf("%v", err)
	}
	if _, err := (sitter{browse: forged, wait: 1}).logsIn(t.Context(), t, a.block("")); err == nil || err.Error() != "nobody logged in within 1s" {
		t.Errorf("a hang: %v", err)
	}
	// The person gives up.
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := (sitter{browse: func(string) { cancel() }}).logsIn(ctx, t, a.block("")); err == nil || !strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Errorf("given up: %v", err)
	}
	// Who started it is gone.
	gone, hands := io.Pipe()
	if _, err := (sitter{browse: func(string) { _ = hands.Close() }, typed: gone}).logsIn(t.Context(), t, a.block("")); err == nil || !strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Errorf("left alone: %v", err)
	}
}

// TestLoginTyped: the browser runs on another machine, and the person types where it ended.
func TestLoginTyped(t *testing.T) {
	a := served(t, nil)
	typed, hands := io.Pipe()
	l, err := sitter{typed: typed, browse: func(address string) {
		web := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		answer, err := web.Get(address)
		if err != nil {
			t.Error(err)
			return
		}
		_ = answer.Body.Close()
		fmt.Fprintf(hands, "what?\n\n%s\n", answer.Header.Get("Location"))
	}}.logsIn(t.Context(), t, a.block(""))
	if err != nil || l.Access == "" {
		t.Errorf("%v", err)
	}
}
