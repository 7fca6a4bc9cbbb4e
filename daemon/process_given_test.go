package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// newMortalPlace is a place whose first daemons, so many, kill themselves at a
// failpoint.
func newMortalPlace(t *testing.T, at string, deaths int) *place {
	t.Helper()
	p := newPlace(t)
	p.write(t, ".config/bothy/config.hcl", "plugin \"bash\" {\n  enabled = false\n}\nplugin \"files\" {\n  enabled = false\n}\nprovider \"replay\" {\n  cassettes = \""+filepath.Join(p.home, "cassettes")+"\"\n}\n")
	p.write(t, "cassettes/quick.json", `{"format":1,"model":"quick","steps":[{"request":[{"role":"user","text":"Be quick."}],"events":[{"text":"Done."},{"finish":{"reason":"stop"}}]}]}`)
	starts := filepath.Join(p.home, "starts")
	p.write(t, "prefix/bin/bothyd", fmt.Sprintf(`#!/bin/sh
echo >>%[1]s
[ "$(wc -l <%[1]s)" -gt %[2]d ] || export %[3]s=%[4]s
BOTHY_PREFIX=%[5]s exec %[6]s "$@"
`, starts, deaths, failpoint.Variable, at, p.prefix, withFailpoints(t)))
	prefix := filepath.Join(p.home, "prefix")
	if err := os.Chmod(filepath.Join(prefix, "bin", "bothyd"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.env = append(p.env, "BOTHY_PREFIX="+prefix)
	t.Cleanup(func() {
		_, _ = p.bothy("stop", "--now") // there is none where every start failed
	})
	return p
}

// starts is how many daemons were started.
func (p *place) starts(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.home, "starts"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

// prompts counts how often a prompt is in the store.
func (p *place) prompts(t *testing.T, prompt string) int {
	t.Helper()
	cl := &client.Client{Socket: p.socket}
	defer cl.Close()
	runs, err := cl.Runs(context.Background(), rpc.RunsParams{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, r := range runs {
		d, err := cl.Run(context.Background(), rpc.RunRef{Run: strconv.FormatInt(r.ID, 10)})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range d.Loops {
			if l.Prompt == prompt {
				n++
			}
			if l.Status != sdk.StatusOK {
				t.Errorf("the loop %d of run %s has the status %d", l.Sequence, d.Run, l.Status)
			}
		}
	}
	return n
}

// TestGivenOnce kills the daemon that bothy run starts at each transaction from its start to
// the answer: while it starts, when it has greeted, before the prompt is durable and behind.
// The prompt is there once, and bothy run ends as if nothing had happened.
func TestGivenOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("builds another daemon")
	}
	points := []string{"migrate.before", "migrate.after", "enqueue.after", "claim.after"}
	for n := 1; n <= 6; n++ {
		points = append(points, fmt.Sprintf("store.before:%d", n), fmt.Sprintf("store.after:%d", n))
	}
	for _, at := range points {
		t.Run(at, func(t *testing.T) {
			p := newMortalPlace(t, at, 1)
			out, err := p.bothy("run", "--model", "replay/quick", "Be quick.")
			if err != nil || !strings.Contains(out, "Done.") || strings.Contains(out, "disk") {
				t.Fatalf("%v: %s", err, out)
			}
			if n := p.prompts(t, "Be quick."); n != 1 {
				t.Errorf("the prompt is there %d times; bothy said\n%s", n, out)
			}
			if n := p.starts(t); n != 2 {
				t.Errorf("%d daemons were started", n)
			}
		})
	}
}

// TestGivenUp: daemons that die again and again are not started for ever, and what is
// said is what is known.
func TestGivenUp(t *testing.T) {
	if testing.Short() {
		t.Skip("builds another daemon")
	}
	for name, c := range map[string]struct {
		at     string
		deaths int
		says   string // empty: it works
	}{
		"three while they start":      {"migrate.before", 3, ""},
		"four while they start":       {"migrate.before", 4, "bothyd was killed while it started (killed), 4 times"},
		"four before the prompt":      {"store.before:2", 4, "bothyd died 4 times before it had answered"},
		"three before they answer it": {"enqueue.after", 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newMortalPlace(t, c.at, c.deaths)
			out, err := p.bothy("run", "--model", "replay/quick", "Be quick.")
			if strings.Contains(out, "disk") {
				t.Errorf("it speaks of the disk: %s", out)
			}
			if c.says == "" {
				if err != nil || p.prompts(t, "Be quick.") != 1 {
					t.Errorf("%v: %s", err, out)
				}
				return
			}
			if err == nil || !strings.Contains(out, c.says) || p.starts(t) != c.deaths {
				t.Errorf("%d starts, %v: %s", p.starts(t), err, out)
			}
		})
	}
}
