package telegramtest

import (
	"encoding/json"
	"fmt"
)

// Answer is what a call is answered with in the place of its work. The zero value is none: the connection ends.
type Answer struct {
	Status int
	Body   string
}

// Refusal is an answer as the Bot API gives it.
func Refusal(code int, description string) Answer {
	return Answer{Status: code, Body: fmt.Sprintf(`{"ok":false,"error_code":%d,"description":%q}`, code, description)}
}

// TooMany is the refusal of what comes too soon.
func TooMany(seconds int) Answer {
	return Answer{Status: 429, Body: fmt.Sprintf(`{"ok":false,"error_code":429,"description":"Too Many Requests: retry after %d","parameters":{"retry_after":%d}}`, seconds, seconds)}
}

// Plan makes the next calls of a method be answered with these.
func (s *Server) Plan(method string, answers ...Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.planned[method] = append(s.planned[method], answers...)
}

func result(v any) Answer {
	raw, err := json.Marshal(map[string]any{"ok": true, "result": v})
	if err != nil {
		panic(err)
	}
	return Answer{Status: 200, Body: string(raw)}
}
