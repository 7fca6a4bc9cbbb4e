package server

import (
	"maps"
	"slices"
	"sync"

	"github.com/bothyd/bothy/sdk/rpc"
)

// Clients are those who are connected, as the parts of the daemon know them that
// tell what the journal does not hold. They are made before these parts, and so
// before the server, which lets clients in.
//
// Locks: mu guards the maps and is never held while writing, calling out (but for the
// store's position) or taking a connection's lock. A watch's order is taken before it.
type Clients struct {
	mu       sync.Mutex
	conns    map[*conn]struct{}
	watchers map[*watch]struct{}
	writing  map[int64]*written // by run, the answer that is not committed yet
	farewell []byte             // what every client is told once the daemon stops
}

// NewClients are none yet.
func NewClients() *Clients {
	return &Clients{conns: map[*conn]struct{}{}, watchers: map[*watch]struct{}{}, writing: map[int64]*written{}}
}

func (c *Clients) all() []*conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.conns))
}

// say tells every client that is there, and each that comes, that the daemon stops.
func (c *Clients) say(farewell []byte) {
	c.mu.Lock()
	c.farewell = farewell
	c.mu.Unlock()
	for _, conn := range c.all() {
		conn.out.put(farewell, nil)
	}
}

func (c *Clients) farewellNote() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.farewell
}

func (c *Clients) connections() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.conns)
}

// Attended reports whether a client that may approve follows a run: the
// connection that gave the prompt and said that it attends, named by its
// session, or any that watches the run and said so. An empty session is none. A
// connection of the channel that began the run is one where somebody answers by that.
func (c *Clients) Attended(run int64, session string) bool {
	c.mu.Lock()
	conns, watchers := slices.Collect(maps.Keys(c.conns)), slices.Collect(maps.Keys(c.watchers))
	c.mu.Unlock()
	for _, conn := range conns {
		if session != "" && conn.session == session && conn.attends() || conn.answers(run) {
			return true
		}
	}
	for _, w := range watchers {
		if w.attend && w.ctx.Err() == nil && w.c.attends() && w.covers(run) {
			return true
		}
	}
	return false
}

// ToolsChanged tells every client but channels that tools may be others now, and waits for none.
func (c *Clients) ToolsChanged() {
	for _, conn := range c.all() {
		if conn.grant == nil {
			conn.tools.tell()
		}
	}
}

// SkillsChanged tells every client and waits for none: what one has not read is
// put together for it. One that comes later asks for what there is. A channel is
// told nothing of the skills of a project.
func (c *Clients) SkillsChanged(p rpc.SkillsChanged) {
	for _, conn := range c.all() {
		if conn.grant == nil || conn.proven() && p.Project == "" {
			conn.skills.tell(p)
		}
	}
}
