package config

import (
	"strings"
	"sync"
)

// Registry keeps the secret values that a configuration comes to know, and takes
// them out of texts. Package daemon gives the redactor of the whole daemon.
type Registry interface {
	Add(value string)
	Redact(text string) string
}

// Secrets is a Registry that knows a value only as it is written itself: enough
// where nothing but files is read. It is safe for concurrent use; its zero value
// is ready.
type Secrets struct {
	mu     sync.RWMutex
	values []string
}

// shortest is the length below which a value is no secret but a coincidence.
const shortest = 6

// Add implements Registry.
func (s *Secrets) Add(value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(value) >= shortest {
		s.values = append(s.values, value)
	}
}

// Redact implements Registry.
func (s *Secrets) Redact(text string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, v := range s.values {
		text = strings.ReplaceAll(text, v, "[secret]")
	}
	return text
}
