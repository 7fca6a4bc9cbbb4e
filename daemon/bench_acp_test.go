//go:build linux

package daemon

import (
	"context"
	"crypto/rand"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/acp-go-sdk"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// BenchmarkEditor: how long it takes from a prompt to the first of its answer, through the bridge and by the socket.
// Each has a run of its own at one daemon, and they take turns; both prompts have a key, as those of `bothy run` do.
func BenchmarkEditor(b *testing.B) {
	s := newSeat(b, 80, 24)
	e := s.opens(b)
	id := e.begins().SessionId
	cl := client.Client{Socket: filepath.Join(strings.TrimPrefix(s.env[1], "XDG_RUNTIME_DIR="), "bothy", "bothy.sock"), Role: rpc.RoleApprove}
	defer func() { _ = cl.Close() }() // the daemon notices either way
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	run, err := cl.StartRun(ctx, rpc.StartRun{Project: s.dir, Agent: "chat"})
	if err != nil {
		b.Fatal(err)
	}
	heard, ended := make(chan time.Time, 100), make(chan struct{}, 100)
	go func() {
		_ = cl.Follow(ctx, client.Watch{Run: run.ID, Preview: true, Attend: true}, func(ev client.Event) error {
			if ev.Preview != nil && ev.Preview.Text != "" && ev.Preview.First {
				heard <- time.Now()
			}
			if ev.Row != nil && ev.Row.Kind == "loop.ended" {
				ended <- struct{}{}
			}
			return nil
		})
	}()
	var bridge, socket []time.Duration
	n := 0
	for b.Loop() {
		n++
		text := "prompt " + strconv.Itoa(n)
		began := time.Now()
		if _, err := cl.Act(ctx, rpc.Prompt{Project: s.dir, Run: run.Run, Agent: "chat", Prompt: text, Key: rand.Text(), Attend: true}); err != nil {
			b.Fatal(err)
		}
		socket = append(socket, (<-heard).Sub(began))
		<-ended

		first := e.notes(func(u acp.SessionUpdate) bool { return u.AgentMessageChunk != nil })
		began = time.Now()
		e.asks(id, text)
		bridge = append(bridge, (<-first).Sub(began))
	}
	ratio(b, "prompt to first update: through the bridge for editors against the socket", "bridge/socket", bridge, socket, "1.1")
}
