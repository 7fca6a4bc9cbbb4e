package callback

import (
	"sync"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// What a plugin may ask of the daemon when its block has no quota.
const (
	callsPerMinute     = 600
	completionsPerCall = 20
	questionsPerCall   = 20
	refusalsPerMinute  = 10 // that are told to [Config.Refused]; the rest would only fill the audit
)

// meter is a bucket that holds what may happen in a minute and fills evenly. Its
// zero value is full.
type meter struct {
	mu    sync.Mutex
	spent float64
	at    time.Time // when spent was right
}

// take takes one, or says how long it is until there is one again.
func (m *meter) take(perMinute int64, now time.Time) (wait time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rate := float64(perMinute) / float64(time.Minute)
	m.spent = max(0, m.spent-rate*float64(now.Sub(m.at)))
	m.at = now
	if over := m.spent + 1 - float64(perMinute); over > 0 {
		return time.Duration(over / rate)
	}
	m.spent++
	return 0
}

// within counts one service that the plugin asks for. The bucket is the
// instance's: a plugin that crashes has no fuller one.
func (b *Process) within(now time.Time) error {
	most := orDefault(b.reach().spec.Quota.Calls, callsPerMinute)
	wait := b.services.take(most, now)
	if wait == 0 {
		return nil
	}
	return sdk.Errorf(sdk.Unavailable, "the plugin %s asks the daemon for more than %d services in a minute: the next is due in %v; to let it ask for more, write into its block quota { calls = %d }",
		b.name, most, wait.Round(time.Millisecond), 2*most)
}

// asks counts one completion of the call that is served.
func (b *Process) asks(r *running) error {
	most := orDefault(b.reach().spec.Quota.Completions, completionsPerCall)
	if n := r.completions.Add(1); n <= most {
		return nil
	}
	return sdk.Errorf(sdk.Unavailable, "the plugin %s asks for more than %d completions for one call: to let it ask for more, write into its block quota { completions = %d }",
		b.name, most, 2*most)
}

// asksPerson counts one question of the call that is served.
func (b *Process) asksPerson(r *running) error {
	if r.questions.Add(1) <= questionsPerCall {
		return nil
	}
	return sdk.Errorf(sdk.Unavailable, "the plugin %s asks a person more than %d times for one call", b.name, questionsPerCall)
}

// orDefault takes 0 for not set.
func orDefault(n, otherwise int64) int64 {
	if n <= 0 {
		return otherwise
	}
	return n
}
