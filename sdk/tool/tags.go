package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/bothyd/bothy/sdk/internal/tags"
	"github.com/bothyd/bothy/sdk/schema"
)

// filling is the default of a field: what a call has that leaves the argument out.
type filling struct {
	index []int
	value json.RawMessage
}

// fill gives a fresh value of the arguments' type its defaults.
func fill(arguments reflect.Value, defaults []filling) error {
	for _, d := range defaults {
		if err := json.Unmarshal(d.value, arguments.FieldByIndex(d.index).Addr().Interface()); err != nil {
			return err
		}
	}
	return nil
}

// tagged puts what the tags of a struct's fields say into its schema, and returns the
// defaults. What stands on a list holds for its elements, but for default and example.
func tagged(t reflect.Type, s *jsonschema.Schema) (defaults []filling, err error) {
	var errs []error
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		p := s.Properties[name]
		if f.Anonymous {
			continue
		}
		if err := idle(f, p != nil); err != nil {
			errs = append(errs, fmt.Errorf("field %s: %w", f.Name, err))
			continue
		}
		if p == nil {
			continue
		}
		if err := tag(f, p); err != nil {
			errs = append(errs, fmt.Errorf("field %s: %w", f.Name, err))
			continue
		}
		if p.Default != nil {
			defaults = append(defaults, filling{f.Index, p.Default})
			s.Required = slices.DeleteFunc(s.Required, func(r string) bool { return r == name })
		}
		below, err := within(f.Type, p)
		for _, d := range below {
			if f.Type.Kind() != reflect.Struct {
				err = errors.Join(err, fmt.Errorf("a default in a %v has no one place to be filled in", f.Type))
				break
			}
			defaults = append(defaults, filling{slices.Concat(f.Index, d.index), d.value})
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("field %s: %w", f.Name, err))
		}
	}
	return defaults, errors.Join(errs...)
}

// ours are the tags of an argument.
var ours = []string{"json", "jsonschema", "enum", "minimum", "maximum", "default", "example", "format"}

// idle finds tags that say nothing: nobody knows them, or the field is no argument.
func idle(f reflect.StructField, argument bool) error {
	if argument {
		return tags.Check(f, ours...)
	}
	names, _ := tags.Names(f.Tag)
	for _, name := range names {
		if name == "json" && f.IsExported() {
			return nil // it says "-"
		}
		if slices.Contains(ours, name) {
			return fmt.Errorf("it has the tag %s and is no argument: begin its name with a capital letter", name)
		}
	}
	return nil
}

// within looks for structs in what a field holds.
func within(t reflect.Type, s *jsonschema.Schema) ([]filling, error) {
	switch {
	case s == nil:
		return nil, nil
	case t.Kind() == reflect.Pointer:
		return within(t.Elem(), s)
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		return within(t.Elem(), s.Items)
	case t.Kind() == reflect.Map:
		return within(t.Elem(), s.AdditionalProperties)
	case t.Kind() == reflect.Struct:
		return tagged(t, s)
	}
	return nil, nil
}

// tag reads the tags of one field into its schema.
func tag(f reflect.StructField, s *jsonschema.Schema) error {
	each := s // what a value of its own is checked against
	if s.Type == "array" && s.Items != nil {
		each = s.Items
	}
	var errs []error
	read := func(name string, of *jsonschema.Schema, take func(json.RawMessage)) {
		text, has := f.Tag.Lookup(name)
		if !has {
			return
		}
		value, err := literal(of, text)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s %q: %w", name, text, err))
			return
		}
		take(value)
	}
	if text, has := f.Tag.Lookup("enum"); has {
		for _, one := range strings.Split(text, ",") {
			value, err := literal(each, one)
			errs = append(errs, err)
			each.Enum = append(each.Enum, anyOf(value))
		}
	}
	bound := func(into **float64) func(json.RawMessage) {
		return func(value json.RawMessage) {
			if n, is := anyOf(value).(float64); is && each.Type != "string" {
				*into = &n
			} else {
				errs = append(errs, fmt.Errorf("a %s has no minimum and no maximum", each.Type))
			}
		}
	}
	read("minimum", each, bound(&each.Minimum))
	read("maximum", each, bound(&each.Maximum))
	if text, has := f.Tag.Lookup("format"); has {
		if each.Format = text; each.Type != "string" {
			errs = append(errs, fmt.Errorf("format %q: only texts have one", text))
		}
	}
	read("default", s, func(value json.RawMessage) { s.Default = value })
	read("example", s, func(value json.RawMessage) { s.Examples = []any{anyOf(value)} })
	if each.Minimum != nil && each.Maximum != nil && *each.Minimum > *each.Maximum {
		errs = append(errs, fmt.Errorf("its minimum %v is above its maximum %v", *each.Minimum, *each.Maximum))
	}
	if err := errors.Join(errs...); err != nil || s.Default == nil && s.Examples == nil {
		return err
	}
	check, err := s.CloneSchemas().Resolve(nil)
	if err != nil {
		return err
	}
	for _, one := range []struct {
		name  string
		value any
	}{{"default", anyOf(s.Default)}, {"example", first(s.Examples)}} {
		if one.value == nil {
			continue
		}
		if err := check.Validate(one.value); err != nil {
			errs = append(errs, fmt.Errorf("its %s: %s", one.name, schema.Problem(err.Error())))
		}
	}
	return errors.Join(errs...)
}

func first(list []any) any {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// literal is the JSON of what a tag says: a text as it is, a list of texts with
// commas, anything else as JSON.
func literal(s *jsonschema.Schema, text string) (json.RawMessage, error) {
	switch {
	case s.Type == "string":
		return json.Marshal(text)
	case s.Type == "array" && s.Items != nil && s.Items.Type == "string" && text != "":
		return json.Marshal(strings.Split(text, ","))
	case s.Type == "array" && text == "":
		return json.RawMessage("[]"), nil
	case !json.Valid([]byte(text)):
		return nil, fmt.Errorf("%q is no %s", text, s.Type)
	}
	return json.RawMessage(text), nil
}

func anyOf(value json.RawMessage) (v any) {
	_ = json.Unmarshal(value, &v) // literal wrote it
	return v
}
