package host

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/bothyd/bothy/sdk"
)

// decodeBody reads a plugin's block against the schema that the plugin
// declares. It returns the object for Settings.Config, with the defaults
// filled in, and the values that must be redacted. Mistakes carry the place
// in the operator's file; the text never shows a value that may be secret.
func decodeBody(spec Spec, schema *sdk.ConfigSchema) (json.RawMessage, []string, hcl.Diagnostics) {
	if schema == nil {
		schema = &sdk.ConfigSchema{}
	}
	body := spec.Body
	if body == nil {
		body = hcl.EmptyBody()
	}
	shape := &hcl.BodySchema{}
	for _, a := range schema.Attributes {
		shape.Attributes = append(shape.Attributes, hcl.AttributeSchema{Name: a.Name})
	}
	content, diags := body.Content(shape)
	if content == nil {
		return nil, nil, diags
	}
	values := map[string]json.RawMessage{}
	var secrets []string
	for _, a := range schema.Attributes {
		attr, present := content.Attributes[a.Name]
		if !present {
			diags = append(diags, absent(spec, a, values)...)
			continue
		}
		v, more := decodeAttribute(a, attr, spec.Eval)
		diags = append(diags, more...)
		if v == nil {
			continue
		}
		values[a.Name] = v
		if a.Secret {
			secrets = append(secrets, texts(v)...)
		}
	}
	if diags.HasErrors() {
		return nil, nil, diags
	}
	config, err := json.Marshal(values)
	if err != nil {
		return nil, nil, append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "The block cannot be encoded", Detail: err.Error()})
	}
	return config, secrets, diags
}

// absent takes the default of an attribute that the block leaves out.
func absent(spec Spec, a sdk.ConfigAttribute, values map[string]json.RawMessage) hcl.Diagnostics {
	if a.Default != nil {
		values[a.Name] = a.Default
	}
	if !a.Required {
		return nil
	}
	detail := fmt.Sprintf("The plugin %q needs the attribute %q, a %s.", spec.Instance, a.Name, a.Type)
	if a.Doc != "" {
		detail += " " + a.Doc
	}
	d := diagnose(spec, "missing attribute "+a.Name, detail)
	return hcl.Diagnostics{d.Diagnostic}
}

func decodeAttribute(a sdk.ConfigAttribute, attr *hcl.Attribute, eval *hcl.EvalContext) (json.RawMessage, hcl.Diagnostics) {
	v, diags := attr.Expr.Value(eval)
	if diags.HasErrors() {
		return nil, diags
	}
	v, _ = v.UnmarkDeep()
	if v.IsNull() {
		return a.Default, diags
	}
	raw, err := encode(a.Type, v)
	if err != nil {
		r := attr.Expr.Range()
		return nil, append(diags, &hcl.Diagnostic{
			Severity: hcl.DiagError, Summary: "Wrong value for " + a.Name,
			Detail: fmt.Sprintf("%s must be a %s: %v.", a.Name, a.Type, err), Subject: &r,
		})
	}
	return raw, diags
}

// encode writes a value as the JSON of a declared type.
func encode(kind string, v cty.Value) (json.RawMessage, error) {
	switch kind {
	case "string":
		return encodeText(v)
	case "number":
		if v.Type() != cty.Number || !v.IsKnown() {
			return nil, fmt.Errorf("this is %s", v.Type().FriendlyName())
		}
		return json.RawMessage(number(v.AsBigFloat())), nil
	case "bool":
		if v.Type() != cty.Bool || !v.IsKnown() {
			return nil, fmt.Errorf("this is %s", v.Type().FriendlyName())
		}
		return json.Marshal(v.True())
	case "duration":
		return encodeDuration(v)
	case "list(string)":
		return encodeAll(v, cty.List(cty.String))
	case "map(string)":
		return encodeAll(v, cty.Map(cty.String))
	}
	return nil, fmt.Errorf("the plugin declares the type %q, which this daemon does not know", kind)
}

func encodeText(v cty.Value) (json.RawMessage, error) {
	if v.Type() != cty.String || !v.IsKnown() {
		return nil, fmt.Errorf("this is %s", v.Type().FriendlyName())
	}
	return json.Marshal(v.AsString())
}

func encodeDuration(v cty.Value) (json.RawMessage, error) {
	if v.Type() != cty.String || !v.IsKnown() {
		return nil, fmt.Errorf("this is %s, write a text with a unit such as \"30s\"", v.Type().FriendlyName())
	}
	d, err := time.ParseDuration(v.AsString())
	if err != nil {
		return nil, fmt.Errorf("write it with a unit, such as \"30s\" or \"5m\"")
	}
	return json.Marshal(d.String())
}

// encodeAll converts lists and maps, whose literals are tuples and objects.
func encodeAll(v cty.Value, want cty.Type) (json.RawMessage, error) {
	got, err := convert.Convert(v, want)
	if err != nil || !got.IsWhollyKnown() {
		return nil, fmt.Errorf("this is %s", v.Type().FriendlyName())
	}
	if want.IsMapType() {
		m := map[string]string{}
		for k, e := range got.AsValueMap() {
			if e.IsNull() {
				return nil, fmt.Errorf("the value of %q is null", k)
			}
			m[k] = e.AsString()
		}
		return json.Marshal(m)
	}
	l := []string{}
	for _, e := range got.AsValueSlice() {
		if e.IsNull() {
			return nil, fmt.Errorf("one of its values is null")
		}
		l = append(l, e.AsString())
	}
	return json.Marshal(l)
}

func number(f *big.Float) string {
	if i, exact := f.Int(nil); exact == big.Exact {
		return i.String()
	}
	return strings.TrimPrefix(f.Text('g', -1), "+")
}

// texts are the strings within a value.
func texts(v json.RawMessage) []string {
	var one string
	var list []string
	var named map[string]string
	switch {
	case json.Unmarshal(v, &one) == nil:
		return []string{one}
	case json.Unmarshal(v, &list) == nil:
		return list
	case json.Unmarshal(v, &named) == nil:
		for _, s := range named {
			list = append(list, s)
		}
		return list
	}
	return nil
}
