package sandbox

import (
	"strings"
	"sync"
)

// tail keeps the end of what a process prints, to explain why it failed.
type tail struct {
	mu   sync.Mutex
	data []byte
}

const tailSize = 2048

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p...)
	if len(t.data) > tailSize {
		t.data = append(t.data[:0], t.data[len(t.data)-tailSize:]...)
	}
	return len(p), nil
}

// suffix is the last lines that are not warnings, ready to follow a message.
func (t *tail) suffix() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lines []string
	for line := range strings.Lines(string(t.data)) {
		if line = strings.TrimSpace(line); line != "" && !strings.Contains(line, "level=warning") {
			lines = append(lines, line)
		}
	}
	if len(lines) > 3 {
		lines = lines[len(lines)-3:]
	}
	if len(lines) == 0 {
		return ""
	}
	return ": " + strings.Join(lines, "; ")
}
