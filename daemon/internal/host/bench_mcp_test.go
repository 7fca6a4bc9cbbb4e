package host

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// mcpBinaries are the plugin mcp and a server for it, as old as installed ones.
func mcpBinaries(b *testing.B) (plugin, server string) {
	b.Helper()
	dir := b.TempDir()
	plugin, server = filepath.Join(dir, "bothy-plugin-mcp"), filepath.Join(dir, "server")
	for out, from := range map[string]string{plugin: "../../../plugins/mcp", server: "./testdata/mcpserver"} {
		if text, err := exec.Command("go", "build", "-o", out, from).CombinedOutput(); err != nil {
			b.Fatalf("build %s: %v\n%s", from, err, text)
		}
	}
	time.Sleep(2100 * time.Millisecond) // as built does
	return plugin, server
}

// mcpSpec is a block mcp, whose server takes that long to start.
func mcpSpec(b *testing.B, plugin, server, name string, takes time.Duration) inspect.Spec {
	b.Helper()
	s := inspect.Spec{Instance: sdk.MCPPrefix + name, Plugin: "mcp", Path: plugin, SHA256: sha256Of(b, plugin), Body: body(b, fmt.Sprintf("command = %q\narguments = [%q]", server, takes))}
	s.Quota.Calls = 1 << 40
	return s
}

// bare is a session of the SDK's own client.
func bare(b *testing.B, server string) *mcp.ClientSession {
	b.Helper()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).Connect(context.Background(), &mcp.CommandTransport{Command: exec.Command(server)}, nil)
	if err != nil {
		b.Fatal(err)
	}
	return c
}

// BenchmarkCallMCP: a tool of a server of MCP that does nothing, through the plugin, against the SDK's own client.
// What the engine records of a call is apart.
func BenchmarkCallMCP(b *testing.B) {
	plugin, server := mcpBinaries(b)
	s := supervise(b, mcpSpec(b, plugin, server, "noop", 0))
	defer s.Stop(context.Background())
	c := bare(b, server)
	defer func() { _ = c.Close() }()
	rounds(b, func() { call(b, s, "mcp__noop__echo", hundred) }, func() {
		r, err := c.CallTool(context.Background(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": hundred}})
		if err != nil || r.IsError {
			b.Fatal(r, err)
		}
	}, 1.5)
}

// BenchmarkStartMCP: twenty servers of MCP that start at once, and take up to a second for it, against the slowest
// of them by itself.
func BenchmarkStartMCP(b *testing.B) {
	const n, slow = 20, time.Second
	plugin, server := mcpBinaries(b)
	var specs []inspect.Spec
	for i := range n {
		specs = append(specs, mcpSpec(b, plugin, server, fmt.Sprintf("s%d", i), slow*time.Duration(i+1)/n))
	}
	start := func(to *[]time.Duration, specs []inspect.Spec) {
		s := supervise(b, mcpSpec(b, plugin, server, "first", 0))
		clock(to, func() { s.start(context.Background(), specs) })
		s.Stop(context.Background())
	}
	var together, slowest []time.Duration
	for b.Loop() {
		start(&together, specs)
		start(&slowest, specs[n-1:])
	}
	compare(b, together, slowest, 1.2)
}
