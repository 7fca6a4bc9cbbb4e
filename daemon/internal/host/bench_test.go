package host

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/bothyd/bothy/sdk"
)

// plainServer is an ordinary gRPC server in a process of its own, on a Unix
// socket: what a call costs without a supervisor.
func plainServer(b *testing.B) grpc_health_v1.HealthClient {
	b.Helper()
	path := filepath.Join(shortDir(b), "plain")
	cmd := exec.Command(faultBinary)
	cmd.Env = []string{"FAULT=plain=" + path}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Kill() // it serves until then
		_ = cmd.Wait()
	})
	var ready string
	if _, err := fmt.Fscan(stdout, &ready); err != nil {
		b.Fatal(err)
	}
	conn, err := grpc.NewClient("unix:"+path, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := conn.Close(); err != nil {
			b.Error(err)
		}
	})
	return grpc_health_v1.NewHealthClient(conn)
}

func quiet(c *Config) { c.Log = hclog.NewNullLogger() }

func median(ds []time.Duration) float64 {
	if len(ds) == 0 {
		return 0
	}
	slices.Sort(ds)
	return float64(ds[len(ds)/2])
}

// BenchmarkCall: a no-op tool call through the supervisor (names, schema,
// cancellation, a stream with a result) against a plain unary call, one after
// the other in the same run. The goal is a ratio of at most 2.
func BenchmarkCall(b *testing.B) {
	plain := plainServer(b)
	r := started(b, quiet)
	call := sdk.Invocation{Tool: "noop", Arguments: json.RawMessage(`{}`), CallID: "c", Run: "r"}
	ctx := context.Background()
	o := newOut()
	var ours, theirs []time.Duration
	one := func(measure bool) {
		began := time.Now()
		if _, err := r.Invoke(ctx, call, o); err != nil {
			b.Fatal(err)
		}
		middle := time.Now()
		if _, err := plain.Check(ctx, &grpc_health_v1.HealthCheckRequest{}); err != nil {
			b.Fatal(err)
		}
		if measure {
			ours = append(ours, middle.Sub(began))
			theirs = append(theirs, time.Since(middle))
		}
	}
	for range 200 {
		one(false)
	}
	for b.Loop() {
		one(true)
	}
	b.ReportMetric(median(ours)/1e3, "call-µs")
	b.ReportMetric(median(theirs)/1e3, "grpc-µs")
	b.ReportMetric(median(ours)/median(theirs), "ratio")
}

// BenchmarkStart: eight plugins started in parallel against in series.
func BenchmarkStart(b *testing.B) {
	const n = 8
	var parallel, series []time.Duration
	for b.Loop() {
		specs := make([]Spec, n)
		for i := range specs {
			specs[i] = spec(fmt.Sprintf("p%d", i), "")
		}
		began := time.Now()
		together := startAll(b, specs)
		parallel = append(parallel, time.Since(began))
		together.Stop(context.Background())

		var apart []*Supervisor
		began = time.Now()
		for _, s := range specs {
			apart = append(apart, startAll(b, []Spec{s}))
		}
		series = append(series, time.Since(began))
		for _, s := range apart {
			s.Stop(context.Background())
		}
	}
	b.ReportMetric(median(parallel)/1e6, "parallel-ms")
	b.ReportMetric(median(series)/1e6, "series-ms")
	b.ReportMetric(median(parallel)/median(series), "ratio")
}

func startAll(b *testing.B, specs []Spec) *Supervisor {
	b.Helper()
	s, err := New(Config{Log: hclog.NewNullLogger(), SocketDir: shortDir(b), DataDir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	for _, d := range s.Start(context.Background(), specs) {
		if !d.Warning() {
			b.Fatal(d)
		}
	}
	return s
}
