package inspect

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/bothyd/bothy/sdk"
)

// attributesOf are what a plugin declares of its block, with the names and the shape of them.
func attributesOf(declared *sdk.ConfigSchema) (all []sdk.ConfigAttribute, names []string, shape hcl.BodySchema) {
	if declared != nil {
		all = declared.Attributes
	}
	for _, a := range all {
		names = append(names, a.Name)
		shape.Attributes = append(shape.Attributes, hcl.AttributeSchema{Name: a.Name})
	}
	return all, names, shape
}

// Decode reads the block of a plugin against the schema that its plugin declares, where
// nil is no attributes. It returns the object for Settings.Config, with the defaults
// filled in, and the values that must be redacted. Mistakes carry the place in the
// operator's file; the text never shows a value that may be secret.
func (spec Spec) Decode(declared *sdk.ConfigSchema) (json.RawMessage, []string, hcl.Diagnostics) {
	all, names, shape := attributesOf(declared)
	for _, name := range names {
		if slices.Contains(sdk.BlockAttributes(), name) {
			return nil, nil, hcl.Diagnostics{spec.Fail("unusable attribute "+name, fmt.Sprintf(
				"The plugin %q declares the attribute %q, which is the daemon's own of such a block, so that the plugin's could never be set: its author has to name it otherwise.", spec.Instance, name)).Diagnostic}
		}
	}
	body := spec.Body
	if body == nil {
		body = hcl.EmptyBody()
	}
	content, diags := body.Content(&shape)
	for _, d := range diags {
		spec.unknown(d, names)
	}
	if content == nil {
		return nil, nil, diags
	}
	values := map[string]json.RawMessage{}
	var secrets []string
	for _, a := range all {
		attr := content.Attributes[a.Name]
		v, more := spec.value(a, attr)
		diags = append(diags, more...)
		if v != nil {
			values[a.Name] = v
		}
		if a.Secret && attr != nil {
			secrets = append(secrets, texts(v)...)
		}
	}
	if diags.HasErrors() {
		return nil, nil, diags
	}
	config, err := json.Marshal(values)
	if err != nil { // a default that is no JSON
		return nil, nil, append(diags, spec.Fail("its block cannot be encoded", err.Error()).Diagnostic)
	}
	return config, secrets, diags
}

// unknown says of an attribute that nobody declares which there are.
func (spec Spec) unknown(d *hcl.Diagnostic, names []string) {
	var name string
	if _, err := fmt.Sscanf(d.Detail, "An argument named %q", &name); err != nil {
		return // it is another mistake
	}
	has := "It declares none"
	if len(names) > 0 {
		has = "It declares: " + strings.Join(names, ", ")
	}
	d.Summary = "Unknown attribute " + name
	d.Detail = fmt.Sprintf("The plugin %q declares no attribute %q, and the daemon has none for such a block. %s.", spec.Instance, name, has)
	if near := sdk.Nearest(name, slices.Concat(names, sdk.BlockAttributes()), strings.ToLower); near != "" {
		d.Detail += fmt.Sprintf(" The nearest is %q.", near)
	}
}

// value is the JSON of one attribute, of its default when the block leaves it out, nil when
// it has neither.
func (spec Spec) value(a sdk.ConfigAttribute, attr *hcl.Attribute) (json.RawMessage, hcl.Diagnostics) {
	v, diags := cty.NilVal, hcl.Diagnostics(nil)
	if attr != nil {
		if v, diags = attr.Expr.Value(spec.Eval); diags.HasErrors() {
			return nil, diags
		}
		v, _ = v.UnmarkDeep()
	}
	if attr == nil || v.IsNull() {
		if a.Required {
			a.Required = false // that is said by the sentence
			needs := fmt.Sprintf("The plugin %q needs the attribute %q, %v. %s", spec.Instance, a.Name, a, a.Doc)
			diags = append(diags, spec.Fail("missing attribute "+a.Name, strings.TrimSpace(needs)).Diagnostic)
		}
		return a.Default, diags
	}
	raw, err := encode(a, v)
	if err != nil {
		r := attr.Expr.Range()
		diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Wrong value for " + a.Name, Detail: a.Name + ": " + err.Error() + ".", Subject: &r})
	}
	return raw, diags
}

// types are those of attributes; the words for them are the SDK's.
var types = map[string]cty.Type{
	"string": cty.String, "number": cty.Number, "bool": cty.Bool, "duration": cty.String, "list(string)": cty.List(cty.String), "map(string)": cty.Map(cty.String),
}

// encode writes a value as the JSON of a declared type. Literals of lists and maps are
// converted, and nothing else is: "5" is no number.
func encode(a sdk.ConfigAttribute, v cty.Value) (json.RawMessage, error) {
	kind := types[a.Type]
	got, means := v, false
	if kind != cty.NilType {
		other, err := convert.Convert(v, kind)
		if means = err == nil; means && (!kind.IsPrimitiveType() || v.Type() == kind) {
			got = other
		}
	}
	raw, err := ctyjson.Marshal(got, got.Type())
	if err == nil {
		err = a.CheckValue(raw)
	}
	switch {
	case err == nil && a.Type == "duration":
		d, _ := time.ParseDuration(got.AsString()) // it was checked
		return json.Marshal(d.String())
	case err != nil && means && v.Type() != kind && a.Type == "string":
		err = fmt.Errorf("%w, which needs quotation marks", err)
	case err != nil && means && v.Type() == cty.String && kind != cty.String:
		err = fmt.Errorf("%w: take its quotation marks away", err)
	}
	return raw, err
}

// texts are the strings within a value.
func texts(v json.RawMessage) []string {
	var one string
	if json.Unmarshal(v, &one) == nil {
		return []string{one}
	}
	var list []string
	if json.Unmarshal(v, &list) == nil {
		return list
	}
	var named map[string]string
	_ = json.Unmarshal(v, &named) // a number has none
	return slices.Collect(maps.Values(named))
}
