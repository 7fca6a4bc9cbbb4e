package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/bothyd/bothy/daemon/internal/engine"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// BenchmarkBash compares `bash -c true` on the host, through supervisor, bash
// plugin and runner, through engine and journal, through the socket, and with
// `podman exec` in the same container.
func BenchmarkBash(b *testing.B) {
	needSandbox(b)
	surroundings(b)
	d := serving(b)
	ctx, project := context.Background(), b.TempDir()
	arguments := json.RawMessage(`{"command":"true"}`)
	var c client.Client
	overSocket := func() error {
		done, err := c.CallTool(ctx, rpc.ToolCall{Project: project, Tool: "bash", Arguments: arguments})
		return failedCall(done.Result, err)
	}
	if err := overSocket(); err != nil { // makes the container
		b.Fatal(err)
	}
	run := implicitRun(b, d, project)
	direct := sdk.Invocation{Tool: "bash", Arguments: arguments, Run: run.Key, Project: project, RunDir: filepath.Join(d.paths.Data, "runs", run.Key)}
	podman := podmanExec(b)
	bare := bareCommits(b, d, run.Project)
	var forks, plugin, commits, engines, sockets, execs []time.Duration
	for i := 0; b.Loop(); i++ {
		timed(b, &forks, exec.Command("bash", "-c", "true").Run)
		timed(b, &plugin, func() error { return failedCall(d.host.Invoke(ctx, direct, silence{})) })
		timed(b, &commits, bare)
		timed(b, &engines, func() error {
			done, err := d.engine.CallTool(ctx, engine.ToolCall{Project: project, Tool: "bash", Arguments: arguments})
			return failedCall(done.Result, err)
		})
		timed(b, &sockets, overSocket)
		if i%20 == 0 {
			timed(b, &execs, podman)
		}
	}
	ratio(b, "bash -c true: plugin against host fork and exec", "x-fork", plugin, forks, "at most 4x")
	ratio(b, "bash -c true: podman exec against plugin", "x-faster", execs, plugin, "at least 20x")
	floor := []time.Duration{median(plugin) + median(commits)}
	ratio(b, "bash -c true: engine and journal against plugin and 2 durable commits", "x-floor", engines, floor, "at most 1.15x")
	ratio(b, "bash -c true: engine and journal against plugin", "x-plugin", engines, plugin, "reported")
	ratio(b, "bash -c true: socket against plugin", "x-plugin-socket", sockets, plugin, "reported")
}

// bareCommits is what any tool call costs the store, without an engine: the
// commit that records and starts the action, and the one that ends it.
func bareCommits(b *testing.B, d *Daemon, project int64) func() error {
	b.Helper()
	run := must(d.store.CreateRun(context.Background(), sdk.Run{Project: project, Alias: "bench", Agent: "bench"}))
	attributes := json.RawMessage(`{"call_id":"call_1","tool":"bash","arguments":{"command":"true"},"index":0,"plugin":"bash","decision":{"verdict":"allow","rule":"sandbox","reason":"it runs in a container"}}`)
	result := json.RawMessage(`{"metadata":{"exit_code":0,"duration_ms":1,"stdout":"","stderr":""},"duration_ms":1}`)
	turn, empty := 0, ""
	return func() error {
		turn++
		action := sdk.Write{Path: fmt.Sprintf("log://turn_%d/bash/call", turn), Turn: turn, Writer: sdk.WriterSystem}
		started, ended := action, action
		started.Create, started.Body, started.Attributes = true, &empty, attributes
		started.State, started.Phase = sdk.StateStreaming, sdk.PhaseStarted
		ended.Expect, ended.Body, ended.Attributes = sdk.PhaseStarted, &empty, result
		ended.State, ended.Phase = sdk.StateResolved, sdk.PhaseEnded
		row := sdk.Turn{Run: run.ID, Sequence: turn}
		if _, err := d.store.Commit(context.Background(), sdk.Change{Run: run.ID, OpenTurn: &row, Writes: []sdk.Write{started}}); err != nil {
			return err
		}
		_, err := d.store.Commit(context.Background(), sdk.Change{Run: run.ID, CloseTurn: &row, Writes: []sdk.Write{ended}})
		return err
	}
}

func failedCall(r sdk.ToolResult, err error) error {
	if err == nil && !r.Success {
		err = fmt.Errorf("the call failed: %s", r.Error)
	}
	return err
}

type silence struct{}

func (silence) Chunk(int, []byte) error        { return nil }
func (silence) Progress(string, float64) error { return nil }

func implicitRun(b *testing.B, d *Daemon, project string) sdk.Run {
	b.Helper()
	p, err := d.store.OpenProject(context.Background(), project)
	if err != nil {
		b.Fatal(err)
	}
	run, err := d.store.RunByAlias(context.Background(), p.ID, "tools")
	if err != nil {
		b.Fatal(err)
	}
	return run
}

// podmanExec finds the flags of the service that the bash plugin started, and
// execs in the one container that it has.
func podmanExec(b *testing.B) func() error {
	b.Helper()
	argv, environ := podmanService(b)
	podman := func(args ...string) *exec.Cmd {
		cmd := exec.Command(argv[0], append(slices.Clone(argv[1:]), args...)...)
		cmd.Env = environ
		return cmd
	}
	id, err := podman("ps", "-q").Output()
	if err != nil {
		b.Fatalf("podman ps: %v", err)
	}
	container := strings.TrimSpace(string(id))
	return func() error { return podman("exec", container, "bash", "-c", "true").Run() }
}

// podmanService reads the global flags and the environment of the running
// `podman system service` below this benchmark's runtime folder.
func podmanService(b *testing.B) (argv, environ []string) {
	b.Helper()
	for _, dir := range must(filepath.Glob("/proc/[0-9]*")) {
		line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil || !strings.Contains(string(line), os.Getenv("XDG_RUNTIME_DIR")) {
			continue
		}
		args := strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
		at := slices.Index(args, "system")
		if at < 0 || at+1 >= len(args) || args[at+1] != "service" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil {
			b.Fatal(err)
		}
		return args[:at], strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
	}
	b.Fatal("no podman service of the bash plugin was found")
	return nil, nil
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// BenchmarkTool compares a call of a tool that does nothing, through the
// supervisor, with a plain gRPC unary call between two processes.
func BenchmarkTool(b *testing.B) {
	d := servingFaults(b)
	call := sdk.Invocation{Tool: "noop", Arguments: json.RawMessage(`{}`), Run: "bench", Project: b.TempDir(), RunDir: b.TempDir()}
	noop := func() error { return failedCall(d.host.Invoke(context.Background(), call, silence{})) }
	plain := plainGRPC(b)
	var tools, unary []time.Duration
	for range 100 { // both connections warm
		if err := errors.Join(noop(), plain()); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		timed(b, &tools, noop)
		timed(b, &unary, plain)
	}
	ratio(b, "no-op tool call through the supervisor against a plain gRPC call", "x-grpc", tools, unary, "at most 2x")
}

// servingFaults is serving with the plugin whose tools go wrong, or do nothing, and with more in the configuration.
func servingFaults(b *testing.B, more ...string) *Daemon {
	b.Helper()
	binary := filepath.Join(b.TempDir(), "bothy-plugin-fault")
	if out, err := exec.Command("go", "build", "-o", binary, "./internal/host/faultplugin").CombinedOutput(); err != nil {
		b.Fatalf("build the plugin: %v\n%s", err, out)
	}
	surroundings(b)
	// In the configuration, for a reload would end a plugin that is only in the host.
	folder := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "bothy")
	block := fmt.Sprintf("plugin \"fault\" {\n  path = %q\n}\n", binary) + strings.Join(more, "")
	if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, "config.hcl"), []byte(block), 0o600)); err != nil {
		b.Fatal(err)
	}
	return serving(b)
}

// BenchmarkParallelCalls compares calls of a tool that does nothing, on the socket and
// without a run, by eight callers at a time with those by one.
func BenchmarkParallelCalls(b *testing.B) {
	servingFaults(b)
	const callers, calls = 8, 128
	ctx, project := context.Background(), b.TempDir()
	clients := make([]client.Client, callers)
	noop := func(c *client.Client, n int) error {
		for range n {
			done, err := c.CallTool(ctx, rpc.ToolCall{Project: project, Tool: "noop", Arguments: json.RawMessage(`{}`)})
			if err := failedCall(done.Result, err); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range clients { // all connections warm
		if err := noop(&clients[i], 4); err != nil {
			b.Fatal(err)
		}
	}
	var one, eight []time.Duration
	for b.Loop() {
		timed(b, &one, func() error { return noop(&clients[0], callers*calls) })
		timed(b, &eight, func() error {
			var all errgroup.Group
			for i := range clients {
				all.Go(func() error { return noop(&clients[i], calls) })
			}
			return all.Wait()
		})
	}
	ratio(b, "256 tool calls on the socket by one caller against 8 callers", "x-parallel", one, eight, "at least 3x")
}

// plainGRPC is a unary call over a Unix socket to another process: this test
// binary, which TestMain turns into a bare gRPC server.
func plainGRPC(b *testing.B) func() error {
	b.Helper()
	socket := filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "g.sock")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), bareServer+"="+socket)
	ready := must(cmd.StdoutPipe())
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if _, err := ready.Read(make([]byte, 1)); err != nil {
		b.Fatal(err)
	}
	conn := must(grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(insecure.NewCredentials())))
	b.Cleanup(func() { _ = conn.Close() })
	health := grpc_health_v1.NewHealthClient(conn)
	return func() error {
		_, err := health.Check(context.Background(), &grpc_health_v1.HealthCheckRequest{})
		return err
	}
}

// bareServer names the environment variable that makes this binary a server.
const bareServer = "BOTHY_BENCH_GRPC"

func serveBare(socket string) error {
	l, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	s := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(s, health.NewServer())
	fmt.Println("ready")
	return s.Serve(l)
}
