package main

import (
	"context"
	"crypto/subtle"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"github.com/bothyd/bothy/sdk"
)

// landing is where the browser is sent when the person has logged in: an address of this
// machine that listens for the time of one login.
type landing struct {
	url   *url.URL // that the browser comes to
	ports []net.Listener

	mu    sync.Mutex
	state string // of the login that is waited for; empty: none is
	came  chan url.Values
}

// land listens: at the address of the block, since servers that know a client beforehand know that, too,
// else at a free port.
func land(at string) (*landing, error) {
	if at == "" {
		at = "http://127.0.0.1:0/callback"
	}
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "http" || u.Port() == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, sdk.Errorf(sdk.Validation, "redirect is %q; it must be http://, localhost or 127.0.0.1, a port and a path, as http://localhost:8765/callback", at)
	}
	var hosts []string
	switch u.Hostname() {
	case "localhost":
		hosts = []string{"127.0.0.1", "::1"} // browsers try both
	case "127.0.0.1", "::1":
		hosts = []string{u.Hostname()}
	default:
		return nil, sdk.Errorf(sdk.Validation, "redirect is %q; it must be an address of this machine: localhost or 127.0.0.1", at)
	}
	if u.Path == "" {
		u.Path = "/"
	}
	l := &landing{url: u, came: make(chan url.Values, 1)}
	for n, host := range hosts {
		port, err := net.Listen("tcp", net.JoinHostPort(host, u.Port()))
		if err != nil && n == 0 {
			return nil, sdk.Errorf(sdk.Unavailable, "a login ends at %s, and nothing can listen there: %w", at, err)
		}
		if err != nil {
			continue // a machine without IPv6
		}
		l.ports = append(l.ports, port)
		if u.Port() == "0" {
			u.Host = net.JoinHostPort(u.Hostname(), fmt.Sprint(port.Addr().(*net.TCPAddr).Port))
		}
	}
	return l, nil
}

// serve answers the browser until the function that it returns is called, which has the last
// page delivered.
func (l *landing) serve() (end func()) {
	server := &http.Server{Handler: http.HandlerFunc(l.page), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	for _, port := range l.ports {
		go func() { _ = server.Serve(port) }() // it ends by end
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
	}
}

// page takes what the authorization server tells by way of the browser. Whatever else comes to
// the port ends nothing.
func (l *landing) page(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	text := "This is not the answer to a login that Bothy waits for."
	switch {
	case r.URL.Path != l.url.Path || r.Method != http.MethodGet:
		w.WriteHeader(http.StatusNotFound)
	case !l.take(r.URL.Query()):
		w.WriteHeader(http.StatusBadRequest)
	case r.URL.Query().Get("error") != "":
		text = "The login was refused. The terminal says more; you can close this page."
	default:
		text = "Bothy has the answer. The terminal says how it went on; you can close this page."
	}
	_, _ = io.WriteString(w, text+"\n")
}

// take is false for what is not the answer to the login that is waited for: that has its state.
func (l *landing) take(answer url.Values) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state == "" || subtle.ConstantTimeCompare([]byte(answer.Get("state")), []byte(l.state)) != 1 || answer.Get("code") == "" && answer.Get("error") == "" {
		return false
	}
	l.state = "" // there is one answer
	l.came <- answer
	return true
}

// pasted takes the address that the browser ended at, where that runs on another machine.
func (l *landing) pasted(line string) bool {
	u, err := url.Parse(strings.TrimSpace(line))
	return err == nil && l.take(u.Query())
}

// wait is the answer to the login that begins at an address.
func (l *landing) wait(ctx context.Context, begin string, show func() error) (*auth.AuthorizationResult, error) {
	u, err := url.Parse(begin)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.state = u.Query().Get("state")
	state := l.state
	l.mu.Unlock()
	if err := show(); err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case a := <-l.came:
		if code := a.Get("error"); code != "" {
			return nil, refusedLogin(code, a.Get("error_description"))
		}
		return &auth.AuthorizationResult{Code: a.Get("code"), State: state, Iss: a.Get("iss")}, nil
	}
}

// refusedLogin is what an authorization server said, in one line.
func refusedLogin(code, description string) error {
	said := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, code+" "+description)
	said = clip(strings.Join(strings.Fields(said), " "), 300)
	if code == "access_denied" {
		return sdk.Errorf(sdk.Permission, "the login was refused: %s", said)
	}
	return sdk.Errorf(sdk.Unavailable, "the authorization server refused: %s", said)
}
