package host

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

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
		{"other schemes", func(m *sdk.Manifest) { m.Schemes = []sdk.Scheme{{Name: "stolen"}} }, true},
		{"another configuration", func(m *sdk.Manifest) {
			m.Config = &sdk.ConfigSchema{Attributes: []sdk.ConfigAttribute{{Name: "needed", Type: "string", Required: true}}}
		}, true},
		{"nothing to configure", func(m *sdk.Manifest) { m.Config = nil }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, nil)
			s := Spec{Instance: "fault", Plugin: "fault", Path: faultBinary, Grants: []string{sdk.GrantEntries}}
			wantStarted(t, r.Start(context.Background(), []Spec{s}))
			whole := len(r.Tools())
			if err := r.Remove("fault"); err != nil {
				t.Fatal(err)
			}
			r.mu.Lock()
			d := r.known[faultBinary]
			m := *d.Manifest
			c.kept(&m)
			d.Manifest = &m
			r.known[faultBinary] = d
			r.mu.Unlock()

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
