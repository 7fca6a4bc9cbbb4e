package loopback

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		host, origin string
		own          bool
	}{
		{"127.0.0.1:1", "", true},
		{"localhost", "http://localhost:5", true},
		{"[::1]:8", "https://[::1]", true},
		{"127.0.0.1:1", "null", false},
		{"127.0.0.1:1", "file://localhost", false},
		{"127.0.0.1:1", "http://localhost.example.com", false},
		{"127.0.0.1:1", "http://127.0.0.1@example.com", false},
		{"example.com:1", "", false},
		{"127.0.0.1.example.com", "", false},
		{"0.0.0.0:1", "", false},
		{"", "", false},
	} {
		r := httptest.NewRequest(http.MethodPost, "http://x/", nil)
		r.Host = c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		if err := Check(r); (err == nil) != c.own {
			t.Errorf("%+v: %v", c, err)
		}
	}
	r := httptest.NewRequest(http.MethodPost, "http://x/", nil)
	r.Host, r.Header["Origin"] = "localhost", []string{"http://localhost", "http://example.com"}
	if Check(r) == nil {
		t.Error("a second Origin is not looked at")
	}
}

func TestToken(t *testing.T) {
	for _, c := range []struct{ authorization, query, want string }{
		{"Bearer abc", "", "abc"},
		{"bearer  abc ", "", "abc"},
		{"", "?token=abc", "abc"},
		{"Basic abc", "?token=def", "def"},
		{"Bearer", "", ""},
		{"", "", ""},
	} {
		r := httptest.NewRequest(http.MethodPost, "http://x/"+c.query, nil)
		if c.authorization != "" {
			r.Header.Set("Authorization", c.authorization)
		}
		if got := Token(r); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestListen(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "example.com:1", "192.168.0.1:1", "127.0.0.1", "[::]:0"} {
		if l, err := Listen(t.Context(), address); err == nil {
			_ = l.Close()
			t.Errorf("%s is served", address)
		}
	}
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
}
