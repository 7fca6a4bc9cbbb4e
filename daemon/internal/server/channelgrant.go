package server

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/bothyd/bothy/daemon/internal/runentry"
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
	schemes  []string          // of entries that it keeps for itself
	answers  func() (tools []string, may bool)
	tickets  tickets
	ctx      context.Context // ends with the grant

	mu    sync.Mutex
	conns int
	known map[int64]bool // runs that were looked up, and whether it began them
}

// Loan is what a channel is lent.
type Loan struct {
	PID      int // of the plugin's process
	Instance string
	Projects []string
	Schemes  []string // of entries that it keeps for itself
	// Answers says, at any time, whether people may answer by the channel what its runs propose, and patterns of the
	// tools beyond the workspace whose calls they may accept; nil is never.
	Answers func() (tools []string, may bool)
}

// Grant lets the process of a plugin, and what descends from it, use the socket
// with the token, for the projects and schemes of the loan and no others. end takes that back: the
// token is none any more, and connections that were made with it are closed.
func (c *Channels) Grant(loan Loan) (token string, end func()) {
	bits := make([]byte, 32)
	_, _ = rand.Read(bits) // never fails: it ends the process instead
	token = hex.EncodeToString(bits)
	ctx, cancel := context.WithCancel(context.Background())
	l := &channelGrant{plugin: loan.PID, instance: loan.Instance, hash: sha256.Sum256([]byte(token)), schemes: loan.Schemes, answers: loan.Answers, ctx: ctx, known: map[int64]bool{}}
	if l.answers == nil {
		l.answers = func() ([]string, bool) { return nil, false }
	}
	for _, p := range loan.Projects {
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

// serves reports whether the channel of a plugin's block is served now.
func (c *Channels) serves(instance string) bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for l := range c.grants {
		if l.instance == instance {
			return true
		}
	}
	return false
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

// began reports whether the channel began a run, in one of its projects. That never changes, so each is looked up once;
// one that is gone counts as another's, unless it was seen before.
func (l *channelGrant) began(ctx context.Context, store Store, run int64) (bool, error) {
	if run == 0 {
		return false, nil
	}
	l.mu.Lock()
	own, known := l.known[run]
	l.mu.Unlock()
	if known {
		return own, nil
	}
	found, err := store.Run(ctx, run)
	if err == nil {
		own, err = l.owns(ctx, store, found)
	}
	if err != nil && sdk.OutcomeOf(err) != sdk.NotFound {
		return false, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known[run] = own
	return own, nil
}

// owns reports whether a run is one that the channel began, in one of its projects.
func (l *channelGrant) owns(ctx context.Context, store Store, run sdk.Run) (bool, error) {
	if run.Channel != l.instance || run.Keeper() {
		return false, nil
	}
	all, err := store.Projects(ctx)
	return err == nil && slices.ContainsFunc(all, func(p sdk.Project) bool { return p.ID == run.Project && slices.Contains(l.roots, p.Root) }), err
}

// alias is the alias of a run of the channel's that it calls name. The runs of a project have one list of aliases, and
// with a beginning of its own nothing tells a channel which of them others have.
func (l *channelGrant) alias(name string) string {
	begin := strings.ReplaceAll(l.instance, ".", "-") + "_"
	if name == "" || strings.HasPrefix(name, begin) {
		return name
	}
	return begin + name
}

// name is the alias of the run that a channel calls name in a project: its own, also when a person gave it that name,
// else alias.
func (l *channelGrant) name(ctx context.Context, s *Server, root, name string) string {
	if found, err := s.find(ctx, name, root); err == nil && found.Channel == l.instance && found.Alias == name {
		return name
	}
	return l.alias(name)
}

// path is the path of a run by the alias that it has. A pattern stays, for it finds nothing but the channel's own.
func (l *channelGrant) path(ctx context.Context, s *Server, root, path string) string {
	name, is := strings.CutPrefix(path, runentry.Path(""))
	if !is || strings.ContainsFunc(name, func(c rune) bool { return c != '_' && c != '-' && !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
		return path
	}
	return runentry.Path(l.name(ctx, s, root, name))
}

// keeps reports whether a call that names no run is about entries that the channel keeps for itself: each path or pattern
// in it begins with a scheme of its own.
func (l *channelGrant) keeps(p params) bool {
	named := false
	for _, f := range p.fields {
		if !slices.Contains([]string{"path", "to", "pattern"}, f.name) {
			continue
		}
		path, is := p.FieldByIndex(f.index).Interface().(string)
		if !is || path == "" {
			continue
		}
		if named = slices.Contains(l.schemes, sdk.SchemeOf(path)); !named {
			return false
		}
	}
	return named
}
