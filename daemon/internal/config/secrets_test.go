package config

import (
	"strings"
	"sync"
)

// Secrets is a Registry that knows a value only as it is written itself.
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
