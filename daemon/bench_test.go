package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"
)

// The benchmarks here measure the built binaries. Both sides of a ratio are
// taken in turns within one run, and the medians are compared: a machine that
// is busy slows both. `make bench` prints the table.

// measured is one line of that table.
type measured struct{ what, value, goal string }

var results struct {
	sync.Mutex
	rows []measured
}

func report(b *testing.B, what, value, goal string) {
	b.Helper()
	results.Lock()
	defer results.Unlock()
	results.rows = slices.DeleteFunc(results.rows, func(r measured) bool { return r.what == what })
	results.rows = append(results.rows, measured{what, value, goal})
}

// ratio reports a/b of the medians as a metric and as a line of the table.
func ratio(b *testing.B, what, metric string, over, under []time.Duration, goal string) {
	b.Helper()
	x := float64(median(over)) / float64(median(under))
	b.ReportMetric(x, metric)
	report(b, what, fmt.Sprintf("%.2fx  (%v against %v, n=%d)", x, round(median(over)), round(median(under)), len(over)), goal)
}

func median(d []time.Duration) time.Duration {
	s := slices.Sorted(slices.Values(d))
	return s[len(s)/2]
}

func round(d time.Duration) time.Duration {
	if d < time.Millisecond {
		return d.Round(time.Microsecond)
	}
	return d.Round(10 * time.Microsecond)
}

// printResults prints the table; TestMain calls it.
func printResults() {
	if len(results.rows) == 0 {
		return
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "\nMEASURED\tVALUE\tGOAL")
	for _, r := range results.rows {
		fmt.Fprintf(w, "%s\t%s\t%s\n", r.what, r.value, r.goal)
	}
	_ = w.Flush() // standard output
}

// timed runs f and appends how long it took.
func timed(b *testing.B, to *[]time.Duration, f func() error) {
	b.Helper()
	start := time.Now()
	if err := f(); err != nil {
		b.Fatal(err)
	}
	*to = append(*to, time.Since(start))
}

// surroundings gives a benchmark a home and a runtime folder of its own.
func surroundings(b *testing.B) {
	b.Helper()
	prefix := installation(b) // with the caller's own HOME and its caches
	runtime, err := os.MkdirTemp("/tmp", "bb-")
	if err != nil {
		b.Fatal(err)
	}
	home, err := os.MkdirTemp("", "bothy-bench-")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := errors.Join(os.RemoveAll(runtime), removeAll(home)); err != nil {
			b.Error(err)
		}
	})
	b.Setenv("HOME", home)
	b.Setenv("XDG_RUNTIME_DIR", runtime)
	b.Setenv("XDG_STATE_HOME", filepath.Join(os.Getenv("HOME"), "state"))
	b.Setenv("XDG_CONFIG_HOME", filepath.Join(os.Getenv("HOME"), "config"))
	b.Setenv("BOTHY_PREFIX", prefix)
	for _, v := range asksNobody {
		name, value, _ := strings.Cut(v, "=")
		b.Setenv(name, value)
	}
}

// serving runs a daemon in this process until the benchmark is over.
func serving(b *testing.B) *Daemon {
	b.Helper()
	d, stop := serve(b)
	b.Cleanup(stop)
	return d
}

// serve is serving until it is stopped.
func serve(b *testing.B) (d *Daemon, stop func()) {
	b.Helper()
	d, err := New(context.Background(), Options{LogLevel: "error"})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	return d, func() {
		cancel()
		if err := <-done; err != nil {
			b.Error(err)
		}
	}
}

func needSandbox(b *testing.B) {
	b.Helper()
	if ok, _ := condition("sandbox"); !ok {
		b.Skip("sandbox: rootless Podman is needed, and a user who is not root")
	}
}
