package server

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"path/filepath"
	"slices"
	"sync"

	"github.com/bothyd/bothy/sdk"
)

// Channels are the plugins that may use the socket, each while it is served as
// a front end. It is made before the server, for plugins start before.
type Channels struct {
	mu     sync.Mutex
	grants map[*channelGrant]struct{}
}

// NewChannels makes an empty one.
func NewChannels() *Channels { return &Channels{grants: map[*channelGrant]struct{}{}} }

// channelConns is how many connections a channel may have. The daemon's others
// are for people.
const channelConns = 16

// channelGrant is what a channel may do, as long as it is served.
type channelGrant struct {
	plugin   int // its process
	instance string
	hash     [sha256.Size]byte // of its token, which is nowhere else in the daemon
	roots    []string          // of its projects, links resolved
	ctx      context.Context   // ends with the grant

	mu    sync.Mutex
	conns int
	known map[int64]bool // projects that were looked up, and whether they are its own
}

// Grant lets the process of a plugin, and what descends from it, use the socket
// with the token, for these projects and no others. end takes that back: the
// token is none any more, and connections that were made with it are closed.
func (c *Channels) Grant(plugin int, instance string, projects []string) (token string, end func()) {
	bits := make([]byte, 32)
	_, _ = rand.Read(bits) // never fails: it ends the process instead
	token = hex.EncodeToString(bits)
	ctx, cancel := context.WithCancel(context.Background())
	l := &channelGrant{plugin: plugin, instance: instance, hash: sha256.Sum256([]byte(token)), ctx: ctx, known: map[int64]bool{}}
	for _, p := range projects {
		l.roots = append(l.roots, sdk.WithoutLinks(p))
	}
	c.mu.Lock()
	c.grants[l] = struct{}{}
	c.mu.Unlock()
	return token, func() {
		c.mu.Lock()
		delete(c.grants, l)
		c.mu.Unlock()
		cancel()
	}
}

// of is the grant of the plugin that a process is, or descends from; nil when
// there is none.
func (c *Channels) of(pid int, within func(pid, ancestor int) bool) *channelGrant {
	if c == nil || within == nil {
		return nil
	}
	c.mu.Lock()
	grants := make([]*channelGrant, 0, len(c.grants))
	for l := range c.grants {
		grants = append(grants, l)
	}
	c.mu.Unlock()
	i := slices.IndexFunc(grants, func(l *channelGrant) bool { return within(pid, l.plugin) })
	if i < 0 {
		return nil
	}
	return grants[i]
}

// good reports whether a text is the grant's token, in a time that tells nothing
// of it.
func (l *channelGrant) good(given string) bool {
	hash := sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(hash[:], l.hash[:]) == 1 && l.ctx.Err() == nil
}

// enter counts a connection, which must leave; false when there are too many.
func (l *channelGrant) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conns >= channelConns {
		return false
	}
	l.conns++
	return true
}

func (l *channelGrant) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns--
}

// root is the project of the grant that a path names, links resolved.
func (l *channelGrant) root(path string) (string, bool) {
	if !filepath.IsAbs(path) {
		return "", false
	}
	path = sdk.WithoutLinks(path)
	return path, slices.Contains(l.roots, path)
}

// owns reports whether a project is one of the grant's. A project's root never
// changes, so each is looked up once.
func (l *channelGrant) owns(ctx context.Context, store Store, project int64) (bool, error) {
	if project == 0 {
		return false, nil
	}
	l.mu.Lock()
	own, known := l.known[project]
	l.mu.Unlock()
	if known {
		return own, nil
	}
	all, err := store.Projects(ctx)
	if err != nil {
		return false, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(all, func(p sdk.Project) bool { return p.ID == project })
	if i < 0 {
		return false, nil
	}
	l.known[project] = slices.Contains(l.roots, all[i].Root)
	return l.known[project], nil
}
