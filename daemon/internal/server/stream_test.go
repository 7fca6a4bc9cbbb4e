package server

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestStreamsAreInOrder: what a client sends of a command without waiting for answers is taken in the order in
// which it was sent, also of more pieces than may be at work, and of those that ask for no answer.
func TestStreamsAreInOrder(t *testing.T) {
	h := open(t, func(c *Config) { c.Limits.InFlight = 4 })
	r := h.dial(t)
	if _, err := r.next(); err != nil { // the greeting
		t.Fatal(err)
	}
	const pieces = 60
	var all strings.Builder
	for i := range pieces {
		id := ""
		if i%3 > 0 {
			id = fmt.Sprintf(`"id":%d,`, i)
		}
		fmt.Fprintf(&all, `{"jsonrpc":"2.0",%s"method":"stream","params":{"run":"7","path":"log://turn_1/sh/slow","channel":1,"chunk":"%d"}}`+"\n", id, i)
	}
	all.WriteString(`{"jsonrpc":"2.0","id":"end","method":"stream/completed","params":{"run":"seven","project":"/p/one","path":"log://turn_1/sh/slow","exit_code":3,"duration":"2 s"}}` + "\n")
	r.send(all.String())
	for {
		m, err := r.next()
		if err != nil {
			t.Fatal(err)
		}
		if m.Error != nil {
			t.Fatalf("%s", m.Error.Message)
		}
		if string(m.ID) == `"end"` {
			if want := `{"status":"ok","channels":[{"path":"sh://turn_1/call_1","bytes":3,"status":200}]}`; string(m.Result) != want {
				t.Errorf("got %s", m.Result)
			}
			break
		}
	}
	h.engine.mu.Lock()
	defer h.engine.mu.Unlock()
	for i := range pieces {
		if want := fmt.Sprintf("stream 7 log://turn_1/sh/slow 1 %d", i); h.engine.done[i] != want {
			t.Fatalf("piece %d is %q", i, h.engine.done[i])
		}
	}
	if got := h.engine.done[pieces]; got != `completed 7 log://turn_1/sh/slow 3 "2 s"` {
		t.Error(got)
	}
}

// TestStreamsOfASession: its client is told of what others cancel, once, and when it has gone that is told the engine.
func TestStreamsOfASession(t *testing.T) {
	for _, watches := range []bool{false, true} {
		t.Run(fmt.Sprint("watches ", watches), func(t *testing.T) {
			h := openWeb(t, nil)
			p := h.begin(t, rpc.RoleSubmit)
			if watches {
				p.call(rpc.MethodWatch, `{"run":"7","states":"increments"}`)
			}
			if m := p.call(rpc.MethodStream, `{"run":"7","path":"log://turn_1/sh/call","channel":2,"chunk":"x"}`); m["error"] != nil {
				t.Fatalf("%v", m)
			}
			if _, err := h.client(t).StreamCancel(t.Context(), rpc.StreamCancel{Run: "7", Path: "log://turn_1/sh/call", Reason: "too long"}); err != nil {
				t.Fatal(err)
			}
			body := "ran 'x', cancelled"
			change, _ := json.Marshal(sdk.EntryChange{State: sdk.StateResolved, Phase: sdk.PhaseEnded, Attributes: json.RawMessage(`{"metadata":{"cancelled":"too long"}}`)})
			h.store.commit(sdk.JournalRow{Kind: sdk.KindEntrySet, Run: 7, Project: 1, Turn: 1, Path: "log://turn_1/sh/call", Data: change, Body: &body})
			if got := p.hears(rpc.NoteStreamCancelled); got["path"] != "log://turn_1/sh/call" || got["reason"] != "too long" || got["run"] != "seven" {
				t.Errorf("%v", got)
			}
			h.engine.mu.Lock()
			session := h.engine.streams[0]
			h.engine.mu.Unlock()
			_ = p.ws.CloseNow()
			eventually(t, "the engine is told that the session is gone", func() bool {
				h.engine.mu.Lock()
				defer h.engine.mu.Unlock()
				return slices.Contains(h.engine.left, session)
			})
		})
	}
}

// TestStreamsByTheClient: the calls of package client, and a run that there is not.
func TestStreamsByTheClient(t *testing.T) {
	h := open(t, nil)
	c, ctx := h.client(t), context.Background()
	out := c.Output(ctx, rpc.Stream{Run: "7", Path: "log://turn_1/sh/call", Channel: 1})
	for _, piece := range []string{"a\xc3", "\xa9b\xff", "\xe2\x82"} {
		if n, err := out.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Fatal(n, err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.StreamAborted(ctx, rpc.StreamAborted{Run: "7", Path: "log://turn_1/sh/call", Reason: "enough"}); err != nil {
		t.Error(err)
	}
	if _, err := c.StreamCompleted(ctx, rpc.StreamCompleted{Run: "nope", Project: "/p/one", Path: "log://turn_1/sh/call"}); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Error(err)
	}
	h.engine.mu.Lock()
	defer h.engine.mu.Unlock()
	want := []string{"a", "éb\uFFFD", "\uFFFD"}
	for i, text := range want {
		if got := h.engine.done[i]; got != "stream 7 log://turn_1/sh/call 1 "+text {
			t.Errorf("%q, want %q", got, text)
		}
	}
	if got := h.engine.done[len(want)]; got != "aborted 7 log://turn_1/sh/call enough" {
		t.Error(got)
	}
}

// TestDisconnectWhileAPieceWaits: a client that goes while a piece of its waits for a place takes its calls along, too.
func TestDisconnectWhileAPieceWaits(t *testing.T) {
	h := open(t, func(c *Config) { c.Limits.InFlight = 1 })
	began, ended := make(chan struct{}), make(chan struct{})
	h.engine.tool = func(ctx context.Context, _ rpc.ToolCall) (rpc.ToolDone, error) {
		close(began)
		<-ctx.Done()
		close(ended)
		return rpc.ToolDone{}, ctx.Err()
	}
	r := h.dial(t)
	r.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"project":"/p","tool":"x"}}` + "\n")
	<-began
	r.send(`{"jsonrpc":"2.0","id":2,"method":"stream","params":{"run":"7","path":"log://turn_1/sh/call","channel":1,"chunk":"x"}}` + "\n")
	_ = r.conn.Close()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("the call goes on without its client")
	}
}
