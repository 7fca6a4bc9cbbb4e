package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// What a call's arguments may be at most, before anybody looks at their sense.
const (
	largestArguments = 8 << 20
	deepest          = 64
)

// validate checks a model's arguments against the tool's schema. The error
// names the property at fault, for the model reads it and tries again.
func (o *offered) validate(arguments json.RawMessage) (json.RawMessage, error) {
	if len(bytes.TrimSpace(arguments)) == 0 {
		arguments = json.RawMessage("{}")
	}
	if len(arguments) > largestArguments {
		return nil, o.refuse("they have %d bytes, at most %d are taken", len(arguments), largestArguments)
	}
	if o.quick != nil && o.quick.takes(arguments) {
		return arguments, nil
	}
	if err := wellFormed(arguments); err != nil {
		return nil, o.refuse("%w", err)
	}
	var value any
	if err := json.Unmarshal(arguments, &value); err != nil {
		return nil, o.refuse("%w", err)
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, o.refuse("they must be a JSON object")
	}
	if o.known != nil {
		for _, name := range keys(object) {
			if !o.known[name] {
				return nil, o.refuse("%q is not declared; declared are: %s", name, list(keys(o.known)))
			}
		}
	}
	for _, name := range o.must {
		if _, there := object[name]; !there {
			return nil, o.refuse("%q is required and missing", name)
		}
	}
	if err := o.schema.Validate(object); err != nil {
		return nil, o.refuse("%s", readable(err.Error()))
	}
	return arguments, nil
}

func (o *offered) refuse(format string, args ...any) error {
	return sdk.Errorf(sdk.Validation, "the arguments of "+o.Name+" are refused: "+format, args...)
}

var (
	place   = regexp.MustCompile(`validating (root|/\S*): `)
	keyword = regexp.MustCompile(`^(type|enum|minimum|maximum|exclusiveMinimum|exclusiveMaximum|minLength|maxLength|pattern|minItems|maxItems|uniqueItems|const|multipleOf): `)
)

// readable turns the validator's path of schemas into the property a person
// would name: "validating root: validating /properties/n: type: ..." becomes
// `property "n": ...`.
func readable(text string) string {
	var at string
	for {
		m := place.FindStringSubmatchIndex(text)
		if m == nil || m[0] != 0 {
			break
		}
		at = text[m[2]:m[3]]
		text = text[m[1]:]
	}
	text = keyword.ReplaceAllString(text, "")
	if name := propertyOf(at); name != "" {
		return fmt.Sprintf("property %q: %s", name, text)
	}
	return text
}

// propertyOf reads "/properties/a/items/properties/b" as "a[].b".
func propertyOf(path string) string {
	var name strings.Builder
	parts := strings.Split(strings.Trim(path, "/"), "/")
	for i := 0; i < len(parts); i++ {
		switch parts[i] {
		case "properties":
			if i++; i < len(parts) {
				if name.Len() > 0 {
					name.WriteByte('.')
				}
				name.WriteString(parts[i])
			}
		case "items":
			name.WriteString("[]")
		}
	}
	return name.String()
}

// wellFormed refuses what decoders would silently repair: a key that stands
// twice, and nesting without end.
func wellFormed(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var open []*level
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) && len(open) == 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("they are no JSON: %w", err)
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			if len(open) >= deepest {
				return fmt.Errorf("they are nested deeper than %d levels", deepest)
			}
			open = append(open, newLevel(t == json.Delim('{')))
			continue
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		}
		if len(open) == 0 {
			if d.More() {
				return errors.New("there is more behind the JSON value")
			}
			return nil
		}
		if name, twice := open[len(open)-1].take(t); twice {
			return fmt.Errorf("%q is given twice", name)
		}
	}
}

// level is an object or array that is not closed yet.
type level struct {
	seen  map[string]bool // nil within an array
	value bool            // the next token is a value, not a key
}

func newLevel(object bool) *level {
	if object {
		return &level{seen: map[string]bool{}}
	}
	return &level{}
}

// take notes a key or the end of a value.
func (l *level) take(t json.Token) (name string, twice bool) {
	if l.seen == nil {
		return "", false
	}
	if l.value {
		l.value = false
		return "", false
	}
	name, _ = t.(string) // a key is always a string
	twice = l.seen[name]
	l.seen[name], l.value = true, true
	return name, twice
}
