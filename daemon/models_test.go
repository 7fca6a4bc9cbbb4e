package daemon

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/engine"
)

// ollamaServer speaks as much of Ollama as a prompt needs until the test ends. It
// has the models of M2: one of 70B, one of 8.0B, and one that only embeds.
func ollamaServer(t testing.TB) string {
	t.Helper()
	sizes := map[string]string{"big:latest": "70B", "small:latest": "8.0B", "nomic-embed-text:latest": "334M"}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/tags", func(w http.ResponseWriter, _ *http.Request) {
		var list []string
		for name, size := range sizes {
			list = append(list, fmt.Sprintf(`{"name":%q,"digest":%q,"details":{"parameter_size":%q}}`, name, name, size))
		}
		fmt.Fprintf(w, `{"models":[%s]}`, strings.Join(list, ","))
	})
	mux.HandleFunc("POST /api/show", func(w http.ResponseWriter, r *http.Request) {
		asked, _ := io.ReadAll(r.Body) // what did not come names no model
		if strings.Contains(string(asked), "embed") {
			fmt.Fprint(w, `{"capabilities":["embedding"]}`)
			return
		}
		fmt.Fprint(w, `{"capabilities":["completion","tools"],"model_info":{"x.context_length":8192}}`)
	})
	mux.HandleFunc("POST /api/chat", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, `{"message":{"content":"hello"},"done":true,"done_reason":"stop"}`)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

// TestAConfiguredModelGivesWay has the rows M1, M2 and M4 as a prompt finds them: the
// answer says what is taken, and `status` warns as long as it holds.
func TestAConfiguredModelGivesWay(t *testing.T) {
	url := ollamaServer(t)
	t.Setenv("BOTHY_PREFIX", installation(t))
	config := func(model string) string {
		return fmt.Sprintf("%sprovider \"ollama\" {\n  base_url = %q\n}\nagent \"default\" {\n  model = %q\n}\n", noPlugins, url, model)
	}
	d, path := quietly(t, config("ollama/absent"))
	project := t.TempDir()
	for _, c := range []struct{ row, model, want string }{
		{"M2", "ollama/absent", "ollama/small:latest"},
		{"M1", "ollama/big:latest", "ollama/big:latest"},
		{"M4", "ollama/big", "ollama/big:latest"},
	} {
		write(t, path, config(c.model))
		if err := d.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, err := d.engine.Submit(t.Context(), engine.Submission{Project: project, Prompt: "hello"})
		if err != nil || got.Model != c.want {
			t.Fatalf("%s: took %s because %q, %v; want %s", c.row, got.Model, got.Why, err, c.want)
		}
		status, err := d.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		warns := slices.ContainsFunc(status.Problems, func(p string) bool {
			return strings.Contains(p, "the configuration names ollama/absent, which "+url+" does not have: ollama/small:latest is taken in its place")
		})
		if gaveWay := c.row == "M2"; warns != gaveWay || strings.Contains(got.Why, "ollama/absent") != gaveWay {
			t.Errorf("%s: because %q; problems %q", c.row, got.Why, status.Problems)
		}
		if _, err := d.engine.Submit(t.Context(), engine.Submission{Project: project, Prompt: "hello", Model: "ollama/absent"}); err == nil || !strings.Contains(err.Error(), `ollama has no model "absent"`) {
			t.Errorf("%s: a name that was given: %v", c.row, err)
		}
	}
}
