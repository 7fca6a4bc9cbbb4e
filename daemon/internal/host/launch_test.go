package host

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// TestKept: each start asks the plugin what it declares, whatever was kept of that.
func TestKept(t *testing.T) {
	for _, c := range []struct {
		name string
		kept func(*sdk.Manifest)
	}{
		{"as it is", func(*sdk.Manifest) {}},
		{"other tools", func(m *sdk.Manifest) { m.Tools = m.Tools[:1] }},
		{"other calls", func(m *sdk.Manifest) { m.Calls.Secrets = []string{"TOKEN"} }},
		{"other schemes", func(m *sdk.Manifest) { m.Schemes = []sdk.Scheme{{Name: "stolen"}} }},
		{"another configuration", func(m *sdk.Manifest) {
			m.Config = &sdk.ConfigSchema{Attributes: []sdk.ConfigAttribute{{Name: "needed", Type: "string", Required: true}}}
		}},
		{"nothing to configure", func(m *sdk.Manifest) { m.Config = nil }},
		{"another protocol", func(m *sdk.Manifest) { m.Protocol = 7 }},
		{"other requirements", func(m *sdk.Manifest) { m.Requires = []string{"nobody"} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			var registered []sdk.Scheme
			r := newRig(t, func(cfg *Config) {
				cfg.Patience = time.Minute
				cfg.Register = func(_ context.Context, scheme sdk.Scheme) error {
					registered = append(registered, scheme)
					return nil
				}
			})
			s := inspect.Spec{Instance: "fault", Plugin: "fault", Path: faultBinary, Grants: []string{sdk.GrantEntries}}
			wantStarted(t, r.start(context.Background(), []inspect.Spec{s}))
			whole := len(r.Tools())
			r.remove("fault")
			r.mislead(t, c.kept)

			wantStarted(t, r.start(context.Background(), []inspect.Spec{s}))
			if got := len(r.Tools()); got != whole {
				t.Errorf("%d tools, not %d", got, whole)
			}
			if _, err := r.Invoke(context.Background(), sdk.Invocation{Tool: "echo", Arguments: []byte(`{"text":"x","n":1}`)}, silent{}); err != nil {
				t.Error(err)
			}
			if len(registered) > 0 {
				t.Errorf("registered %v, which it does not declare", registered)
			}
		})
	}
}

// mislead changes what is kept of the fault plugin, as a daemon that starts anew
// reads it. No plugin runs meanwhile.
func (r *rig) mislead(t *testing.T, change func(*sdk.Manifest)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(r.cfg.DataDir, "plugins", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var d map[string]any
	var kept struct{ Declared map[string]sdk.Manifest }
	if err := errors.Join(json.Unmarshal(b, &d), json.Unmarshal(b, &kept)); err != nil {
		t.Fatal(err)
	}
	m := kept.Declared[""]
	change(&m)
	d["declared"] = map[string]any{"": m}
	if b, err = json.Marshal(d); err == nil {
		err = os.WriteFile(files[0], b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	r.inspect = inspect.New(inspect.Config{Log: r.cfg.Log, DataDir: r.cfg.DataDir})
}

// TestKeptAndRefused: a block is refused by the plugin's own word, and not by what
// was kept of that.
func TestKeptAndRefused(t *testing.T) {
	for _, c := range []struct {
		name, block string
		kept        func(*sdk.Manifest)
		refused     string
	}{
		{"a wrong block", `bogus = 1`, func(*sdk.Manifest) {}, "bogus"},
		{"refused", `refuse = "no such thing"`, func(*sdk.Manifest) {}, "no such thing"},
		{"refused for what was kept", ``, func(m *sdk.Manifest) {
			attributes := slices.Clone(m.Config.Attributes)
			n := slices.IndexFunc(attributes, func(a sdk.ConfigAttribute) bool { return a.Name == "refuse" })
			attributes[n].Default = []byte(`"what was kept"`)
			m.Config = &sdk.ConfigSchema{Attributes: attributes}
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, nil)
			s := inspect.Spec{Instance: "fault", Plugin: "fault", Path: faultBinary, Grants: []string{sdk.GrantEntries}}
			wantStarted(t, r.start(context.Background(), []inspect.Spec{s}))
			r.remove("fault")
			r.mislead(t, c.kept)
			s.Body = body(t, c.block)
			var said string
			for _, d := range r.start(context.Background(), []inspect.Spec{s}) {
				said += d.Summary + d.Detail
			}
			if !strings.Contains(said, c.refused) || c.refused == "" && said != "" {
				t.Errorf("said %q", said)
			}
		})
	}
}

func wantStarted(t *testing.T, ds []inspect.Diagnostic) {
	t.Helper()
	for _, d := range ds {
		if !d.Warning() {
			t.Fatal(d)
		}
	}
}
