package engine

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/view/packet"
	"github.com/bothyd/bothy/sdk"
)

// ways are those in which a model calls tools and is shown its run.
var ways = []sdk.Agent{
	{Dialect: sdk.DialectTools, View: sdk.ViewTranscript}, {Dialect: sdk.DialectTools, View: sdk.ViewPacket},
	{Dialect: sdk.DialectTags, View: sdk.ViewTranscript}, {Dialect: sdk.DialectTags, View: sdk.ViewPacket},
}

// inWay is a house whose agent default works in a way, with the real view and the verbs.
func inWay(t testing.TB, way sdk.Agent) *house {
	t.Helper()
	h := prepareHouse(t)
	h.withVerbs()
	h.config.Views[sdk.ViewPacket] = packet.New(packet.Config{Scheme: h.store.Scheme}, h.config.Hooks)
	way.Guards = sdk.Guards{MaxTurns: 9999}
	h.agents["default"] = way
	return h
}

// sets is an answer that writes an entry and says how the work stands; with tools and a transcript there is no update, and it reads.
func sets(way sdk.Agent, path, body string, status int) step {
	if way.Dialect == sdk.DialectTags {
		return say(fmt.Sprintf("<set path=%q>%s</set>\n<update status=\"%d\">said</update>", path, body, status))
	}
	if way.View == sdk.ViewTranscript {
		return calls(call{"set", fmt.Sprintf(`{"path":%q,"body":%q}`, path, body)}, call{"read", fmt.Sprintf(`{"path":%q}`, path)})
	}
	return calls(call{"set", fmt.Sprintf(`{"path":%q,"body":%q}`, path, body)}, call{"update", fmt.Sprintf(`{"status":%d,"body":"said"}`, status)})
}

// TestCommitsOfEachWay: a turn with two actions takes 4 commits, and 2 for each of them, at the most, in each way; and one more where
// something had to be demoted before the request, by that turn alone.
func TestCommitsOfEachWay(t *testing.T) {
	const turns, actions = 5, 2 * 5
	long := strings.Repeat("a line of words\n", 1500)
	for _, way := range ways {
		t.Run(way.Dialect+" "+way.View, func(t *testing.T) {
			count := func(context int) (commits, taken, demoted int) {
				h := inWay(t, way)
				h.models.context = context
				for n := range turns - 2 {
					h.models.steps = append(h.models.steps, sets(way, fmt.Sprintf("unknown://%d", n), "short", 102))
				}
				h.models.steps = append(h.models.steps, sets(way, "unknown://long", long, 200), sets(way, "unknown://last", "short", 200))
				h.start()
				a := h.submit(Submission{Mode: sdk.ModeFull})
				b := h.submit(Submission{Mode: sdk.ModeFull, Run: a.Run.Alias})
				for _, x := range []Accepted{a, b} {
					if l := h.await(x); l.Status != sdk.StatusOK {
						t.Fatalf("ended %d: %s", l.Status, l.Reason)
					}
				}
				h.untilIdle()
				h.check(a.Run.ID)
				all, err := h.store.Turns(t.Context(), a.Run.ID)
				if n := len(h.actions(a.Run.ID)); err != nil || n != actions || len(all) < turns {
					t.Fatalf("%d turns and %d actions, %v", len(all), n, err)
				}
				return len(h.store.commits()), len(all), h.demoted()
			}
			commits, taken, demoted := count(200_000)
			if most := 4*taken + 2*actions; commits > most || demoted > 0 {
				t.Errorf("%d commits for %d turns and %d actions, of which there may be %d; %d demote", commits, taken, actions, most, demoted)
			}
			t.Logf("%d commits for %d turns and %d actions", commits, taken, actions)
			if way.View != sdk.ViewPacket {
				return
			}
			if more, _, demoted := count(9_000); demoted != 1 || more != commits+1 {
				t.Errorf("%d commits where something is demoted, in %d of them, and %d where not", more, demoted, commits)
			}
		})
	}
}

// BenchmarkAllocations reports what a turn with one write of 400 bytes takes of memory in each way, in a run that has 200 entries, and
// how many times what it takes with tools and a transcript; models and tools cost nothing.
func BenchmarkAllocations(b *testing.B) {
	var plain float64
	for i, way := range ways {
		b.Run(way.Dialect+"-"+way.View, func(b *testing.B) {
			h := inWay(b, way)
			h.models.context = 1_000_000
			body := strings.Repeat("word ", 80)
			began, released := make(chan struct{}), make(chan struct{})
			for n := range 200 + b.N {
				next := sets(way, fmt.Sprintf("unknown://%d", n), body, 102)
				if n == 200 {
					next = paused(began, released, next)
				}
				h.models.steps = append(h.models.steps, next)
			}
			h.models.steps = append(h.models.steps, sets(way, "unknown://last", body, 200))
			h.start()
			a := h.submit(Submission{Mode: sdk.ModeFull})
			<-began
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			b.ResetTimer()
			close(released)
			if l := h.await(a); l.Status != sdk.StatusOK {
				b.Fatalf("ended %d: %s", l.Status, l.Reason)
			}
			runtime.ReadMemStats(&after)
			each := float64(after.Mallocs-before.Mallocs) / float64(b.N+1)
			if i == 0 {
				plain = each
			}
			b.ReportMetric(each, "allocs/turn")
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(b.N+1)/1024, "KiB/turn")
			b.ReportMetric(each/plain, "x-plain")
		})
	}
}

// paused is an answer that waits, and says that it does.
func paused(began, released chan struct{}, then step) step {
	return func(ctx context.Context, r sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error {
		close(began)
		<-released
		return then(ctx, r, send, retry)
	}
}
