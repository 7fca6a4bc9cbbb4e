package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
)

// mostTyped is how many prompts of a project are remembered.
const mostTyped = 1000

// history is what was typed before in a project, the oldest first. It is a file of JSON
// texts, one a line, for the user alone. What cannot be read or written is lost, and
// nothing else.
type history struct {
	file  string // empty keeps nothing
	typed []string
	at    int    // of the one that stands in the input; len(typed) is none
	draft string // what stood there before
}

// openHistory reads what was typed in a project.
func openHistory(state, project string) *history {
	h := &history{}
	if state == "" {
		return h
	}
	sum := sha256.Sum256([]byte(project))
	h.file = filepath.Join(state, "typed-"+hex.EncodeToString(sum[:8]))
	f, err := os.Open(h.file)
	if err == nil {
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var text string
			if json.Unmarshal(lines.Bytes(), &text) == nil {
				h.typed = append(h.typed, text)
			}
		}
	}
	h.typed = h.typed[max(0, len(h.typed)-mostTyped):]
	h.at = len(h.typed)
	return h
}

// add remembers a prompt. One that is typed again counts as new.
func (h *history) add(text string) {
	h.typed = append(slices.DeleteFunc(h.typed, func(t string) bool { return t == text }), text)
	h.typed = h.typed[max(0, len(h.typed)-mostTyped):]
	h.at, h.draft = len(h.typed), ""
	if h.file == "" || os.MkdirAll(filepath.Dir(h.file), 0o700) != nil {
		return
	}
	var all []byte
	for _, t := range h.typed {
		line, err := json.Marshal(t)
		if err != nil {
			continue
		}
		all = append(append(all, line...), '\n')
	}
	if os.WriteFile(h.file+".new", all, 0o600) == nil {
		_ = os.Rename(h.file+".new", h.file)
	}
}

// earlier is what was typed before what stands in the input now.
func (h *history) earlier(now string) (string, bool) {
	if h.at == 0 {
		return "", false
	}
	if h.at == len(h.typed) {
		h.draft = now
	}
	h.at--
	return h.typed[h.at], true
}

// later is what was typed after it; at the end what stood there at first.
func (h *history) later() (string, bool) {
	if h.at >= len(h.typed) {
		return "", false
	}
	h.at++
	if h.at == len(h.typed) {
		return h.draft, true
	}
	return h.typed[h.at], true
}

// draftFile is where what was begun to be typed in a project waits.
func draftFile(state, project string) string {
	sum := sha256.Sum256([]byte(project))
	return filepath.Join(state, "draft-"+hex.EncodeToString(sum[:8]))
}

// saveDraft keeps what was begun to be typed; nothing is the end of a draft.
func saveDraft(state, project, text string) {
	switch {
	case state == "":
	case text == "":
		_ = os.Remove(draftFile(state, project))
	case os.MkdirAll(state, 0o700) == nil:
		_ = os.WriteFile(draftFile(state, project), []byte(text), 0o600)
	}
}

// readDraft is what was begun to be typed when the person left.
func readDraft(state, project string) string {
	if state == "" {
		return ""
	}
	text, err := os.ReadFile(draftFile(state, project))
	if err != nil || len(text) > mostInput {
		return ""
	}
	return string(text)
}
