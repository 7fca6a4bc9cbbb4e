package host

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// TestKnown: a program that has declared itself once is configured without being
// asked again. What was kept and misleads costs a second start, and no more.
func TestKnown(t *testing.T) {
	for _, c := range []struct {
		name  string
		kept  func(*sdk.Manifest)
		asked bool
	}{
		{"as it is", func(*sdk.Manifest) {}, false},
		{"other tools", func(m *sdk.Manifest) { m.Tools = m.Tools[:1] }, false},
		{"other calls", func(m *sdk.Manifest) { m.Calls.Secrets = []string{"TOKEN"} }, true},
		{"other schemes", func(m *sdk.Manifest) { m.Schemes = []sdk.Scheme{{Name: "stolen"}} }, false}, // asked before
		{"another configuration", func(m *sdk.Manifest) {
			m.Config = &sdk.ConfigSchema{Attributes: []sdk.ConfigAttribute{{Name: "needed", Type: "string", Required: true}}}
		}, true},
		{"nothing to configure", func(m *sdk.Manifest) { m.Config = nil }, true},
		{"another protocol", func(m *sdk.Manifest) { m.Protocol = 7 }, true},
		{"other requirements", func(m *sdk.Manifest) { m.Requires = []string{"nobody"} }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var registered []sdk.Scheme
			r := newRig(t, func(cfg *Config) {
				cfg.Patience = time.Minute
				cfg.Register = func(_ context.Context, _ string, schemes []sdk.Scheme) error {
					registered = append(registered, schemes...)
					return nil
				}
			})
			s := Spec{Instance: "fault", Plugin: "fault", Path: faultBinary, Grants: []string{sdk.GrantEntries}}
			wantStarted(t, r.Start(context.Background(), []Spec{s}))
			whole := len(r.Tools())
			if err := r.Remove("fault"); err != nil {
				t.Fatal(err)
			}
			r.mislead(c.kept)

			wantStarted(t, r.Start(context.Background(), []Spec{s}))
			if got := len(r.Tools()); got != whole {
				t.Errorf("%d tools, not %d", got, whole)
			}
			if got := strings.Contains(r.log.String(), "is not what was kept of it"); got != c.asked {
				t.Errorf("asked: %v", got)
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

// mislead changes what is kept of the fault plugin.
func (r *rig) mislead(change func(*sdk.Manifest)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.known[faultBinary]
	m := *d.Manifest
	change(&m)
	d.Manifest = &m
	r.known[faultBinary] = d
}

// TestKnownAndRefused: a block that is wrong by the plugin's own word, or that it
// refuses, is not taken for one of what was kept, and what was kept is not taken
// for the block's fault.
func TestKnownAndRefused(t *testing.T) {
	for _, c := range []struct {
		name, block string
		kept        func(*sdk.Manifest)
		asked       bool
		refused     string
	}{
		{"a wrong block", `bogus = 1`, func(*sdk.Manifest) {}, false, "bogus"},
		{"refused", `refuse = "no such thing"`, func(*sdk.Manifest) {}, false, "no such thing"},
		{"refused for what was kept", ``, func(m *sdk.Manifest) {
			attributes := slices.Clone(m.Config.Attributes)
			n := slices.IndexFunc(attributes, func(a sdk.ConfigAttribute) bool { return a.Name == "refuse" })
			attributes[n].Default = []byte(`"what was kept"`)
			m.Config = &sdk.ConfigSchema{Attributes: attributes}
		}, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, nil)
			s := Spec{Instance: "fault", Plugin: "fault", Path: faultBinary, Grants: []string{sdk.GrantEntries}}
			wantStarted(t, r.Start(context.Background(), []Spec{s}))
			if err := r.Remove("fault"); err != nil {
				t.Fatal(err)
			}
			r.mislead(c.kept)
			s.Body = body(t, c.block)
			var said string
			for _, d := range r.Start(context.Background(), []Spec{s}) {
				said += d.Summary + d.Detail
			}
			if !strings.Contains(said, c.refused) || c.refused == "" && said != "" {
				t.Errorf("said %q", said)
			}
			if got := strings.Contains(r.log.String(), "is not what was kept of it"); got != c.asked {
				t.Errorf("asked: %v", got)
			}
		})
	}
}

// TestSameGround: what is kept on disk is what was declared, however the plugin
// writes its JSON.
func TestSameGround(t *testing.T) {
	for _, text := range []string{
		`{"name": "x", "protocol": 1, "schemes": [], "grants": [], "requires": [], "calls": {"tools": []}}`,
		`{"name": "x", "config": {"attributes": [{"name": "a", "type": "list(string)", "default": [ "<", 2 ]}]}}`,
	} {
		var said, kept sdk.Manifest
		if err := json.Unmarshal([]byte(text), &said); err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(said)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &kept); err != nil {
			t.Fatal(err)
		}
		if !sameGround(&said, &kept) {
			t.Errorf("%s is kept as another: %s", text, b)
		}
		said.Requires = []string{"y"}
		if sameGround(&said, &kept) {
			t.Errorf("%s requires nothing", text)
		}
	}
}

// TestDeclaredByItsFileAlone: what else a process is given may change what it
// declares.
func TestDeclaredByItsFileAlone(t *testing.T) {
	r := newRig(t, nil)
	plain := Spec{Instance: "fault", Plugin: "fault", Path: faultBinary, Grants: []string{sdk.GrantEntries}}
	b, fail := r.verified(plain)
	if fail != nil {
		t.Fatal(fail)
	}
	defer b.file.Close()
	if r.declared(b, plain) != nil {
		t.Error("known before it was asked")
	}
	wantStarted(t, r.Start(context.Background(), []Spec{plain}))
	if r.declared(b, plain) == nil {
		t.Error("not kept")
	}
	for name, change := range map[string]func(*Spec){
		"variables": func(s *Spec) { s.Env = map[string]string{"A": "b"} },
		"arguments": func(s *Spec) { s.Args = []string{"x"} },
	} {
		s := plain
		change(&s)
		if r.declared(b, s) != nil {
			t.Error(name, "do not count")
		}
	}
	scripted := *b
	scripted.script = true
	if r.declared(&scripted, plain) != nil {
		t.Error("a script is its file alone")
	}
	other := *b
	other.digest = strings.Repeat("0", 64)
	if r.declared(&other, plain) != nil {
		t.Error("another file is the same")
	}
}

func wantStarted(t *testing.T, ds []Diagnostic) {
	t.Helper()
	for _, d := range ds {
		if !d.Warning() {
			t.Fatal(d)
		}
	}
}
