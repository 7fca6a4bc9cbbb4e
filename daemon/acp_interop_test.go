//go:build interop && linux

package daemon

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestInteropEditor: an editor that is not ours, the TypeScript SDK of the protocol, has a whole session with the
// bridge.
func TestInteropEditor(t *testing.T) {
	modules := os.Getenv("BOTHY_ACP_SDK")
	if modules == "" {
		t.Fatal("set BOTHY_ACP_SDK to a folder of node modules with @agentclientprotocol/sdk 2.4.0")
	}
	if sandbox, err := condition("sandbox"); err != nil || !sandbox {
		t.Skip("sandbox: rootless Podman is needed, and a user who is not root")
	}
	node := "node"
	if own, _ := filepath.Glob(filepath.Join(modules, "node-*", "bin", "node")); len(own) > 0 { // newer than the machine's
		node = own[0]
	}
	s := newSeat(t, 80, 24)
	cmd := exec.Command(node, filepath.Join("testdata", "acp", "session.mjs"), s.prefix("bin", "bothy"), s.dir)
	cmd.Env = append(s.env, "BOTHY_ACP_SDK="+modules)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
