package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHandshake: what does not begin as a plugin does is told why.
func TestHandshake(t *testing.T) {
	for name, c := range map[string]struct{ script, says string }{
		"nothing":          {"echo I am not well >&2; exit 3", "I am not well"},
		"garbage":          {"echo hello", `the first line on standard output is "hello\n"`},
		"another protocol": {`echo "1|9|unix|$PLUGIN_UNIX_SOCKET_DIR/s|grpc|"; sleep 60`, "plugin protocol 9, want 1"},
		"TCP":              {`echo "1|1|tcp|127.0.0.1:80|grpc|"; sleep 60`, "must on a Unix socket"},
		"another folder":   {`echo "1|1|unix|/tmp/s|grpc|"; sleep 60`, "must on a Unix socket"},
		"net/rpc":          {`echo "1|1|unix|$PLUGIN_UNIX_SOCKET_DIR/s|netrpc|"; sleep 60`, "want grpc"},
		"nobody listens":   {`echo "1|1|unix|$PLUGIN_UNIX_SOCKET_DIR/s|grpc|"; sleep 60`, "Describe failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "bothy-plugin-script")
			script := "#!/bin/sh\n[ \"$1\" != describe ] || exit 1\n" + c.script + "\n"
			if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			var last Finding
			described := true
			err := Binary(t.Context(), Options{Path: path}, func(f Finding) {
				if last = f; f.Name == "sub-command describe" {
					described = f.Severity == Passed
				}
			})
			if err != nil || described || last.Severity != Failed || !strings.Contains(last.Text, c.says) {
				t.Errorf("%+v, %v", last, err)
			}
		})
	}
}
