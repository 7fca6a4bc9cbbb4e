package host

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// The benchmarks here take both sides of a ratio in turns within one run, and
// compare the medians: a machine that is busy slows both. The other side is an
// ordinary gRPC server in a process of its own (plainserver).

// built builds one of the programs beside this package. It is not used before it
// is as old as an installed one: what was written just now is verified anew each
// time.
func built(b *testing.B, name string) string {
	b.Helper()
	binary := filepath.Join(b.TempDir(), "bothy-plugin-"+name)
	if out, err := exec.Command("go", "build", "-o", binary, "./"+name).CombinedOutput(); err != nil {
		b.Fatalf("build %s: %v\n%s", name, err, out)
	}
	time.Sleep(2100 * time.Millisecond)
	return binary
}

// plain is a running plainserver.
type plain struct {
	cmd  *exec.Cmd
	conn *grpc.ClientConn
}

func startPlain(b *testing.B, binary string) *plain {
	b.Helper()
	path := filepath.Join(shortDir(b), "plain")
	cmd := exec.Command(binary, path)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	var ready string
	if _, err := fmt.Fscan(stdout, &ready); err != nil {
		b.Fatal(err)
	}
	conn, err := grpc.NewClient("unix:"+path, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		b.Fatal(err)
	}
	return &plain{cmd: cmd, conn: conn}
}

func (p *plain) echo(b *testing.B, payload []byte) {
	var out wrapperspb.BytesValue
	if err := p.conn.Invoke(context.Background(), "/plain.Echo/Echo", wrapperspb.Bytes(payload), &out); err != nil || len(out.Value) != len(payload) {
		b.Fatal(len(out.Value), err)
	}
}

func (p *plain) stop() {
	_ = p.conn.Close()
	_ = p.cmd.Process.Kill() // it serves until then
	_ = p.cmd.Wait()
}

func median(ds []time.Duration) float64 {
	if len(ds) == 0 {
		return 0
	}
	return float64(slices.Sorted(slices.Values(ds))[len(ds)/2])
}

// clock times f.
func clock(to *[]time.Duration, f func()) {
	began := time.Now()
	f()
	*to = append(*to, time.Since(began))
}

// compare reports both medians and their ratio, with the goal beside it.
func compare(b *testing.B, ours, theirs []time.Duration, goal float64) {
	b.Helper()
	b.ReportMetric(median(ours)/1e3, "ours-µs")
	b.ReportMetric(median(theirs)/1e3, "plain-µs")
	b.ReportMetric(median(ours)/median(theirs), "ratio")
	b.ReportMetric(goal, "goal")
}

// bench is a plugin with a digest that vouches for it, and the grant that its
// tool back needs.
func bench(b *testing.B, binary, instance string) inspect.Spec {
	b.Helper()
	s := inspect.Spec{Instance: instance, Plugin: "bench", Path: binary, SHA256: sha256Of(b, binary), Grants: []string{sdk.GrantEntries}}
	s.Quota.Calls = 1 << 40
	return s
}

func supervise(b *testing.B, specs ...inspect.Spec) *Supervisor {
	b.Helper()
	s, err := New(filled(Config{Config: inspect.Config{Log: hclog.NewNullLogger(), DataDir: b.TempDir()}, SocketDir: shortDir(b), Services: &fakeDaemon{}}))
	if err != nil {
		b.Fatal(err)
	}
	for _, d := range s.start(context.Background(), specs) {
		if !d.Warning() { // two of one binary have the same names
			b.Fatal(d)
		}
	}
	return s
}

// call calls a tool with about 100 bytes.
func call(b *testing.B, s *Supervisor, tool, text string) {
	res, err := s.Invoke(context.Background(), sdk.Invocation{Tool: tool, Arguments: json.RawMessage(`{"text":"` + text + `"}`), Run: "run"}, silent{})
	if err != nil || !res.Success {
		b.Fatal(res, err)
	}
}

type silent struct{}

func (silent) Chunk(int, []byte) error        { return nil }
func (silent) Progress(string, float64) error { return nil }

var hundred = strings.Repeat("x", 100)

// rounds takes turns of 250 calls, so that each side's code and data are where a
// busy daemon has them, and compares the medians of the rounds' medians. Who
// begins changes from round to round.
func rounds(b *testing.B, ours, theirs func(), goal float64) {
	b.Helper()
	var mine, plain []time.Duration
	turn := func(to *[]time.Duration, f func()) {
		var taken []time.Duration
		for range 250 {
			clock(&taken, f)
		}
		*to = append(*to, time.Duration(median(taken)))
	}
	turn(&[]time.Duration{}, ours) // both are warm
	turn(&[]time.Duration{}, theirs)
	for n := 0; b.Loop(); n++ {
		if n%2 == 0 {
			turn(&mine, ours)
			turn(&plain, theirs)
		} else {
			turn(&plain, theirs)
			turn(&mine, ours)
		}
	}
	compare(b, mine, plain, goal)
}

// BenchmarkCall: a tool that answers with its argument of 100 bytes, through
// names, schema, call table and cancellation, against a plain unary call.
func BenchmarkCall(b *testing.B) {
	p := startPlain(b, built(b, "plainserver"))
	defer p.stop()
	s := supervise(b, bench(b, built(b, "benchplugin"), "bench"))
	defer s.Stop(context.Background())
	rounds(b, func() { call(b, s, "echo", hundred) }, func() { p.echo(b, []byte(hundred)) }, 1.1)
}

// BenchmarkCallback: a tool that reads an entry of the daemon's, against one
// plain unary call.
func BenchmarkCallback(b *testing.B) {
	p := startPlain(b, built(b, "plainserver"))
	defer p.stop()
	s := supervise(b, bench(b, built(b, "benchplugin"), "bench"))
	defer s.Stop(context.Background())
	rounds(b, func() { call(b, s, "back", "known://"+hundred) }, func() { p.echo(b, []byte(hundred)) }, 2.3)
}

// BenchmarkColdStart: from nothing to the first answer of a plugin whose digest
// is verified, against a plain server's.
func BenchmarkColdStart(b *testing.B) {
	server, plugin := built(b, "plainserver"), built(b, "benchplugin")
	s := supervise(b, bench(b, plugin, "first")) // the daemon is there, and knows the file
	defer s.Stop(context.Background())
	var ours, theirs []time.Duration
	spec := bench(b, plugin, "")
	for n := 0; b.Loop(); n++ {
		spec.Instance = fmt.Sprintf("p%d", n)
		clock(&ours, func() {
			s.start(context.Background(), []inspect.Spec{spec})
			call(b, s, spec.Instance+"__echo", hundred)
		})
		s.remove(spec.Instance)
		var p *plain
		clock(&theirs, func() {
			p = startPlain(b, server)
			p.echo(b, []byte(hundred))
		})
		p.stop()
	}
	compare(b, ours, theirs, 1.5)
}

// BenchmarkStart: sixteen plugins started in parallel against in series.
func BenchmarkStart(b *testing.B) {
	const n = 16
	plugin := built(b, "benchplugin")
	var parallel, series []time.Duration
	for b.Loop() {
		specs := make([]inspect.Spec, n)
		for i := range specs {
			specs[i] = bench(b, plugin, fmt.Sprintf("p%d", i))
		}
		s := supervise(b, bench(b, plugin, "first"))
		clock(&parallel, func() { s.start(context.Background(), specs) })
		s.Stop(context.Background())

		s = supervise(b, bench(b, plugin, "first"))
		clock(&series, func() {
			for _, spec := range specs {
				s.start(context.Background(), []inspect.Spec{spec})
			}
		})
		s.Stop(context.Background())
	}
	compare(b, parallel, series, 0.6)
}

// BenchmarkCrash: from a kill of the plugin to the next answer, against its cold
// start.
func BenchmarkCrash(b *testing.B) {
	plugin := built(b, "benchplugin")
	var ours, cold []time.Duration
	spec := bench(b, plugin, "p")
	for b.Loop() {
		s := supervise(b, bench(b, plugin, "first"))
		clock(&cold, func() {
			s.start(context.Background(), []inspect.Spec{spec})
			call(b, s, "p__echo", hundred)
		})
		pid := s.Plugins()[1].PID
		clock(&ours, func() {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				b.Fatal(err)
			}
			for s.Plugins()[1].PID == pid {
				time.Sleep(50 * time.Microsecond) // its death is not seen yet
			}
			call(b, s, "p__echo", hundred)
		})
		s.Stop(context.Background())
	}
	compare(b, ours, cold, 1.3)
}

// BenchmarkMemory: the private memory of a plugin that was called once and idles,
// beyond that of a plain server that was called once. There are two of each, so
// that the text of the programs is nobody's alone.
func BenchmarkMemory(b *testing.B) {
	server, plugin := built(b, "plainserver"), built(b, "benchplugin")
	p, other := startPlain(b, server), startPlain(b, server)
	defer p.stop()
	defer other.stop()
	other.echo(b, []byte(hundred))
	s := supervise(b, bench(b, plugin, "bench"), bench(b, plugin, "other"))
	defer s.Stop(context.Background())
	call(b, s, "other__back", "known://"+hundred)
	p.echo(b, []byte(hundred))
	call(b, s, "back", "known://"+hundred)
	pid := s.Plugins()[0].PID
	var ours, theirs float64
	for b.Loop() {
		ours, theirs = private(b, pid), private(b, p.cmd.Process.Pid)
	}
	b.ReportMetric(ours, "ours-MB")
	b.ReportMetric(theirs, "plain-MB")
	b.ReportMetric(ours-theirs, "more-MB")
	b.ReportMetric(2.5, "goal")
}

// private is the memory in MB that is a process's alone.
func private(b *testing.B, pid int) float64 {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		b.Fatal(err)
	}
	sum := 0
	for line := range bytes.Lines(text) {
		if f := strings.Fields(string(line)); strings.HasPrefix(f[0], "Private_") && f[0] != "Private_Hugetlb:" {
			kb, err := strconv.Atoi(f[1])
			if err != nil {
				b.Fatal(err)
			}
			sum += kb
		}
	}
	return float64(sum) / 1024
}
