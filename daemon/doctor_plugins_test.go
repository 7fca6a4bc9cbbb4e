package daemon

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/bundle"
)

// TestDoctorLooksAtBundles: without a daemon too, a plugin whose folder cannot be started is
// no plugin that is well.
func TestDoctorLooksAtBundles(t *testing.T) {
	const script = "#!/bin/sh\necho '{\"name\": \"x\", \"version\": \"1.0.0\", \"protocol\": 1, \"kinds\": [\"tool\"]}'\n"
	const manifest = "name = \"x\"\nversion = \"1.0.0\"\nstart = \"run\"\n"
	for name, c := range map[string]struct {
		files map[string]string
		pin   string
		level string
		says  string
	}{
		"whole":                 {map[string]string{"bothy-plugin.hcl": manifest, "run": script}, "", "ok", "/x"},
		"no manifest":           {map[string]string{"run": script}, "", "fail", "a folder without a bothy-plugin.hcl"},
		"a broken manifest":     {map[string]string{"bothy-plugin.hcl": "name = ", "run": script}, "", "fail", "bothy-plugin.hcl:1"},
		"nothing to start":      {map[string]string{"bothy-plugin.hcl": manifest}, "", "fail", "it is to start run, which is not there"},
		"no program":            {map[string]string{"bothy-plugin.hcl": manifest, "run": "text"}, "", "fail", "neither a program of this machine nor a script"},
		"not what its pin says": {map[string]string{"bothy-plugin.hcl": manifest, "run": script}, strings.Repeat("0", 64), "fail", "its block pins 0000"},
		"not describing itself": {map[string]string{"bothy-plugin.hcl": manifest, "run": "#!/bin/sh\necho no\n"}, "", "warn", "it does not describe itself"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			for _, v := range []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "BOTHY_PREFIX"} {
				t.Setenv(v, home)
			}
			dir, file := filepath.Join(home, "x"), filepath.Join(home, "config.hcl")
			err := os.Mkdir(dir, 0o755)
			for at, text := range c.files {
				err = errors.Join(err, os.WriteFile(filepath.Join(dir, at), []byte(text), 0o755))
			}
			pin := c.pin
			if f, bad := bundle.Open(dir); bad == nil && pin == "" { // one that is not pinned needs walls to be asked
				l, _ := f.Sum()
				pin = l.Digest()
			}
			block := fmt.Sprintf("plugin \"x\" {\n  path   = %q\n  sha256 = %q\n}\n", dir, cmp.Or(pin, strings.Repeat("0", 64)))
			if err = errors.Join(err, os.WriteFile(file, []byte(block), 0o600)); err != nil {
				t.Fatal(err)
			}
			if f := finding(t, Doctor(t.Context(), file), "plugin x"); f.Level != c.level || !strings.Contains(f.Detail, c.says) {
				t.Errorf("%+v, want %s with %q", f, c.level, c.says)
			}
		})
	}
}
