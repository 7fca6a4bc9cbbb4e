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

// trustAll trusts all folders of one hash.
type trustAll struct {
	mu   sync.Mutex
	hash string
}

func (x *trustAll) set(hash string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.hash = hash
}

func (x *trustAll) trusted(_, _, hash string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.hash != "" && hash == x.hash
}
