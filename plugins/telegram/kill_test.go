package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bothyd/bothy/plugins/telegram/telegramtest"
	"github.com/bothyd/bothy/sdk/rpc"
)

var errKilled = errors.New("killed")

// mortal ends a plugin at one of the steps that it takes towards the daemon, its shelf and Telegram: before the step is
// done, or when it is done and nobody heard of it.
type mortal struct {
	*desk
	wire  http.RoundTripper
	steps atomic.Int64 // that are left
	after bool
	kill  context.CancelFunc
}

// step does a step, unless the plugin dies before it.
func (m *mortal) step(do func() error) error {
	left := m.steps.Add(-1)
	if left < 0 || left == 0 && !m.after {
		m.kill()
		return errKilled
	}
	err := do()
	if left == 0 {
		m.kill()
		return errKilled
	}
	return err
}

func (m *mortal) Call(ctx context.Context, method string, params, result any) error {
	return m.step(func() error { return m.desk.Call(ctx, method, params, result) })
}

func (m *mortal) Put(ctx context.Context, name string, content []byte) error {
	return m.step(func() error { return m.desk.Put(ctx, name, content) })
}

func (m *mortal) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	err = m.step(func() error {
		resp, err = m.wire.RoundTrip(r)
		return err
	})
	if err != nil && resp != nil {
		_ = resp.Body.Close() // nobody reads it
		resp = nil
	}
	return resp, err
}

// answerTo is what the model answers: to some prompts more than one message holds.
func answerTo(prompt string) string {
	text := "To " + prompt
	if strings.HasSuffix(prompt, "At length.") {
		text += "\n\n" + strings.Repeat("word ", 1500)
	}
	return text
}

// TestKilledAnywhere: whenever the plugin dies, each message is taken once, and each answer is there whole and once. A
// death between a placeholder that was sent and the note of it leaves that one empty, and nothing else.
func TestKilledAnywhere(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 23))
			server, d := telegramtest.New(t), newDesk("7", "8")
			d.say = func(p rpc.Prompt) []string { return []string{answerTo(p.Prompt)} }
			const count = 12
			said := map[int64][]string{}
			for i := range count {
				person := int64(7 + i%2)
				text := fmt.Sprintf("message %d.", i)
				if i%5 == 4 {
					text += " At length."
				}
				server.Says(person, text)
				said[person] = append(said[person], text)
			}
			kills := 0
			for server.Waiting() > 0 || !d.settled() {
				ctx, kill := context.WithCancel(t.Context())
				m := &mortal{desk: d, wire: http.DefaultTransport, after: random.IntN(2) == 0, kill: kill}
				m.steps.Store(int64(1 + random.IntN(40)))
				b := botOf(t, server.URL, nil)
				b.http.Transport = m
				f := newFront(b, user{ID: 4242, Username: "test_bot"}, m, m, "telegram", "/p")
				go m.atEnd(ctx, server)
				_ = f.serve(ctx, func(string) {}) // it was killed
				kill()
				if kills++; kills > 500 {
					t.Fatal("it does not come to an end")
				}
			}
			if n := len(d.taken()); n != count {
				t.Errorf("%d messages were taken %d times", count, n)
			}
			empty := 0
			for person, texts := range said {
				var shown []string
				for _, p := range server.Posts(person) {
					if p.Text == placeholder {
						empty++
						continue
					}
					shown = append(shown, p.Text)
				}
				var want []string
				for _, text := range texts {
					for _, m := range messages(answerTo(text)) {
						want = append(want, m.Text)
					}
				}
				if !slices.Equal(shown, want) {
					t.Errorf("%d was shown %d messages and not %d: %.300q", person, len(shown), len(want), shown)
				}
			}
			if empty > kills {
				t.Errorf("%d empty messages after %d kills", empty, kills)
			}
		})
	}
}

// atEnd ends the plugin when there is nothing left for it to do.
func (m *mortal) atEnd(ctx context.Context, server *telegramtest.Server) {
	defer m.kill()
	for {
		changed := server.Changed()
		m.mu.Lock()
		moved := m.changed
		m.mu.Unlock()
		if server.Waiting() == 0 && m.settled() {
			return
		}
		select {
		case <-changed:
		case <-moved:
		case <-ctx.Done():
			return
		}
	}
}

// settled reports whether nothing is owed to anybody.
func (d *desk) settled() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, content := range d.kept {
		if strings.Contains(string(content), `"owed"`) {
			return false
		}
	}
	return len(d.kept) > 0
}
