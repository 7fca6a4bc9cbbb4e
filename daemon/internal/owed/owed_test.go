package owed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sdk"
)

// desk is a store of what is owed, and the plugins that hear of it.
type desk struct {
	mu    sync.Mutex
	owed  []sdk.OwedRest
	down  error                    // the store's
	hears func(sdk.OwedRest) error // nil hears all
	start map[string]time.Duration // when a plugin is there; of others it is from the first
	now   map[string]int           // how many are being told, by plugin
	most  int                      // of one plugin, ever
	told  []string                 // "plugin run after"
	began time.Time
}

func (d *desk) list(context.Context) ([]sdk.OwedRest, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.owed), d.down
}

func (d *desk) there(ctx context.Context, plugin string) error {
	select {
	case <-time.After(time.Until(d.began.Add(d.start[plugin]))):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d *desk) tell(ctx context.Context, o sdk.OwedRest) error {
	d.mu.Lock()
	d.now[o.Plugin]++
	d.most = max(d.most, d.now[o.Plugin])
	d.told = append(d.told, fmt.Sprintf("%s %d %v", o.Plugin, o.Run, time.Since(d.began)))
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.now[o.Plugin]--
	}()
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return ctx.Err()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.hears != nil {
		if err := d.hears(o); err != nil {
			return err
		}
	}
	d.owed = slices.DeleteFunc(d.owed, func(x sdk.OwedRest) bool { return x == o })
	return nil
}

// during runs a teller for some time and returns whom it told when.
func during(t *testing.T, of time.Duration, d *desk, then func(*Teller)) string {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d.now, d.began = map[string]int{}, time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), of)
		defer cancel()
		teller := New(d.list, d.there, d.tell, hclog.NewNullLogger())
		if then != nil {
			go then(teller)
		}
		teller.Run(ctx)
	})
	if d.most > 1 {
		t.Errorf("a plugin was told of %d rests at once", d.most)
	}
	return strings.Join(d.told, ", ")
}

func owes(plugin string, run int64) sdk.OwedRest {
	return sdk.OwedRest{Plugin: plugin, Run: run, From: 1, To: 1}
}

func TestTeller(t *testing.T) {
	t.Run("one at a time for each plugin", func(t *testing.T) {
		d := &desk{owed: []sdk.OwedRest{owes("a", 1), owes("a", 2), owes("a", 3)}}
		if got := during(t, time.Hour, d, nil); got != "a 1 0s, a 2 1s, a 3 2s" || len(d.owed) > 0 {
			t.Error(got)
		}
	})
	t.Run("what fails comes again, later each time, and keeps nothing else waiting", func(t *testing.T) {
		d := &desk{owed: []sdk.OwedRest{owes("a", 1), owes("a", 2)}, hears: func(o sdk.OwedRest) error {
			if o.Run == 1 {
				return errors.New("no")
			}
			return nil
		}}
		want := "a 1 0s, a 2 1s, a 1 1m1s, a 1 3m2s, a 1 7m3s, a 1 15m4s, a 1 31m5s, a 1 1h3m6s, a 1 2h3m7s"
		if got := during(t, 3*time.Hour, d, nil); got != want {
			t.Error(got)
		}
	})
	t.Run("more is told at once", func(t *testing.T) {
		d := &desk{}
		got := during(t, time.Hour, d, func(teller *Teller) {
			time.Sleep(10 * time.Minute) // of the test's own clock
			d.mu.Lock()
			d.owed = append(d.owed, owes("a", 1))
			d.mu.Unlock()
			teller.More()
			teller.More()
		})
		if got != "a 1 10m0s" {
			t.Error(got)
		}
	})
	t.Run("a plugin that comes late is told at once", func(t *testing.T) {
		d := &desk{owed: []sdk.OwedRest{owes("a", 1), owes("late", 1), owes("late", 2)}, start: map[string]time.Duration{"late": 3 * time.Hour}}
		if got := during(t, 4*time.Hour, d, nil); got != "a 1 0s, late 1 3h0m0s, late 2 3h0m1s" {
			t.Error(got)
		}
	})
	t.Run("a store that cannot be read is asked again", func(t *testing.T) {
		d := &desk{down: errors.New("busy"), owed: []sdk.OwedRest{owes("a", 1)}}
		got := during(t, time.Hour, d, func(*Teller) {
			time.Sleep(90 * time.Second)
			d.mu.Lock()
			defer d.mu.Unlock()
			d.down = nil
		})
		if got != "a 1 2m0s" {
			t.Error(got)
		}
	})
	t.Run("an end is not waited out", func(t *testing.T) {
		d := &desk{owed: []sdk.OwedRest{owes("a", 1)}}
		if got := during(t, 500*time.Millisecond, d, nil); got != "a 1 0s" || len(d.owed) != 1 {
			t.Error(got, d.owed)
		}
	})
}

// TestTwoPlugins: one that hangs keeps no other from hearing.
func TestTwoPlugins(t *testing.T) {
	d := &desk{owed: []sdk.OwedRest{owes("a", 1), owes("b", 1), owes("b", 2)}}
	got := during(t, time.Hour, d, nil)
	for _, want := range []string{"a 1 0s", "b 1 0s", "b 2 1s"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
}
