package main

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/acp-go-sdk"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/start"
)

// bridge is the agent that an editor speaks to. Its methods are called from goroutines of their
// own, and those of the protocol begin with what they implement.
type bridge struct {
	ctx    context.Context // of the connection with the editor
	o      options
	daemon *start.Daemon
	cl     *client.Client
	conn   *acp.AgentSideConnection
	out    *frames
	log    *slog.Logger

	reads atomic.Bool // the editor reads files as it has them
	// terminals says that the editor shows what commands print in terminals that run nothing.
	terminals atomic.Bool
	hears     sync.Once     // of skills
	back      chan struct{} // holds something when the connection is there again

	mu       sync.Mutex
	sessions map[acp.SessionId]*session
	tools    map[string]sdk.Tool  // by both their names, as far as they were asked for
	missing  map[string]time.Time // names of which there is no tool, by when that was asked
}

var (
	_ acp.Agent       = (*bridge)(nil)
	_ acp.AgentLoader = (*bridge)(nil)
)

// Initialize implements acp.Agent: it says what can be asked for.
func (b *bridge) Initialize(_ context.Context, p acp.InitializeRequest) (acp.InitializeResponse, error) {
	if p.ClientInfo != nil {
		b.log.Info("an editor has begun", "name", p.ClientInfo.Name, "version", p.ClientInfo.Version, "protocol", p.ProtocolVersion)
	}
	b.reads.Store(p.ClientCapabilities.Fs.ReadTextFile)
	shows, _ := p.ClientCapabilities.Meta[metaTerminal].(bool)
	b.terminals.Store(shows)
	title := "Bothy"
	return acp.InitializeResponse{
		ProtocolVersion: acp.ProtocolVersionNumber,
		AgentInfo:       &acp.Implementation{Name: "bothy", Title: &title, Version: sdk.Version},
		AuthMethods:     []acp.AuthMethod{},
		AgentCapabilities: acp.AgentCapabilities{
			LoadSession:         true,
			McpCapabilities:     acp.McpCapabilities{Http: true, Sse: true},
			PromptCapabilities:  acp.PromptCapabilities{EmbeddedContext: true, Image: true},
			SessionCapabilities: acp.SessionCapabilities{List: &acp.SessionListCapabilities{}, Resume: &acp.SessionResumeCapabilities{}, Close: &acp.SessionCloseCapabilities{}},
		},
	}, nil
}

// Authenticate implements acp.Agent: whoever can start the bridge can use the daemon.
func (b *bridge) Authenticate(context.Context, acp.AuthenticateRequest) (acp.AuthenticateResponse, error) {
	return acp.AuthenticateResponse{}, nil
}

// session finds a session that is open.
func (b *bridge) session(id acp.SessionId) (*session, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.sessions[id]; s != nil {
		return s, nil
	}
	return nil, refuse(sdk.NotFound, "the session %s is not open: load it, or begin a new one", id)
}

// open are the sessions that are.
func (b *bridge) open() []*session {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Collect(maps.Values(b.sessions))
}

// take takes a session in, in the place of one that has its id.
func (b *bridge) take(s *session) {
	b.mu.Lock()
	before := b.sessions[s.id]
	b.sessions[s.id] = s
	b.mu.Unlock()
	if before != nil {
		before.end()
	}
}

// missingFor is how long a tool that is not there is not asked for again.
const missingFor = time.Minute

// tool is a tool that calls name; an empty one where it is not there, or was not a moment ago.
func (b *bridge) tool(name string) sdk.Tool {
	b.mu.Lock()
	t, known := b.tools[name]
	if asked, is := b.missing[name]; is && time.Since(asked) < missingFor {
		known = true
	}
	b.mu.Unlock()
	if known {
		return t
	}
	found, err := b.cl.Tools(b.ctx)
	if err != nil {
		b.log.Warn("tools cannot be listed", "error", err)
		return sdk.Tool{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tools = make(map[string]sdk.Tool, 2*len(found))
	for _, t := range found {
		b.tools[t.Name], b.tools[t.Plugin+"__"+t.Name] = t, t
	}
	if t, known = b.tools[name]; !known {
		b.missing[name] = time.Now()
	}
	return t
}
