package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// patience bounds what a test waits for in another process on a busy machine.
const patience = 60 * time.Second

// site is the surroundings of one real daemon: a home, a runtime folder, a
// project and a model server. The daemon in it dies and is started again.
type site struct {
	t       testing.TB
	root    string // holds all else; every process that belongs here names it
	project string
	// aside is the project of clients that call beside a run: what they write into the
	// file of a command that runs would be a conflict.
	aside   string
	store   string
	env     []string
	binary  string // the bothyd to start
	model   *stepsModel
	history *history
	client  *client.Client // for calls of the test itself

	daemon *bothyd
}

// bothyd is one daemon process.
type bothyd struct {
	cmd    *exec.Cmd
	ended  chan struct{}
	err    error // why it ended; read after ended
	stderr string
}

// newSite makes a site whose configuration is made of the blocks given, beside
// the model server and the plugin ledger. Its daemon is not started.
func newSite(t testing.TB, blocks ...string) *site {
	t.Helper()
	prefix := installation(t)
	root, err := os.MkdirTemp("/tmp", "bk-") // short: a socket's path ends at 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	s := &site{
		t: t, root: root, project: filepath.Join(root, "project"), aside: filepath.Join(root, "aside"), store: filepath.Join(root, "home/.local/state/bothy/bothy.db"),
		binary: filepath.Join(prefix, "bin", "bothyd"), model: newStepsModel(t), history: newHistory(),
	}
	s.client = s.connect("test")
	t.Cleanup(s.leave)
	for _, dir := range []string{"home/.config/bothy", "home/.local/state/bothy", "project/.git/hooks", "aside", "run"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.env = []string{
		"HOME=" + filepath.Join(root, "home"), "XDG_RUNTIME_DIR=" + filepath.Join(root, "run"), "BOTHY_PREFIX=" + prefix,
		"PATH=" + os.Getenv("PATH"), "NO_COLOR=1", "LANG=C.UTF-8",
	}
	s.env = append(s.env, asksNobody...)
	s.configure(blocks...)
	return s
}

// withoutSandbox leaves out the bundled plugins, for a daemon that starts fast.
const withoutSandbox = "plugin \"bash\" {\n  enabled = false\n}\nplugin \"files\" {\n  enabled = false\n}\n"

func (s *site) configure(blocks ...string) {
	s.t.Helper()
	text := fmt.Sprintf(`
provider "steps" {
  plugin   = "openai"
  base_url = %q
}
agent "default" {
  model = "steps/steps"
}
plugin "ledger" {
  env     = { %s = "1" }
  grants  = ["project", "tools", "entries"]
  tools   = ["note_line"]
  schemes = ["known", "prompt"]
}
`, s.model.url(), playLedger) + strings.Join(blocks, "\n")
	if err := os.WriteFile(filepath.Join(s.root, "home/.config/bothy/config.hcl"), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// connect makes a client of the site's daemon, whichever runs, that may do all.
func (s *site) connect(name string) *client.Client {
	return &client.Client{Socket: filepath.Join(s.root, "run", "bothy", "bothy.sock"), Name: name, Role: rpc.RoleAdmin}
}

// start starts a daemon and does not wait for it. before is a command line to
// run it under.
func (s *site) start(env []string, before ...string) *bothyd {
	s.t.Helper()
	line := append(before, s.binary)
	d := &bothyd{cmd: exec.Command(line[0], line[1:]...), ended: make(chan struct{}), stderr: filepath.Join(s.root, "stderr")}
	d.cmd.Dir = s.project
	d.cmd.Env = append(append([]string{}, s.env...), env...)
	out, err := os.OpenFile(d.stderr, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = out.Close() }() // the daemon has its own
	d.cmd.Stdout, d.cmd.Stderr = out, out
	if err := d.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() {
		d.err = d.cmd.Wait()
		close(d.ended)
	}()
	s.daemon = d
	return d
}

// up starts a daemon and waits until it answers.
func (s *site) up(env ...string) *bothyd {
	s.t.Helper()
	d := s.start(env)
	if err := s.ready(d); err != nil {
		s.t.Fatalf("the daemon does not start: %v\n%s", err, s.evidence())
	}
	return d
}

// ready waits until the daemon answers, or has ended.
func (s *site) ready(d *bothyd) error {
	for deadline := time.Now().Add(patience); ; <-time.After(2 * time.Millisecond) {
		hello, err := s.client.Hello(context.Background())
		if err == nil && hello.PID > 0 {
			s.history.position(hello.Seq)
			return nil
		}
		select {
		case <-d.ended:
			return fmt.Errorf("it ended: %v", d.err)
		default:
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("it does not answer: %w", err)
		}
	}
}

// kill ends the daemon as `kill -9` does, and waits for that.
func (s *site) kill() {
	s.t.Helper()
	s.signal(syscall.SIGKILL)
}

// stop ends the daemon in order.
func (s *site) stop() {
	s.t.Helper()
	s.signal(syscall.SIGTERM)
}

func (s *site) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.daemon.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		s.t.Fatal(err)
	}
	if !s.daemon.gone(patience) {
		s.t.Fatalf("the daemon did not end within %v of %v\n%s", patience, sig, s.evidence())
	}
	_ = s.client.Close() // the connection broke with the daemon
}

// gone waits for the process to end and reports whether it did.
func (d *bothyd) gone(within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-d.ended:
		return true
	case <-timer.C:
		return false
	}
}

// leave ends whatever still runs and removes the site. A daemon that runs is
// ended in order, so that it takes its containers along.
func (s *site) leave() {
	if d := s.daemon; d != nil {
		_ = d.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		if !d.gone(30 * time.Second) {
			_ = d.cmd.Process.Kill()
			d.gone(patience)
		}
	}
	_ = s.client.Close()
	if s.t.Failed() {
		s.t.Log(s.evidence())
	}
	s.endRest()
	s.model.close()
	if err := removeAll(s.root); err != nil {
		s.t.Log(err)
	}
}

// evidence is what a person wants to see when something went wrong.
func (s *site) evidence() string {
	var text strings.Builder
	for _, name := range []string{"home/.local/state/bothy/bothyd.log", "stderr"} {
		log, err := os.ReadFile(filepath.Join(s.root, name))
		if err == nil {
			fmt.Fprintf(&text, "== the end of %s:\n%s\n", name, lastLines(log, 40))
		}
	}
	fmt.Fprintf(&text, "== the end of the journal, as it was sent:\n%s", s.history.tail(40))
	return text.String()
}

func lastLines(text []byte, n int) []byte {
	lines := bytes.Split(bytes.TrimRight(text, "\n"), []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-n):], []byte("\n"))
}

// status asks the daemon how it is, and takes its word for the journal's position.
func (s *site) status() rpc.Status {
	s.t.Helper()
	st, err := s.client.Status(context.Background())
	if err != nil {
		s.t.Fatalf("status: %v\n%s", err, s.evidence())
	}
	s.history.position(st.Seq)
	return st
}

// seeded makes a source of chance that BOTHY_SEED repeats, and logs the seed.
func seeded(t testing.TB) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv("BOTHY_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("BOTHY_SEED: %v", err)
		}
		seed = n
	}
	fmt.Printf("%s: BOTHY_SEED=%d\n", t.Name(), seed) // printed also when the test passes
	return rand.New(rand.NewPCG(seed, 1))
}
