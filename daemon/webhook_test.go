package daemon

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// TestWebhook: the example answers each message with what became of it, and nobody but who shows the token and names this machine.
func TestWebhook(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../examples/webhook-channel/bothy-plugin-webhook")
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(text), "\n"); lines > 120 {
		t.Errorf("it has %d lines", lines)
	}
	s := newSite(t, withoutSandbox, fmt.Sprintf(`
guard {
  max_turns = 1
}
provider "parrot" {
  plugin   = "openai"
  base_url = %q
}
agent "spoken" {
  model = "parrot/parrot"
}
plugin "webhook" {
  path   = %q
  grants = ["channel"]
  token  = "shibboleth"
  port   = 0
}
person "webhook/backup" {
  agent = "spoken"
}
`, modelServer(t), pythonPlugin(t, "webhook", string(text))))
	s.up()
	at := ""
	for late := time.Now().Add(patience); at == ""; <-time.After(20 * time.Millisecond) {
		all, err := s.client.Plugins(t.Context())
		if err != nil || time.Now().After(late) {
			t.Fatalf("it is not served: %+v %v\n%s", all, err, s.evidence())
		}
		for _, p := range all {
			if p.Instance == "webhook" {
				_, at, _ = strings.Cut(p.Detail, "listening at ")
			}
		}
	}
	post := func(token, host, person, message, text string) (int, string) {
		t.Helper()
		body, err := json.Marshal(map[string]string{"person": person, "message": message, "text": text})
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+at+"/message", strings.NewReader(string(body)))
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(resp.Body)
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(answer)
	}
	for _, c := range []struct {
		token, host, person, message, text string
		status                             int
		answer                             string
	}{
		{"shibboleth", at, "backup", "1", "one", 200, `{"answer": "you said: one"}`},
		{"shibboleth", at, "backup", "2", "two", 200, `{"answer": "you said: two"}`},
		{"shibboleth", at, "backup", "1", "one", 200, `{"answer": "you said: one"}`},
		{"shibboleth", at, "backup", "3", "call nothing {}", 502, ""},
		{"sibboleth", at, "backup", "4", "one", 403, `{"error": "forbidden"}`},
		{"shibboleth", "rebound.test", "backup", "4", "one", 403, `{"error": "forbidden"}`},
		{"shibboleth", at, "eve", "4", "one", 403, `{"error": "nothing is done for you here"}`},
		{"shibboleth", at, "backup", "4", "", 400, ""},
	} {
		if status, answer := post(c.token, c.host, c.person, c.message, c.text); status != c.status || c.answer != "" && answer != c.answer {
			t.Errorf("%s of %s, %q: %d %s", c.message, c.person, c.text, status, answer)
		}
	}
	s.whole()
}
