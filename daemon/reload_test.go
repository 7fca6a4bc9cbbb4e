package daemon

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// serveWords gives the script a model server that says the same each time, but
// for a prompt that begins with call, which it obeys (see modelSays).
func serveWords(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: serve-words VARIABLE WORDS")
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, `{"object":"list","data":[{"id":"m","object":"model"}]}`)
	})
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			Messages []chatMessage `json:"messages"`
		}
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		s := sse{w: w, r: r}
		if last := request.Messages[len(request.Messages)-1]; last.Role == "user" && strings.HasPrefix(last.Content, "call ") {
			s.modelSays(last.Content, "")
			return
		}
		s.text(args[1])
		s.end("stop")
	})
	server := httptest.NewServer(mux)
	ts.Defer(func() {
		server.CloseClientConnections()
		server.Close()
	})
	ts.Setenv(args[0], server.URL+"/v1")
}

// sameProcess compares the process of a plugin with that of the last time.
func sameProcess(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: same-process INSTANCE")
	}
	for _, p := range runningPlugins(ts) {
		if p.Instance != args[0] {
			continue
		}
		before, now := ts.Getenv("PROCESS_"+p.Instance), strconv.Itoa(p.PID)
		if before != "" && (before == now) == neg {
			ts.Fatalf("plugin %s is process %s and was %s", p.Instance, now, before)
		}
		ts.Setenv("PROCESS_"+p.Instance, now)
		return
	}
	ts.Fatalf("plugin %s does not run", args[0])
}

// hangUp sends SIGHUP to the script's daemon.
func hangUp(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: hang-up")
	}
	text, err := os.ReadFile(filepath.Join(ts.Getenv("XDG_RUNTIME_DIR"), "bothy", "daemon.lock"))
	ts.Check(err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	ts.Check(err)
	ts.Check(syscall.Kill(pid, syscall.SIGHUP))
}
