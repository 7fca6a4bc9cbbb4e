package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestToolsAreAskedForOnce: several tools that are not there have the tools listed once each, and not with
// every row that names one; one that comes later is found.
func TestToolsAreAskedForOnce(t *testing.T) {
	var lists atomic.Int32
	tools := atomic.Pointer[string]{}
	none := `[{"name":"read_file","plugin":"files"}]`
	tools.Store(&none)
	cl := &client.Client{Dial: func(context.Context) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			fmt.Fprintf(ours, `{"jsonrpc":"2.0","method":"hello","params":{"protocol":%q}}`+"\n", rpc.Protocol)
			for lines := bufio.NewScanner(ours); lines.Scan(); {
				var asked rpc.Request
				_ = json.Unmarshal(lines.Bytes(), &asked) // the client's own
				answer := fmt.Sprintf(`{"protocol":%q}`, rpc.Protocol)
				if asked.Method == rpc.MethodTools {
					lists.Add(1)
					answer = *tools.Load()
				}
				fmt.Fprintf(ours, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", asked.ID, answer)
			}
		}()
		return theirs, nil
	}}
	defer func() { _ = cl.Close() }()
	b := &bridge{ctx: t.Context(), cl: cl, log: slog.New(slog.DiscardHandler), missing: map[string]time.Time{}}
	for range 5 {
		for _, name := range []string{"gone", "mcp__gone__too", "read_file", "files__read_file"} {
			if got := b.tool(name).Name; (got != "") != (b.tool(name).Plugin == "files") {
				t.Errorf("%s is %q", name, got)
			}
		}
	}
	if n := lists.Load(); n != 2 {
		t.Errorf("the tools were listed %d times", n)
	}
	came := `[{"name":"gone","plugin":"files"}]`
	tools.Store(&came)
	b.missing["gone"] = time.Now().Add(-missingFor)
	if b.tool("gone").Name != "gone" {
		t.Error("a tool that came is not found")
	}
}
