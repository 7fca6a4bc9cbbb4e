// Package telegramtest is a Telegram for tests: a server of the Bot API on the loopback, with chats in which tests write
// and read. It judges requests as the service does where a bot depends on it: lengths in UTF-16 units, entities, edits
// that change nothing, one poller at a time. What it answers in the place of that, tests say.
package telegramtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Token is the bot's.
const Token = "4242:TESTxTOKENxOFxTHExBOTxNOTHINGxELSE"

// Server is the service. Its methods may be called from several goroutines.
type Server struct {
	URL string

	mu      sync.Mutex
	changed chan struct{} // closed at each change
	updates []map[string]any
	number  int64 // of the last update
	last    int64 // message
	posts   []*Post
	calls   []Call
	planned map[string][]Answer
	pollers int
	closing chan struct{}
}

// Call is a request as it came.
type Call struct {
	Method string
	Body   string
}

// New starts a server, which ends with the test.
func New(t testing.TB) *Server {
	s := &Server{changed: make(chan struct{}), planned: map[string][]Answer{}, closing: make(chan struct{})}
	h := httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = h.URL
	t.Cleanup(func() {
		close(s.closing)
		h.Close()
	})
	return s
}

// Calls are the requests of a method, or of all where none is named, in their order.
func (s *Server) Calls(method string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var of []Call
	for _, c := range s.calls {
		if method == "" || c.Method == method {
			of = append(of, c)
		}
	}
	return of
}

// Changed is closed when something changes after the call.
func (s *Server) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

func (s *Server) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if rest, is := strings.CutPrefix(r.URL.Path, "/file/bot"+Token+"/"); is {
		fmt.Fprintf(w, "the contents of %s", rest)
		return
	}
	method, is := strings.CutPrefix(r.URL.Path, "/bot"+Token+"/")
	if !is {
		reply(w, Refusal(401, "Unauthorized"))
		return
	}
	params, body, err := read(r)
	if err != nil {
		reply(w, Refusal(400, "Bad Request: "+err.Error()))
		return
	}
	s.mu.Lock()
	s.calls = append(s.calls, Call{Method: method, Body: body})
	if next := s.planned[method]; len(next) > 0 {
		s.planned[method] = next[1:]
		s.wake()
		s.mu.Unlock()
		reply(w, next[0])
		return
	}
	s.mu.Unlock()
	if method == "getUpdates" {
		s.poll(w, r, params)
		return
	}
	s.mu.Lock()
	a := s.do(method, params)
	s.wake()
	s.mu.Unlock()
	reply(w, a)
}

// read takes in the parameters, of JSON or of a form.
func read(r *http.Request) (params map[string]json.RawMessage, body string, err error) {
	params = map[string]json.RawMessage{}
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		var raw json.RawMessage
		if err := json.NewDecoder(r.Body).Decode(&raw); err != nil {
			return nil, "", err
		}
		return params, string(raw), json.Unmarshal(raw, &params)
	}
	if err := r.ParseMultipartForm(32 << 20); err != nil {
		return nil, "", err
	}
	for name, values := range r.MultipartForm.Value {
		params[name] = json.RawMessage(values[0])
	}
	for _, files := range r.MultipartForm.File {
		f, err := files[0].Open()
		if err != nil {
			return nil, "", err
		}
		content := make([]byte, files[0].Size)
		if _, err := f.Read(content); err != nil {
			return nil, "", err
		}
		params["content"], params["name"] = content, json.RawMessage(files[0].Filename)
	}
	return params, "a form", nil
}

func reply(w http.ResponseWriter, a Answer) {
	if a == (Answer{}) {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.Status)
	fmt.Fprint(w, a.Body)
}
