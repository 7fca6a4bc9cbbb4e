package daemon

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk/conformance"
)

// TestProvidersConform holds the binaries of the providers over HTTP to what every
// plugin promises, with servers that list a model and answer with a golden stream.
func TestProvidersConform(t *testing.T) {
	libexec := filepath.Join(installation(t), "libexec", "bothy")
	for name, paths := range map[string]map[string]string{
		"openai":    {"/v1/models": `{"data":[{"id":"m"}]}`, "/v1/chat/completions": "parallel.sse"},
		"ollama":    {"/api/tags": `{"models":[{"name":"m"}]}`, "/api/show": `{}`, "/api/ps": `{}`, "/api/chat": "calls.ndjson"},
		"anthropic": {"/v1/models": `{"data":[{"id":"m"}]}`, "/v1/models/m": `{"id":"m"}`, "/v1/messages": "thinking-tools.sse"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(golden(t, name, paths))
			defer server.Close()
			base := server.URL
			if name == "openai" {
				base += "/v1"
			}
			out, err := exec.Command(filepath.Join(libexec, "bothy-plugin-"+name), "test", "--json", "--call", "--settings", fmt.Sprintf(`{"base_url":%q}`, base)).CombinedOutput()
			var r conformance.Report
			if jerr := json.Unmarshal(out, &r); err != nil || jerr != nil || r.Failed {
				t.Fatalf("%v, %v\n%s", err, jerr, out)
			}
			for _, f := range r.Findings {
				skips := f.Severity == conformance.Skipped && f.Name == "provider: sign-in" // nobody signs in to these
				if f.Severity != conformance.Passed && !skips {
					t.Errorf("%s: %s %s", f.Name, f.Severity, f.Text)
				}
			}
		})
	}
}

// golden answers paths with texts, or with golden files of a plugin.
func golden(t *testing.T, plugin string, paths map[string]string) http.Handler {
	t.Helper()
	mux := http.NewServeMux()
	for path, answer := range paths {
		if filepath.Ext(answer) != "" {
			answer = goldenStream(t, plugin, answer)
		}
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) })
	}
	return mux
}

// goldenStream is a golden file of a plugin without its first line, which says where
// it comes from.
func goldenStream(t *testing.T, plugin, file string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "plugins", plugin, "testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	_, stream, _ := strings.Cut(string(raw), "\n")
	return stream
}
