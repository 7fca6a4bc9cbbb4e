package daemon

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// stepsModel is a model server whose answer follows from the conversation
// alone, so that a question that is asked again is answered alike. A prompt is
// a plan as JSON; the model takes one step a turn, each of which appends a line
// that no other call appends. A step whose call did not say that it was done is
// tried again by another call, with another line.
type stepsModel struct {
	server *httptest.Server

	mu    sync.Mutex
	gates map[string]*gate
	tools []string // that the last question offered
}

// plan is a prompt of the tests.
type plan struct {
	Tag   string   `json:"tag"`   // begins each line; unique
	Steps int      `json:"steps"` // turns with calls; one more turn ends the loop
	Agent string   `json:"agent"` // that it is given to; empty is the default
	Tools []string `json:"tools"` // taken in turns: note_line, note_entry, set, plan, bash, and the site's skills by name
	Twice bool     `json:"twice"` // two calls in a turn
	Slow  int      `json:"slow"`  // every so many turns the answer takes a while; 0 is never
	Text  int      `json:"text"`  // bytes of text in every answer
	Says  string   `json:"says"`  // behind its last answer
	Below int      `json:"below"` // how far below it delegates: not at all further, or once more
	File  bool     `json:"file"`  // it is given as a plan's file (asks)
	Hold  int      `json:"hold"`  // the step before which the gate named Tag is waited for; 0 is none

	Errand string `json:"errand,omitempty"` // in place of steps: leads or helps
	Dry    bool   `json:"dry,omitempty"`    // it runs no command
	Long   int    `json:"long,omitempty"`   // words behind the plan, which the model needs not

	Replay string   `json:"replay,omitempty"` // the cassette that answers in its place
	Mode   sdk.Mode `json:"mode"`             // of the prompt; empty asks nobody
	Reject int      `json:"reject"`           // the step whose calls a person rejects; 0 is none
}

func (p plan) prompt() string {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // a plan always marshals
	}
	return string(text) + strings.Repeat(" word", p.Long)
}

// gate holds answers back until it is opened.
type gate struct {
	arrived chan struct{} // gets a value for every answer that waits, up to its room
	open    chan struct{}
	once    sync.Once
}

// slowWords times slowWord is how long a slow answer takes: longer than the
// time within which the engine records nothing of a stream.
const (
	slowWords = 12
	slowWord  = 30 * time.Millisecond
)

func newStepsModel(t testing.TB) *stepsModel {
	m := &stepsModel{gates: map[string]*gate{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, `{"object":"list","data":[{"id":"steps","object":"model"}]}`)
	})
	mux.HandleFunc("POST /v1/chat/completions", m.complete)
	m.server = httptest.NewServer(mux)
	return m
}

func (m *stepsModel) url() string { return m.server.URL + "/v1" }

func (m *stepsModel) close() {
	m.mu.Lock()
	for _, g := range m.gates {
		g.once.Do(func() { close(g.open) })
	}
	m.mu.Unlock()
	m.server.CloseClientConnections()
	m.server.Close()
}

// gate returns the gate of that name, which is closed at first.
func (m *stepsModel) gate(name string) *gate {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gates[name] == nil {
		m.gates[name] = &gate{arrived: make(chan struct{}, 1024), open: make(chan struct{})}
	}
	return m.gates[name]
}

// offered are the tools that the last question offered.
func (m *stepsModel) offered() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.tools)
}

// open lets everything through the gate, now and later.
func (m *stepsModel) open(name string) {
	g := m.gate(name)
	g.once.Do(func() { close(g.open) })
}

func (m *stepsModel) complete(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Messages []chatMessage `json:"messages"`
		Tools    []struct{ Function struct{ Name string } }
	}
	raw, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(raw, &request)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var tools []string
	for _, t := range request.Tools {
		tools = append(tools, t.Function.Name)
	}
	m.mu.Lock()
	m.tools = tools
	m.mu.Unlock()
	p, step, attempt, err := progress(request.Messages)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if p.Hold == step {
		g := m.gate(p.Tag)
		select {
		case g.arrived <- struct{}{}:
		default:
		}
		select {
		case <-g.open:
		case <-r.Context().Done():
			return
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	s, last := sse{w: w, r: r}, request.Messages[len(request.Messages)-1]
	if p.Errand != "" {
		p.runErrand(s, request.Messages, raw, len(tools) > 0)
		return
	}
	switch offers := func(tool string) bool { return slices.Contains(tools, tool) }; {
	case len(tools) == 0 && asksForSummary(last.Content):
		s.text(summaryOf(p))
		s.end("stop")
	case offers(sdk.ToolCreatePlan):
		p.assign(s)
	case offers(sdk.ToolFinish) && (p.team() || step > p.Steps):
		p.handOver(s, last)
	default:
		p.answer(s, step, attempt)
	}
}

// progress finds out where in its plan a conversation is: the step that comes, and
// how often it was tried.
func progress(messages []chatMessage) (p plan, step, attempt int, err error) {
	begin, text := -1, ""
	for i, m := range messages {
		if at := strings.Index(m.Content, `{"tag":`); m.Role == "user" && at >= 0 {
			begin, text = i, m.Content[at:]
		}
	}
	if begin < 0 {
		return p, 0, 0, fmt.Errorf("there is no plan in this conversation")
	}
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&p); err != nil { // more may stand behind it
		return p, 0, 0, err
	}
	step, attempt = 1, 1
	done, any := true, false
	next := func() {
		switch {
		case !any:
		case done:
			step, attempt = step+1, 1
		default:
			attempt++
		}
		done, any = true, false
	}
	for _, m := range messages[begin+1:] {
		switch m.Role {
		case "assistant":
			next()
		case "tool":
			any = true
			done = done && strings.Contains(m.Content, noted(p.Tag))
		}
	}
	next()
	return p, step, attempt, nil
}

// slowly says something that takes a while.
func (p plan) slowly(s sse) {
	for range slowWords {
		s.text("thinking ")
		select {
		case <-time.After(slowWord):
		case <-s.r.Context().Done():
			return
		}
	}
}

// answer is one answer of the model, all of it decided by its arguments.
func (p plan) answer(s sse, step, attempt int) {
	if p.Text > 0 {
		s.text(strings.Repeat("word ", p.Text/5))
	}
	if p.Slow > 0 && step%p.Slow == 0 {
		p.slowly(s)
	}
	if step > p.Steps {
		s.text(fmt.Sprintf("%s: finished %d steps", p.Tag, p.Steps))
		if p.Says != "" {
			s.text("; " + p.Says)
		}
		s.end("stop")
		return
	}
	if attempt > 20 {
		s.text("gave up")
		s.end("stop")
		return
	}
	lines := []string{fmt.Sprintf("%s-%d-%d", p.Tag, step, attempt)}
	if p.Twice {
		lines = append(lines, lines[0]+"b")
	}
	var calls []any
	for i, line := range lines {
		tool := p.Tools[(step+i)%len(p.Tools)]
		arguments := map[string]any{"line": line}
		switch tool {
		case "note_entry":
			arguments = map[string]any{"entry": line}
		case "set":
			arguments = map[string]any{"path": keptAt(p.Tag), "body": line + "\n", "append": true}
		case codeSkill, callingSkill, textSkill:
			tool, arguments = "use_skill", map[string]any{"name": tool, "input": line}
		case sdk.ToolPlan:
			arguments = p.marks(step, line)
		case sdk.ToolDelegate:
			arguments = map[string]any{"agent": "foreman", "task": p.delegated(line).prompt()}
		case "bash", "sh":
			arguments = map[string]any{"command": fmt.Sprintf("echo %s >> %s && echo %s", line, ledgerFile, noted(line))}
		}
		text, err := json.Marshal(arguments)
		if err != nil {
			panic(err) // a map of texts always marshals
		}
		calls = append(calls, map[string]any{
			"index": i, "id": fmt.Sprintf("c%d_%d_%d", step, attempt, i), "type": "function",
			"function": map[string]any{"name": tool, "arguments": string(text)},
		})
	}
	s.delta(map[string]any{"tool_calls": calls}, "")
	s.end("tool_calls")
}
