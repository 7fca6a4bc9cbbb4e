package sdk

import (
	"encoding/json"
	"errors"
	"fmt"
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
		"requires", "projects", "limits", "quota", "confine", "confined", "price",
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
	"list(string)": "a list of texts", "map(string)": "a map of texts",
}

// CheckValue says why the JSON of a value is not one that the attribute may have. The
// text never shows the value, which may be secret.
func (a ConfigAttribute) CheckValue(value json.RawMessage) error {
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return errors.New("it is no JSON")
	}
	var texts []string
	right := true
	switch a.Type {
	case "string":
		var one string
		one, right = v.(string)
		texts = []string{one}
	case "number":
		_, right = v.(float64)
	case "bool":
		_, right = v.(bool)
	case "duration":
		one, is := v.(string)
		_, err := time.ParseDuration(one)
		right = is && err == nil
	case "list(string)":
		texts = nil
		list, is := v.([]any)
		for right = is; len(list) > 0 && right; list = list[1:] {
			var one string
			one, right = list[0].(string)
			texts = append(texts, one)
		}
	case "map(string)":
		named, is := v.(map[string]any)
		right = is
		for _, one := range named {
			_, text := one.(string)
			right = right && text
		}
	}
	if !right {
		return fmt.Errorf("it must be %s, and this is %s", attributeTypes[a.Type], jsonInWords(v))
	}
	for _, one := range texts {
		if len(a.Enum) > 0 && !slices.Contains(a.Enum, one) {
			return fmt.Errorf("it must be one of %s", quoted(a.Enum))
		}
	}
	if n, is := v.(float64); is && (a.Minimum != nil && n < *a.Minimum || a.Maximum != nil && n > *a.Maximum) {
		return errors.New("it must be " + a.bounds())
	}
	return nil
}

// bounds says between which numbers a value lies.
func (a ConfigAttribute) bounds() string {
	switch {
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
