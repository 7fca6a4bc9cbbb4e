package daemon

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// otherBuild builds bothy and bothyd as another version, with the plugins of
// the first one.
func otherBuild(t *testing.T, prefix, version string) string {
	t.Helper()
	other := t.TempDir()
	if err := os.Symlink(filepath.Join(prefix, "libexec"), filepath.Join(other, "libexec")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bothy", "bothyd"} {
		cmd := exec.Command("go", "build", "-ldflags", "-X github.com/bothyd/bothy/sdk.Version="+version,
			"-o", filepath.Join(other, "bin", name), "./daemon/cmd/"+name)
		cmd.Dir, cmd.Env = "..", append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return other
}

// TestUpgrade: a new bothy works with the old daemon and says what it is. When
// that is stopped while one prompt is at work and one waits, the new daemon
// takes both up.
func TestUpgrade(t *testing.T) {
	p := newPlace(t)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", (&parrot{asked: map[string]bool{}}).complete)
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	p.write(t, ".config/bothy/config.hcl", `plugin "bash" { enabled = false }
plugin "files" { enabled = false }
provider "parrot" {
  plugin   = "openai"
  base_url = "`+server.URL+`/v1"
}
agent "default" { model = "parrot/parrot" }
`)
	old := *p
	p.prefix = otherBuild(t, p.prefix, "9.8.7")
	p.env = append(p.env, "BOTHY_PREFIX="+p.prefix)

	left := make(chan string, 2)
	prompt := func(text string) {
		out, _ := old.bothy("run", "-r", "fix", text)
		left <- out
	}
	go prompt("stall here")
	p.until(t, `"at_work": 1`, "status", "--json")
	go prompt("again there")
	p.until(t, `"queued": 1`, "status", "--json")
	if out, err := p.bothy("tools", "list"); err != nil || !strings.Contains(out, "this is 9.8.7") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := p.bothy("stop"); err != nil || !strings.Contains(out, "fix (running)") {
		t.Errorf("%v: %s", err, out)
	}
	for range 2 {
		select {
		case <-left:
		case <-time.After(30 * time.Second):
			t.Fatal("a follower does not leave")
		}
	}
	p.until(t, "you said: again there", "runs", "show", "fix") // between two prompts a run rests for a moment
	if out, err := p.bothy("runs", "show", "fix"); err != nil || !strings.Contains(out, "you said: again there") || !strings.Contains(out, "you said it twice: stall here") {
		t.Errorf("%v: %s", err, out)
	}
	out, err := p.bothy("status")
	if err != nil || !strings.Contains(out, "9.8.7") || strings.Contains(out, "another build") {
		t.Errorf("%v: %s", err, out)
	}
	bothyd := filepath.Join(p.prefix, "bin", "bothyd")
	if err := os.Rename(filepath.Join(p.prefix, "bin", "bothy"), bothyd); err != nil { // stands for a third build
		t.Fatal(err)
	}
	if out, err := old.bothy("status"); err != nil || !strings.Contains(out, "another build lies at "+bothyd) {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := old.bothy("stop"); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// until calls bothy until what it prints has a text.
func (p *place) until(t *testing.T, text string, args ...string) {
	t.Helper()
	var out string
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); <-time.After(20 * time.Millisecond) {
		if out, _ = p.bothy(args...); strings.Contains(out, text) {
			return
		}
	}
	t.Fatalf("bothy %v never said %s, but at last:\n%s", args, text, out)
}
