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

// add remembers a prompt. One that is typed again counts as new, and one that is too long
// to be sent is none.
func (h *history) add(text string) {
	if len(text) > mostInput {
		return
	}
	h.typed = append(slices.DeleteFunc(h.typed, func(t string) bool { return t == text }), text)
	h.typed = h.typed[max(0, len(h.typed)-mostTyped):]
	h.at, h.draft = len(h.typed), ""
	line, err := typedLine(text)
	if h.file == "" || err != nil {
		return
	}
	_ = h.locked(func(f *os.File) error { // what cannot be kept is forgotten with this terminal
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

// typedLine is a prompt as a line of the file.
func typedLine(text string) ([]byte, error) {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false) // it would make six bytes of one
	err := e.Encode(text)
	return line.Bytes(), err
}

// locked does something with the file while no other terminal does.
func (h *history) locked(do func(*os.File) error) error {
	if err := os.MkdirAll(filepath.Dir(h.file), 0o700); err != nil {
		return err
	}
	for {
		f, err := os.OpenFile(h.file, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
			return errors.Join(err, f.Close())
		}
		mine, err := f.Stat()
		if err != nil {
			return errors.Join(err, f.Close())
		}
		if there, err := os.Stat(h.file); err == nil && os.SameFile(mine, there) {
			return errors.Join(do(f), f.Close())
		}
		if err := f.Close(); err != nil { // another terminal wrote a new file meanwhile
			return err
		}
	}
}

// compact writes a new file in its place, with what is remembered of it now. Prompts that
// take more room than there is are forgotten, and not those before them.
func (h *history) compact() {
	_ = h.locked(func(f *os.File) error { // a long file is no harm
		all, err := io.ReadAll(f)
		if err != nil {
			return err
		}
		var lines [][]byte
		var typed []string
		size := 0
		for _, text := range slices.Backward(readTyped(all)) {
			line, err := typedLine(text)
			if err != nil || size+len(line) > mostTypedBytes/2 {
				continue
			}
			size += len(line)
			lines, typed = append(lines, line), append(typed, text)
		}
		slices.Reverse(lines)
		slices.Reverse(typed)
		h.typed = typed
		if err := os.WriteFile(h.file+".new", slices.Concat(lines...), 0o600); err != nil {
			return err
		}
		return os.Rename(h.file+".new", h.file)
	})
}

// earlier is what was typed before what stands in the input now.
func (h *history) earlier(now string) (string, bool) {
	if h.at == 0 {
		return "", false
	}
	return h.take(h.at-1, now), true
}

// begun is what stood in the input before an older prompt was looked at; empty where none is.
func (h *history) begun() string {
	if h.at == len(h.typed) {
		return ""
	}
	return h.draft
}

// take goes to a prompt that was found, from what stands in the input now.
func (h *history) take(at int, now string) string {
	if h.at == len(h.typed) {
		h.draft = now
	}
	h.at = at
	return h.typed[at]
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
