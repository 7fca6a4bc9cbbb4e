package engine

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// waits has the tool write block until the engine ends, once; it tells when it began. What the call came to is known to the tool.
func (h *house) waits() <-chan struct{} {
	begun := make(chan struct{}, 1)
	h.tools.on("write", func(ctx context.Context, _ sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
		begun <- struct{}{}
		<-ctx.Done()
		return sdk.ToolResult{}, ctx.Err()
	})
	h.tools.settles = map[string]sdk.ToolResult{"write": {Success: true, Output: "waited"}}
	return begun
}

// TestALengthThatAServerTaughtOutlivesTheDaemon: the prompts behind a refusal are the same, whichever daemon makes them.
func TestALengthThatAServerTaughtOutlivesTheDaemon(t *testing.T) {
	const limit = 60_000
	var last [2]sdk.Request
	for i, cuts := range []bool{false, true} {
		answers, refused := 0, 0
		server := func(ctx context.Context, req sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error {
			size := 0
			for _, m := range req.Messages {
				size += len(m.Text)
			}
			if size > limit {
				refused++
				return &sdk.ProviderError{Class: sdk.ClassOverflow, Message: "too long"}
			}
			if answers++; answers == 1 {
				return calls(numbered("write", 1))(ctx, req, send, retry)
			}
			last[i] = req
			return say("fine")(ctx, req, send, retry)
		}
		h := prepareHouse(t, append([]step{calls(numbered("read", 1))}, slices.Repeat([]step{server}, 20)...)...)
		h.tools.on("read", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
			return ok(strings.Repeat("x", 1<<20))
		})
		h.tools.on("write", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) { return ok("waited") })
		var begun <-chan struct{}
		if cuts {
			begun = h.waits()
		}
		h.start()
		a := h.submit(Submission{Mode: sdk.ModeFull})
		if cuts {
			<-begun
			taught := refused
			h.until("it is written down that the call was begun", func() bool { return len(h.actions(a.Run.ID)) == 2 })
			h.cut()
			h.start()
			defer func() {
				if taught == 0 || refused != taught {
					t.Errorf("the server refused %d requests before the restart, and %d in all", taught, refused)
				}
			}()
		}
		if l := h.await(a); l.Status != sdk.StatusOK {
			t.Fatalf("ended %d: %s", l.Status, l.Reason)
		}
		h.check(a.Run.ID)
	}
	if without, with := last[0].Messages[1:], last[1].Messages[1:]; !reflect.DeepEqual(without, with) { // the system text names the project
		t.Errorf("after a restart the model was sent\n%.2000v\nand without one\n%.2000v", with, without)
	}
}

// TestTheModelThatAnsweredGoesOnAfterARestart: who could not answer before is not asked anew, and the chain begins behind who did.
func TestTheModelThatAnsweredGoesOnAfterARestart(t *testing.T) {
	down := &sdk.ProviderError{Class: sdk.ClassGateway, Message: "refused"}
	choice := func(name string) sdk.ModelChoice {
		return sdk.ModelChoice{Alias: name, Provider: "far", Name: name, Context: 50_000}
	}
	h := prepareHouse(t, calls(numbered("write", 1)), say("fine"))
	begun := h.waits()
	m := &chained{
		fakeModels: h.models, first: with(choice("a"), "b", "c", "d"), contexts: map[string]int{},
		others: map[string]sdk.ModelChoice{"b": choice("b"), "c": choice("c"), "d": choice("d")},
		fails:  map[string]error{"a": down, "b": down},
	}
	h.config.Models = m
	h.start()
	a := h.submit(Submission{Mode: sdk.ModeFull})
	<-begun
	h.until("it is written down that the call was begun", func() bool { return len(h.actions(a.Run.ID)) == 1 })
	h.cut()
	clear(m.contexts)
	m.fails["c"] = down
	h.start()
	if l := h.await(a); l.Status != sdk.StatusOK {
		t.Fatalf("ended %d: %s", l.Status, l.Reason)
	}
	if _, again := m.contexts["b"]; again || m.contexts["a"] != 0 || m.contexts["c"] != 50_000 || m.contexts["d"] != 50_000 {
		t.Errorf("after the restart these were asked: %v", m.contexts)
	}
	turns, err := h.store.Turns(t.Context(), a.Run.ID)
	if err != nil || len(turns) != 2 || turns[0].Model != "c" || turns[1].Model != "d" {
		t.Errorf("%v %v", turns, err)
	}
	h.check(a.Run.ID)
}
