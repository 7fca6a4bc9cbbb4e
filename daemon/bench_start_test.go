package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/host"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// BenchmarkStart compares starting all bundled plugins at the same time with
// starting them one after the other.
func BenchmarkStart(b *testing.B) {
	surroundings(b)
	_, cfg, _ := LoadConfig("", &audit.Redactor{})
	libexec := filepath.Join(installation(b), "libexec", "bothy")
	blocks := slices.Clone(cfg.Plugins)
	for _, p := range cfg.Providers { // one instance of each provider plugin, one that needs no key
		if p.Label == "ollama" || p.Label == "lmstudio" || p.Label == "replay" {
			blocks = append(blocks, p)
		}
	}
	resident := map[string]int64{}
	start := func(to *[]time.Duration, groups [][]config.Plugin) {
		h, err := host.New(host.Config{
			Config:    inspect.Config{Log: hclog.NewNullLogger(), Libexec: libexec, DataDir: b.TempDir()},
			SocketDir: filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "s"), Prefix: installation(b),
			Text: func(d inspect.Diagnostic) string { return d.Error() }, Diagnose: func(inspect.Diagnostic) {}, Mended: func(inspect.Diagnostic) {},
			Register: func(context.Context, sdk.Scheme) error { return nil }, Refused: func(string, string) {}, Changed: func() {},
		})
		if err != nil {
			b.Fatal(err)
		}
		defer h.Stop(context.Background())
		timed(b, to, func() error {
			var specs []inspect.Spec
			for _, group := range groups {
				for _, block := range group {
					spec := inspect.SpecOf(cfg, block)
					spec.Lazy = false
					specs = append(specs, spec)
				}
				for _, x := range h.Apply(context.Background(), specs) {
					return errors.New(x.Error())
				}
			}
			return nil
		})
		for _, p := range h.Plugins() {
			resident[p.Plugin] = p.RSS
		}
	}
	var one [][]config.Plugin
	for _, block := range blocks {
		one = append(one, []config.Plugin{block})
	}
	var parallel, series []time.Duration
	for b.Loop() {
		start(&parallel, [][]config.Plugin{blocks})
		start(&series, one)
	}
	ratio(b, fmt.Sprintf("start of %d plugins: at once against one by one", len(blocks)), "x-series", parallel, series, "reported")
	for _, name := range slices.Sorted(maps.Keys(resident)) {
		report(b, "resident memory: plugin "+name, megabytes(resident[name]), "reported")
	}
}

// BenchmarkColdStart measures from nothing: the time until a fresh bothyd
// answers the first status, and from then until a replayed turn has ended, for
// which the provider's plugin is started.
func BenchmarkColdStart(b *testing.B) {
	var status, turn []time.Duration
	for b.Loop() {
		surroundings(b)
		home := os.Getenv("HOME")
		sayHello(b, home)
		bothyd := exec.Command(filepath.Join(os.Getenv("BOTHY_PREFIX"), "bin", "bothyd"))
		timed(b, &status, func() error {
			if err := bothyd.Start(); err != nil {
				return err
			}
			_, err := firstStatus()
			return err
		})
		timed(b, &turn, func() error {
			cmd := exec.Command(filepath.Join(os.Getenv("BOTHY_PREFIX"), "bin", "bothy"), "run", "--project", home, "--model", "replay/hello", "Say hello.")
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			return nil
		})
		if err := errors.Join(bothyd.Process.Signal(os.Interrupt), bothyd.Wait()); err != nil {
			b.Fatal(err)
		}
	}
	report(b, "cold start of bothyd to the first status", fmt.Sprintf("%v (n=%d)", round(median(status)), len(status)), "reported")
	report(b, "from there to the end of a replayed turn, through bothy", fmt.Sprintf("%v (n=%d)", round(median(turn)), len(turn)), "reported")
}

// firstStatus asks until the daemon answers.
func firstStatus() (rpc.Status, error) {
	var c client.Client
	for deadline := time.Now().Add(10 * time.Second); ; <-time.After(time.Millisecond) {
		st, err := c.Status(context.Background())
		if err == nil || time.Now().After(deadline) {
			return st, err
		}
	}
}

// sayHello configures a cassette of one turn without tools.
func sayHello(b *testing.B, home string) {
	b.Helper()
	cassette := `{"format":1,"model":"hello","steps":[{"request":[{"role":"user","text":"Say hello."}],"events":[{"text":"Hello."},{"finish":{"reason":"stop"}}]}]}`
	for path, text := range map[string]string{
		"config/bothy/config.hcl": fmt.Sprintf("provider \"replay\" {\n  cassettes = %q\n}\n", filepath.Join(home, "cassettes")),
		"cassettes/hello.json":    cassette,
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(home, path)), 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, path), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMemory reports what the daemon holds once everything runs.
func BenchmarkMemory(b *testing.B) {
	surroundings(b)
	bothyd := exec.Command(filepath.Join(installation(b), "bin", "bothyd"))
	if err := bothyd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() { _ = bothyd.Process.Signal(os.Interrupt); _ = bothyd.Wait() }()
	st, err := firstStatus()
	if err != nil {
		b.Fatal(err)
	}
	var c client.Client
	for b.Loop() {
		if st, err = c.Status(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	report(b, "resident memory: bothyd", megabytes(st.RSS), "reported")
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }
