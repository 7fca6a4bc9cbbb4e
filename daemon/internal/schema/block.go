// Package schema knows the attributes of a plugin's HCL block as the plugin
// declares them. It has no state, and starts nothing.
package schema

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/bothyd/bothy/sdk"
)

// Block is the part of a plugin's block that the plugin itself declares.
type Block struct {
	Instance string           // the label of the block
	Body     hcl.Body         // nil is empty
	Eval     *hcl.EvalContext // evaluates Body
	Source   hcl.Range        // where the block stands
	Beside   []string         // the attributes that the daemon reads of such a block
}

// Decode reads a block against the schema that its plugin declares, where nil is
// no attributes. It returns the object for Settings.Config, with the defaults
// filled in, and the values that must be redacted. Mistakes carry the place in
// the operator's file; the text never shows a value that may be secret.
func (b Block) Decode(declared *sdk.ConfigSchema) (json.RawMessage, []string, hcl.Diagnostics) {
	if declared == nil {
		declared = &sdk.ConfigSchema{}
	}
	body := b.Body
	if body == nil {
		body = hcl.EmptyBody()
	}
	shape := &hcl.BodySchema{}
	for _, a := range declared.Attributes {
		if slices.Contains(sdk.BlockAttributes(), a.Name) {
			d := &hcl.Diagnostic{
				Severity: hcl.DiagError, Summary: "plugin " + b.Instance + ": unusable attribute " + a.Name,
				Detail: fmt.Sprintf("The plugin %q declares the attribute %q, which is the daemon's own of such a block, so that the plugin's could never be set: its author has to name it otherwise.", b.Instance, a.Name),
			}
			if b.Source.Filename != "" {
				d.Subject = &b.Source
			}
			return nil, nil, hcl.Diagnostics{d}
		}
		shape.Attributes = append(shape.Attributes, hcl.AttributeSchema{Name: a.Name})
	}
	content, diags := body.Content(shape)
	for _, d := range diags {
		b.unknown(d, declared)
	}
	if content == nil {
		return nil, nil, diags
	}
	values := map[string]json.RawMessage{}
	var secrets []string
	for _, a := range declared.Attributes {
		v, more := b.value(a, content.Attributes[a.Name])
		diags = append(diags, more...)
		if v == nil {
			continue
		}
		values[a.Name] = v
		if a.Secret && content.Attributes[a.Name] != nil {
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

// unknown says of an attribute that nobody declares which there are.
func (b Block) unknown(d *hcl.Diagnostic, declared *sdk.ConfigSchema) {
	var name string
	if _, err := fmt.Sscanf(d.Detail, "An argument named %q", &name); err != nil {
		return // it is another mistake
	}
	var names []string
	for _, a := range declared.Attributes {
		names = append(names, a.Name)
	}
	has := "It declares none"
	if len(names) > 0 {
		has = "It declares: " + strings.Join(names, ", ")
	}
	d.Summary = "Unknown attribute " + name
	d.Detail = fmt.Sprintf("The plugin %q declares no attribute %q, and the daemon has none for such a block. %s.", b.Instance, name, has)
	if near := sdk.Nearest(name, slices.Concat(names, b.Beside), strings.ToLower); near != "" {
		d.Detail += fmt.Sprintf(" The nearest is %q.", near)
	}
}

// value is the JSON of one attribute, of its default when the block leaves it out,
// nil when it has neither.
func (b Block) value(a sdk.ConfigAttribute, attr *hcl.Attribute) (json.RawMessage, hcl.Diagnostics) {
	if attr == nil {
		return a.Default, b.missing(a)
	}
	v, diags := attr.Expr.Value(b.Eval)
	if diags.HasErrors() {
		return nil, diags
	}
	v, _ = v.UnmarkDeep()
	if v.IsNull() {
		return a.Default, append(diags, b.missing(a)...)
	}
	raw, err := encode(a.Type, v)
	detail := fmt.Sprintf("%s must be %s: %v.", a.Name, inWords(a.Type), err)
	if err == nil {
		err = a.CheckValue(raw)
		detail = fmt.Sprintf("%s: %v.", a.Name, err)
	}
	if err != nil {
		r := attr.Expr.Range()
		return nil, append(diags, &hcl.Diagnostic{
			Severity: hcl.DiagError, Summary: "Wrong value for " + a.Name, Detail: detail, Subject: &r,
		})
	}
	return raw, diags
}

// missing is the mistake of a block without an attribute that it needs.
func (b Block) missing(a sdk.ConfigAttribute) hcl.Diagnostics {
	if !a.Required {
		return nil
	}
	d := &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: "plugin " + b.Instance + ": missing attribute " + a.Name,
		Detail: fmt.Sprintf("The plugin %q needs the attribute %q, %s.", b.Instance, a.Name, inWords(a.Type)),
	}
	if a.Doc != "" {
		d.Detail += " " + a.Doc
	}
	if b.Source.Filename != "" {
		d.Subject = &b.Source
	}
	return hcl.Diagnostics{d}
}

// types are those of attributes, and how people are told of them.
var types = map[string]struct {
	is    cty.Type
	words string
}{
	"string": {cty.String, "a text"}, "number": {cty.Number, "a number"}, "bool": {cty.Bool, "true or false"},
	"duration":     {cty.String, `a duration such as "30s"`},
	"list(string)": {cty.List(cty.String), `a list of texts such as ["a", "b"]`},
	"map(string)":  {cty.Map(cty.String), `a map of texts such as { a = "b" }`},
}

func inWords(kind string) string { return cmp.Or(types[kind].words, "a "+kind) }

// shown says in words what a value is, never the value.
func shown(v cty.Value) string {
	switch t := v.Type(); {
	case t == cty.String:
		return "a text"
	case t == cty.Number:
		return "a number"
	case t == cty.Bool:
		return "true or false"
	case t.IsTupleType(), t.IsListType(), t.IsSetType():
		return "a list"
	case t.IsObjectType(), t.IsMapType():
		return "a map"
	}
	return v.Type().FriendlyName()
}

// encode writes a value as the JSON of a declared type. Literals of lists and maps
// are converted, and nothing else is: "5" is no number.
func encode(kind string, v cty.Value) (json.RawMessage, error) {
	want := types[kind].is
	if want == cty.NilType {
		return nil, fmt.Errorf("the plugin declares the type %q, which this daemon does not know", kind)
	}
	got, err := convert.Convert(v, want)
	if err != nil || !got.IsWhollyKnown() || want.IsPrimitiveType() && v.Type() != want {
		is := "this is " + shown(v)
		if got, err := convert.Convert(v, want); err == nil && got.IsWhollyKnown() { // it means the right thing
			switch {
			case kind == "string":
				is += ", which needs quotation marks"
			case v.Type() == cty.String:
				is += ", take its quotation marks away"
			}
		}
		return nil, errors.New(is)
	}
	if kind == "duration" {
		d, err := time.ParseDuration(got.AsString())
		if err != nil {
			return nil, errors.New(`write it with a unit, such as "30s" or "5m"`)
		}
		return json.Marshal(d.String())
	}
	if got.CanIterateElements() {
		for it := got.ElementIterator(); it.Next(); {
			if _, e := it.Element(); e.IsNull() {
				return nil, errors.New("one of its values is null")
			}
		}
	}
	return ctyjson.Marshal(got, want)
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
