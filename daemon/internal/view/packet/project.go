package packet

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// projected is what the plugin of an entry's scheme says of it, at both levels.
type projected struct {
	visible, summary string
	failed           bool // it says not: that is what the texts say
}

// Bounds of what plugins are asked in one turn.
const (
	projectionTime  = 5 * time.Second // for all entries of a turn together
	projections     = 8               // at once
	projectionBytes = 64 << 10        // of one text
)

// project asks plugins about the entries of some indexes, several at once. Nil is an entry of which no plugin says anything.
func project(ctx context.Context, cfg Config, in *sdk.Assembly, anew []int) map[int]*projected {
	if cfg.Project == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, projectionTime)
	defer cancel()
	var mu sync.Mutex
	var all map[int]*projected
	var asked sync.WaitGroup
	slots := make(chan struct{}, projections)
	for _, i := range anew {
		e := &in.Entries[i]
		if scheme, known := cfg.Scheme(e.Scheme()); !known || !shows(e, &scheme) || !cfg.Projects(e.Scheme()) {
			continue
		}
		slots <- struct{}{}
		asked.Go(func() {
			defer func() { <-slots }()
			texts := projection(ctx, cfg, in.Run, e)
			mu.Lock()
			defer mu.Unlock()
			if all == nil {
				all = map[int]*projected{}
			}
			all[i] = texts
		})
	}
	asked.Wait()
	return all
}

// projection is one entry at both levels. An error of the plugin stands in the place of its words.
func projection(ctx context.Context, cfg Config, run sdk.Run, e *sdk.Entry) *projected {
	var p projected
	for _, at := range []struct {
		level sdk.Visibility
		text  *string
	}{{sdk.Visible, &p.visible}, {sdk.Summarized, &p.summary}} {
		text, err := cfg.Project(ctx, run, *e, at.level)
		switch {
		case err != nil:
			p.failed = true
			*at.text = fmt.Sprintf("[the plugin of %s:// did not say what this shows: %s]", e.Scheme(), sdk.Excerpt(err.Error()))
		case len(text) > projectionBytes:
			*at.text = sdk.Head(text, projectionBytes) + fmt.Sprintf("\n[the first %d of %d bytes that the plugin of %s:// showed]", projectionBytes, len(text), e.Scheme())
		default:
			*at.text = text
		}
	}
	return &p
}
