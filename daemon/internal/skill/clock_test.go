package skill

import (
	"sync"
	"time"
)

// fakeClock is a clock that a test turns.
type fakeClock struct {
	mu sync.Mutex
	at time.Time
}

func newFakeClock() *fakeClock { return &fakeClock{at: time.Unix(1_000_000, 0)} }

func (c *fakeClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *fakeClock) turn(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(by)
}

// trusts trusts folders of one hash under these names, in all projects.
func trusts(hash string, names ...string) func(string) map[string]string {
	all := map[string]string{}
	for _, name := range names {
		all[name] = hash
	}
	return func(string) map[string]string { return all }
}

// trustOne trusts one hash of a skill "one".
type trustOne struct {
	mu   sync.Mutex
	hash string
}

func (x *trustOne) set(hash string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.hash = hash
}

func (x *trustOne) trusted(string) map[string]string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return map[string]string{"one": x.hash}
}
