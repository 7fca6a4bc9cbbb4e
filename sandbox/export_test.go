package sandbox

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
)

// BeforeMount sets what is called between the look at what a container mounts
// and its making.
func (m *Manager) BeforeMount(f func()) { m.beforeMount = f }

// NeedPodman is the one place where a sandbox test may be skipped.
func NeedPodman(t testing.TB) {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Skip("sandbox: needs an ordinary user, this is root")
	}
	if _, err := exec.LookPath("podman"); err != nil {
		t.Skip("sandbox: podman is not installed")
	}
}

// BeforeLeave sets what is called behind the result of a command that changed nothing,
// before its view is taken away. The manager must not have run a command yet.
func (m *Manager) BeforeLeave(f func()) { m.beforeLeave = f }

// TellLate has the run's next result tell a change late.
func (m *Manager) TellLate(run, path string) {
	m.session(run).tellLater(settlement{Changes: []Change{{Path: path, Is: Node{Kind: NodeFile}}}}, "")
}

// Ahead reports whether the view of the run's next command waits for it.
func (m *Manager) Ahead(run string) bool { return m.session(run).ahead != nil }

// TooLong is what happens when a view has waited too long.
func (m *Manager) TooLong(run string) {
	s := m.session(run)
	s.tooLong(s.ahead)
}

// KillHelper kills the program that makes views, and waits for its end.
func (m *Manager) KillHelper() {
	m.views.mu.Lock()
	v := m.views.viewer
	m.views.mu.Unlock()
	_ = syscall.Kill(v.proc.pid, syscall.SIGKILL)
	for v.alive() {
		runtime.Gosched()
	}
}
