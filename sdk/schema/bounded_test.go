package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestBounded: what a plugin declares cannot make the daemon run in a
// circle, which is the end of it: a stack that overflows cannot be caught.
func TestBounded(t *testing.T) {
	const circle, many = "refers to itself without end", "asks more than 10000"
	chain := func(n int, next string) string {
		var defs []string
		for i := range n {
			defs = append(defs, fmt.Sprintf(`"d%05d":`+strings.ReplaceAll(next, "NEXT", `"#/$defs/d%05[2]d"`), i, i+1))
		}
		return fmt.Sprintf(`{"type":"object","$ref":"#/$defs/d00000","$defs":{%s,"d%05d":{}}}`, strings.Join(defs, ","), n)
	}
	for name, c := range map[string]struct{ schema, want string }{
		"itself":           {`{"type":"object","allOf":[{"$ref":"#"}]}`, circle},
		"by its id":        {`{"type":"object","$id":"https://x.example/s","anyOf":[{"$ref":"https://x.example/s"}]}`, circle},
		"by an escape":     {`{"type":"object","$defs":{"a/b %":{"not":{"$ref":"#/$defs/a~1b%20%25"}}},"properties":{"a":{"$ref":"#/$defs/a~1b%20%25"}}}`, circle},
		"by an anchor":     {`{"type":"object","properties":{"a":{"$anchor":"x","if":{"$ref":"#x"}}}}`, circle},
		"by a dynamic one": {`{"type":"object","properties":{"a":{"$dynamicAnchor":"x","then":{"$dynamicRef":"#x"},"if":{}}}}`, circle},
		"as it was before": {`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","definitions":{"a":{"$id":"#x","oneOf":[{"$ref":"#x"}]}}}`, circle},
		"two in a circle":  {`{"type":"object","$defs":{"x":{"else":{"$ref":"#/$defs/y"},"if":false},"y":{"dependentSchemas":{"k":{"$ref":"#/$defs/x"}}}},"properties":{"a":{"$ref":"#/$defs/x"}}}`, circle},
		"more and more":    {chain(40, `{"allOf":[{"$ref":NEXT},{"$ref":NEXT}]}`), many},
		"a long chain":     {chain(300, `{"$ref":NEXT}`), "within each other"},
		"in other letters": {`{"type":"object","AllOf":[{"$REF":"#"}]}`, circle},
		"nested":           {`{"type":"object","not":` + strings.Repeat(`{"not":`, 5000) + `{}` + strings.Repeat(`}`, 5001), "nested deeper"},
		"twice":            {`{"type":"object","type":"object"}`, "given twice"},
		"a tree":           {`{"type":"object","properties":{"value":{"$ref":"#/$defs/text"},"children":{"type":"array","items":{"$ref":"#"}}},"$defs":{"text":{"type":"string"}}}`, ""},
		"a short chain":    {chain(100, `{"$ref":NEXT}`), ""},
		"what is no $ref":  {`{"type":"object","properties":{"$ref":{"const":{"$ref":"#"}}}}`, ""},
	} {
		compiled, err := Compile(json.RawMessage(c.schema))
		if c.want == "" && err == nil {
			_, _ = compiled.Validate(json.RawMessage(`{"children":[{"children":[]}],"value":"x"}`)) // it returns
			continue
		}
		if c.want == "" || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
