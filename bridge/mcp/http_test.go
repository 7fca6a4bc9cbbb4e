package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestGuard(t *testing.T) {
	token := newToken()
	handler := guard(token, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	for _, c := range []struct {
		host, origin, authorization, query string
		want                               int
	}{
		{"127.0.0.1:1", "", "Bearer " + token, "", 204},
		{"localhost", "http://localhost:5", "bearer " + token, "", 204},
		{"[::1]:8", "https://[::1]", "", "?token=" + token, 204},
		{"127.0.0.1:1", "", "", "", 401},
		{"127.0.0.1:1", "", "Basic " + token, "", 401},
		{"127.0.0.1:1", "", "Bearer " + token + "0", "", 401},
		{"127.0.0.1:1", "", "Bearer", "?token=", 401},
		{"127.0.0.1:1", "null", "Bearer " + token, "", 403},
		{"127.0.0.1:1", "file://localhost", "Bearer " + token, "", 403},
		{"127.0.0.1:1", "http://localhost.example.com", "Bearer " + token, "", 403},
		{"127.0.0.1:1", "http://127.0.0.1@example.com", "Bearer " + token, "", 403},
		{"example.com:1", "", "Bearer " + token, "", 403},
		{"127.0.0.1.example.com", "", "Bearer " + token, "", 403},
		{"0.0.0.0:1", "", "Bearer " + token, "", 403},
		{"", "", "Bearer " + token, "", 403},
	} {
		r := httptest.NewRequest(http.MethodPost, "http://x/mcp"+c.query, nil)
		r.Host = c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		if c.authorization != "" {
			r.Header.Set("Authorization", c.authorization)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%+v: %d", c, w.Code)
		}
		if strings.Contains(w.Body.String(), token) {
			t.Errorf("%+v: the token is told", c)
		}
	}
}

// TestTokenFile: it is made once, mode 0600, and read again; nothing else is taken for one.
func TestTokenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	token, err := tokenOf(path)
	if err != nil || len(token) != 2*tokenBytes {
		t.Fatalf("%q, %v", token, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if again, err := tokenOf(path); again != token || err != nil {
		t.Errorf("%q, %v", again, err)
	}
	if one, _ := tokenOf(""); one == token || len(one) != 2*tokenBytes {
		t.Errorf("without a file it is %q", one)
	}
	link := path + "-link"
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := tokenOf(link); err == nil {
		t.Error("a link is followed")
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := tokenOf(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("others can read it: %v", err)
	}
	for _, text := range []string{"", "short", strings.Repeat("g", 64), token + token} {
		bad := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(bad, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := tokenOf(bad); err == nil {
			t.Errorf("%q is a token: %q", text, got)
		}
	}
}
