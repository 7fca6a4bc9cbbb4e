package host

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

func toolOf(t testing.TB, schema string) *offered {
	t.Helper()
	o := &offered{remote: "t", Tool: sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "t", Parameters: json.RawMessage(schema)}}}
	if err := o.compile(); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestClash(t *testing.T) {
	one, two := spec("one", ""), spec("two", "")
	two.Env["FAULT_SCHEMA"] = `{"type":"object","$ref":"https://elsewhere.example/x"}`
	r := newRig(t, nil)
	found := r.Start(context.Background(), []Spec{one, two})
	var clash, unusable int
	for _, d := range found {
		if !d.Warning() || d.Instance != "two" {
			t.Errorf("unexpected %v", d)
		}
		switch {
		case strings.Contains(d.Summary, `the tool "noop" is also one of plugin one`) && strings.Contains(d.Detail, "two__noop"):
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
		if err != nil || o.Plugin != plugin || o.remote != "noop" {
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

func TestUnusableSchemas(t *testing.T) {
	for _, schema := range []string{``, `null`, `5`, `{`, `true`, `{"type":"string"}`, `{"type":"object","properties":{"a":{"$ref":"#/nowhere"}}}`, `{"type":"object","properties":{"a":{"pattern":"("}}}`} {
		o := &offered{remote: "t", Tool: sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "t", Parameters: json.RawMessage(schema)}}}
		if err := o.compile(); err == nil {
			t.Errorf("%q was taken", schema)
		}
	}
	o := &offered{remote: "Bad-Name", Tool: sdk.Tool{ToolSpec: sdk.ToolSpec{Parameters: json.RawMessage(`{"type":"object"}`)}}}
	if err := o.compile(); err == nil {
		t.Error("a wrong name was taken")
	}
}

func TestValidate(t *testing.T) {
	deep := toolOf(t, `{"type":"object","required":["a"],"properties":{"a":{"type":"array","items":{"type":"object","properties":{"b":{"type":"integer"}}}},"c":{"enum":["x","y"]}}}`)
	composed := toolOf(t, `{"type":"object","allOf":[{"properties":{"a":{"type":"string"}}}],"properties":{"b":{}}}`)
	for _, c := range []struct {
		tool            *offered
		arguments, want string // an empty want is accepted
	}{
		{deep, `{"a":[{"b":1}]}`, ""},
		{deep, ` {"a":[],"c":"y"} `, ""},
		{deep, `{"a":[{"b":"1"}]}`, `property "a[].b"`},
		{deep, `{"a":[],"c":"z"}`, `property "c"`},
		{deep, `{"c":"x"}`, `"a" is required and missing`},
		{deep, `{"a":[],"d":1}`, `"d" is not declared; declared are: a, c`},
		{deep, `{"a":[],"confirm":true}`, `"confirm" is not declared`},
		{deep, `{"a":[],"yolo":true}`, `"yolo" is not declared`},
		{deep, `{"a":[],"run":"another"}`, `"run" is not declared`},
		{deep, ``, `"a" is required and missing`},
		{deep, `null`, "must be a JSON object"},
		{deep, `{"a":[{"b":1,"b":1}]}`, `"b" is given twice`},
		{composed, `{"a":"x","b":1}`, ""},
		{composed, `{"a":1}`, `property "a"`},
		{composed, `{"e":1}`, "refused"},
		{toolOf(t, `{"type":"object","additionalProperties":true}`), `{"anything":1}`, ""},
		{toolOf(t, `{"type":"object"}`), `{"anything":1}`, `"anything" is not declared; declared are: none`},
	} {
		_, err := c.tool.validate(json.RawMessage(c.arguments))
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.arguments, err)
			}
			continue
		}
		wantOutcome(t, err, sdk.Validation)
		if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.arguments, err, c.want)
		}
	}
	_, err := deep.validate(append(append([]byte(`{"a":[],"c":"`), make([]byte, largestArguments)...), `"}`...))
	wantOutcome(t, err, sdk.Validation)
}

// TestWellFormedAcceptsJSON: what encoding/json writes is never refused.
func TestWellFormedAcceptsJSON(t *testing.T) {
	value := rapid.Custom(func(t *rapid.T) any { return randomJSON(t, 4) })
	rapid.Check(t, func(t *rapid.T) {
		b, err := json.Marshal(value.Draw(t, "value"))
		if err != nil {
			t.Fatal(err)
		}
		if err := wellFormed(b); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
	})
}

func randomJSON(t *rapid.T, depth int) any {
	kinds := 6
	if depth == 0 {
		kinds = 4
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return rapid.String().Draw(t, "text")
	case 1:
		return rapid.Int().Draw(t, "number")
	case 2:
		return rapid.Bool().Draw(t, "bool")
	case 3:
		return nil
	case 4:
		var l []any
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			l = append(l, randomJSON(t, depth-1))
		}
		return l
	}
	m := map[string]any{}
	for range rapid.IntRange(0, 3).Draw(t, "size") {
		m[rapid.String().Draw(t, "key")] = randomJSON(t, depth-1)
	}
	return m
}

// FuzzValidate: arguments are a model's; no text may do more than be refused,
// and what is accepted decodes.
func FuzzValidate(f *testing.F) {
	for _, s := range []string{`{"a":[{"b":1}]}`, `{"a":1,"a":2}`, `{`, `[[`, `{"a":`, "\x00", `{"a":[],"c":"y"} x`, `{"":{}}`} {
		f.Add([]byte(s))
	}
	o := toolOf(f, `{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{"b":{"type":"integer"}}}},"c":{"enum":["x","y"]}}}`)
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := o.validate(b)
		if err != nil {
			if sdk.OutcomeOf(err) != sdk.Validation {
				t.Fatalf("outcome %s: %v", sdk.OutcomeOf(err), err)
			}
			return
		}
		var m map[string]any
		if err := json.Unmarshal(got, &m); err != nil {
			t.Fatalf("%q was accepted: %v", b, err)
		}
		for name := range m {
			if name != "a" && name != "c" {
				t.Fatalf("%q was accepted with the undeclared %q", b, name)
			}
		}
	})
}

// FuzzHandshake: a first line may be anything.
func FuzzHandshake(f *testing.F) {
	f.Add([]byte("1|1|unix|/x|grpc|\n"))
	f.Add([]byte("1|\n"))
	f.Add([]byte{0xff, '|', '|', '|', '\n'})
	f.Fuzz(func(t *testing.T, b []byte) {
		p := &process{done: make(chan struct{}), first: b, lines: newLineLimiter(nil)}
		e := p.explain(context.Canceled, false)
		if e == nil || e.summary == "" || len(e.Error()) > 4096 {
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
		i := &instance{name: name, state: Ready, manifest: &sdk.Manifest{}, spec: Spec{Instance: name}}
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
	for _, o := range c.tools {
		listed[o.Name] = o.owner.name
	}
	if len(listed) != 4 || listed["bash__bash"] != "bash" || listed["evil__bash__bash"] != "evil" || listed["bash"] != "evil" || listed["b__c"] != "a" {
		t.Errorf("listed %v", listed)
	}
	if len(c.strange) != 3 {
		t.Errorf("told %v", c.strange)
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
