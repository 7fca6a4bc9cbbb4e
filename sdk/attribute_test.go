package sdk

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestAttributeCheck(t *testing.T) {
	low, high := 1.0, 8.0
	for want, a := range map[string]ConfigAttribute{
		"":                               {Name: "a", Type: "number", Minimum: &low, Maximum: &high, Default: json.RawMessage("2")},
		"an attribute has no name":       {Type: "string"},
		"path is the daemon's own":       {Name: "path", Type: "string"},
		`there is no type "text"`:        {Name: "a", Type: "text"},
		"a number has no enum":           {Name: "a", Type: "number", Enum: []string{"1"}},
		"a list(string) has no minimum":  {Name: "a", Type: "list(string)", Minimum: &low},
		"its minimum 8 is above":         {Name: "a", Type: "number", Minimum: &high, Maximum: &low},
		"is required and has a default":  {Name: "a", Type: "string", Required: true, Default: json.RawMessage(`"x"`)},
		"its default: it is no JSON":     {Name: "a", Type: "string", Default: json.RawMessage(`x`)},
		"its default: it must be a text": {Name: "a", Type: "string", Default: json.RawMessage(`5`)},
	} {
		err := a.Check()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", a, err, want)
		}
	}
}

func TestAttributeCheckValue(t *testing.T) {
	low, high := 1.0, 8.0
	for _, c := range []struct {
		a           ConfigAttribute
		value, want string // an empty want is taken
	}{
		{ConfigAttribute{Type: "string"}, `"x"`, ""},
		{ConfigAttribute{Type: "string"}, `null`, "it must be a text, and this is null"},
		{ConfigAttribute{Type: "list(number)"}, `[1]`, `it is declared with the type "list(number)", which this version does not know`},
		{ConfigAttribute{Type: "string"}, `{}`, "it must be a text, and this is a map"},
		{ConfigAttribute{Type: "string", Enum: []string{"a", "b"}}, `"secret"`, `it must be one of "a", "b"`},
		{ConfigAttribute{Type: "list(string)", Enum: []string{"a", "b"}}, `["b","a"]`, ""},
		{ConfigAttribute{Type: "list(string)", Enum: []string{"a", "b"}}, `["b","c"]`, `it must be one of "a", "b"`},
		{ConfigAttribute{Type: "list(string)"}, `[]`, ""},
		{ConfigAttribute{Type: "list(string)"}, `["a",null]`, `it must be a list of texts such as ["a", "b"], and one of its values is null`},
		{ConfigAttribute{Type: "map(string)"}, `{"a":"b"}`, ""},
		{ConfigAttribute{Type: "map(string)"}, `{"a":1}`, `it must be a map of texts such as { a = "b" }, and one of its values is a number`},
		{ConfigAttribute{Type: "map(string)"}, `["secret"]`, `it must be a map of texts such as { a = "b" }, and this is a list`},
		{ConfigAttribute{Type: "bool"}, `"true"`, "it must be true or false, and this is a text"},
		{ConfigAttribute{Type: "duration"}, `"5m"`, ""},
		{ConfigAttribute{Type: "duration"}, `"5"`, `it must be a duration with a unit, such as "30s" or "5m"`},
		{ConfigAttribute{Type: "duration"}, `5`, `it must be a duration such as "30s", and this is a number`},
		{ConfigAttribute{Type: "number", Minimum: &low}, `0`, "it must be 1 or more"},
		{ConfigAttribute{Type: "number", Maximum: &high}, `9`, "it must be 8 or less"},
		{ConfigAttribute{Type: "number", Minimum: &low, Maximum: &high}, `8.5`, "it must be from 1 to 8"},
		{ConfigAttribute{Type: "number", Minimum: &low, Maximum: &high}, `8`, ""},
	} {
		err := c.a.CheckValue(json.RawMessage(c.value))
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s for %+v: %v, want %q", c.value, c.a, err, c.want)
		}
	}
}

func TestCheckValues(t *testing.T) {
	declared := &ConfigSchema{Attributes: []ConfigAttribute{{Name: "url", Type: "string", Required: true}, {Name: "count", Type: "number"}}}
	for _, c := range []struct {
		declared     *ConfigSchema
		values, want string
	}{
		{declared, `{"url":"u","count":null}`, ""},
		{nil, `{}`, ""},
		{nil, `{"foo":1}`, `attribute "foo": the plugin does not declare it: it declares none`},
		{declared, `{"url":"u","foo":1}`, `attribute "foo": the plugin does not declare it: it declares url, count`},
		{declared, `{"count":"x","foo":1}`, "attribute \"count\": it must be a number, and this is a text\nattribute \"foo\": the plugin does not declare it: it declares url, count\nattribute \"url\" is required"},
	} {
		var values map[string]json.RawMessage
		if err := json.Unmarshal([]byte(c.values), &values); err != nil {
			t.Fatal(err)
		}
		err := c.declared.CheckValues(values)
		if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%s: %v, want %q", c.values, err, c.want)
		}
	}
}

// TestAttributeString: what people are told of an attribute.
func TestAttributeString(t *testing.T) {
	low, high := 1.0, 8.5
	for want, a := range map[string]ConfigAttribute{
		"a string": {Name: "url", Type: "string", Doc: "Where."},
		`a string, one of "plain", "bold", "plain" by default`: {Type: "string", Enum: []string{"plain", "bold"}, Default: []byte(`"plain"`)},
		"a number, from 1 to 8.5":                              {Type: "number", Minimum: &low, Maximum: &high},
		"a number, 1 or more, needed":                          {Type: "number", Minimum: &low, Required: true},
		"a number, 8.5 or less":                                {Type: "number", Maximum: &high},
		"a map(string), secret":                                {Type: "map(string)", Secret: true},
	} {
		if got := a.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
