package main

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// authServer is an authorization server, and a server of MCP that believes it. It holds clients to
// what OAuth 2.1 and MCP (2025-11-25, Authorization) say that they must do.
type authServer struct {
	t        *testing.T
	url      string // of the authorization server
	resource string // of the server of MCP
	kind     string // "http" or "sse"

	// What it is like.
	metadata  string // where what it says of itself is: oauth, openid, path, appended, or old for nowhere
	called    string // what its metadata calls it: a path, or a whole address
	own       bool   // it is the server of MCP, which knows nothing of resources
	challenge bool   // the server of MCP says where its metadata is
	method    string // of clients that register: none, client_secret_post, client_secret_basic; empty registers none
	expires   int    // seconds of an access token
	word      string // it gives for a token; empty gives good ones
	iss       string // is added to the answer of a login
	denies    bool
	redirects string // where /token sends clients on
	noPKCE    bool
	documents bool          // it reads those about clients
	broken    bool          // refuses to renew with a status that is no answer
	hold      chan struct{} // a renewal waits for it; nil does not

	mu       sync.Mutex
	clients  map[string]string // secrets by name
	codes    map[string]url.Values
	access   map[string][]string // scopes by token
	refresh  map[string][]string
	used     map[string]bool // refresh tokens that were given back
	renewals int
	logins   int
	told     []http.Header // of each request to the server of MCP
}

// served is an authServer that listens, as change says.
func served(t *testing.T, change func(*authServer)) *authServer {
	t.Helper()
	a := &authServer{t: t, metadata: "oauth", challenge: true, method: "none", expires: 3600, kind: "http",
		clients: map[string]string{}, codes: map[string]url.Values{}, access: map[string][]string{}, refresh: map[string][]string{}, used: map[string]bool{}}
	if change != nil {
		change(a)
	}
	listen := func(h http.HandlerFunc) string {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		t.Cleanup(s.CloseClientConnections)
		return s.URL
	}
	handler := http.Handler(mcp.NewStreamableHTTPHandler(fakeFor, nil))
	if a.kind == "sse" {
		handler = mcp.NewSSEHandler(fakeFor, nil)
	}
	a.resource = listen(func(w http.ResponseWriter, r *http.Request) { a.protect(w, r, handler) }) + "/mcp"
	if a.metadata == "old" || a.own {
		a.url = strings.TrimSuffix(a.resource, "/mcp")
		return a
	}
	a.url = listen(a.authorize)
	return a
}

// issuer is what it is called.
func (a *authServer) issuer() string {
	if a.metadata == "path" || a.metadata == "appended" {
		return a.url + "/tenant"
	}
	return a.url
}

// protect lets those in who have a token.
func (a *authServer) protect(w http.ResponseWriter, r *http.Request, next http.Handler) {
	where := "/.well-known/oauth-protected-resource/mcp"
	switch {
	case r.URL.Path == where && a.metadata != "old" && !a.own:
		a.write(w, http.StatusOK, map[string]any{"resource": a.resource, "authorization_servers": []string{a.issuer()}, "scopes_supported": []string{"read"}})
		return
	case !strings.HasPrefix(r.URL.Path, "/mcp"):
		a.authorize(w, r)
		return
	}
	a.mu.Lock()
	a.told = append(a.told, r.Header.Clone())
	scopes, known := a.access[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	a.mu.Unlock()
	says := `Bearer scope="read"`
	if a.challenge {
		says += fmt.Sprintf(`, resource_metadata=%q`, strings.TrimSuffix(a.resource, "/mcp")+where)
	}
	if !known {
		w.Header().Set("WWW-Authenticate", says)
		http.Error(w, "who are you?", http.StatusUnauthorized)
		return
	}
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	if bytes.Contains(body, []byte(`"name":"fail"`)) && !slices.Contains(scopes, "write") {
		w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="write"`)
		http.Error(w, "not you", http.StatusForbidden)
		return
	}
	next.ServeHTTP(w, r)
}

// authorize is the authorization server.
func (a *authServer) authorize(w http.ResponseWriter, r *http.Request) {
	at := map[string]string{
		"oauth": "/.well-known/oauth-authorization-server", "openid": "/.well-known/openid-configuration",
		"path": "/.well-known/oauth-authorization-server/tenant", "appended": "/tenant/.well-known/openid-configuration",
	}[a.metadata]
	switch r.URL.Path {
	case at:
		m := map[string]any{"issuer": a.issuer(), "authorization_endpoint": a.url + "/authorize", "token_endpoint": a.url + "/token", "response_types_supported": []string{"code"}}
		if strings.HasPrefix(a.called, "/") {
			m["issuer"] = a.url + a.called
		} else if a.called != "" {
			m["issuer"] = a.called
		}
		if a.method != "" {
			m["registration_endpoint"] = a.url + "/register"
			m["token_endpoint_auth_methods_supported"] = []string{a.method}
		}
		if a.documents {
			m["client_id_metadata_document_supported"] = true
		}
		if !a.noPKCE {
			m["code_challenge_methods_supported"] = []string{"S256"}
		}
		a.write(w, http.StatusOK, m)
	case "/register":
		a.register(w, r)
	case "/authorize":
		a.login(w, r)
	case "/token":
		a.token(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (a *authServer) register(w http.ResponseWriter, r *http.Request) {
	var m struct {
		RedirectURIs []string `json:"redirect_uris"`
		ClientName   string   `json:"client_name"`
	}
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil || len(m.RedirectURIs) != 1 || m.ClientName != "Bothy" {
		a.t.Errorf("registered as %+v, %v", m, err)
	}
	if a.method == "" {
		a.write(w, http.StatusBadRequest, map[string]any{"error": "invalid_client_metadata", "error_description": "we know you not"})
		return
	}
	id, secret := "client-"+rand.Text(), ""
	if a.method != "none" {
		secret = "client-secret-" + rand.Text()
	}
	a.mu.Lock()
	a.clients[id] = secret
	a.mu.Unlock()
	a.write(w, http.StatusCreated, map[string]any{"client_id": id, "client_secret": secret, "redirect_uris": m.RedirectURIs, "token_endpoint_auth_method": a.method})
}

// login is the page on which the person agrees, at once.
func (a *authServer) login(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.logins++
	if _, known := a.clients[q.Get("client_id")]; !known || q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "" || len(q.Get("state")) < 16 ||
		q.Get("resource") != a.resource || q.Get("response_type") != "code" {
		a.t.Errorf("asked to log in by %v", q)
	}
	to, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || to.Hostname() != "127.0.0.1" && to.Hostname() != "localhost" {
		a.t.Errorf("a login ends at %v", q.Get("redirect_uri"))
	}
	answer := url.Values{"state": {q.Get("state")}}
	if a.iss != "" {
		answer.Set("iss", a.iss)
	}
	if a.denies {
		answer.Set("error", "access_denied")
		answer.Set("error_description", "the person\nsaid no")
	} else {
		code := rand.Text()
		a.codes[code] = q
		answer.Set("code", code)
	}
	to.RawQuery = answer.Encode()
	http.Redirect(w, r, to.String(), http.StatusFound)
}

// token gives tokens for a code, and for a refresh token once.
func (a *authServer) token(w http.ResponseWriter, r *http.Request) {
	if a.redirects != "" {
		http.Redirect(w, r, a.redirects, http.StatusTemporaryRedirect)
		return
	}
	if err := r.ParseForm(); err != nil {
		a.t.Error(err)
	}
	if r.Form.Get("grant_type") == "refresh_token" && a.hold != nil {
		<-a.hold
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	no := func(code string) { a.write(w, http.StatusBadRequest, map[string]any{"error": code}) }
	if r.Form.Get("resource") != a.resource {
		a.t.Errorf("tokens are asked for %q", r.Form.Get("resource"))
	}
	id, secret, way := r.Form.Get("client_id"), r.Form.Get("client_secret"), "client_secret_post"
	if user, password, is := r.BasicAuth(); is {
		id, secret, way = user, password, "client_secret_basic"
	} else if secret == "" {
		way = "none"
	}
	if want, known := a.clients[id]; !known || want != secret || a.method != "" && way != a.method {
		no("invalid_client")
		return
	}
	var scopes []string
	switch r.Form.Get("grant_type") {
	case "authorization_code":
		asked, known := a.codes[r.Form.Get("code")]
		delete(a.codes, r.Form.Get("code"))
		sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
		if !known || base64.RawURLEncoding.EncodeToString(sum[:]) != asked.Get("code_challenge") || r.Form.Get("redirect_uri") != asked.Get("redirect_uri") || id != asked.Get("client_id") {
			a.t.Errorf("a code is exchanged by %v", r.Form)
			no("invalid_grant")
			return
		}
		scopes = strings.Fields(asked.Get("scope"))
	case "refresh_token":
		a.renewals++
		old := r.Form.Get("refresh_token")
		granted, known := a.refresh[old]
		if a.used[old] {
			a.t.Errorf("a refresh token was used twice")
		}
		if a.broken {
			http.Error(w, "secret-of-the-server", http.StatusBadGateway)
			return
		}
		if !known {
			no("invalid_grant")
			return
		}
		delete(a.refresh, old)
		a.used[old] = true
		scopes = granted
	default:
		no("unsupported_grant_type")
		return
	}
	access, refresh := "access-"+rand.Text(), "refresh-"+rand.Text()
	if a.word != "" {
		access = a.word
	}
	a.access[access], a.refresh[refresh] = scopes, scopes
	a.write(w, http.StatusOK, map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": a.expires, "refresh_token": refresh, "scope": strings.Join(scopes, " ")})
}

func (a *authServer) write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		a.t.Error(err)
	}
}

// revoke has all access tokens count no more, and with all the refresh tokens too.
func (a *authServer) revoke(all bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.access)
	if all {
		clear(a.refresh)
	}
}

// seen is how often it renewed, and had somebody log in.
func (a *authServer) seen() (renewals, logins int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.renewals, a.logins
}

// block is the block of the server of MCP, with more attributes.
func (a *authServer) block(more string) string {
	return fmt.Sprintf(`{"url":%q, "timeout":"25s"%s}`, a.resource, more)
}
