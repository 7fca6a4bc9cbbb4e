package packet

import (
	"context"
	"fmt"
	"slices"
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
func (c *cache) project(ctx context.Context, cfg Config, in *sdk.Assembly, anew []int) map[int]*projected {
	if !slices.ContainsFunc(anew, func(i int) bool { return c.pieces[i].mark.projector != "" }) {
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
		if scheme, known := cfg.Scheme(e.Scheme()); c.pieces[i].mark.projector == "" || !known || !shows(e, &scheme) {
			continue
		}
		slots <- struct{}{}
		asked.Go(func() {
			defer func() { <-slots }()
			texts := projection(ctx, cfg, e)
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
func projection(ctx context.Context, cfg Config, e *sdk.Entry) *projected {
	var texts [2]string
	for n, level := range []sdk.Visibility{sdk.Visible, sdk.Summarized} {
		text, err := cfg.Project(ctx, *e, level)
		if err != nil {
			said := fmt.Sprintf("[the plugin of %s:// did not say what this shows: %s]", e.Scheme(), sdk.Excerpt(cfg.redacted(err.Error())))
			return &projected{visible: said, summary: said, failed: true}
		}
		text = cfg.redacted(text)
		if len(text) > projectionBytes {
			text = sdk.Head(text, projectionBytes) + fmt.Sprintf("\n[the first %d of %d bytes that the plugin of %s:// showed]", projectionBytes, len(text), e.Scheme())
		}
		texts[n] = text
	}
	return &projected{visible: texts[0], summary: texts[1]}
}

func (cfg Config) redacted(text string) string {
	if cfg.Redact == nil {
		return text
	}
	return cfg.Redact(text)
}
