package plugin

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/tags"
)

// Schema derives the attributes of a plugin's block from a struct, or a
// pointer to one. Its fields are tagged:
//
//	BaseURL string        `hcl:"base_url" default:"https://…" doc:"Where the server is."`
//	Key     string        `hcl:"api_key,optional" secret:"true"`
//	Timeout time.Duration `hcl:"timeout" default:"30s"`
//
//	Style   string        `hcl:"style" enum:"plain,loud" default:"plain"`
//	Indent  int           `hcl:"indent" minimum:"1" maximum:"8" default:"2"`
//
// A field without an hcl tag is no attribute. One that is neither optional nor
// has a default is required. Types: string, bool, numbers, time.Duration,
// sdk.Duration, []string, map[string]string and pointers to them; a default of
// a []string is separated by commas. enum is of texts, and of each of a list;
// minimum and maximum are of numbers. Any other tag, and a name that is the daemon's
// ([sdk.BlockAttributes]), is an error.
func Schema(config any) (*sdk.ConfigSchema, error) {
	t := reflect.TypeOf(config)
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("the plugin's Config is %T: it must be a pointer to a struct", config)
	}
	s := &sdk.ConfigSchema{}
	for i := range t.NumField() {
		f := t.Field(i)
		tag, tagged := f.Tag.Lookup("hcl")
		if !tagged {
			if err := forgotten(f); err != nil {
				return nil, err
			}
			continue
		}
		a, err := attribute(f, tag)
		if err != nil {
			return nil, fmt.Errorf("field %s of the plugin's Config: %w", f.Name, err)
		}
		s.Attributes = append(s.Attributes, a)
	}
	return s, nil
}

// ours are the tags of an attribute.
var ours = []string{"hcl", "default", "doc", "secret", "enum", "minimum", "maximum"}

// forgotten finds a field that was meant for an attribute: it has tags of one, but for
// the name.
func forgotten(f reflect.StructField) error {
	for _, name := range ours {
		if _, has := f.Tag.Lookup(name); has {
			return fmt.Errorf("field %s of the plugin's Config: it has the tag %s and no tag hcl, by which it is an attribute", f.Name, name)
		}
	}
	return nil
}

func attribute(f reflect.StructField, tag string) (sdk.ConfigAttribute, error) {
	name, option, _ := strings.Cut(tag, ",")
	a := sdk.ConfigAttribute{Name: name, Doc: f.Tag.Get("doc"), Secret: f.Tag.Get("secret") == "true"}
	if name == "" || !f.IsExported() {
		return a, fmt.Errorf("an attribute needs a name and an exported field")
	}
	if option != "" && option != "optional" {
		return a, fmt.Errorf("unknown option %q in its hcl tag", option)
	}
	err := tags.Check(f, ours...)
	if err != nil {
		return a, err
	}
	if a.Type, err = typeName(f.Type); err != nil {
		return a, err
	}
	if text, has := f.Tag.Lookup("enum"); has {
		a.Enum = strings.Split(text, ",")
	}
	for _, bound := range []struct {
		name string
		into **float64
	}{{"minimum", &a.Minimum}, {"maximum", &a.Maximum}} {
		if text, has := f.Tag.Lookup(bound.name); has {
			n, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return a, fmt.Errorf("%s %q is no number", bound.name, text)
			}
			*bound.into = &n
		}
	}
	text, hasDefault := f.Tag.Lookup("default")
	if hasDefault {
		if a.Default, err = defaultJSON(a.Type, text); err != nil {
			return a, err
		}
	}
	a.Required = option != "optional" && !hasDefault
	return a, a.Check()
}

var (
	durationType    = reflect.TypeFor[time.Duration]()
	sdkDurationType = reflect.TypeFor[sdk.Duration]()
)

func typeName(t reflect.Type) (string, error) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == durationType || t == sdkDurationType:
		return "duration", nil
	case t.Kind() == reflect.String:
		return "string", nil
	case t.Kind() == reflect.Bool:
		return "bool", nil
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64, t.Kind() == reflect.Float32, t.Kind() == reflect.Float64:
		return "number", nil
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String:
		return "list(string)", nil
	case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String && t.Elem().Kind() == reflect.String:
		return "map(string)", nil
	}
	return "", fmt.Errorf("type %s cannot be an attribute", t)
}

func defaultJSON(kind, text string) (json.RawMessage, error) {
	switch kind {
	case "string":
		return json.Marshal(text)
	case "bool":
		if _, err := strconv.ParseBool(text); err != nil {
			return nil, fmt.Errorf("default %q is no bool", text)
		}
		return json.RawMessage(text), nil
	case "number":
		if !json.Valid([]byte(text)) {
			return nil, fmt.Errorf("default %q is no number", text)
		}
		return json.RawMessage(text), nil
	case "duration":
		if _, err := time.ParseDuration(text); err != nil {
			return nil, fmt.Errorf("default %q: %w", text, err)
		}
		return json.Marshal(text)
	case "list(string)":
		list := []string{}
		if text != "" {
			list = strings.Split(text, ",")
		}
		return json.Marshal(list)
	}
	return nil, fmt.Errorf("a %s cannot have a default", kind)
}

// Decode fills the tagged fields of the struct that into points to from the
// Config of sdk.Settings. Attributes that are absent take their defaults, or
// keep the value of the field; a required one that is absent is an error.
func Decode(config json.RawMessage, into any) error {
	schema, err := Schema(into)
	if err != nil {
		return err
	}
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return fmt.Errorf("Decode needs a pointer to a struct, not %T", into)
	}
	values := map[string]json.RawMessage{}
	if len(config) > 0 {
		if err := json.Unmarshal(config, &values); err != nil {
			return fmt.Errorf("the plugin's configuration is no JSON object: %w", err)
		}
	}
	byName := map[string]reflect.Value{}
	elem := v.Elem()
	for i := range elem.NumField() {
		if tag, ok := elem.Type().Field(i).Tag.Lookup("hcl"); ok {
			name, _, _ := strings.Cut(tag, ",")
			byName[name] = elem.Field(i)
		}
	}
	for _, a := range schema.Attributes {
		raw, ok := values[a.Name]
		if !ok || string(raw) == "null" {
			raw = a.Default
		}
		if raw == nil {
			if a.Required {
				return fmt.Errorf("attribute %q is required", a.Name)
			}
			continue
		}
		if err := a.CheckValue(raw); err != nil {
			return fmt.Errorf("attribute %q: %w", a.Name, err)
		}
		if err := assign(byName[a.Name], a.Type, raw); err != nil {
			return fmt.Errorf("attribute %q: %w", a.Name, err)
		}
	}
	return nil
}

func assign(f reflect.Value, kind string, raw json.RawMessage) error {
	if f.Kind() == reflect.Pointer {
		f.Set(reflect.New(f.Type().Elem()))
		f = f.Elem()
	}
	if kind == "duration" {
		var d sdk.Duration
		if err := json.Unmarshal(raw, &d); err != nil {
			return err
		}
		f.SetInt(int64(d))
		return nil
	}
	err := json.Unmarshal(raw, f.Addr().Interface())
	if err != nil && kind == "number" {
		return fmt.Errorf("the number does not fit into a %v", f.Type())
	}
	return err
}
