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
	late             bool // since it did not answer in time
}

// hung is a plugin that did not answer in time.
type hung struct {
	from, pause int // the turn in which it is asked again, and how many turns that is later
}

// mostPause is how many turns the longest pause is in which a plugin that hangs is not asked.
const mostPause = 64

// Bounds of what plugins are asked in one turn.
const (
	projectionTime  = 5 * time.Second // for all entries of a turn together
	projections     = 8               // at once
	projectionBytes = 64 << 10        // of one text
)

// project asks plugins about the entries of some indexes, several at once. Nil is an entry of which no plugin says anything.
// One that does not answer in time is asked no more in this turn, nor in the next one; each time that it hangs again, the
// pause is twice as long.
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
	inTime := map[string]bool{} // of the plugins that were asked
	for _, i := range anew {
		e, by := &in.Entries[i], c.pieces[i].mark.projector
		if scheme, known := cfg.Scheme(e.Scheme()); by == "" || !known || !shows(e, &scheme) {
			continue
		}
		slots <- struct{}{}
		mu.Lock()
		was, held := c.hung[by]
		held = held && in.Turn < was.from
		if said, known := inTime[by]; !held && !known {
			inTime[by] = true
		} else if known && !said {
			held = true
		}
		if all == nil {
			all = map[int]*projected{}
		}
		if held {
			all[i] = unsaid(e, "it did not answer in time, and is asked again later")
		}
		mu.Unlock()
		if held {
			<-slots
			continue
		}
		asked.Go(func() {
			defer func() { <-slots }()
			texts := projection(ctx, cfg, e)
			mu.Lock()
			defer mu.Unlock()
			inTime[by] = inTime[by] && !texts.late
			all[i] = texts
		})
	}
	asked.Wait()
	for by, said := range inTime {
		if said {
			delete(c.hung, by)
			continue
		}
		pause := min(2*max(c.hung[by].pause, 1), mostPause)
		if c.hung == nil {
			c.hung = map[string]hung{}
		}
		c.hung[by] = hung{in.Turn + pause, pause}
	}
	return all
}

// unsaid stands for an entry of which its plugin says nothing.
func unsaid(e *sdk.Entry, why string) *projected {
	said := fmt.Sprintf("[the plugin of %s:// did not say what this shows: %s]", e.Scheme(), sdk.Excerpt(why))
	return &projected{visible: said, summary: said, failed: true}
}

// projection is one entry at both levels. An error of the plugin stands in the place of its words.
func projection(ctx context.Context, cfg Config, e *sdk.Entry) *projected {
	var texts [2]string
	for n, level := range []sdk.Visibility{sdk.Visible, sdk.Summarized} {
		text, err := cfg.Project(ctx, *e, level)
		if err != nil {
			p := unsaid(e, cfg.redacted(err.Error()))
			p.late = sdk.OutcomeOf(err) == sdk.Timeout
			return p
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
