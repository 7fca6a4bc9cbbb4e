package daemon

import (
	"os"
	"strings"
	"testing"
)

// TestWords holds docs/words.md: each row has a word and what it means, no word has the same meaning twice, and those that the
// contract speaks with are there.
// spec: glossary
func TestWords(t *testing.T) {
	page, err := os.ReadFile("../docs/words.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.Lines(string(page)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "| ") || line == "| word | meaning |" {
			continue
		}
		word, meaning, _ := strings.Cut(strings.Trim(line, "| "), " | ")
		if word == "" || meaning == "" || rows[word] == meaning {
			t.Errorf("a row that says nothing of its own: %s", line)
		}
		rows[word] = meaning
	}
	for word, says := range map[string]string{
		"project": "runs belong to it", "run": "work in a project", "loop": "one prompt and all turns", "turn": "one round trip", "mode": "unasked", "phase": "recorded",
		"proposal": "202", "verdict": "ruling at a turn's end", "strike": "max_strikes", "entry": "only unit of state", "action": "is its outcome", "dialect": "writes calls", "view": "messages", "writer": "who wrote",
	} {
		if !strings.Contains(rows[word], says) {
			t.Errorf("%q means %q, which does not say %q", word, rows[word], says)
		}
	}
}
