package places

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/watch"
	"github.com/bothyd/bothy/sdk"
)

// seen is a view of the test, with the folders of its last check.
type seen struct {
	*View
	last []Folder // by the lock
}

// TestViews: a workspace is followed from the time on that somebody asks for it, until nobody did for a while; whoever moves
// the folders moves those of all.
func TestViews(t *testing.T) {
	var mu sync.Mutex
	var now atomic.Int64
	times := Times{Watch: watch.Config{Log: hclog.NewNullLogger(), What: "things", Every: 5 * time.Millisecond}, Now: func() time.Time { return time.Unix(now.Load(), 0) }}.WithUsual()
	in := func(path string) []Folder { return []Folder{{Tier: sdk.TierUser, Path: path}} }
	shared, own := t.TempDir(), t.TempDir()
	mu.Lock()
	vs := Follow(&mu, times, in(shared), func(v *View) *seen { return &seen{View: v} }, func(v *seen, folders []Folder, _ *watch.Pass) time.Duration {
		mu.Lock()
		defer mu.Unlock()
		v.last = folders
		return 0
	})
	mu.Unlock()
	ask := func(project string) []*seen {
		mu.Lock()
		found := vs.In(project, func() []Folder { return in(own) })
		mu.Unlock()
		for _, v := range found {
			if err := v.CheckNow(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		return found
	}
	last := func(v *seen) string {
		mu.Lock()
		defer mu.Unlock()
		return v.last[0].Path
	}
	if found := ask(""); len(found) != 1 || last(found[0]) != shared {
		t.Errorf("%d views of no project", len(found))
	}
	found := ask("/p")
	if len(found) != 2 || found[0] != vs.Base || last(found[1]) != own || ask("/p")[1] != found[1] {
		t.Errorf("%d views of a project", len(found))
	}
	moved := t.TempDir()
	mu.Lock()
	vs.Move(in(moved), func(project string) []Folder { return in(moved + project) })
	mu.Unlock()
	if found = ask("/p"); last(found[0]) != moved || last(found[1]) != moved+"/p" {
		t.Errorf("they follow %s and %s", last(found[0]), last(found[1]))
	}
	now.Add(int64(times.Idle / time.Second))
	_ = found[1].CheckNow(t.Context()) // the one that finds that nobody asked ends it
	mu.Lock()
	used := len(vs.Projects)
	mu.Unlock()
	if used != 0 {
		t.Error("a workspace that nobody asked for is followed on")
	}
	if again := ask("/p"); again[1] == found[1] {
		t.Error("a view that has ended is used again")
	}
	vs.Close()
	mu.Lock()
	defer mu.Unlock()
	if after := vs.In("/other", func() []Folder { return in(own) }); len(after) != 1 {
		t.Error("a workspace is followed after the end")
	}
}
