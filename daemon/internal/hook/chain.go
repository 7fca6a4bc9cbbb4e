package hook

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sdk"
)

// chain holds the subscribers of one name, sorted. Readers never wait: the
// list is replaced as a whole when a subscriber comes or goes.
type chain[F any] struct {
	point sdk.HookPoint
	log   hclog.Logger

	mu    sync.Mutex // orders changes of list
	count int
	list  atomic.Pointer[[]subscriber[F]]
}

type subscriber[F any] struct {
	owner    string
	priority int
	order    int // of subscription: breaks ties
	deny     bool
	call     F
}

// open gives an empty chain its name.
func (c *chain[F]) open(point sdk.HookPoint, log hclog.Logger) { c.point, c.log = point, log }

// Active reports whether anybody listens, so that a costly payload need not be
// made for nobody.
func (c *chain[F]) Active() bool { return len(c.subscribers()) > 0 }

func (c *chain[F]) subscribers() []subscriber[F] {
	if l := c.list.Load(); l != nil {
		return *l
	}
	return nil
}

// add puts a subscriber in its place; the returned function takes it away
// again and may be called more than once.
func (c *chain[F]) add(s subscriber[F]) (remove func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.order = c.count
	c.count++
	next := append(slices.Clone(c.subscribers()), s)
	slices.SortFunc(next, func(a, b subscriber[F]) int {
		return cmp.Or(a.priority-b.priority, a.order-b.order)
	})
	c.list.Store(&next)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		next := slices.DeleteFunc(slices.Clone(c.subscribers()), func(x subscriber[F]) bool { return x.order == s.order })
		c.list.Store(&next)
	}
}

// guarded runs one subscriber with a bound on its time; a panic is its error.
func (c *chain[F]) guarded(ctx context.Context, owner string, run func(context.Context) error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, c.point.Limit)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("a hook panicked", "hook", c.point.Name, "owner", owner, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("it panicked: %v", p)
		}
	}()
	return run(ctx)
}
