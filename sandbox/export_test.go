package sandbox

import (
	"os"
	"os/exec"
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
