package model

import (
	"context"
	"slices"
	"time"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
)

// startTime is how long the plugin of Ollama may take to start its server.
const startTime = 90 * time.Second

// startsOllama is what is said while it does.
const startsOllama = "ollama is installed and not running: it is being started, which may take up to 90 s"

// asleep says what becomes of a question that starts nothing.
func asleep(p config.Plugin) error {
	return sdk.Errorf(sdk.Unavailable, "ollama is installed and not running: the next prompt that needs a model of %s starts it", p.Label)
}

// starts reports whether a question to a provider starts its server: it is Ollama,
// on this machine, installed, and nothing answers at its address.
func (r resolver) starts(ctx context.Context, p config.Plugin) bool {
	base := r.base(p)
	if !p.Enabled || !r.isOllama(p) || !isLocal(base) || !p.Starts(r.cfg.Context) {
		return false
	}
	if _, err := r.installed("ollama"); err != nil {
		return false
	}
	return !r.answers(ctx, base)
}

// waits has Waiting say what prompts wait for, until the function that it returns
// is called.
func (m *Models) waits(text string) func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting = append(m.waiting, text)
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if i := slices.Index(m.waiting, text); i >= 0 {
			m.waiting = slices.Delete(m.waiting, i, i+1)
		}
	}
}

// Waiting says what prompts wait for now before a model can be asked, each once.
func (m *Models) Waiting() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(m.waiting)))
}
