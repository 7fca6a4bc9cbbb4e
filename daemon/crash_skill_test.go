package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// noteModel is a model that uses the code skill research at once, and holds
// back what research asks of it until it is let go.
type noteModel struct {
	asked chan struct{} // a question of research waits
	let   chan struct{} // closed: it waits no longer
	notes atomic.Int32  // questions of research for notes
}

func newNoteModel(t *testing.T) (m *noteModel, url string) {
	m = &noteModel{asked: make(chan struct{}, 16), let: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, `{"object":"list","data":[{"id":"notes","object":"model"}]}`)
	})
	mux.HandleFunc("POST /v1/chat/completions", m.complete)
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return m, server.URL + "/v1"
}

func (m *noteModel) complete(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Messages []chatMessage `json:"messages"`
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil || len(request.Messages) == 0 {
		http.Error(w, "no messages", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	s := sse{w: w, r: r}
	last := request.Messages[len(request.Messages)-1]
	switch {
	case strings.HasPrefix(request.Messages[0].Content, "You take notes"):
		m.notes.Add(1)
		m.asked <- struct{}{}
		select {
		case <-m.let:
		case <-r.Context().Done():
			return
		}
		s.text("a note")
	case last.Role == "tool":
		s.text("the tools said: " + last.Content)
	case last.Role == "user" && strings.HasPrefix(last.Content, "go"):
		s.delta(map[string]any{"tool_calls": []any{
			map[string]any{"index": 0, "id": "c1", "type": "function", "function": map[string]any{
				"name": "use_skill", "arguments": `{"name":"research","input":"What is there?\nin: README.md"}`,
			}},
			map[string]any{"index": 1, "id": "c2", "type": "function", "function": map[string]any{"name": "note_line", "arguments": `{"line":"behind"}`}},
		}}, "")
		s.end("tool_calls")
		return
	default:
		s.text("an answer")
	}
	s.end("stop")
}

// TestKillInACodeSkill kills the daemon, or the plugin, while a code skill waits
// for the model. It was begun, so it is not executed again: it ends as
// interrupted or crashed, what stood behind it is given up, and the run goes on.
func TestKillInACodeSkill(t *testing.T) {
	for name, c := range map[string]struct {
		strike  func(s *site)
		outcome sdk.Outcome
	}{
		"the daemon": {func(s *site) { s.kill(); s.up() }, sdk.Interrupted},
		"the plugin": {(*site).killResearch, sdk.PluginCrashed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, url := newNoteModel(t)
			s := newSite(t, "plugin \"bash\" {\n  enabled = false\n}\n", fmt.Sprintf("provider \"notes\" {\n  plugin   = \"openai\"\n  base_url = %q\n}\n", url))
			write(t, filepath.Join(s.project, "README.md"), "# Kettles\n")
			s.up()
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			a, err := s.client.Act(ctx, rpc.Prompt{Project: s.project, Model: "notes/notes", Prompt: "go"})
			if err != nil {
				t.Fatal(err)
			}
			select {
			case <-m.asked:
			case <-ctx.Done():
				t.Fatalf("research asked nothing\n%s", s.evidence())
			}
			c.strike(s)
			if err := s.followLoop(ctx, s.client, a, a.Seq); err != nil {
				t.Fatalf("%v\n%s", err, s.evidence())
			}
			s.nothingLeft()
			actions := slices.DeleteFunc(s.entries(a.ID, "log://turn_1/**"), func(e sdk.Entry) bool {
				x, err := sdk.ActionOf(e) // what research read is there too, and has ended
				return err == nil && x.Parent != "" && e.Phase == sdk.PhaseEnded
			})
			if len(actions) != 2 || actions[0].Outcome != c.outcome || actions[1].Outcome != sdk.Aborted {
				t.Errorf("the actions are %+v", actions)
			}
			if n := len(s.lines()); n != 0 {
				t.Errorf("what stood behind was done: %v", s.lines())
			}
			if n := m.notes.Load(); n != 1 {
				t.Errorf("research asked %d times", n)
			}
			d, err := s.client.Run(ctx, rpc.RunRef{Run: strconv.FormatInt(a.ID, 10)})
			if err != nil || d.Status != sdk.StatusOK || !strings.Contains(d.Summary, "the tools said") {
				t.Errorf("the run is at %d with %q: %v", d.Status, d.Summary, err)
			}

			close(m.let) // and it works again
			a, err = s.client.Act(ctx, rpc.Prompt{Project: s.project, Model: "notes/notes", Prompt: "go on"})
			if err == nil {
				err = s.followLoop(ctx, s.client, a, a.Seq)
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, s.evidence())
			}
			if n := len(s.lines()); n != 1 {
				t.Errorf("the next run did not come to its end: %v", s.lines())
			}
			s.whole()
		})
	}
}

// killResearch ends the plugin research.
func (s *site) killResearch() { s.killPlugin("research") }

// killPlugin ends the process of a plugin as `kill -9` does.
func (s *site) killPlugin(name string) {
	s.t.Helper()
	all, err := processTable()
	if err != nil {
		s.t.Fatal(err)
	}
	for pid, p := range all {
		if p.names(s.root) && pid != os.Getpid() && strings.Contains(string(p.command), "bothy-plugin-"+name) {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				s.t.Fatal(err)
			}
			return
		}
	}
	s.t.Fatalf("the plugin %s does not run\n%s", name, s.evidence())
}
