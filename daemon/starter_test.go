package daemon

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/scaffold"
)

// TestStarter: the first configuration changes nothing, neither as it is nor
// with everything in it uncommented: what it shows are the defaults.
func TestStarter(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	path := filepath.Join(t.TempDir(), "config.hcl")
	_, defaults, _ := LoadConfig("", &audit.Redactor{})
	if _, err := scaffold.Config(path, false, time.Now()); err != nil {
		t.Fatal(err)
	}
	starter, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	uncommented := regexp.MustCompile(`(?m)^#(  |[a-z}])`).ReplaceAll(starter, []byte("$1"))
	for name, text := range map[string][]byte{"as it is": starter, "uncommented": uncommented} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		_, cfg, diags := LoadConfig(path, &audit.Redactor{})
		if cfg == nil || len(diags) != 0 {
			t.Fatalf("%s: %s\n%s", name, diags.Error(), text)
		}
		if changes := config.Diff(defaults, cfg); len(changes) != 0 {
			t.Errorf("%s it changes %v", name, changes)
		}
		for _, v := range cfg.Values {
			if fromFile := strings.HasPrefix(v.Source, path); v.Key == "sandbox.memory" && fromFile != (name == "uncommented") {
				t.Errorf("%s: %s comes from %s", name, v.Key, v.Source)
			}
		}
	}
}
