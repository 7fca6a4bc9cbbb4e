package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMissingUserNamespacesAreNamed(t *testing.T) {
	const most, clone = "sys/user/max_user_namespaces", "sys/kernel/unprivileged_userns_clone"
	for name, c := range map[string]struct {
		files map[string]string
		level string
		hint  string
	}{
		"all well":          {map[string]string{"self/ns/user": "", most: "63000\n", clone: "1\n"}, LevelOK, ""},
		"no knobs":          {map[string]string{"self/ns/user": ""}, LevelOK, ""},
		"not in the kernel": {map[string]string{most: "63000\n"}, LevelFail, "CONFIG_USER_NS"},
		"switched off":      {map[string]string{"self/ns/user": "", most: "0\n"}, LevelFail, "user.max_user_namespaces"},
		"for root alone":    {map[string]string{"self/ns/user": "", most: "63000\n", clone: "0\n"}, LevelFail, "kernel.unprivileged_userns_clone=1"},
	} {
		proc := t.TempDir()
		for path, content := range c.files {
			path = filepath.Join(proc, path)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if f := namespacesFinding(proc); f.Name != "namespaces" || f.Level != c.level || f.Detail == "" || !strings.Contains(f.Hint, c.hint) || (f.Hint == "") != (c.hint == "") {
			t.Errorf("%s: got %+v", name, f)
		}
	}
}
