package config

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/url"
	"sort"
	"strings"
	"sync"
)

// Secrets is the registry of the secret values that are live in this process.
// What it has seen never leaves through a writer that it wraps. It is safe for
// concurrent use; its zero value is ready.
type Secrets struct {
	mu    sync.RWMutex
	forms []string // every written form of every value, longest first
}

// shortest is the length below which a value is no secret but a coincidence:
// redacting every "a" would destroy a log and hide nothing.
const shortest = 6

// longLine is the length from which a line of a secret is a secret by itself.
const longLine = 16

// Add registers a value in the forms in which it may be written down. Of one
// with several lines, such as a private key, each long one counts by itself, for
// logs and tools show lines.
func (s *Secrets) Add(value string) {
	if len(value) < shortest {
		return
	}
	if lines := strings.Split(strings.TrimSpace(value), "\n"); len(lines) > 1 {
		for _, line := range lines {
			if line = strings.TrimSpace(line); len(line) >= longLine && !strings.HasPrefix(line, "-----") {
				s.Add(line)
			}
		}
	}
	forms := append(quoted(value),
		value,
		url.QueryEscape(value),
		url.PathEscape(value),
		base64.StdEncoding.EncodeToString([]byte(value)),
		base64.RawURLEncoding.EncodeToString([]byte(value)),
	)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range forms {
		if !contains(s.forms, f) {
			s.forms = append(s.forms, f)
		}
	}
	sort.Slice(s.forms, func(i, j int) bool { return len(s.forms[i]) > len(s.forms[j]) })
}

// quoted are the forms that a value has in JSON, without its quotes: programs
// differ in whether they escape what means something in HTML.
func quoted(value string) (forms []string) {
	for _, html := range []bool{true, false} {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(html)
		_ = enc.Encode(value) // a string always marshals
		text := strings.TrimSuffix(b.String(), "\n")
		forms = append(forms, text[1:len(text)-1])
	}
	return forms
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// Redact replaces every secret in text by "[secret]".
func (s *Secrets) Redact(text string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, f := range s.forms {
		text = strings.ReplaceAll(text, f, "[secret]")
	}
	return text
}

// Writer wraps w so that no secret reaches it. It works line by line: what is
// after the last line end is held until the line is whole, or too long.
func (s *Secrets) Writer(w io.Writer) io.Writer { return &redactor{secrets: s, out: w} }

// longestLine is how much of an unfinished line a redactor holds.
const longestLine = 256 << 10

type redactor struct {
	secrets *Secrets
	out     io.Writer
	mu      sync.Mutex
	held    []byte
}

func (r *redactor) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = append(r.held, p...)
	end := bytes.LastIndexByte(r.held, '\n') + 1
	if end == 0 && len(r.held) < longestLine {
		return len(p), nil
	}
	if end == 0 {
		end = len(r.held)
	}
	_, err := io.WriteString(r.out, r.secrets.Redact(string(r.held[:end])))
	r.held = append(r.held[:0], r.held[end:]...)
	return len(p), err
}
