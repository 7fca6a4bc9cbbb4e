package audit

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const leakKey = "sk-live/4f9aQ+b71cD_e2==x"

func leaker() *Redactor {
	r := new(Redactor)
	r.Name("TAVILY_KEY", leakKey)
	r.Name("OTHER", "another-value-0123")
	r.Renew("a login", "token-of-a-login-77")
	r.Add("nobody-named-this-1")
	return r
}

// TestLeaks: a secret in what goes out is found plain, decoded, in base64, and split over an address.
func TestLeaks(t *testing.T) {
	half := len(leakKey) / 2
	escaped := url.QueryEscape(leakKey)
	every := func(n int, between string) string {
		var b strings.Builder
		for i, c := range leakKey {
			if i > 0 && i%n == 0 {
				b.WriteString(between)
			}
			b.WriteRune(c)
		}
		return b.String()
	}
	for name, c := range map[string]struct{ text, want string }{
		"none":                   {"https://example.org/a?b=c", ""},
		"a part":                 {"https://example.org/?k=" + leakKey[:8], ""},
		"plain":                  {leakKey, "TAVILY_KEY"},
		"in a query":             {"https://example.org/?k=" + escaped, "TAVILY_KEY"},
		"escaped twice":          {"https://example.org/?k=" + url.QueryEscape(escaped), "TAVILY_KEY"},
		"escaped three times":    {"https://example.org/?k=" + url.QueryEscape(url.QueryEscape(escaped)), "TAVILY_KEY"},
		"base64":                 {"https://example.org/" + base64.URLEncoding.EncodeToString([]byte(leakKey)), "TAVILY_KEY"},
		"base64, escaped":        {"https://example.org/?a=" + url.QueryEscape(base64.StdEncoding.EncodeToString([]byte("x"+leakKey))), "TAVILY_KEY"},
		"hex":                    {"https://example.org/?a=" + hex.EncodeToString([]byte(leakKey)), "TAVILY_KEY"},
		"in a host":              {"https://" + bare(leakKey[:half]) + "." + bare(leakKey[half:]) + ".example.org/", "TAVILY_KEY"},
		"over the path":          {"https://example.org/" + every(4, "/"), "TAVILY_KEY"},
		"over values":            {"https://example.org/?a=" + url.QueryEscape(leakKey[:half]) + "&b=" + url.QueryEscape(leakKey[half:]), "TAVILY_KEY"},
		"over keys":              {"https://example.org/?" + url.QueryEscape(leakKey[:half]) + "=1&" + url.QueryEscape(leakKey[half:]) + "=2", "TAVILY_KEY"},
		"over path and query":    {"https://example.org/" + url.PathEscape(leakKey[:half]) + "?b=" + url.QueryEscape(leakKey[half:]), "TAVILY_KEY"},
		"in a fragment":          {"https://example.org/#" + escaped, "TAVILY_KEY"},
		"by signs":               {"find " + every(3, "-"), "TAVILY_KEY"},
		"the other":              {"q another-value-0123 q", "OTHER"},
		"of a login":             {"https://example.org/token-of-a-login-77", "a login"},
		"without a name":         {"https://example.org/nobody-named-this-1", unnamed},
		"of a well-known kind":   {"https://example.org/?k=ghp_0123456789abcdefghijABCDEFGHIJ012345", unnamed},
		"base64 over path parts": {"https://example.org/" + base64.RawURLEncoding.EncodeToString([]byte(leakKey))[:12] + "/" + base64.RawURLEncoding.EncodeToString([]byte(leakKey))[12:], "TAVILY_KEY"},
	} {
		t.Run(name, func(t *testing.T) {
			for what, value := range map[string]any{"text": c.text, "member": map[string]any{"url": c.text}, "list": []any{1, []any{c.text}}} {
				raw, err := json.Marshal(value)
				if err != nil {
					t.Fatal(err)
				}
				if got := leaker().Leaks(raw); got != c.want {
					t.Errorf("%s: %q leaks %q, want %q", what, c.text, got, c.want)
				}
			}
		})
	}
	if got := leaker().Leaks(json.RawMessage(`{"` + "another-value-0123" + `":1}`)); got != "OTHER" {
		t.Errorf("a name of a member leaks %q", got)
	}
	if got := leaker().Leaks(json.RawMessage(`{`)); got != "" {
		t.Errorf("no JSON leaks %q", got)
	}
}

// TestLeaksNothingElse: texts of letters that are no secret leak none.
func TestLeaksNothingElse(t *testing.T) {
	r := leaker()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`https://[a-f.]{1,20}/[a-f/%?=&]{0,40}`).Draw(t, "address")
		raw, _ := json.Marshal(text)
		if got := r.Leaks(raw); got != "" {
			t.Fatalf("%q leaks %q", text, got)
		}
	})
}
