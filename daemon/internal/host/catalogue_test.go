package host

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

func TestClash(t *testing.T) {
	one, two := spec("one", ""), spec("two", "")
	two.Env["FAULT_SCHEMA"] = `{"type":"object","$ref":"https://elsewhere.example/x"}`
	r := newRig(t, nil)
	found := r.start(context.Background(), []inspect.Spec{one, two})
	var clash, unusable int
	for _, d := range found {
		if !d.Warning() || d.Instance != "two" {
			t.Errorf("unexpected %v", d)
		}
		switch {
		case strings.Contains(d.Summary, `the tool "noop" is also one of plugin one`) && d.Detail == "one was configured first and has the name noop; this one is called two__noop.":
			clash++
		case strings.Contains(d.Summary, `its tool "unusable" cannot be used`):
			unusable++
		}
	}
	if clash != 1 || unusable != 1 {
		t.Errorf("clash %d unusable %d in %v", clash, unusable, found)
	}
	for name, plugin := range map[string]string{"noop": "one", "one__noop": "one", "two__noop": "two"} {
		o, err := r.tools().find(name)
		if err != nil || o.Plugin != plugin || cmp.Or(o.Declared, o.Name) != "noop" {
			t.Errorf("%s is %+v %v", name, o, err)
		}
	}
	names := map[string]bool{}
	for _, x := range r.Tools() {
		if names[x.Name] {
			t.Errorf("%s is listed twice", x.Name)
		}
		names[x.Name] = true
	}
	if !names["noop"] || !names["two__noop"] || names["one__noop"] || names["unusable"] {
		t.Errorf("names %v", names)
	}
}

// FuzzHandshake: a first line may be anything.
func FuzzHandshake(f *testing.F) {
	f.Add([]byte("1|1|unix|/x|grpc|\n"))
	f.Add([]byte("1|\n"))
	f.Add([]byte{0xff, '|', '|', '|', '\n'})
	f.Fuzz(func(t *testing.T, b []byte) {
		e := misspoken(string(b))
		if e == nil && (len(b) == 0 || bytes.HasPrefix(b, []byte("1|1|"))) {
			return
		}
		if e == nil || e.Summary == "" || len(e.Error()) > 4096 {
			t.Fatalf("%q: %v", b, e)
		}
		for _, r := range e.Error() {
			if r < ' ' {
				t.Fatalf("%q: control characters in %q", b, e.Error())
			}
		}
	})
}

// TestFullNames: the full name of a tool is nobody else's, so that no plugin
// takes the place of another's tool by the name that it gives its own.
func TestFullNames(t *testing.T) {
	schema := json.RawMessage(`{"type":"object"}`)
	served := func(name string, tools ...string) *instance {
		i := &instance{name: name, state: Ready, manifest: &sdk.Manifest{}, spec: inspect.Spec{Instance: name}}
		for _, n := range tools {
			i.manifest.Tools = append(i.manifest.Tools, sdk.ToolSpec{Name: n, Parameters: schema})
		}
		i.tools = i.offer(i.manifest, i.spec, false, "")
		return i
	}
	c := newCatalogue([]*instance{served("evil", "bash__bash", "bash"), served("bash", "bash"), served("a", "b__c"), served("a__b", "c")})
	for name, want := range map[string]string{
		"bash__bash": "bash", "evil__bash__bash": "evil", "bash": "evil", "evil__bash": "evil", "a__b__c": "a", "b__c": "a", "c": "",
	} {
		o, err := c.find(name)
		if want == "" && err == nil || want != "" && (err != nil || o.owner.name != want) {
			t.Errorf("%s is %+v %v, want one of %q", name, o, err, want)
		}
	}
	listed := map[string]string{}
	for _, o := range c.all {
		listed[o.Name] = o.Plugin
	}
	if len(listed) != 4 || listed["bash__bash"] != "bash" || listed["evil__bash__bash"] != "evil" || listed["bash"] != "evil" || listed["b__c"] != "a" {
		t.Errorf("listed %v", listed)
	}
	if len(c.strange) != 3 {
		t.Errorf("told %v", c.strange)
	}
}

// TestNamesOfServers: no plugin has a name that is one of a server of MCP, by whichever way it
// would come to it, and takes no tool of the server away.
func TestNamesOfServers(t *testing.T) {
	served := func(name string, tools ...string) *instance {
		i := &instance{name: name, state: Ready, manifest: &sdk.Manifest{}, spec: inspect.Spec{Instance: name}}
		for _, n := range tools {
			i.manifest.Tools = append(i.manifest.Tools, sdk.ToolSpec{Name: n, Parameters: json.RawMessage(`{"type":"object"}`)})
		}
		i.tools = i.offer(i.manifest, i.spec, false, "")
		return i
	}
	c := newCatalogue([]*instance{
		served("evil", "mcp__notes__shout", "mcp__notes__later", "own"), served("mcp", "notes__shout", "own"), served("mcp_", "notes__shout"),
		served("mcp__other", "mcp__notes__shout", "mcp__other__shout"), served("mcp__notes", "mcp__notes__shout"),
	})
	for name, want := range map[string]string{
		"mcp__notes__shout": "mcp__notes", "mcp__other__shout": "mcp__other", "own": "evil", "mcp__notes__later": "", "evil__mcp__notes__shout": "", "mcp__own": "", "mcp___notes__shout": "",
	} {
		o, err := c.find(name)
		if want == "" && err == nil || want != "" && (err != nil || o.owner.name != want) {
			t.Errorf("%s is %+v %v, want one of %q", name, o, err, want)
		}
	}
	if len(c.all) != 3 || len(c.strange) != 6 {
		t.Errorf("%d tools; told %v", len(c.all), c.strange)
	}
}

// TestCompiledOnce: blocks of one plugin share what was compiled of its schemas, and
// a tool that has another schema under the same name does not.
func TestCompiledOnce(t *testing.T) {
	r := started(t, nil, spec("a", ""), spec("b", ""))
	a, b := r.tools().byName["a__echo"], r.tools().byName["b__echo"]
	if a == nil || b == nil || a.schema == nil || b.owner == a.owner {
		t.Fatal(a, b)
	}
	m := &sdk.Manifest{Tools: []sdk.ToolSpec{a.ToolSpec, {Name: "noop", Parameters: []byte(`{"type":"object","properties":{"x":{"type":"string"}}}`)}}}
	fresh := b.owner.offer(m, b.owner.current(), false, "", r.tools().alike(m)...)
	if fresh[0].schema != a.schema {
		t.Error("the same schema was compiled again")
	}
	if _, err := fresh[1].validate([]byte(`{"x":"y"}`)); err != nil {
		t.Error("it has the schema of another tool:", err)
	}
}

// TestUnusableName: a tool's name is one that models can write.
func TestUnusableName(t *testing.T) {
	o := &offered{remote: "Bad-Name", Tool: sdk.Tool{ToolSpec: sdk.ToolSpec{Parameters: json.RawMessage(`{"type":"object"}`)}}}
	if err := o.compile(); err == nil {
		t.Error("a wrong name was taken")
	}
}

// TestMissingToolOfAPluginThatStarts: who asks for a tool that is not there is told which
// plugins have not come up yet, from the moment in which they begin.
func TestMissingToolOfAPluginThatStarts(t *testing.T) {
	r := newRig(t, func(cfg *Config) { cfg.StartTimeout = 2 * time.Second })
	r.Supervisor.begin(spec("slow", "silent"))
	for _, name := range []string{"noop", "slow__noop"} {
		if err := r.Missing(name); err == nil || !strings.Contains(err.Error(), "these plugins do not run: slow (starting)") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
