package server

import (
	"context"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestToolsChanged: every client is told.
func TestToolsChanged(t *testing.T) {
	h := open(t, nil)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	begun, ended := make(chan struct{}), make(chan error)
	for range 2 {
		c := h.client(t)
		go func() {
			ended <- c.Hear(ctx, func(note rpc.Request) error {
				switch note.Method {
				case "":
					begun <- struct{}{}
				case rpc.NoteTools:
					return client.ErrDone
				}
				return nil
			})
		}()
	}
	<-begun
	<-begun
	h.ToolsChanged()
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// TestToolNewsPutTogether: whatever changes while a line is on its way is one more line.
func TestToolNewsPutTogether(t *testing.T) {
	out := &outbox{wake: make(chan struct{}, 1)}
	n := &toolNews{out: out, busy: true}
	for range 5 {
		n.tell()
	}
	if len(out.queue) != 0 {
		t.Fatalf("%d lines before the greeting was read", len(out.queue))
	}
	n.sent()
	n.tell()
	if len(out.queue) != 1 {
		t.Errorf("%d lines are on their way", len(out.queue))
	}
	n.sent()
	if len(out.queue) != 2 {
		t.Errorf("%d lines in all", len(out.queue))
	}
	n.sent()
	if n.sent(); n.busy || n.waiting || len(out.queue) != 2 {
		t.Errorf("%+v, and %d lines", n, len(out.queue))
	}
}
