//go:build linux

package daemon

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk/rpc"
)

// loadRounds is how often each side of the load is taken.
const loadRounds = 4

// BenchmarkLoad compares a turn of 50 runs at once that 100 watches follow, a fifth of which nobody reads, with one that nobody
// follows.
func BenchmarkLoad(b *testing.B) {
	s := newSite(b, withoutSandbox)
	s.up()
	p := plan{Steps: 6, Tools: []string{"note_line"}, Text: 2000}
	var alone, watched []time.Duration
	round := func(load string, to *[]time.Duration, crowded bool) {
		runs := s.startRuns(load)
		var c *crowd
		if crowded {
			c = s.watch(runs, s.status().Seq, false)
		}
		s.workAtOnce(load, p)
		if c != nil {
			c.wait()
		}
		for _, run := range runs {
			d, err := s.client.Run(context.Background(), rpc.RunRef{Run: strconv.FormatInt(run, 10)})
			if err != nil {
				b.Fatal(err)
			}
			for _, t := range d.Turns[1:] { // the first waits for all others
				*to = append(*to, time.Duration(t.Duration))
			}
		}
	}
	for once := true; b.Loop(); once = false { // they are all alike
		if !once {
			continue
		}
		round("warm", new([]time.Duration), false)
		for n := range loadRounds {
			round(fmt.Sprintf("alone%d", n), &alone, false)
			round(fmt.Sprintf("watched%d", n), &watched, true)
		}
	}
	ratio(b, "a turn of 50 runs at once with 100 watches, 20 of them unread, against one with none", "x-watched", watched, alone, "at most 1.2x")
}
