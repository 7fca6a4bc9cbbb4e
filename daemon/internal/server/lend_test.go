package server

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestLend: what is lent is so until the connection closes, and the run of the loan alone has the
// client's buffers.
func TestLend(t *testing.T) {
	h := open(t, func(c *Config) { c.Limits.Buffer = time.Minute })
	ctx := t.Context()
	c := h.as(t, rpc.RoleApprove)
	long := strings.Repeat("\x01", 1<<20) // as JSON it is six times as long
	loan, err := c.Lend(ctx, rpc.Lend{Run: "7", Servers: []rpc.LentServer{{Name: "notes", Command: "/x"}}, Buffers: true}, func(ctx context.Context, path string) (b sdk.Buffer) {
		switch path {
		case "/p/one/a.txt":
			return sdk.Buffer{Unsaved: true, Text: "unsaved"}
		case "/p/one/long.txt":
			return sdk.Buffer{Unsaved: true, Text: long}
		case "/p/one/unknown.txt":
			return sdk.Buffer{Unknown: true}
		case "/p/one/hangs.txt":
			<-ctx.Done()
		}
		return sdk.Buffer{}
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(loan.Servers) != 1 || loan.Servers[0].Server != "_k7_notes" {
		t.Errorf("lent as %+v", loan.Servers)
	}
	for name, c := range map[string]struct {
		run, path string
		want      sdk.Buffer
	}{
		"a buffer":        {"k7", "/p/one/./a.txt", sdk.Buffer{Unsaved: true, Text: "unsaved"}},
		"of another run":  {"k8", "/p/one/a.txt", sdk.Buffer{}},
		"as the disk has": {"k7", "/p/one/b.txt", sdk.Buffer{}},
		"too long":        {"k7", "/p/one/long.txt", sdk.Buffer{Unknown: true}},
		"not said":        {"k7", "/p/one/unknown.txt", sdk.Buffer{Unknown: true}},
	} {
		t.Run(name, func(t *testing.T) {
			ask := h.Unsaved(c.run)
			if (ask != nil) != (c.run == "k7") {
				t.Fatalf("somebody lends to %s: %v", c.run, ask != nil)
			}
			if ask == nil {
				return
			}
			if got := ask(ctx, c.path); got != c.want {
				t.Errorf("%+v", got)
			}
		})
	}
	soon, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if got := h.Unsaved("k7")(soon, "/p/one/hangs.txt"); got != (sdk.Buffer{Unknown: true}) {
		t.Errorf("who does not say has %+v", got)
	}
	ask, hangs := h.Unsaved("k7"), make(chan sdk.Buffer, 1)
	go func() { hangs <- ask(ctx, "/p/one/hangs.txt") }()
	loan.Close()
	if got := <-hangs; got != (sdk.Buffer{Unknown: true}) {
		t.Errorf("who went before it said has %+v", got)
	}
	select {
	case <-h.daemon.tookBack:
	case <-time.After(time.Minute):
		t.Error("it is not taken back")
	}
	if h.Unsaved("k7") != nil {
		t.Error("who is gone is asked")
	}
}

// TestLendNeedsApprove: who may only give work lends nothing.
func TestLendNeedsApprove(t *testing.T) {
	h := open(t, nil)
	for _, p := range []rpc.Lend{{Run: "7", Buffers: true}, {Run: "7", Servers: []rpc.LentServer{{Name: "x", Command: "/x"}}}, {Run: "7"}} {
		if _, err := h.as(t, rpc.RoleSubmit).Lend(t.Context(), p, nil); err == nil || !strings.Contains(err.Error(), "approve") {
			t.Errorf("%+v: %v", p, err)
		}
	}
	if _, err := h.as(t, rpc.RoleApprove).Lend(t.Context(), rpc.Lend{Run: "7", Servers: make([]rpc.LentServer, mostLent+1)}, nil); err == nil {
		t.Error("any number is lent")
	}
}
