package inspect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestAsk: a plugin is asked to look at its settings, and what is secret of them is in no argument.
func TestAsk(t *testing.T) {
	const manifest = `{"name": "x", "version": "1.0.0", "protocol": 1, "kinds": ["tool"], "config": {"attributes": [` +
		`{"name": "url", "type": "string"}, {"name": "key", "type": "string", "secret": true}, {"name": "none", "type": "string", "secret": true}, {"name": "headers", "type": "map(string)", "secret": true}]}}`
	const says = "#!/bin/sh\n[ \"$1\" = describe ] && { echo '" + manifest + "'; exit; }\n"
	for name, c := range map[string]struct {
		script, block string
		level, says   string
	}{
		"it answers": {`[ "$1 $3" = "check /project" ] && [ "$(printf %s "$2" | sed 's/.*"config":\({[^}]*}\).*/\1/')" = '{"key":"[secret]","none":"","url":"http://x"}' ] && echo '[{"name": "x", "level": "ok", "detail": "well"}]'`,
			"url = \"http://x\"\nkey = \"CANARY\"\nnone = \"\"\nheaders = { a = \"CANARY\" }", "ok", "well"},
		"its block is wrong": {`case "$2" in *'"config":null'*) echo '[{"name": "x", "level": "ok", "detail": "not known"}]' ;; esac`, "url = [1]", "ok", "not known"},
		"it fails":           {`echo oh no >&2; exit 3`, "", "fail", "it did not answer (exit status 3): oh no"},
		"it says nothing":    {`exit 0`, "", "fail", "it did not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "bothy-plugin-x")
			if err := os.WriteFile(program, []byte(says+c.script+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			spec := Spec{Instance: "x", Path: program, SHA256: sha256Of(t, program), Body: body(t, c.block)}
			found := newInspector(t).Ask(t.Context(), spec, program, "plugin x", sdk.Settings{Instance: "x"}, "/project")
			if len(found) != 1 || found[0].Level != c.level || !strings.Contains(found[0].Detail, c.says) {
				t.Errorf("%+v", found)
			}
		})
	}
}
