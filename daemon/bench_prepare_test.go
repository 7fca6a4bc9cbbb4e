package daemon

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// BenchmarkFirstCommand measures how long the first command of a run takes after
// the daemon's start, container and all: once where the model thought for a second
// before it called, and once where it called at once.
func BenchmarkFirstCommand(b *testing.B) {
	needSandbox(b)
	surroundings(b)
	home, project := os.Getenv("HOME"), b.TempDir()
	for name, delay := range map[string]int{"thinks": 1000, "hurries": 0} {
		recordCall(b, home, name, delay)
	}
	first := func(model string) time.Duration {
		d, stop := serve(b)
		defer stop()
		run := fmt.Sprintf("%s-%d", model, time.Now().UnixNano())
		cmd := exec.Command(filepath.Join(os.Getenv("BOTHY_PREFIX"), "bin", "bothy"), "run", "--project", project, "-r", run, "--mode", "restricted", "--model", "replay/"+model, "Run it.")
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		return commandTime(b, d, project, run)
	}
	var thought, hurried []time.Duration
	for i := 0; b.Loop(); i++ {
		if i < 10 { // each starts a daemon
			thought = append(thought, first("thinks"))
			hurried = append(hurried, first("hurries"))
		}
	}
	took := median(thought)
	b.ReportMetric(float64(took.Milliseconds()), "ms-first")
	report(b, "first command of a run after the daemon's start, where the model thought for 1 s", fmt.Sprintf("%v (n=%d)", round(took), len(thought)), "at most 200ms")
	ratio(b, "the same against one where the model called at once", "x-hurried", thought, hurried, "reported")
}

// commandTime is how long the one call of a run took.
func commandTime(b *testing.B, d *Daemon, root, alias string) time.Duration {
	b.Helper()
	ctx := context.Background()
	project := must(d.store.OpenProject(ctx, root))
	run := must(d.store.RunByAlias(ctx, project.ID, alias))
	entries := must(d.store.Entries(ctx, sdk.EntryQuery{Run: run.ID, Pattern: "log://turn_1/bash/*"}))
	if len(entries) != 1 {
		b.Fatalf("the run made %d calls", len(entries))
	}
	a := must(sdk.ActionOf(entries[0]))
	if a.State != sdk.StateResolved || a.Container() == "" {
		b.Fatalf("the command ended as %s %s in %q: %s", a.State, a.Outcome, a.Container(), a.Body)
	}
	return a.Took()
}

// recordCall records a model that calls bash once, after a while.
func recordCall(b *testing.B, home, model string, delayMS int) {
	b.Helper()
	cassette := fmt.Sprintf(`{"format":1,"model":%q,"steps":[
  {"request":[{"role":"user","text":"Run it."}],"events":[{"text":"Now.","delay_ms":%d},{"call":{"index":0,"id":"c","tool":"bash","arguments":"{\"command\":\"true\"}"}},{"finish":{"reason":"calls"}}]},
  {"request":[{"role":"tool","tool":"bash","result":{"any":true}}],"events":[{"text":"Done."},{"finish":{"reason":"stop"}}]}]}`, model, delayMS)
	for path, text := range map[string]string{
		"config/bothy/config.hcl":      fmt.Sprintf("provider \"replay\" {\n  cassettes = %q\n}\n", filepath.Join(home, "cassettes")),
		"cassettes/" + model + ".json": cassette,
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(home, path)), 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, path), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
}
