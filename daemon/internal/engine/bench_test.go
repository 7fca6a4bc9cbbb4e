package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// BenchmarkTurn is a turn's own overhead: a model and a tool that cost
// nothing, the real store, view, dialect and policy.
func BenchmarkTurn(b *testing.B) {
	h := prepareHouse(b)
	h.agents["default"] = sdk.Agent{}
	h.start()
	n := 0
	for b.Loop() {
		h.models.mu.Lock()
		h.models.steps = []step{calls(numbered("read", n))}
		h.models.mu.Unlock()
		a, err := h.engine.Submit(context.Background(), Submission{Project: h.project, Prompt: "p"})
		if err != nil {
			b.Fatal(err)
		}
		h.await(a)
		n++
	}
	b.ReportMetric(float64(len(h.store.commits()))/float64(n), "commits/op")
}

// BenchmarkTurnOfALongRun shows that a turn costs what changed: the run has
// had so many turns before.
func BenchmarkTurnOfALongRun(b *testing.B) {
	for _, turns := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			h := prepareHouse(b)
			h.agents["default"] = sdk.Agent{}
			h.models.context = 100_000
			for i := range turns {
				h.models.steps = append(h.models.steps, calls(numbered("read", i)))
			}
			h.tools.on("read", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
				return ok(strings.Repeat("x", 400))
			})
			arrived, released := make(chan struct{}), make(chan struct{})
			h.models.steps = append(h.models.steps, func(ctx context.Context, r sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error {
				close(arrived)
				<-released
				return calls(numbered("read", -1))(ctx, r, send, retry)
			})
			for i := range 50 {
				h.models.steps = append(h.models.steps, calls(numbered("read", turns+i)))
			}
			h.start()
			a := h.submit(Submission{})
			<-arrived
			b.ResetTimer()
			close(released)
			h.await(a)
			b.StopTimer()
			b.ReportMetric(float64(b.Elapsed().Microseconds())/51, "us/turn")
		})
	}
}

// BenchmarkRecovery is the time from a start to the next request of a loop that
// a dead daemon left behind so many turns.
func BenchmarkRecovery(b *testing.B) {
	for _, turns := range []int{50, 500} {
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			h := prepareHouse(b)
			h.agents["default"] = sdk.Agent{}
			for i := range turns {
				h.models.steps = append(h.models.steps, calls(numbered("write", i)))
			}
			begun := make(chan struct{}, 1)
			h.models.steps = append(h.models.steps, silent(begun))
			h.start()
			h.submit(Submission{})
			<-begun
			for b.Loop() {
				b.StopTimer()
				h.cut()
				h.models.steps = []step{silent(begun)}
				b.StartTimer()
				h.boot(b)
				<-begun
			}
			b.StopTimer()
			h.cut()
		})
	}
}

func BenchmarkCallTool(b *testing.B) {
	h := newHouse(b)
	for b.Loop() {
		if _, err := h.engine.CallTool(context.Background(), ToolCall{Project: h.project, Approved: true, Tool: "read", Arguments: json.RawMessage(`{"path":"a"}`)}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(h.store.commits()))/float64(b.N), "commits/op")
}

// BenchmarkAgents lists a thousand agents with the tools that each may use, and finds one.
func BenchmarkAgents(b *testing.B) {
	h := prepareHouse(b)
	h.agents = map[string]sdk.Agent{"default": {Tools: []string{"*"}}}
	bound := &sdk.Bound{Tools: []string{"*"}}
	for i := range 1000 {
		h.agents[fmt.Sprintf("agent-%d", i)] = sdk.Agent{Tools: []string{"read_*", "grep", "bash", "mcp__notes__*"}, Bound: bound}
	}
	h.start()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.engine.AgentOf(h.project, "agent-777"); len(h.engine.Agents(h.project, true)) != 1001 || err != nil {
			b.Fatal(err)
		}
	}
}
