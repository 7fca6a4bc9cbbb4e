package host

import (
	"context"
	"strings"
	"sync"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// Gather starts the servers of MCP that an agent may use and that do not run yet, and returns
// when each is ready, has failed, or is slower than Config.ConfigureTimeout. One that failed
// before is tried again: it may be there by now; that is waited for no longer than
// Config.Patience. What went wrong is told as with any plugin; the tools of the others are
// there.
func (s *Supervisor) Gather(ctx context.Context, agent sdk.Agent) {
	var blocks []inspect.Spec
	s.applying.Lock()
	for _, spec := range s.blocks {
		if server, is := strings.CutPrefix(spec.Instance, sdk.MCPPrefix); is && spec.Lazy && !spec.Off && agent.UsesMCP(server) {
			blocks = append(blocks, spec)
		}
	}
	s.applying.Unlock()
	if len(blocks) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.ConfigureTimeout)
	defer cancel()
	var starting sync.WaitGroup
	for _, spec := range blocks {
		i, fresh, err := s.demand(spec.Instance)
		if err != nil {
			continue // the block is gone by now, or the daemon stops
		}
		starting.Go(func() {
			if i.await(ctx); fresh || i.unready() == nil {
				return
			}
			soon, cancel := context.WithTimeout(ctx, s.cfg.Patience)
			defer cancel()
			_, _ = i.asks(spec, false).wait(soon) // what came of it is told of the plugin
		})
	}
	starting.Wait()
}
