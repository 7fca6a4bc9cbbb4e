package host

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// Gather starts the servers of MCP that an agent may use and that do not run yet, and returns
// when each is ready, has failed, or is slower than Config.ConfigureTimeout. What went wrong is
// told as with any plugin; the tools of the others are there.
func (s *Supervisor) Gather(ctx context.Context, agent sdk.Agent) {
	s.applying.Lock()
	blocks := slices.Clone(s.blocks)
	s.applying.Unlock()
	blocks = slices.DeleteFunc(blocks, func(spec inspect.Spec) bool {
		server, is := strings.CutPrefix(spec.Instance, sdk.MCPPrefix)
		return !is || !spec.Lazy || spec.Off || !agent.UsesMCP(server)
	})
	if len(blocks) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.ConfigureTimeout)
	defer cancel()
	var starting sync.WaitGroup
	for _, spec := range blocks {
		i, _, err := s.demand(spec.Instance)
		if err != nil {
			continue // the block is gone by now, or the daemon stops
		}
		starting.Go(func() { i.await(ctx) })
	}
	starting.Wait()
}
