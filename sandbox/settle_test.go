//go:build linux

package sandbox_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk/protect"
)

// settleEnv makes the test binary a manager that can be killed: it runs the
// commands of several runs, or asks how those of an earlier one ended.
const settleEnv = "BOTHY_SANDBOX_TEST_SETTLE"

type settleJob struct {
	Config sandbox.Config
	Runs   []settleRun
	Ask    bool
}

// settleRun is a run with its commands, one after the other. The last prints
// "ready" when it is far enough.
type settleRun struct {
	Run      sandbox.RunSpec
	Commands []sandbox.Command
	// Returns says that the manager saw the last command end.
	Returns bool
}

// ended is what a manager says of a call.
type ended struct {
	Result         sandbox.Result
	Stdout, Stderr string
	Code           string
}

func ask(m *sandbox.Manager, run, call string) ended {
	var e ended
	var stdout, stderr strings.Builder
	r, err := m.Settle(context.Background(), run, call, func(channel int, data []byte) {
		if channel == 1 {
			stdout.Write(data)
		} else {
			stderr.Write(data)
		}
	})
	e.Result, e.Stdout, e.Stderr = r, stdout.String(), stderr.String()
	if err != nil {
		e.Code = sandbox.Code(err)
	}
	return e
}

func settleMain(text string) int {
	var job settleJob
	if err := json.Unmarshal([]byte(text), &job); err != nil {
		fmt.Println("error", err)
		return 1
	}
	job.Config.Protector, job.Config.Judge = protect.Rules{}, judgeByName{}
	m, err := sandbox.Open(context.Background(), job.Config, hclog.NewNullLogger())
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	if job.Ask {
		answers := map[string]ended{}
		for _, r := range job.Runs {
			for _, c := range r.Commands {
				answers[c.Call] = ask(m, r.Run.RunID, c.Call)
			}
		}
		if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
			return 1
		}
		select {}
	}
	for _, r := range job.Runs {
		far := make(chan struct{})
		go func() {
			ready := sync.OnceFunc(func() { close(far) })
			for i, c := range r.Commands {
				_, err := m.Exec(context.Background(), r.Run, c, func(_ int, data []byte) {
					if i == len(r.Commands)-1 && !r.Returns && strings.Contains(string(data), "ready") {
						ready()
					}
				})
				if err != nil && sandbox.Code(err) != sandbox.CodeInvalid {
					fmt.Println("error", err)
				}
			}
			if r.Returns {
				ready()
			}
		}()
		<-far
	}
	fmt.Println("ready")
	select {}
}

// settler starts such a process, waits for its first line and returns it, with
// how to kill the process.
func settler(t *testing.T, job settleJob) (string, func()) {
	t.Helper()
	data, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), settleEnv+"="+string(data))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	t.Cleanup(kill)
	hung := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer hung.Stop()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || strings.HasPrefix(line, "error") {
		t.Fatalf("the child said %q %v", line, err)
	}
	return line, kill
}

// settling is a set of runs below one directory.
type settling struct {
	t   *testing.T
	cfg sandbox.Config
	dir string
	job settleJob
}

func newSettling(t *testing.T) *settling {
	t.Helper()
	needPodman(t)
	s := &settling{t: t, dir: t.TempDir()}
	t.Cleanup(func() { removeAll(s.dir) })
	s.cfg = config(t, shortDir(t))
	s.job.Config = s.cfg
	s.job.Config.Protector = nil // the child has its own
	return s
}

// newViewed is newSettling for runs whose commands work on views.
func newViewed(t *testing.T) *settling {
	t.Helper()
	s := newSettling(t)
	s.cfg.View = buildView(t)
	s.job.Config.View, s.cfg.Judge = s.cfg.View, judgeByName{}
	return s
}

func (s *settling) add(run string, returns bool, commands ...sandbox.Command) {
	s.t.Helper()
	spec := sandbox.RunSpec{RunID: run, Project: s.path(run, "project"), RunDir: s.path(run, "run")}
	for _, dir := range []string{spec.Project, spec.RunDir} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			s.t.Fatal(err)
		}
	}
	for i := range commands {
		commands[i].Call = fmt.Sprintf("%s-%d", run, i)
		if commands[i].Timeout == 0 {
			commands[i].Timeout = 5 * time.Minute
		}
	}
	s.job.Runs = append(s.job.Runs, settleRun{Run: spec, Commands: commands, Returns: returns})
}

func (s *settling) path(names ...string) string {
	return filepath.Join(append([]string{s.dir}, names...)...)
}

func (s *settling) run(name string) sandbox.RunSpec {
	for _, r := range s.job.Runs {
		if r.Run.RunID == name {
			return r.Run
		}
	}
	s.t.Fatalf("no run %s", name)
	return sandbox.RunSpec{}
}

// container finds the processes beside a run's container.
func (s *settling) container(run string) map[int]string {
	key := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:6])
	}
	return processes(s.t, "bothy-"+key(s.cfg.Instance)+"-"+key(run))
}

// later is a script that ends only after the manager has died: the test makes
// the file "go" then.
func later(script string) sandbox.Command {
	return shell("echo ready; until test -e go; do sleep 0.02; done; " + script)
}

func shell(script string) sandbox.Command {
	return sandbox.Command{Argv: []string{"bash", "-c", script}}
}

const large = 11 << 20

// TestSettle: whatever a command came to while nobody was there is what the
// next manager answers, and the one after it.
func TestSettle(t *testing.T) {
	s := newSettling(t)
	s.add("fine", false, later("echo out; echo err >&2"))
	s.add("three", false, later("printf 'a\\xff\\x00b'; exit 3"))
	s.add("returned", true, shell("echo ready; exit 4"))
	s.add("signal", false, later("kill -9 $$"))
	s.add("leftover", false, later("setsid sleep 987601 & exit 6"))
	s.add("large", false, later(fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x; exit 5", large)))
	s.add("plants", false, later("mkdir .bothy; echo evil >.bothy/config.hcl"))
	s.add("planted", true, shell("mkdir .bothy; echo evil >.bothy/config.hcl; exit 7"))
	timeout := shell("echo ready; sleep 987602")
	timeout.Timeout = 2 * time.Second
	s.add("timeout", false, timeout)
	nowhere := shell("true")
	nowhere.Dir = "no/such/dir"
	s.add("nowhere", true, nowhere)
	s.add("running", false, shell("setsid sleep 987603 & echo ready; sleep 987603"))
	s.add("two", false, shell("echo first; exit 8"), shell("echo ready; sleep 987604"))
	s.add("gone", false, shell("echo ready; sleep 987605"))

	_, kill := settler(t, s.job)
	kill()
	for _, r := range s.job.Runs {
		if err := os.WriteFile(filepath.Join(r.Run.Project, "go"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "every command that can has ended", func() bool {
		return len(processes(t, "until test -e go")) == 0 && len(processes(t, "sleep\x00987602")) == 0
	})
	if len(processes(t, "sleep\x00987603")) == 0 {
		t.Error("a command was killed before anybody asked what it came to")
	}
	if err := os.RemoveAll(s.run("gone").RunDir); err != nil {
		t.Fatal(err)
	}
	asking := s.job
	asking.Ask = true
	line, kill := settler(t, asking)
	kill() // and nobody took note of what it said
	var first map[string]ended
	if err := json.Unmarshal([]byte(line), &first); err != nil {
		t.Fatal(err)
	}

	m := open(t, s.cfg)
	for call, want := range map[string]ended{
		"fine-0":     {Stdout: "ready\nout\n", Stderr: "err\n"},
		"three-0":    {Stdout: "ready\na\xff\x00b", Result: sandbox.Result{ExitCode: 3}},
		"returned-0": {Stdout: "ready\n", Result: sandbox.Result{ExitCode: 4}},
		"signal-0":   {Stdout: "ready\n", Result: sandbox.Result{ExitCode: 137, Signal: "SIGKILL"}},
		"leftover-0": {Stdout: "ready\n", Result: sandbox.Result{ExitCode: 6, Leftovers: 1}},
		"large-0": {Stdout: "ready\n" + strings.Repeat("x", sandbox.DefaultStdoutCap-6),
			Result: sandbox.Result{ExitCode: 5, StdoutDropped: large + 6 - sandbox.DefaultStdoutCap}},
		"plants-0":  {Stdout: "ready\n", Result: sandbox.Result{Violations: []sandbox.Violation{{Path: ".bothy", Action: sandbox.ActionRemoved}}}},
		"planted-0": {Result: sandbox.Result{ExitCode: 7, Violations: []sandbox.Violation{{Path: ".bothy", Action: sandbox.ActionRemoved}}}},
		"timeout-0": {Stdout: "ready\n", Result: sandbox.Result{ExitCode: 137, Signal: "SIGKILL", TimedOut: true, Timeout: 2 * time.Second}},
		"nowhere-0": {Code: sandbox.CodeInvalid},
		"running-0": {Stdout: "ready\n", Code: sandbox.CodeLost},
		"two-0":     {Result: sandbox.Result{ExitCode: 8, StdoutDropped: 6}}, // its output went when the next one began
		"two-1":     {Stdout: "ready\n", Code: sandbox.CodeLost},
		"gone-0":    {Code: sandbox.CodeLost},
		"never":     {Code: sandbox.CodeLost},
	} {
		t.Run(call, func(t *testing.T) {
			if want.Code == "" && want.Result.Timeout == 0 {
				want.Result.Timeout = 5 * time.Minute
			}
			run, _, _ := strings.Cut(call, "-")
			if call == "never" {
				run = "fine"
			}
			for range 2 {
				got := ask(m, run, call)
				if earlier, ok := first[call]; ok {
					sameAsFirst(t, got, earlier)
				}
				if got.Code == "" && (got.Result.Duration <= 0 || len(got.Result.Container) != 12) {
					t.Errorf("it took %v in %q", got.Result.Duration, got.Result.Container)
				}
				comparable(&got)
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("got %.200q %.200q %+v %s\nwant %.200q %.200q %+v %s", got.Stdout, got.Stderr, got.Result, got.Code,
						want.Stdout, want.Stderr, want.Result, want.Code)
				}
			}
		})
	}
	for _, sleep := range []string{"987601", "987602", "987603", "987604", "987605"} {
		if left := processes(t, "sleep\x00"+sleep); len(left) != 0 {
			t.Errorf("processes are left: %v", left)
		}
	}
	eventually(t, "the container of a run that is gone is gone", func() bool { return len(s.container("gone")) == 0 })
	f := &fixture{t: t, manager: m, run: s.run("plants")}
	if got := f.bash("test -e .bothy || echo clean"); got.stdout != "clean\n" || len(got.Violations) != 0 {
		t.Errorf("the next command: %q, told again: %+v", got.stdout, got.Violations)
	}
}

// comparable takes out what no test can foretell.
func comparable(e *ended) {
	e.Result.Duration, e.Result.Container = 0, ""
	for i := range e.Result.Violations {
		e.Result.Violations[i].Kept = ""
	}
}

func sameAsFirst(t *testing.T, got, first ended) {
	t.Helper()
	// JSON has no bytes that are no text.
	got.Stdout, first.Stdout = strings.ToValidUTF8(got.Stdout, "\ufffd"), strings.ToValidUTF8(first.Stdout, "\ufffd")
	if !reflect.DeepEqual(got, first) {
		t.Errorf("the second manager was told %.200q %+v, the first %.200q %+v", got.Stdout, got.Result, first.Stdout, first.Result)
	}
}

// TestSettleOfAContainerWithOtherLimits: it tells how its last command ended, and the next
// one has a container with the limits of today.
func TestSettleOfAContainerWithOtherLimits(t *testing.T) {
	s := newSettling(t)
	s.add("r", true, shell("exit 3"))
	_, kill := settler(t, s.job)
	kill()
	s.cfg.Limits.Pids = 100
	m := open(t, s.cfg)
	if got := ask(m, "r", "r-0"); got.Result.ExitCode != 3 {
		t.Fatalf("got %+v", got)
	}
	f := &fixture{t: t, manager: m, run: s.run("r")}
	if got := f.ok("ulimit -u"); got != "100" {
		t.Errorf("the next command has %q processes", got)
	}
}

func TestSettleOfAContainerOfAnotherSpec(t *testing.T) {
	s := newSettling(t)
	s.add("r", true, shell("exit 3"))
	_, kill := settler(t, s.job)
	kill()
	runner, err := os.ReadFile(s.cfg.Runner)
	if err == nil {
		s.cfg.Runner = filepath.Join(shortDir(t), "bothy-runner")
		err = os.WriteFile(s.cfg.Runner, append(runner, 0), 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	m := open(t, s.cfg)
	eventually(t, "the container is gone", func() bool { return len(s.container("r")) == 0 })
	if got := ask(m, "r", "r-0"); got.Code != sandbox.CodeLost {
		t.Fatalf("got %+v", got)
	}
}

func TestSettleOfADeadContainer(t *testing.T) {
	s := newSettling(t)
	s.add("r", true, shell("exit 3"))
	_, kill := settler(t, s.job)
	kill()
	m := open(t, s.cfg)
	if got := ask(m, "r", "r-0"); got.Result.ExitCode != 3 {
		t.Fatalf("got %+v", got)
	}
	for _, pid := range runners(t, filepath.Dir(s.cfg.Dir)) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if got := ask(m, "r", "r-0"); got.Code != sandbox.CodeLost {
			t.Fatalf("got %+v", got)
		}
	}
	f := &fixture{t: t, manager: m, run: s.run("r")}
	f.ok("true")
}

// forger speaks for the runner to whoever opens the socket, with an answer
// ready for whatever could be asked.
const forger = `python3 -u - <<'PY'
import json, socket, struct
def frame(kind, **v):
    data = json.dumps(v).encode()
    return struct.pack(">IB", len(data) + 1, kind) + data
lies = frame(1, version=2)
for id in range(8):
    lies += frame(5, id=id, started=True, code=0)
    lies += frame(10, id=id, known=True, timeout_ms=1000, exit={"id": id, "started": True, "code": 0})
print("ready")
held = []
while True:
    s = socket.socket(socket.AF_UNIX)
    try:
        s.connect("/run/bothy/s")
        s.sendall(lies)
        held = held[-50:] + [s]
    except OSError:
        pass
PY`

// TestNoCommandAnswersForAnother: a command that outlives its manager sees the
// socket again, before the runner ends it.
func TestNoCommandAnswersForAnother(t *testing.T) {
	needTool(t, "python3")
	s := newSettling(t)
	s.add("r", false, shell("exit 9"), shell(forger))
	_, kill := settler(t, s.job)
	kill()
	m := open(t, s.cfg)
	if got := ask(m, "r", "r-1"); got.Code != sandbox.CodeLost {
		t.Errorf("the forger's own call came to %+v", got)
	}
	// A container that could not be adopted in time is no lie either.
	if got := ask(m, "r", "r-0"); got.Code != sandbox.CodeLost && got.Result.ExitCode != 9 {
		t.Errorf("the call before it came to %+v", got)
	}
}

// TestLeft: what a killed manager leaves is seen without Podman, and gone
// within two seconds of the next one's start.
func TestLeft(t *testing.T) {
	s := newSettling(t)
	if left, busy := sandbox.Left(s.cfg.Dir); left || busy {
		t.Fatalf("before there was any: %v %v", left, busy)
	}
	s.add("r", false, shell("echo ready; sleep 987606"))
	s.add("gone", false, shell("echo ready; sleep 987606"))
	_, kill := settler(t, s.job)
	if left, busy := sandbox.Left(s.cfg.Dir); left || !busy {
		t.Errorf("while one is open: %v %v", left, busy)
	}
	service := servicePID(t, s.cfg)
	kill()
	eventually(t, "it is left", func() bool {
		left, busy := sandbox.Left(s.cfg.Dir)
		return left && !busy
	})
	if err := os.RemoveAll(s.run("gone").RunDir); err != nil {
		t.Fatal(err)
	}
	m, err := sandbox.Open(t.Context(), s.cfg, logger(t))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "nothing of the dead manager is left", func() bool {
		return syscall.Kill(service, 0) != nil && len(processes(t, "sleep\x00987606")) == 0 && len(s.container("gone")) == 0
	})
	if err := m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left, busy := sandbox.Left(s.cfg.Dir); left || busy {
		t.Errorf("after the close: %v %v", left, busy)
	}
}
