package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"

	"github.com/bothyd/bothy/daemon/internal/config"
)

// log is what was logged.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// child is a process that runs a script, and what was read of it.
type child struct {
	*Process
	log *log
	out chan string // all of its standard output, as go-plugin reads it
}

// begin starts a shell script in a set, as go-plugin does.
func begin(t *testing.T, s *Set, script string, change ...func(*Options)) child {
	t.Helper()
	c := child{log: &log{}, out: make(chan string, 1)}
	o := Options{Log: hclog.New(&hclog.LoggerOptions{Output: c.log, Level: hclog.Debug}), File: "/bin/sh"}
	for _, f := range change {
		f(&o)
	}
	c.Process = s.New(o)
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dir := t.TempDir()
	cmd.Env = append(os.Environ(), goplugin.EnvUnixSocketDir+"="+dir)
	c.Take(cmd, dir)
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, c.Stderr()) }() // it ends with the process
	go func() {
		all, _ := io.ReadAll(c.Stdout())
		c.out <- string(all)
	}()
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// eventually polls until ok, or fails after a time that only a defect reaches.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

// TestWhatStandsBeforeTheHandshake: the first line is passed on alone, and known; what is
// behind it, and on standard error, is logged, and none of it blocks who writes it.
func TestWhatStandsBeforeTheHandshake(t *testing.T) {
	long := strings.Repeat("x", 3*handshakeLimit)
	for name, c := range map[string]struct{ script, out, said string }{
		"a line":      {`echo '1|1|unix|/x|grpc'; echo behind; echo beside >&2`, "1|1|unix|/x|grpc\n", "1|1|unix|/x|grpc"},
		"no line end": {`printf half`, "", "half"},
		"too long":    {`printf ` + long, "no handshake\n", long[:handshakeLimit]},
		"nothing":     {`exit 3`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewSet("", hclog.NewNullLogger())
			p := begin(t, s, c.script)
			if out := <-p.out; out != c.out {
				t.Errorf("passed on %.50q, want %.50q", out, c.out)
			}
			if said := p.Said(); said != c.said {
				t.Errorf("it said %.50q, want %.50q", said, c.said)
			}
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			if logged := p.log.String(); name == "a line" && (!strings.Contains(logged, "behind") || !strings.Contains(logged, "beside") || strings.Contains(logged, "grpc")) {
				t.Errorf("logged %q", logged)
			}
		})
	}
}

// TestHowItEnded are the ends that people read of.
func TestHowItEnded(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		how    string
		memory bool
	}{
		"well":      {`exit 0`, "it ended with exit status 0", false},
		"words":     {`echo 'no licence found' >&2; exit 3`, `it ended with exit status 3; its last words: "no licence found"`, false},
		"memory":    {`echo 'fatal error: runtime: out of memory' >&2; exit 2`, `it ended with exit status 2; its last words: "fatal error: runtime: out of memory"`, true},
		"no memory": {`echo 'MemoryError, it said' >&2; exit 0`, `it ended with exit status 0; its last words: "MemoryError, it said"`, false},
		"a signal":  {`kill -9 $$`, "it ended with signal: killed", false},
	} {
		t.Run(name, func(t *testing.T) {
			p := begin(t, NewSet("", hclog.NewNullLogger()), c.script)
			waited := p.Wait(context.Background())
			if how := p.How(); how != c.how || p.OutOfMemory() != c.memory {
				t.Errorf("%q, memory %v", how, p.OutOfMemory())
			}
			if failed := !strings.Contains(c.how, "status 0"); (waited != nil) != failed {
				t.Errorf("Wait: %v", waited)
			}
		})
	}
}

// TestNeverStarted: what cannot be started says so, and leaves nothing.
func TestNeverStarted(t *testing.T) {
	s := NewSet("", hclog.NewNullLogger())
	begun := 0
	p := s.New(Options{Log: hclog.NewNullLogger(), File: "/nothing"})
	p.Begun, p.Meanwhile = func() { begun++ }, func() { t.Error("it was started") }
	p.Take(exec.Command("/nothing"), t.TempDir())
	if err := p.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "start /nothing") {
		t.Errorf("got %v", err)
	}
	if begun != 1 || p.PID() != 0 || p.ID() != "0" || p.Name() != "nothing" || len(s.PIDs()) != 0 || s.Len() != 1 {
		t.Errorf("begun %d, pid %d, %d processes", begun, p.PID(), s.Len())
	}
	if how := p.How(); how != "it never ran" {
		t.Error(how)
	}
	if err := p.Close(); err != nil || s.Len() != 0 {
		t.Errorf("%v, %d are kept", err, s.Len())
	}
}

// TestTheGroupEndsWithIt: what it started ends with it, also who holds its pipes, and also
// who made a session of its own, unless that may outlive it.
func TestTheGroupEndsWithIt(t *testing.T) {
	for name, c := range map[string]struct {
		start  string
		leaves bool
		stays  bool
	}{
		"in its group":     {`sh -c "$other" &`, true, false},
		"in a session":     {`setsid sh -c "$other" &`, false, false},
		"may outlive it":   {`setsid sh -c "$other" >/dev/null 2>&1 &`, true, true},
		"holds its output": {`sh -c "$other" >&2 &`, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewSet("", hclog.NewNullLogger())
			file := filepath.Join(t.TempDir(), "pid")
			p := begin(t, s, `other='echo $$ >`+file+`.new; mv `+file+`.new `+file+`; exec sleep 300'; `+c.start+` wait; sleep 300`, func(o *Options) { o.Leaves = c.leaves })
			var other int
			eventually(t, "it has started another", func() bool {
				text, err := os.ReadFile(file)
				other, _ = strconv.Atoi(strings.TrimSpace(string(text)))
				return err == nil
			})
			if pids := s.PIDs(); len(pids) != 1 || pids[0] != p.PID() || !s.Owns(p.PID()) || s.Owns(os.Getpid()) {
				t.Errorf("there are %v", pids)
			}
			if how := p.How(); how != "it still runs" {
				t.Error(how)
			}
			if err := p.Close(); err != nil || !gone(p.PID()) {
				t.Fatalf("%v, gone %v", err, gone(p.PID()))
			}
			if c.stays {
				if gone(other) {
					t.Error("it was ended")
				}
				_ = syscall.Kill(other, syscall.SIGKILL)
				return
			}
			eventually(t, "the other is gone", func() bool { return gone(other) || zombie(other) })
		})
	}
}

// zombie says whether a process has ended and nobody took its status.
func zombie(pid int) bool {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return bytes.Contains(stat, []byte(") Z "))
}

// TestQuit: one that is asked where it stands may answer, also when it was stopped; what
// it says then is no log, and one that does not answer is not waited for.
func TestQuit(t *testing.T) {
	s := NewSet("", hclog.NewNullLogger())
	ready := `echo ready; `
	answers := begin(t, s, `trap 'echo stacks >&2; exit 2' QUIT; echo before >&2; `+ready+`while :; do sleep 0.02; done`)
	eventually(t, "it is ready", func() bool { return answers.Said() == "ready" && strings.Contains(answers.log.String(), "before") })
	if err := syscall.Kill(answers.PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if got := string(answers.Quit(time.Minute)); got != "stacks\n" {
		t.Errorf("it said %q", got)
	}
	if strings.Contains(answers.log.String(), "stacks") {
		t.Error("it was logged")
	}
	deaf := begin(t, s, `trap '' QUIT; `+ready+`while :; do sleep 0.02; done`)
	eventually(t, "it is ready", func() bool { return deaf.Said() == "ready" })
	if got := deaf.Quit(20 * time.Millisecond); len(got) != 0 || gone(deaf.PID()) {
		t.Errorf("it said %q", got)
	}
}

// TestKilledBeforeItsStart: what is to end before it has begun ends when it does.
func TestKilledBeforeItsStart(t *testing.T) {
	s := NewSet("", hclog.NewNullLogger())
	p := s.New(Options{Log: hclog.NewNullLogger(), File: "/bin/sleep"})
	if err := p.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sleep", "300")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.Take(cmd, t.TempDir())
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// TestForeign: a process that somebody else owns is never ended.
func TestForeign(t *testing.T) {
	cmd := exec.Command("sleep", "300")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	s := NewSet("", hclog.NewNullLogger())
	p := s.New(Options{Log: hclog.NewNullLogger()})
	p.Foreign(cmd.Process.Pid)
	if !s.Owns(cmd.Process.Pid) {
		t.Error("it is no plugin's")
	}
	_ = p.Quit(time.Millisecond)
	if err := p.Close(); err != nil || gone(cmd.Process.Pid) || s.Len() != 0 {
		t.Errorf("%v, gone %v", err, gone(cmd.Process.Pid))
	}
	p.Left()
	<-p.Done()
}

// TestOwnSocketsOnly: only a Unix socket in its own folder is dialled.
func TestOwnSocketsOnly(t *testing.T) {
	p := &Process{Dir: "/run/own"}
	for address, want := range map[string]bool{
		"unix /run/own/s": true, "unix /run/own/./s": true,
		"unix /run/own/../s": false, "unix /run/other/s": false, "unix /run/own/deep/s": false, "tcp 127.0.0.1:1": false,
	} {
		network, at, _ := strings.Cut(address, " ")
		if _, _, err := p.PluginToHost(network, at); (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
	if network, at, err := p.HostToPlugin("unix", "/x"); network != "unix" || at != "/x" || err != nil {
		t.Error(network, at, err)
	}
}

// TestLimits: what is asked for is in force in the process.
func TestLimits(t *testing.T) {
	p := begin(t, NewSet("", hclog.NewNullLogger()), `read -r _ </dev/zero; sleep 300`, func(o *Options) { o.Limits = config.Limits{Memory: 256 << 20, Files: 64} })
	if in := Limited(p.PID()); in.Memory != 256<<20 || in.Files != 64 {
		t.Errorf("in force are %+v", in)
	}
	if Resident(p.PID()) <= 0 || Resident(0) != 0 {
		t.Errorf("it has %d bytes", Resident(p.PID()))
	}
}

// TestLimit: what is too much is dropped and told, once.
func TestLimit(t *testing.T) {
	out := &log{}
	l := NewLimit(hclog.New(&hclog.LoggerOptions{Output: out}))
	admitted := 0
	for range 3 * linesPerSecond {
		if l.Admit(10) {
			admitted++
		}
	}
	if l.Admit(bytesPerSecond) {
		t.Error("more bytes than a second has")
	}
	l.Report()
	l.Report()
	if text := out.String(); admitted < linesPerSecond || strings.Count(text, "lines were dropped") == 0 || strings.Count(text, "lines were dropped") > 2 {
		t.Errorf("%d admitted, logged %q", admitted, text)
	}
}

// TestLines: lines are logged as they end, one that is too long as far as it may be, and
// the last one without an end.
func TestLines(t *testing.T) {
	long := strings.Repeat("y", longestLine)
	for name, c := range map[string]struct {
		writes []string
		want   []string
	}{
		"in pieces":    {[]string{"a", "b\nc", "\n"}, []string{"ab", "c"}},
		"no end":       {[]string{"last"}, []string{"last"}},
		"too long":     {[]string{long, long, "z\nnext\n"}, []string{long, "next"}},
		"just as long": {[]string{long + "\nnext\n"}, []string{long, "next"}},
		"windows":      {[]string{"a\r\n"}, []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			out := &log{}
			l := NewLines(hclog.New(&hclog.LoggerOptions{Output: out, DisableTime: true}))
			for _, w := range c.writes {
				if n, err := l.Write([]byte(w)); n != len(w) || err != nil {
					t.Fatal(n, err)
				}
			}
			l.Flush()
			want := ""
			for _, line := range c.want {
				want += "[INFO]  " + line + "\n"
			}
			if got := out.String(); got != want {
				t.Errorf("logged %.200q, want %.200q", got, want)
			}
		})
	}
}

// TestLevels: lines that begin with their level are passed on, those of a logger are logged by
// theirs, and those of a dump as errors.
func TestLevels(t *testing.T) {
	out, passed := &log{}, &log{}
	l := NewLines(hclog.New(&hclog.LoggerOptions{Output: out, DisableTime: true}))
	l.levelled = passed
	_, _ = l.Write([]byte("plain\n[WARN] old\n{\"@level\":\"info\",\"@message\":\"m\"}\npanic: x\n\ngoroutine 1\n"))
	if got, want := passed.String(), "[WARN] old\n"; got != want {
		t.Errorf("passed on %q", got)
	}
	if got, want := out.String(), "[INFO]  plain\n[INFO]  m\n[ERROR] panic: x\n[ERROR] \n[ERROR] goroutine 1\n"; got != want {
		t.Errorf("logged %q, want %q", got, want)
	}
}
