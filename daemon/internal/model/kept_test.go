package model

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// counting counts what its providers are asked.
type counting struct {
	listed
	state map[string]string
	asked map[string]int
}

func (c counting) State(instance string) string { return c.state[instance] }

func (c counting) Models(ctx context.Context, instance string) ([]sdk.Model, error) {
	c.asked[instance]++
	return c.listed.Models(ctx, instance)
}

// TestListsAreKept for 30 s, and not beyond a change of the block or of the state.
// What a list does not have is asked for anew.
func TestListsAreKept(t *testing.T) {
	host := counting{installed(), map[string]string{}, map[string]int{}}
	m := chooser(t, "", host.listed, "127.0.0.1:11434")
	other := chooser(t, "provider \"ollama\" {\n  context = 1000\n}\n", host.listed)
	m.host = host
	synctest.Test(t, func(t *testing.T) {
		for _, step := range []struct {
			name string
			do   func()
			asks string
			want int // times the server was asked by then
		}{
			{"at first", func() {}, "", 1},
			{"again", func() {}, "", 1},
			{"by name", func() {}, "ollama/qwen3:8b", 1},
			{"29 s later", func() { time.Sleep(29 * time.Second) }, "", 1},
			{"31 s later", func() { time.Sleep(2 * time.Second) }, "", 2},
			{"started again", func() { host.state["ollama"] = "ready 1 1" }, "", 3},
			{"another block", func() { m.Configure(other.cfg.Load()) }, "", 4},
			{"what is not there", func() {}, "ollama/llama9", 5},
			{"what is", func() {}, "ollama/llama3.1", 5},
		} {
			step.do()
			_, _ = m.Resolve(t.Context(), step.asks) // of llama9 it fails
			if got := host.asked["ollama"]; got != step.want {
				t.Errorf("%s: asked %d times, want %d", step.name, got, step.want)
			}
		}
	})
}

// TestAddressesAreAskedAtOnce: three that stay silent cost the time of one, and
// nothing within the next 30 s. One that refuses is asked each time.
func TestAddressesAreAskedAtOnce(t *testing.T) {
	lists := listed{"vllm": {{Name: "m"}}}
	m := chooser(t, "", lists)
	refuses := false
	m.dial = func(ctx context.Context, address string) error {
		switch {
		case address == "127.0.0.1:8000" && refuses:
			return errors.New("refused")
		case address == "127.0.0.1:8000":
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	}
	synctest.Test(t, func(t *testing.T) {
		for _, step := range []struct {
			wait time.Duration
			down bool
			want time.Duration
			took string
		}{
			{0, false, lookTime, "vllm/m"},
			{0, false, 0, "vllm/m"},
			{0, true, 0, "replay/first-run"},
			{0, false, 0, "vllm/m"},
			{31 * time.Second, false, lookTime, "vllm/m"},
		} {
			time.Sleep(step.wait)
			refuses = step.down
			began := time.Now()
			got, err := m.Resolve(t.Context(), "")
			if took := time.Since(began); err != nil || got.Alias != step.took || took != step.want {
				t.Errorf("%+v: took %s in %v, %v", step, got.Alias, took, err)
			}
		}
	})
}
