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
	"github.com/bothyd/bothy/sdk"
)

// TestStarter: the first configuration changes nothing, neither as it is nor
// with everything in it uncommented: what it shows are the defaults.
func TestStarter(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	path := filepath.Join(t.TempDir(), "config.hcl")
	_, defaults, _ := LoadConfig("", &audit.Redactor{})
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

// TestInitConfig: nothing is overwritten, and what was there is kept.
func TestInitConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "not", "there", "config.hcl")
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	if path, kept, err := InitConfig(file, false, now); err != nil || path != file || kept != "" {
		t.Fatal(path, kept, err)
	}
	if err := os.WriteFile(file, []byte("# mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := InitConfig(file, false, now); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("a second time: %v", err)
	}
	_, kept, err := InitConfig(file, true, now)
	if err != nil || kept != file+".20260304-050607" {
		t.Fatalf("%s %v", kept, err)
	}
	if text, err := os.ReadFile(kept); err != nil || string(text) != "# mine\n" {
		t.Errorf("%q %v", text, err)
	}
	if _, _, err := InitConfig(file, true, now); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("twice in a second: %v", err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}
