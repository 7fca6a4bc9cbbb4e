package sdk

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ConfigSchema declares the attributes of a plugin's HCL block, so that the
// host can decode the operator's own text and report mistakes where they are.
type ConfigSchema struct {
	Attributes []ConfigAttribute `json:"attributes"`
}

// ConfigAttribute is one attribute of a plugin's block.
type ConfigAttribute struct {
	Name     string          `json:"name"` // none of BlockAttributes
	Type     string          `json:"type"` // "string", "number", "bool", "duration", "list(string)", "map(string)"
	Required bool            `json:"required,omitempty"`
	Secret   bool            `json:"secret,omitempty"` // its value is redacted everywhere
	Default  json.RawMessage `json:"default,omitempty"`
	Doc      string          `json:"doc,omitempty"`
	Enum     []string        `json:"enum,omitempty"`    // a text is one of these, and so is each of a list; empty is any
	Minimum  *float64        `json:"minimum,omitempty"` // of a number
	Maximum  *float64        `json:"maximum,omitempty"`
}

// BlockAttributes are the names that stand in a plugin's block for the daemon: an
// attribute of a plugin with such a name could never be set.
func BlockAttributes() []string {
	return []string{
		"plugin", "path", "args", "env", "grants", "tools", "schemes", "models", "secrets", "sha256", "enabled", "on_use", "model",
		"requires", "projects", "agents", "agent_tools", "limits", "quota", "confine", "confined", "price", "answers",
	}
}

// Check finds what keeps the attribute from being used: a name that is the daemon's, a
// type that there is not, bounds that nothing satisfies, a default that is refused.
func (a ConfigAttribute) Check() error {
	wrong := func(format string, args ...any) error { return fmt.Errorf("attribute "+a.Name+": "+format, args...) }
	switch {
	case a.Name == "":
		return errors.New("an attribute has no name")
	case slices.Contains(BlockAttributes(), a.Name):
		return wrong("%s is the daemon's own attribute of a block, so that the plugin's could never be set: name it otherwise (the daemon's are %s)", a.Name, strings.Join(BlockAttributes(), ", "))
	case attributeTypes[a.Type] == "":
		return wrong("there is no type %q; there are string, number, bool, duration, list(string), map(string)", a.Type)
	case len(a.Enum) > 0 && a.Type != "string" && a.Type != "list(string)":
		return wrong("a %s has no enum: only texts and lists of texts do", a.Type)
	case (a.Minimum != nil || a.Maximum != nil) && a.Type != "number":
		return wrong("a %s has no minimum and no maximum", a.Type)
	case a.Minimum != nil && a.Maximum != nil && *a.Minimum > *a.Maximum:
		return wrong("its minimum %v is above its maximum %v", *a.Minimum, *a.Maximum)
	case a.Default != nil && a.Required:
		return wrong("it is required and has a default")
	}
	if a.Default != nil {
		if err := a.CheckValue(a.Default); err != nil {
			return wrong("its default: %w", err)
		}
	}
	return nil
}

// attributeTypes are how people are told of the types.
var attributeTypes = map[string]string{
	"string": "a text", "number": "a number", "bool": "true or false", "duration": `a duration such as "30s"`,
	"list(string)": `a list of texts such as ["a", "b"]`, "map(string)": `a map of texts such as { a = "b" }`,
}

// CheckValue says why the JSON of a value is not one that the attribute may have. The
// text never shows the value, which may be secret.
func (a ConfigAttribute) CheckValue(value json.RawMessage) error {
	words, known := attributeTypes[a.Type]
	if !known {
		return fmt.Errorf("it is declared with the type %q, which this version does not know", a.Type)
	}
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return errors.New("it is no JSON")
	}
	var right bool
	var texts []string
	var all []any // of a list or a map
	switch x := v.(type) {
	case string:
		_, err := time.ParseDuration(x)
		if a.Type == "duration" && err != nil {
			return errors.New(`it must be a duration with a unit, such as "30s" or "5m"`)
		}
		right, texts = a.Type == "string" || a.Type == "duration", []string{x}
	case float64:
		right = a.Type == "number"
	case bool:
		right = a.Type == "bool"
	case []any:
		right, all = a.Type == "list(string)", x
	case map[string]any:
		right, all = a.Type == "map(string)", slices.Collect(maps.Values(x))
	}
	if !right {
		return fmt.Errorf("it must be %s, and this is %s", words, jsonInWords(v))
	}
	for _, one := range all {
		text, is := one.(string)
		if !is {
			return fmt.Errorf("it must be %s, and one of its values is %s", words, jsonInWords(one))
		}
		texts = append(texts, text)
	}
	for _, one := range texts {
		if len(a.Enum) > 0 && !slices.Contains(a.Enum, one) {
			return errors.New("it must be " + a.bounds())
		}
	}
	if n, is := v.(float64); is && (a.Minimum != nil && n < *a.Minimum || a.Maximum != nil && n > *a.Maximum) {
		return errors.New("it must be " + a.bounds())
	}
	return nil
}

// String says for people what a block may say of the attribute: "a number, from 1 to 8, 3 by
// default". Name and Doc are not in it.
func (a ConfigAttribute) String() string {
	text := "a " + a.Type
	if a.Secret {
		text += ", secret"
	}
	if bounds := a.bounds(); bounds != "" {
		text += ", " + bounds
	}
	switch {
	case a.Required:
		text += ", needed"
	case len(a.Default) > 0:
		text += ", " + string(a.Default) + " by default"
	}
	return text
}

// bounds says for people what a value may be of those of its type: `one of "a", "b"`, "from
// 1 to 8", "1 or more"; empty is any.
func (a ConfigAttribute) bounds() string {
	switch {
	case len(a.Enum) > 0:
		return "one of " + quoted(a.Enum)
	case a.Minimum == nil && a.Maximum == nil:
		return ""
	case a.Maximum == nil:
		return fmt.Sprintf("%v or more", *a.Minimum)
	case a.Minimum == nil:
		return fmt.Sprintf("%v or less", *a.Maximum)
	}
	return fmt.Sprintf("from %v to %v", *a.Minimum, *a.Maximum)
}

// jsonInWords says what a value of JSON is, never the value.
func jsonInWords(v any) string {
	switch v.(type) {
	case string:
		return "a text"
	case float64:
		return "a number"
	case bool:
		return "true or false"
	case []any:
		return "a list"
	case map[string]any:
		return "a map"
	}
	return "null"
}

// CheckValues says what a block with these attributes would be refused for: one that
// nobody declares, a value that is wrong, one that is missing. A nil schema declares none.
func (c *ConfigSchema) CheckValues(values map[string]json.RawMessage) error {
	if c == nil {
		c = &ConfigSchema{}
	}
	var errs []error
	var names []string
	for _, a := range c.Attributes {
		names = append(names, a.Name)
		value, given := values[a.Name]
		switch {
		case !given || string(value) == "null":
			if a.Required {
				errs = append(errs, Errorf(Validation, "attribute %q is required", a.Name))
			}
		default:
			if err := a.CheckValue(value); err != nil {
				errs = append(errs, Errorf(Validation, "attribute %q: %w", a.Name, err))
			}
		}
	}
	for name := range values {
		if slices.Contains(names, name) {
			continue
		}
		has := "it declares none"
		if len(names) > 0 {
			has = "it declares " + strings.Join(names, ", ")
		}
		errs = append(errs, Errorf(Validation, "attribute %q: the plugin does not declare it: %s", name, has))
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// quoted are texts as people read a list of them.
func quoted(texts []string) string {
	all := make([]string, len(texts))
	for i, t := range texts {
		all[i] = strconv.Quote(t)
	}
	return strings.Join(all, ", ")
}
