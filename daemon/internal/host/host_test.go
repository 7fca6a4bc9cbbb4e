package host

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk/rpc"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// faultBinary is the plugin that fails in every way, built once.
var faultBinary string

// shimBinary is bothy-shim, beside it. A small host finds it by its own plugin.
func shimBinary() string {
	beside := faultBinary
	if beside == "" {
		beside = os.Getenv(asHost)
	}
	return filepath.Join(filepath.Dir(beside), "bothy-shim")
}

// asHost makes the test binary a small daemon, which the test then kills.
const asHost = "BOTHY_TEST_HOST"

func TestMain(m *testing.M) {
	if os.Getenv(asHost) != "" {
		runSmallHost()
		return
	}
	dir, err := os.MkdirTemp("", "faultplugin")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	faultBinary = filepath.Join(dir, "bothy-plugin-fault")
	for _, binary := range []struct{ file, from string }{{faultBinary, "./faultplugin"}, {shimBinary(), "../../cmd/bothy-shim"}} {
		build := exec.Command("go", "build", "-o", binary.file, binary.from)
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build %s: %v\n%s", binary.from, err, out)
			os.Exit(1)
		}
	}
	code := m.Run()
	_ = os.RemoveAll(dir) // the system clears what is left
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// shortDir is a folder whose path leaves room for sockets.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "bh")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// log collects what the host logs.
type log struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

type rig struct {
	*Supervisor
	log *log
}

// filled has all functions, those that are not given without an effect.
func filled(c Config) Config {
	if c.Text == nil {
		c.Text = func(d inspect.Diagnostic) string { return d.Error() }
	}
	if c.Diagnose == nil {
		c.Diagnose = func(inspect.Diagnostic) {}
	}
	if c.Mended == nil {
		c.Mended = func(inspect.Diagnostic) {}
	}
	if c.Register == nil {
		c.Register = func(context.Context, sdk.Scheme) error { return nil }
	}
	if c.Refused == nil {
		c.Refused = func(string, string) {}
	}
	if c.Changed == nil {
		c.Changed = func() {}
	}
	return c
}

// newRig makes a supervisor that is stopped when the test ends.
func newRig(t testing.TB, change func(*Config)) *rig {
	t.Helper()
	l := &log{}
	cfg := Config{
		Config:    inspect.Config{Log: hclog.New(&hclog.LoggerOptions{Level: hclog.Debug, Output: l}), DataDir: t.TempDir()},
		SocketDir: shortDir(t), Prefix: "/nowhere",
		HealthInterval: time.Second,
	}
	if change != nil {
		change(&cfg)
	}
	s, err := New(filled(cfg))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Stop(context.Background())
		if t.Failed() {
			t.Logf("the host's log:\n%.8000s", l)
		}
	})
	return &rig{Supervisor: s, log: l}
}

// atLevelInfo is what a daemon logs that was told nothing else.
func atLevelInfo(cfg *Config) { cfg.Log.SetLevel(hclog.Info) }

// spec is a fault plugin; mode says how it starts.
func spec(instance, mode string) inspect.Spec {
	return inspect.Spec{Instance: instance, Plugin: "fault", Path: faultBinary, Env: map[string]string{"FAULT": mode}, Grants: []string{sdk.GrantEntries}}
}

// asking is a fault plugin that declares that it calls back anything, and is
// granted what is named.
func asking(s inspect.Spec, grants ...string) inspect.Spec {
	s.Env["FAULT_CALLS"], s.Grants = "all", grants
	return s
}

// start begins plugins beside those that run, and waits for them.
func (s *Supervisor) start(ctx context.Context, specs []inspect.Spec) []inspect.Diagnostic {
	var begun []*instance
	for _, spec := range specs {
		if i := s.begin(spec); i != nil {
			begun = append(begun, i)
		}
	}
	return s.await(ctx, begun)
}

// started runs one healthy fault plugin.
func started(t testing.TB, change func(*Config), specs ...inspect.Spec) *rig {
	t.Helper()
	if len(specs) == 0 {
		specs = []inspect.Spec{spec("fault", "")}
	}
	r := newRig(t, change)
	for _, d := range r.start(context.Background(), specs) {
		if !d.Warning() {
			t.Fatalf("diagnostic: %s: %s", d.Summary, d.Detail)
		}
	}
	return r
}

// out records the pieces of a call.
type out struct {
	mu       sync.Mutex
	chunks   []byte
	progress []string
	told     chan string
}

func newOut() *out { return &out{told: make(chan string, 100)} }

func (o *out) Chunk(_ int, p []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.chunks = append(o.chunks, p...)
	return nil
}

func (o *out) Progress(m string, _ float64) error {
	o.mu.Lock()
	o.progress = append(o.progress, m)
	o.mu.Unlock()
	o.told <- m
	return nil
}

// call invokes a tool with a time limit that only a defect reaches.
func (r *rig) call(t testing.TB, tool, arguments string) (sdk.ToolResult, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return r.Invoke(ctx, sdk.Invocation{Tool: tool, Arguments: json.RawMessage(arguments), Run: "run"}, newOut())
}

func (r *rig) mustCall(t testing.TB, tool, arguments string) sdk.ToolResult {
	t.Helper()
	res, err := r.call(t, tool, arguments)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return res
}

// swapTo gives an instance another spec, and ask begins that.
func (r *rig) swapTo(ctx context.Context, s inspect.Spec) (Replaced, error) {
	i, err := r.instance(s.Instance)
	if err != nil {
		return Replaced{}, err
	}
	a, err := i.asks(s, false).wait(ctx)
	if err == nil && !a.Switched() { // that it goes on as it was is said last
		last := len(a.Diagnostics) - 1
		if note := a.Diagnostics[last].Summary; !strings.Contains(note, "keeps running with the block that it had") {
			return a, fmt.Errorf("the last of what is said is %q", note)
		}
		a.Diagnostics = a.Diagnostics[:last]
	}
	return a, err
}

// Switched is whether the new spec is in force.
func (r Replaced) Switched() bool { return r.How != "" && r.How != Kept }

func (r *rig) ask(s inspect.Spec, force bool) (*request, error) {
	i, err := r.instance(s.Instance)
	if err != nil {
		return nil, err
	}
	return i.asks(s, force), nil
}

func (r *rig) serving(instance string) (digest string, generation int) {
	i, err := r.instance(instance)
	if err != nil {
		return "", 0
	}
	return i.serving()
}

func (r *rig) status(t testing.TB, instance string) rpc.Plugin {
	t.Helper()
	for _, st := range r.Plugins() {
		if st.Instance == instance {
			return st
		}
	}
	t.Fatalf("no plugin %s", instance)
	return rpc.Plugin{}
}

// eventually polls until ok, or fails after a time that only a defect reaches.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("it never came true that %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// gone reports whether a process has ended. A zombie counts: who has to reap
// it is not the question.
func gone(pid int) bool {
	s := processState(pid)
	return s == "" || s == "Z" || s == "X"
}

// processState is the letter of /proc/PID/stat; empty when there is none.
func processState(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(fields) == 0 {
		return ""
	}
	return fields[0]
}

func wantOutcome(t testing.TB, err error, want sdk.Outcome) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want outcome %s", want)
	}
	if have := sdk.OutcomeOf(err); have != want {
		t.Fatalf("outcome %s, want %s: %v", have, want, err)
	}
}
