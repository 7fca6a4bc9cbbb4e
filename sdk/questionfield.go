package sdk

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Field is one thing that a question asks for.
type Field struct {
	Name        string
	Title       string // for people; empty is Name
	Description string
	Type        string // string, number, integer, boolean, or array: a choice of several
	Format      string // of a string: email, uri, date, date-time, password; any other is none
	Required    bool
	Choices     []Choice        // what there is to choose from, where not any text will do
	Default     json.RawMessage // nil is none

	minLength, maxLength *int // of a string in characters, of an array in choices
	pattern              *regexp.Regexp
	minimum, maximum     *json.Number
}

// Choice is one value of a field that has a fixed number of them.
type Choice struct {
	Value string
	Title string // for people; empty is Value
}

// formatPassword is the format of texts that are secret.
const formatPassword = "password"

// Secret reports whether what is typed must not be shown, kept or told to anybody but who asked.
func (f Field) Secret() bool { return f.Format == formatPassword }

// fieldOf reads one property of a question's schema.
func fieldOf(name string, schema json.RawMessage, required bool) (Field, error) {
	type titled struct {
		Const string `json:"const"`
		Title string `json:"title"`
	}
	var s struct {
		Type                 string
		Title, Description   string
		Format, Pattern      string
		Default              json.RawMessage
		Enum                 []string
		EnumNames            []string
		OneOf                []titled
		MinLength, MaxLength *int
		MinItems, MaxItems   *int
		Minimum, Maximum     *json.Number
		Items                *struct {
			Enum  []string
			AnyOf []titled
		}
	}
	if name == "" || len(name) > 200 || strings.ContainsFunc(name, Hidden) {
		return Field{}, Errorf(Validation, "the question has a property without a name that can be shown")
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		return Field{}, Errorf(Validation, "the property %q of the question cannot be asked for: %w", name, err)
	}
	f := Field{Name: name, Title: s.Title, Description: s.Description, Type: s.Type, Format: s.Format, Required: required, Default: s.Default}
	f.minLength, f.maxLength, f.minimum, f.maximum = s.MinLength, s.MaxLength, s.Minimum, s.Maximum
	if s.Pattern != "" {
		f.pattern, _ = regexp.Compile(s.Pattern) // one that Go does not know is left to who asks
	}
	choices, titles := s.Enum, s.OneOf
	switch s.Type {
	case "string", "number", "integer", "boolean":
	case "array":
		f.minLength, f.maxLength = s.MinItems, s.MaxItems
		if s.Items == nil || len(s.Items.Enum)+len(s.Items.AnyOf) == 0 {
			return f, Errorf(Validation, "the property %q of the question is a list, and does not say what there is to choose from", name)
		}
		choices, titles = s.Items.Enum, s.Items.AnyOf
	default:
		return f, Errorf(Validation, "the property %q of the question is of the type %.40q; a person can be asked for a string, a number, an integer, a boolean, or a list of choices", name, s.Type)
	}
	for i, value := range choices {
		c := Choice{Value: value}
		if len(s.EnumNames) == len(choices) {
			c.Title = s.EnumNames[i]
		}
		f.Choices = append(f.Choices, c)
	}
	for _, t := range titles {
		f.Choices = append(f.Choices, Choice{t.Const, t.Title})
	}
	if f.Default != nil && f.check(f.Default) != nil {
		f.Default = nil // one that is no answer is none
	}
	return f, nil
}

// Hint says in a few words what fits, such as "a date, 2026-01-31"; empty where any text does.
func (f Field) Hint() string {
	switch {
	case f.Type == "boolean":
		return "y or n"
	case f.Type == "array":
		return "numbers or values, with commas between them"
	case len(f.Choices) > 0:
		return "a number or a value"
	case f.Type == "integer":
		return "a whole number" + f.between()
	case f.Type == "number":
		return "a number" + f.between()
	}
	return map[string]string{
		"email": "an email address", "uri": "a URL", "date": "a date, as 2026-01-31", "date-time": "a time, as 2026-01-31T08:00:00Z",
		formatPassword: "it is not shown",
	}[f.Format]
}

func (f Field) between() string {
	switch {
	case f.minimum != nil && f.maximum != nil:
		return fmt.Sprintf(" from %s to %s", *f.minimum, *f.maximum)
	case f.minimum != nil:
		return fmt.Sprintf(" of at least %s", *f.minimum)
	case f.maximum != nil:
		return fmt.Sprintf(" of at most %s", *f.maximum)
	}
	return ""
}

// Read is the value of what a person typed. Nothing typed is the default, and nil where
// there is none and none is needed. The error says what would fit.
func (f Field) Read(typed string) (json.RawMessage, error) {
	text := typed
	if !f.Secret() {
		text = strings.TrimSpace(typed)
	}
	var value any = text
	switch {
	case text == "" && f.Default != nil:
		return f.Default, nil
	case text == "" && !f.Required:
		return nil, nil
	case text == "":
		return nil, Errorf(Validation, "%s is needed", f.Name)
	case f.Type == "array":
		list := []string{}
		for part := range strings.SplitSeq(text, ",") {
			list = append(list, f.choice(strings.TrimSpace(part)))
		}
		value = list
	case len(f.Choices) > 0:
		value = f.choice(text)
	case f.Type == "boolean":
		switch strings.ToLower(text) {
		case "y", "yes", "true", "1":
			value = true
		case "n", "no", "false", "0":
			value = false
		}
	case f.Type == "number", f.Type == "integer":
		if json.Valid([]byte(text)) {
			value = json.Number(text)
		}
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, Errorf(Validation, "%s: %s is none", f.Name, f.Hint())
	}
	return raw, f.check(raw)
}

// choice is the value that a number or the value's own words mean; what means none stays.
func (f Field) choice(text string) string {
	if slices.ContainsFunc(f.Choices, func(c Choice) bool { return c.Value == text }) {
		return text
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(f.Choices) {
		return f.Choices[n-1].Value
	}
	for _, c := range f.Choices {
		if strings.EqualFold(c.Value, text) || strings.EqualFold(c.Title, text) {
			return c.Value
		}
	}
	return text
}
