package daemon

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/hcl/v2"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/host"
	"github.com/bothyd/bothy/daemon/internal/inspect"
)

// TestRestoreAfterDev: a block that was asked for and not decided when the process
// of an author took the place is in force when that has gone, and the next reload
// knows it.
func TestRestoreAfterDev(t *testing.T) {
	sockets, err := os.MkdirTemp("/tmp", "bd")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(sockets)
	h, err := host.New(host.Config{Log: hclog.NewNullLogger(), SocketDir: sockets, DataDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Stop(t.Context())
	block := config.Plugin{Label: "x", Binary: "x", Enabled: true, Path: filepath.Join(t.TempDir(), "none"), Digest: "second", Body: hcl.EmptyBody()}
	p := newPlugins(&config.Config{Plugins: []config.Plugin{block}}, h, func(inspect.Diagnostic) {}, &problems{}, func(text string) string { return text })
	h.Start(t.Context(), []inspect.Spec{inspect.SpecOf(p.config(), block)})
	p.runs["x"], p.wanted["x"] = "first", "second" // its exchange was dropped
	p.restore(t.Context(), "x", true)
	if p.runs["x"] != "second" || p.wanted["x"] != "second" {
		t.Errorf("runs %q, wanted %q", p.runs["x"], p.wanted["x"])
	}
}
