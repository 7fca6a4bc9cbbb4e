package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/hook"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/fact"
)

// BenchmarkFacts is what 10,000 facts of somebody cost each turn of theirs: the system text on its way to the plugin memory, which
// puts a part before it, and back, over the same with nobody on the way.
func BenchmarkFacts(b *testing.B) {
	surroundings(b)
	folder := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "bothy")
	block := "plugin \"memory\" {\n  grants = [\"entries\", \"tools\", \"models\"]\n}\n"
	if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, "config.hcl"), []byte(block), 0o600)); err != nil {
		b.Fatal(err)
	}
	d := serving(b)
	project, err := d.store.OpenProject(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	run, err := d.store.CreateRun(b.Context(), sdk.Run{Project: project.ID, Agent: "default", Model: "m/none", Origin: sdk.Origin{Owner: sdk.LocalOwner}})
	if err != nil {
		b.Fatal(err)
	}
	for part := range 10 {
		var writes []sdk.Write
		for i := range 1000 {
			f, err := fact.New(fmt.Sprintf("key %d-%d", part, i), "a value with some words more about what it is", fact.About{Source: fact.Auto, Seen: time.Unix(int64(i), 0)})
			if err != nil {
				b.Fatal(err)
			}
			writes = append(writes, sdk.Write{Path: f.Path, Body: &f.Value, Attributes: f.Attributes(), Visibility: sdk.Archived, Writer: sdk.WriterClient})
		}
		if _, err := d.store.Commit(b.Context(), sdk.Change{Run: run.ID, Writes: writes}); err != nil {
			b.Fatal(err)
		}
	}
	chains, none := hook.New(hclog.NewNullLogger()), hook.New(hclog.NewNullLogger())
	hook.NewSubscribers(chains, func() (out []hook.Subscriber) {
		for _, x := range d.host.Hooks() {
			out = append(out, hook.Subscriber{Name: x.Instance, Hook: x})
		}
		return out
	}, func(name string, err error) {
		if err != nil {
			b.Errorf("%s: %v", name, err)
		}
	}).Begin()
	p := sdk.Prompt{Run: run, System: strings.Repeat("You are an agent. ", 500)}
	turn := func(c *hook.Chains, has bool) func() error {
		return func() error {
			got, err := c.AssemblySystem.Apply(hook.About(context.Background(), run.ID), p)
			if err == nil && strings.Contains(got.System, "key 9-999") != has {
				err = fmt.Errorf("a part of the prompt: %v", !has)
			}
			return err
		}
	}
	if err := turn(chains, true)(); err != nil { // it reads the facts
		b.Fatal(err)
	}
	var with, without []time.Duration
	for b.Loop() {
		timed(b, &without, turn(none, false))
		timed(b, &with, turn(chains, true))
	}
	more := median(with) - median(without)
	b.ReportMetric(float64(more.Microseconds())/1000, "ms-more")
	report(b, "10,000 facts remembered, in each turn", fmt.Sprintf("%v (%v against %v)", round(more), round(median(with)), round(median(without))), "at most 0.5ms")
}
