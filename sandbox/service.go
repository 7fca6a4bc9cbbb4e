package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
)

// service is a Podman service of our own: a child that dies with this process,
// with its own storage and runtime directory, described by flags alone.
type service struct {
	binary  string
	dir     string
	number  int      // of the manager; see share.go
	flags   []string // without the runtime, which can change
	env     []string
	logger  hclog.Logger
	driver  string
	runtime string

	mu   sync.Mutex
	proc *child
}

// child is a process that dies with this one.
type child struct {
	pid    int
	stderr *tail
	done   chan struct{}
}

func (c *child) dead() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// writeOnce writes a file unless it is there as it should be: another process may
// be reading it.
func writeOnce(path string, data []byte) error {
	if there, err := os.ReadFile(path); err == nil && bytes.Equal(there, data) {
		return nil
	}
	return os.WriteFile(path, data, 0o600)
}

// newService prepares a service with a runtime and storage driver.
func newService(cfg Config, binary, runtimeName, driver string, logger hclog.Logger) (*service, error) {
	s := &service{binary: binary, dir: cfg.Dir, number: cfg.number, driver: driver, runtime: runtimeName, logger: logger}
	runtimeDir := filepath.Join(cfg.Dir, "x")
	// Podman pins a storage to its run directory and driver at first use.
	root := filepath.Join(cfg.StateDir, "podman", driver+"-"+key(cfg.Dir))
	tmp := filepath.Join(cfg.StateDir, "tmp")
	runRoot, err := makeRunRoot(cfg.Dir)
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{runtimeDir, root, tmp} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, failed("make Podman's directories", err)
		}
	}
	storage := filepath.Join(cfg.Dir, "storage.conf")
	if err := writeOnce(storage, []byte("[storage]\ndriver = \""+driver+"\"\n")); err != nil {
		return nil, failed("write Podman's storage settings", err)
	}
	s.flags = []string{
		"--root=" + root, "--runroot=" + runRoot, "--storage-driver=" + driver,
		"--cgroup-manager=" + cgroupManager(), "--events-backend=file",
	}
	s.env = serviceEnv(runtimeDir, storage, tmp)
	return s, nil
}

// maxRunRoot is the longest run directory that Podman takes, in bytes.
const maxRunRoot = 50

// makeRunRoot makes Podman's run directory: below ours, or where temporary
// files go when ours is too deep.
func makeRunRoot(dir string) (string, error) {
	path := filepath.Join(dir, "run")
	for _, tmp := range []string{os.TempDir(), "/tmp"} {
		if len(path) > maxRunRoot {
			path = filepath.Join(tmp, fmt.Sprintf("bothy-%d-%s", os.Geteuid(), key(dir)))
		}
	}
	if err := makePrivate(path); err != nil {
		return "", err
	}
	return path, nil
}

// makePrivate makes a directory that only the caller can enter. One that
// somebody else made first is refused.
func makePrivate(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return failed("make a directory for the sandbox", err)
	}
	info, err := os.Lstat(path)
	if err != nil {
		return failed("look at the sandbox directory", err)
	}
	if !info.IsDir() || !ownedBySelf(info) || info.Mode().Perm()&0o077 != 0 {
		return failed(fmt.Sprintf("sandbox directory %s must be a directory of your own that nobody else can enter (mode 0700)", path), nil)
	}
	return nil
}

// serviceEnv keeps the user's own Podman configuration out: a volume or a hook
// configured there would be a hole in every container.
func serviceEnv(runtimeDir, storage, tmp string) []string {
	env := []string{
		"XDG_RUNTIME_DIR=" + runtimeDir, "TMPDIR=" + tmp,
		"CONTAINERS_CONF=" + os.DevNull, "CONTAINERS_STORAGE_CONF=" + storage,
		"PATH=" + os.Getenv("PATH") + ":/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin",
	}
	for _, name := range []string{"HOME", "USER", "LOGNAME", "LANG"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	if bus := sessionBus(); bus != "" {
		env = append(env, "DBUS_SESSION_BUS_ADDRESS="+bus)
	}
	return env
}

// sessionBus is the address of the user's bus, or "".
func sessionBus() string {
	if address := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); address != "" {
		return address
	}
	path := filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "bus")
	if info, err := os.Stat(path); err == nil && info.Mode()&fs.ModeSocket != 0 {
		return "unix:path=" + path
	}
	return ""
}

// cgroupManager is systemd where the user has a manager that can delegate
// limits, which takes cgroup v2 and a bus.
func cgroupManager() string {
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil && sessionBus() != "" {
		return "systemd"
	}
	return "cgroupfs"
}

// info has Podman tell about its host.
func (s *service) info(ctx context.Context) (info hostInfo, err error) {
	out, err := s.ask(ctx, "info", "--format", "json")
	if err != nil {
		return info, err
	}
	if err := json.Unmarshal(out, &info); err != nil {
		return info, fmt.Errorf("podman info answered something else than JSON: %w", err)
	}
	return info, nil
}

// ask runs a command of Podman's with the service's own flags, from a thread that
// lives as long as the process: the death signal comes when the thread ends.
func (s *service) ask(ctx context.Context, command ...string) ([]byte, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.binary, s.args(command...)...)
	cmd.Env, cmd.Dir, cmd.SysProcAttr, cmd.WaitDelay = s.env, s.dir, childAttr(), time.Second
	stderr := &tail{}
	cmd.Stderr = stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("podman %s: %w%s", command[0], err, stderr.suffix())
	}
	return out, nil
}

// args are the flags and a command of Podman's.
func (s *service) args(command ...string) []string {
	return slices.Concat(s.flags, []string{"--runtime=" + s.runtime}, command)
}

// use makes the service work with another OCI runtime from its next start on,
// and ends the one that runs: Podman 4 takes a runtime for the whole service
// only.
func (s *service) use(runtimeName string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runtime = runtimeName
	s.end()
}

func (s *service) socket() string { return s.file("sock") }

// pidFile is the file that has the pid of the running service.
func (s *service) pidFile() string { return s.file("pid") }

func (s *service) file(kind string) string {
	name := "podman"
	if s.number > 0 {
		name += strconv.Itoa(s.number)
	}
	return filepath.Join(s.dir, name+"."+kind)
}

// pid is the running service's, or 0.
func (s *service) pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == nil {
		return 0
	}
	return s.proc.pid
}

// ensure starts the service when it is not running. It answers whether it did.
func (s *service) ensure(ctx context.Context) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc != nil && !s.proc.dead() {
		return false, nil
	}
	s.endLeftover()
	if err := os.Remove(s.socket()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, failed("remove the stale Podman socket", err)
	}
	cmd := exec.Command(s.binary, s.args("system", "service", "--time=0", "unix://"+s.socket())...)
	cmd.Env, cmd.Dir = s.env, s.dir
	proc, err := launch(cmd)
	if err != nil {
		return false, failed("start the Podman service", err)
	}
	s.proc = proc
	if err := os.WriteFile(s.pidFile(), []byte(strconv.Itoa(proc.pid)), 0o600); err != nil {
		s.logger.Warn("cannot note the Podman service's pid", "error", err)
	}
	return true, s.await(ctx, proc)
}

// launch starts a process from a thread that lives as long as the process: the
// death signal comes when the thread ends. Its standard error is kept.
func launch(cmd *exec.Cmd) (*child, error) {
	c := &child{stderr: &tail{}, done: make(chan struct{})}
	cmd.SysProcAttr, cmd.WaitDelay, cmd.Stderr = childAttr(), time.Second, c.stderr
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
			close(c.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	c.pid = cmd.Process.Pid
	return c, nil
}

// await returns when the service answers.
func (s *service) await(ctx context.Context, proc *child) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for {
		if conn, err := dialUnix(ctx, s.socket()); err == nil {
			_ = conn.Close()
			return nil
		}
		select {
		case <-proc.done:
			return failed("the Podman service ended at once"+proc.stderr.suffix(), nil)
		case <-ctx.Done():
			return failed("the Podman service does not answer"+proc.stderr.suffix(), ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// endLeftover ends the service of a manager that died without it. It is known
// by the pid it left behind and our socket in its arguments.
func (s *service) endLeftover() {
	pid := pidIn(s.pidFile())
	if pid == 0 || !slices.Contains(commandLine(pid), "unix://"+s.socket()) {
		return
	}
	s.logger.Info("ending the Podman service of an earlier process", "pid", pid)
	_ = syscall.Kill(pid, syscall.SIGKILL)
	for range 200 {
		if commandLine(pid) == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// stop ends the service. Podman's pause process is of all managers of the
// directory.
func (s *service) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end()
	_ = os.Remove(s.pidFile())
	_ = os.Remove(s.socket())
}

// end ends the service process, gently first.
func (s *service) end() {
	if s.proc == nil || s.proc.dead() {
		return
	}
	_ = syscall.Kill(s.proc.pid, syscall.SIGTERM)
	select {
	case <-s.proc.done:
	case <-time.After(2 * time.Second):
		endTree(s.proc.pid)
		<-s.proc.done
	}
}

// pidIn is the process that a file names, or 0.
func pidIn(file string) int {
	data, _ := os.ReadFile(file) // what cannot be read names none
	pid, _ := strconv.Atoi(strings.TrimSpace(string(data)))
	if pid <= 1 {
		return 0
	}
	return pid
}
