package daemon

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
)

// loginDoors are the servers of MCP of scripts that want a login, by $WORK.
var loginDoors sync.Map

// loginDoor is a server of MCP, and the authorization server that it believes, which lets in whoever
// comes by a browser. Each token that it gives is a line of $WORK/keys.
type loginDoor struct {
	url, keys string

	mu      sync.Mutex
	codes   map[string]url.Values
	access  map[string][]string // scopes by token
	refresh map[string][]string
	logins  int
}

// loginServer is `login-server start`, which sets $LOGIN_URL, `login-server revoke`, by which no access token counts
// any more, `login-server end`, by which nothing does, and `login-server logins N`, which fails when there were others.
func loginServer(ts *testscript.TestScript, neg bool, args []string) {
	work := ts.Getenv("WORK")
	found, there := loginDoors.Load(work)
	switch {
	case neg || len(args) == 0 || there == (args[0] == "start"):
		ts.Fatalf("usage: login-server start, and then revoke, end or logins N")
	case args[0] == "start":
		d := &loginDoor{keys: filepath.Join(work, "keys"), codes: map[string]url.Values{}, access: map[string][]string{}, refresh: map[string][]string{}}
		server := httptest.NewServer(d.handler())
		d.url = server.URL
		loginDoors.Store(work, d)
		ts.Setenv("LOGIN_URL", server.URL+"/mcp")
		ts.Defer(func() {
			loginDoors.Delete(work)
			server.CloseClientConnections()
			server.Close()
		})
		return
	}
	d := found.(*loginDoor)
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case args[0] == "revoke":
		clear(d.access)
	case args[0] == "end":
		clear(d.access)
		clear(d.refresh)
	case args[0] == "logins" && len(args) == 2:
		if strconv.Itoa(d.logins) != args[1] {
			ts.Fatalf("somebody logged in %d times", d.logins)
		}
	default:
		ts.Fatalf("login-server %s?", args[0])
	}
}

// handler is both servers.
func (d *loginDoor) handler() http.Handler {
	m := mcp.NewServer(&mcp.Implementation{Name: "door", Version: "1"}, nil)
	for _, name := range []string{"echo", "write"} {
		m.AddTool(&mcp.Tool{Name: name, InputSchema: map[string]any{"type": "object", "properties": map[string]any{"text": map[string]any{"type": "string"}}}},
			func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				var in struct{ Text string }
				err := json.Unmarshal(r.Params.Arguments, &in)
				// It says what it should not.
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Text + " " + r.Extra.Header.Get("Authorization")}}}, err
			})
	}
	inside := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return m }, nil)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
		tells(w, http.StatusOK, map[string]any{"resource": d.url + "/mcp", "authorization_servers": []string{d.url}, "scopes_supported": []string{"read"}})
	})
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		tells(w, http.StatusOK, map[string]any{"issuer": d.url, "authorization_endpoint": d.url + "/authorize", "token_endpoint": d.url + "/token",
			"registration_endpoint": d.url + "/register", "code_challenge_methods_supported": []string{"S256"}})
	})
	mux.HandleFunc("POST /register", func(w http.ResponseWriter, _ *http.Request) {
		tells(w, http.StatusCreated, map[string]any{"client_id": "somebody", "token_endpoint_auth_method": "none"})
	})
	mux.HandleFunc("GET /authorize", d.authorize)
	mux.HandleFunc("POST /token", d.token)
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		d.mu.Lock()
		scopes, known := d.access[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		d.mu.Unlock()
		switch {
		case !known:
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer scope="read", resource_metadata="%s/.well-known/oauth-protected-resource/mcp"`, d.url))
			http.Error(w, "who are you?", http.StatusUnauthorized)
		case bytes.Contains(body, []byte(`"name":"write"`)) && !slices.Contains(scopes, "write"):
			w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="write"`)
			http.Error(w, "not you", http.StatusForbidden)
		default:
			inside.ServeHTTP(w, r)
		}
	})
	return mux
}

func tells(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// authorize is the page on which a person agrees.
func (d *loginDoor) authorize(w http.ResponseWriter, r *http.Request) {
	q, code := r.URL.Query(), rand.Text()
	d.mu.Lock()
	d.codes[code] = q
	d.logins++
	d.mu.Unlock()
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
}

// token gives tokens for a code with its verifier, or for a refresh token, once.
func (d *loginDoor) token(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	asked, granted := d.codes[r.FormValue("code")]
	scopes := strings.Fields(asked.Get("scope"))
	granted = granted && asked.Get("code_challenge") == base64.RawURLEncoding.EncodeToString(sum[:])
	if r.FormValue("grant_type") == "refresh_token" {
		scopes, granted = d.refresh[r.FormValue("refresh_token")]
		delete(d.refresh, r.FormValue("refresh_token"))
	}
	if !granted || r.FormValue("resource") != d.url+"/mcp" {
		tells(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
		return
	}
	access, refresh := "at_"+rand.Text(), "rt_"+rand.Text()
	d.access[access], d.refresh[refresh] = scopes, scopes
	f, err := os.OpenFile(d.keys, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		fmt.Fprintf(f, "%s %[1]s\n%s %[2]s\n", access, refresh)
		_ = f.Close()
	}
	tells(w, http.StatusOK, map[string]any{"access_token": access, "refresh_token": refresh, "token_type": "Bearer", "expires_in": 3600, "scope": strings.Join(scopes, " ")})
}
