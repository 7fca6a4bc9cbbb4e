package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const (
	// mostTyped is how many prompts of a project are remembered.
	mostTyped = 1000
	// A file of more lines or bytes than these is written anew, with those.
	mostTypedLines = 2 * mostTyped
	mostTypedBytes = 4 << 20
)

// history is what was typed before in a project, the oldest first. It is a file of JSON
// texts, one a line, for the user alone. Terminals that are open at once each add to it,
// and see of the others what was there when they began. What cannot be read or written is
// lost, and nothing else.
type history struct {
	file  string // empty keeps nothing
	typed []string
	at    int    // of the one that stands in the input; len(typed) is none
	draft string // what stood there before
}

// projectName is a project in the names of files.
func projectName(project string) string {
	sum := sha256.Sum256([]byte(project))
	return hex.EncodeToString(sum[:8])
}

// openHistory reads what was typed in a project.
func openHistory(state, project string) *history {
	h := &history{}
	if state == "" {
		return h
	}
	h.file = filepath.Join(state, "typed-"+projectName(project))
	all, err := os.ReadFile(h.file)
	if err != nil {
		return h // there is none yet
	}
	h.typed = readTyped(all)
	if bytes.Count(all, []byte("\n")) > mostTypedLines || len(all) > mostTypedBytes {
		h.compact()
	}
	h.at = len(h.typed)
	return h
}

// readTyped is what the lines of a file say, without those that are damaged. One that was
// typed again counts as new.
func readTyped(all []byte) []string {
	var typed []string
	seen := map[string]bool{}
	lines := bytes.Split(all, []byte("\n"))
	for _, line := range slices.Backward(lines) {
		var text string
		if json.Unmarshal(line, &text) == nil && !seen[text] && len(typed) < mostTyped {
			seen[text] = true
			typed = append(typed, text)
		}
	}
	slices.Reverse(typed)
	return typed
}

// add remembers a prompt. One that is typed again counts as new.
func (h *history) add(text string) {
	h.typed = append(slices.DeleteFunc(h.typed, func(t string) bool { return t == text }), text)
	h.typed = h.typed[max(0, len(h.typed)-mostTyped):]
	h.at, h.draft = len(h.typed), ""
	line, err := json.Marshal(text)
	if h.file == "" || err != nil {
		return
	}
	_ = h.locked(func(f *os.File) error { // what cannot be kept is forgotten with this terminal
		line = append(line, '\n')
		last := make([]byte, 1)
		if end, err := f.Seek(0, io.SeekEnd); err != nil {
			return err
		} else if end > 0 {
			if _, err := f.ReadAt(last, end-1); err != nil {
				return err
			}
			if last[0] != '\n' { // who wrote it was killed
				line = append([]byte{'\n'}, line...)
			}
		}
		_, err := f.Write(line)
		return err
	})
}

// locked does something with the file while no other terminal does.
func (h *history) locked(do func(*os.File) error) error {
	if err := os.MkdirAll(filepath.Dir(h.file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(h.file, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return errors.Join(err, f.Close())
	}
	return errors.Join(do(f), f.Close())
}

// compact writes the file anew, in its place, with what is remembered of it now.
func (h *history) compact() {
	_ = h.locked(func(f *os.File) error { // a long file is no harm
		all, err := io.ReadAll(f)
		if err != nil {
			return err
		}
		var kept []byte
		h.typed = readTyped(all)
		for i, text := range slices.Backward(h.typed) {
			line, err := json.Marshal(text)
			if err != nil || len(kept)+len(line) > mostTypedBytes/2 {
				h.typed = h.typed[i+1:]
				break
			}
			kept = slices.Concat(line, []byte{'\n'}, kept)
		}
		if err := f.Truncate(0); err != nil {
			return err
		}
		_, err = f.Write(kept)
		return err
	})
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

// search is the last prompt before a place that has a text, whatever its case.
func (h *history) search(text string, before int) (at int, found bool) {
	text = strings.ToLower(text)
	for at := min(before, len(h.typed)) - 1; at >= 0; at-- {
		if strings.Contains(strings.ToLower(h.typed[at]), text) {
			return at, true
		}
	}
	return 0, false
}
