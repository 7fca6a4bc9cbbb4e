package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
)

// refresh asks the daemon for the tools, agents and skills that are there, and offers these.
// Clients are told where that is not what was offered before. It starts no daemon: a person may
// have stopped it.
func (b *bridge) refresh(ctx context.Context) error {
	found, err := b.cl.Tools(ctx)
	if err != nil {
		return err
	}
	agents, err := b.cl.Agents(ctx, rpc.AgentsParams{Project: b.o.project})
	if err != nil {
		return err
	}
	skills, err := b.cl.Skills(ctx, rpc.SkillQuery{Project: b.o.project, Status: sdk.SkillEnabled})
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.offerTools(found, agents)
	b.offerSkills(skills.Skills)
	return nil
}

// offerTools offers these tools and takes back all others. It is called with the lock.
func (b *bridge) offerTools(found []sdk.Tool, agents []rpc.Agent) {
	now := map[string]sdk.Tool{}
	specs := map[string]*mcp.Tool{toolAgent: agentTool(agents)}
	for _, t := range found {
		name := t.Name
		if _, taken := specs[name]; taken {
			name = t.Plugin + "__" + t.Name
		}
		spec := specOf(name, t)
		if spec == nil {
			b.log.Warn("a tool is left out: its schema is not that of an object", "tool", name)
			continue
		}
		specs[name], now[name] = spec, t
	}
	for name := range maps.Keys(b.tools) {
		if _, is := now[name]; !is {
			b.server.RemoveTools(name)
			delete(b.offered, "tool "+name)
			delete(b.tools, name)
		}
	}
	for name, spec := range specs {
		if !b.changes("tool "+name, spec) {
			continue
		}
		handler := b.callTool
		if name == toolAgent {
			handler = b.runAgent
		}
		if err := b.addTool(spec, handler); err != nil {
			b.log.Warn("a tool is left out", "tool", name, "error", err)
			delete(now, name)
		}
	}
	b.tools = now
}

// changes reports whether what is offered under a key is other than before, and takes note of it.
func (b *bridge) changes(key string, offer any) bool {
	text, _ := json.Marshal(offer) // it was read as JSON
	if b.offered[key] == string(text) {
		return false
	}
	b.offered[key] = string(text)
	return true
}

// addTool offers a tool. The SDK panics about one that it cannot take, such as one of a server of
// MCP whose schema names headers that are none.
func (b *bridge) addTool(spec *mcp.Tool, h mcp.ToolHandler) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	b.server.AddTool(spec, h)
	return nil
}

// specOf is a tool as clients are offered it; nil where its schema is not that of an object.
func specOf(name string, t sdk.Tool) *mcp.Tool {
	schema := t.Parameters
	if len(schema) == 0 || string(schema) == "null" {
		schema = json.RawMessage(`{"type":"object"}`)
	}
	var is struct{ Type string }
	if json.Unmarshal(schema, &is) != nil || is.Type != "object" {
		return nil
	}
	a := t.Annotations
	return &mcp.Tool{
		Name: name, Description: cmp.Or(strings.TrimSpace(t.Description), name), InputSchema: schema,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: a.ReadOnly, DestructiveHint: &a.Destructive, IdempotentHint: a.Idempotent, OpenWorldHint: &a.OpenWorld},
	}
}

// tool is the tool that is offered by a name.
func (b *bridge) tool(name string) (sdk.Tool, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t, is := b.tools[name]
	return t, is
}

// settledAfter is how long nothing more has to change before it is asked what there is: plugins
// that start change one after the other.
const settledAfter = 200 * time.Millisecond

// lostTime is the pause before a lost connection is tried again.
const lostTime = time.Second

// hear asks anew what there is whenever that changes, and when a daemon is there again. It starts
// none: whoever calls something does.
func (b *bridge) hear() {
	changed := make(chan struct{}, 1)
	go b.follow()
	go func() {
		for b.ctx.Err() == nil {
			err := b.cl.Hear(b.ctx, func(n rpc.Request) error {
				if n.Method == "" || n.Method == rpc.NoteTools || n.Method == rpc.NoteSkills {
					select {
					case changed <- struct{}{}:
					default: // it was said
					}
				}
				return nil
			})
			b.log.Debug("changes are not heard", "error", err)
			b.pause(lostTime)
		}
	}()
	for {
		select {
		case <-changed:
		case <-b.ctx.Done():
			return
		}
		b.pause(settledAfter)
		if err := b.refresh(b.ctx); err != nil && !start.IsDown(err) && !start.Ending(err) && b.ctx.Err() == nil {
			b.log.Warn("what changed cannot be asked for", "error", err)
		}
	}
}

// pause waits, or until the bridge ends.
func (b *bridge) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-b.ctx.Done():
	}
}
