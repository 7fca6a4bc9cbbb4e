package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bothyd/bothy/daemon/internal/agent/team"
)

// serveModel gives the script a model server of its own, with the wire of Chat
// Completions: MODEL_URL is its base URL. What its one model says follows from
// the prompt; see modelSays. All that is sent to it is in the file MODEL_HEARD.
func serveModel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: serve-model")
	}
	heard := filepath.Join(ts.Getenv("WORK"), "heard")
	ts.Check(os.WriteFile(heard, nil, 0o600))
	ts.Setenv("MODEL_HEARD", heard)
	url, end := parrotServer(heard)
	ts.Defer(end)
	ts.Setenv("MODEL_URL", url)
}

// modelServer serves the model of serve-model until a test ends.
func modelServer(t testing.TB) (url string) {
	url, end := parrotServer("")
	t.Cleanup(end)
	return url
}

func parrotServer(heard string) (url string, end func()) {
	return (&parrot{heard: heard}).serve("parrot")
}

// serve serves models that all answer alike; the one called blind takes no images.
func (p *parrot) serve(models ...string) (url string, end func()) {
	p.asked = map[string]bool{}
	var list []string
	for _, model := range models {
		about := ""
		if model == "blind" {
			about = `,"architecture":{"input_modalities":["text"]}`
		}
		list = append(list, `{"id":"`+model+`","object":"model"`+about+`}`)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, `{"object":"list","data":[`+strings.Join(list, ",")+`]}`)
	})
	mux.HandleFunc("POST /v1/chat/completions", p.complete)
	server := httptest.NewServer(mux)
	return server.URL + "/v1", func() {
		server.CloseClientConnections()
		server.Close()
	}
}

type chatMessage struct {
	Role    string
	Content string
	Images  int // beside the text
}

// UnmarshalJSON reads a content that is a text, or parts.
func (m *chatMessage) UnmarshalJSON(raw []byte) error {
	var as struct {
		Role    string
		Content json.RawMessage
	}
	if err := json.Unmarshal(raw, &as); err != nil {
		return err
	}
	m.Role = as.Role
	if len(as.Content) == 0 {
		return nil
	}
	var parts []struct {
		Type, Text string
	}
	if json.Unmarshal(as.Content, &parts) != nil {
		return json.Unmarshal(as.Content, &m.Content)
	}
	for _, p := range parts {
		if m.Content += p.Text; p.Type == "image_url" {
			m.Images++
		}
	}
	return nil
}

// parrot is the model behind serve-model.
type parrot struct {
	mu    sync.Mutex
	asked map[string]bool     // by prompt
	heard string              // the file that takes every request, if there is one
	plays map[string][]played // by the first line of the prompt
}

// first reports whether a prompt comes for the first time.
func (p *parrot) first(prompt string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := p.asked[prompt]
	p.asked[prompt] = true
	return !seen
}

// hear writes a request down.
func (p *parrot) hear(body []byte) error {
	if p.heard == "" {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f, err := os.OpenFile(p.heard, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(body, '\n'))
	return errors.Join(err, f.Close())
}

func (p *parrot) complete(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Model    string        `json:"model"`
		Messages []chatMessage `json:"messages"`
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &request)
	}
	if err == nil {
		err = p.hear(body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	request.Messages = unpacked(request.Messages)
	user, before, system := "", "", ""
	for _, m := range request.Messages {
		switch m.Role {
		case "user":
			before, user = user, m.Content
		case "system":
			system += m.Content
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	s := sse{w: w, r: r, first: p.first(user), model: request.Model}
	last := request.Messages[len(request.Messages)-1]
	if lines := strings.Split(user, "\n"); lines[0] == "calls" {
		s.callInTurn(lines[1:], request.Messages)
		return
	}
	if lines := strings.Split(before, "\n"); lines[0] == "calls" && user == team.Synthesis { // behind the call that planned
		s.callInTurn(lines[2:], request.Messages)
		return
	}
	if s.answersInTurn(request.Messages) {
		return
	}
	if order, is := strings.CutPrefix(user, "obey "); is {
		s.obey("call "+order, request.Messages)
		return
	}
	if lines := strings.Split(user, "\n"); lines[0] == "calls at once" && last.Role == "user" {
		s.callsAtOnce(lines[1:])
		return
	}
	if strings.HasPrefix(user, "how many images") {
		images := 0
		for _, m := range request.Messages {
			images += m.Images
		}
		s.text(fmt.Sprintf("I see %d images", images))
		s.end("stop")
		return
	}
	name, _, _ := strings.Cut(user, "\n")
	if turns, is := p.plays[name]; is {
		s.play(name, turns, request.Messages)
		return
	}
	if _, name, is := strings.Cut(": "+name, ": play "); is { // the whole of it, or what a verb makes of it
		s.play(name, plays[name], request.Messages)
		return
	}
	if last.Role == "tool" {
		s.text("the tool said: " + last.Content)
		s.end("stop")
		return
	}
	s.modelSays(user, system)
}

// callInTurn makes the first call that has no result yet.
func (s sse) callInTurn(calls []string, messages []chatMessage) {
	var results []string
	for _, m := range messages {
		switch m.Role {
		case "user":
			results = nil
		case "tool":
			results = append(results, m.Content)
		}
	}
	if len(results) < len(calls) {
		s.toolCall(calls[len(results)])
		return
	}
	s.text("the tools said: " + strings.Join(results, "\n"))
	s.end("stop")
}

// answersInTurn gives the answers of the last prompt that has some, a turn after the other, a few letters at a time.
func (s sse) answersInTurn(messages []chatMessage) bool {
	var answers []string
	for _, m := range messages {
		switch {
		case m.Role == "user" && strings.HasPrefix(m.Content, "answers\n"):
			answers = strings.Split(strings.TrimSuffix(strings.TrimPrefix(m.Content, "answers\n"), "\n"), "\n---\n")
		case m.Role == "assistant" && len(answers) > 0:
			answers = answers[1:]
		}
	}
	if len(answers) == 0 {
		return false
	}
	for text := answers[0]; text != ""; text = text[min(7, len(text)):] {
		s.text(text[:min(7, len(text))])
	}
	s.end("stop")
	return true
}

// callsAtOnce makes all calls in one answer.
func (s sse) callsAtOnce(calls []string) {
	for i, line := range calls {
		tool, arguments, _ := strings.Cut(line, " ")
		s.call(map[string]any{"index": i, "id": fmt.Sprintf("c%d", i+1), "type": "function", "function": map[string]any{"name": tool, "arguments": arguments}})
	}
	s.end("tool_calls")
}

// toolCall writes a call of a tool and its arguments.
func (s sse) toolCall(line string) {
	tool, arguments, _ := strings.Cut(line, " ")
	s.delta(map[string]any{"tool_calls": []any{map[string]any{
		"index": 0, "id": "c1", "type": "function", "function": map[string]any{"name": tool, "arguments": arguments},
	}}}, "")
	s.end("tool_calls")
}

// sse writes a streamed completion.
type sse struct {
	w     http.ResponseWriter
	r     *http.Request
	first bool // the prompt was not heard before
	model string
}

// modelSays answers a prompt by its first word:
//
//	call TOOL ARGUMENTS   a tool call, whose result it then repeats
//	calls                 the calls of the lines below, one after the other, whose results it then repeats; of a
//	                      team's prompt the first is what plans, and the others put together
//	answers               the texts below, which a line --- parts, a turn after the other
//	calls at once         the calls of the lines below, in one answer
//	join TEXT             the text without its ~, a few letters at a time
//	join-call TOOL ARGUMENTS   call, the arguments likewise
//	obey TOOL ARGUMENTS   call, then every call that a result orders (see obey)
//	reason TEXT           reasoning that is the text, then an answer
//	system                what stood in the system prompt
//	slow                  a word every 50 ms, until nobody listens
//	stall                 the same the first time, and an answer to whoever asks again
//	how many images       how many images the conversation has
//	which                 the name of the model that is asked
//	long                  more than a row of the journal carries
//	play NAME             the turns of that name, one after the other (see plays)
//	steer                 text that would steer a terminal
//	refuse                an error of the server that repeats the key it was sent
func (s sse) modelSays(user, system string) {
	word, rest, _ := strings.Cut(user, " ")
	switch word {
	case "call":
		call, _, _ := strings.Cut(rest, "\n\nStandard input:") // what was piped in is no part of it
		s.toolCall(call)
		return
	case "join-call":
		tool, arguments, _ := strings.Cut(rest, " ")
		s.call(map[string]any{"index": 0, "id": "c1", "type": "function", "function": map[string]any{"name": tool, "arguments": ""}})
		for _, piece := range joined(arguments) {
			s.call(map[string]any{"index": 0, "function": map[string]any{"arguments": piece}})
		}
		s.end("tool_calls")
		return
	case "join":
		for _, piece := range joined(rest) {
			s.text(piece)
		}
	case "reason":
		s.delta(map[string]any{"reasoning_content": rest}, "")
		s.text("so it is")
	case "system":
		s.text(system)
	case "slow", "stall":
		if word == "stall" && !s.first {
			s.text("you said it twice: " + user)
			s.end("stop")
			return
		}
		// It goes on ever slower, so that what stands before it stays on a screen of few rows
		// however long a busy machine takes to get to the next step.
		for ticks := 0; s.r.Context().Err() == nil; ticks++ {
			s.text("tick ")
			select {
			case <-time.After(50*time.Millisecond + time.Duration(ticks)*5*time.Millisecond):
			case <-s.r.Context().Done():
			}
		}
		return
	case "which":
		s.text("the model is " + s.model)
	case "long":
		s.text("begin " + strings.Repeat("x", 600<<10) + " end")
	case "steer":
		s.text("\x1b]0;title\a \u009b31m \u202egnp")
	case "refuse":
		http.Error(s.w, `{"error":{"message":"bad key `+s.r.Header.Get("Authorization")+`"}}`, http.StatusUnauthorized)
		return
	default:
		s.text("you said: " + user)
	}
	s.end("stop")
}

func joined(text string) (pieces []string) {
	text = strings.ReplaceAll(text, "~", "")
	for ; len(text) > 3; text = text[3:] {
		pieces = append(pieces, text[:3])
	}
	return append(pieces, text)
}

func (s sse) call(call map[string]any) { s.delta(map[string]any{"tool_calls": []any{call}}, "") }

func (s sse) text(text string) { s.delta(map[string]any{"content": text}, "") }

func (s sse) end(reason string) {
	s.delta(map[string]any{}, reason)
	fmt.Fprint(s.w, "data: [DONE]\n\n")
}

func (s sse) delta(delta map[string]any, finish string) {
	choice := map[string]any{"index": 0, "delta": delta, "finish_reason": nil}
	if finish != "" {
		choice["finish_reason"] = finish
	}
	chunk, err := json.Marshal(map[string]any{"id": "x", "object": "chat.completion.chunk", "model": "parrot", "choices": []any{choice}})
	if err != nil {
		return // these maps always marshal
	}
	fmt.Fprintf(s.w, "data: %s\n\n", chunk) // a client that is gone ends the request's context
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}
