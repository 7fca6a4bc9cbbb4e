package main

import (
	"encoding/json"
	"io"
	"sync"

	"github.com/coder/acp-go-sdk"
)

// frames is standard output: one frame a line, each in one Write, and nothing else.
type frames struct {
	to io.Writer

	mu   sync.Mutex
	then map[acp.SessionId]func() // by a session whose id was not told yet
}

// after has something done once a frame answered with a new session: an editor drops what it is
// told of a session before it knows the id.
func (f *frames) after(id acp.SessionId, do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.then[id] = do
}

// Write writes a frame.
func (f *frames) Write(frame []byte) (int, error) {
	n, err := f.to.Write(frame)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil || len(f.then) == 0 {
		return n, err
	}
	var answer struct {
		Result struct{ SessionID acp.SessionId }
	}
	if json.Unmarshal(frame, &answer) == nil {
		if do := f.then[answer.Result.SessionID]; do != nil {
			delete(f.then, answer.Result.SessionID)
			go do()
		}
	}
	return n, nil
}

// held is a reader that gives nothing until it may begin.
type held struct {
	io.Reader
	begin chan struct{}
}

// Read reads once it may.
func (h *held) Read(p []byte) (int, error) {
	<-h.begin
	return h.Reader.Read(p)
}
