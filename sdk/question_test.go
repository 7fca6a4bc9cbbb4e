package sdk

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

const trip = `{"type":"object","properties":{
	"city":{"type":"string","title":"City","minLength":2,"maxLength":20},
	"nights":{"type":"integer","minimum":1,"maximum":9007199254740993,"default":2},
	"budget":{"type":"number","minimum":0.5},
	"fast":{"type":"boolean"},
	"class":{"type":"string","enum":["one","two"],"enumNames":["First","Second"]},
	"seat":{"type":"string","oneOf":[{"const":"a","title":"Aisle"},{"const":"w","title":"Window"}]},
	"extras":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["meal","bag","lounge"]}},
	"mail":{"type":"string","format":"email"},"site":{"type":"string","format":"uri"},
	"on":{"type":"string","format":"date"},"at":{"type":"string","format":"date-time"},
	"code":{"type":"string","pattern":"^[A-Z]{3}$"},
	"pin":{"type":"string","format":"password"}},
	"required":["city"]}`

func tripFields(t *testing.T) map[string]Field {
	t.Helper()
	fields, err := Question{Message: "m", Schema: json.RawMessage(trip)}.Fields()
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]Field{}
	var order []string
	for _, f := range fields {
		by[f.Name] = f
		order = append(order, f.Name)
	}
	if got := strings.Join(order, " "); got != "city nights budget fast class seat extras mail site on at code pin" {
		t.Errorf("the order is %s", got)
	}
	return by
}

// TestFieldRead: what people type is a value, or what would be one is said; and what is read
// fits as data.
func TestFieldRead(t *testing.T) {
	by := tripFields(t)
	q := Question{Message: "m", Schema: json.RawMessage(trip)}
	for _, c := range []struct{ field, typed, want string }{
		{"city", " Bern ", `"Bern"`}, {"city", "", "city is needed"}, {"city", "B", "at least 2"}, {"city", strings.Repeat("é", 21), "at most 20 characters"},
		{"nights", "", "2"}, {"nights", "3", "3"}, {"nights", "0", "a whole number from 1 to"}, {"nights", "1.5", "a whole number"}, {"nights", "many", "a whole number"},
		{"nights", "9007199254740993", "9007199254740993"}, {"nights", "9007199254740994", "a whole number from"}, {"nights", "1e99999999999", "a whole number"},
		{"budget", "0.5", "0.5"}, {"budget", "1e3", "1e3"}, {"budget", ".4", "a number of at least 0.5"}, {"budget", "", ""},
		{"fast", "y", "true"}, {"fast", "No", "false"}, {"fast", "perhaps", "yes or no"},
		{"class", "1", `"one"`}, {"class", "second", `"two"`}, {"class", "two", `"two"`}, {"class", "3", "one of one, two"},
		{"seat", "Window", `"w"`}, {"seat", "a", `"a"`},
		{"extras", "1, bag", `["meal","bag"]`}, {"extras", "1,2,3", "a list of choices of at least 1 and at most 2"}, {"extras", "yacht", "some of meal, bag, lounge"},
		{"mail", "a@b.ch", `"a@b.ch"`}, {"mail", "A <a@b.ch>", "an email address"}, {"site", "https://b.ch/x", `"https://b.ch/x"`}, {"site", "b.ch", "a URL"},
		{"on", "2026-01-31", `"2026-01-31"`}, {"on", "31.1.", "a date, as 2026-01-31"}, {"at", "2026-01-31T08:00:00Z", `"2026-01-31T08:00:00Z"`}, {"at", "8", "a time, as"},
		{"code", "ABC", `"ABC"`}, {"code", "abc", "of the form ^[A-Z]{3}$"}, {"pin", " 12 ", `" 12 "`},
	} {
		raw, err := by[c.field].Read(c.typed)
		got := string(raw)
		if err != nil {
			if OutcomeOf(err) != Validation {
				t.Errorf("%s %q: %v", c.field, c.typed, err)
			}
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%s %q: %s, want %s", c.field, c.typed, got, c.want)
		}
		if err == nil && raw != nil {
			data := `{"city":"Bern","` + c.field + `":` + string(raw) + `}`
			if c.field == "city" {
				data = `{"city":` + string(raw) + `}`
			}
			if err := q.CheckAnswer(json.RawMessage(data)); err != nil {
				t.Errorf("%s: %v", data, err)
			}
		}
	}
	if got := q.Secrets(json.RawMessage(`{"city":"Bern","pin":"1234"}`)); !reflect.DeepEqual(got, []string{"1234"}) {
		t.Errorf("secrets %q", got)
	}
}

// TestQuestionsThatAreNone: what a person could not be asked is refused, with what is wrong.
func TestQuestionsThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		`{"message":"m"}`: "", `{"message":"m","schema":{}}`: "", `{"message":"m","url":"https://a.example/x?y=1"}`: "",
		`{"message":"m","schema":{"type":"object","properties":null}}`: "",
		``: "cannot be read", `[]`: "cannot be read", `{"message":"m","more":1}`: "cannot be read", `{}`: "no message",
		`{"message":"` + strings.Repeat("m", mostMessage+1) + `"}`:                                 "8192 bytes",
		`{"message":"m","schema":{},"url":"https://a.example"}`:                                    "not both",
		`{"message":"m","url":"javascript:alert(1)"}`:                                              "http or https",
		`{"message":"m","url":"https:///x"}`:                                                       "http or https",
		`{"message":"m","url":"https://a.example/\u202e"}`:                                         "http or https",
		`{"message":"m","schema":{"type":"array"}}`:                                                "an answer is an object",
		`{"message":"m","schema":{"required":["a"]}}`:                                              "no such property",
		`{"message":"m","schema":{"properties":{"a":1}}}`:                                          `"a"`,
		`{"message":"m","schema":{"properties":{"":{}}}}`:                                          "without a name",
		`{"message":"m","schema":{"properties":[]}}`:                                               "no object",
		`{"message":"m","schema":{"properties":{"a":{}}}}`:                                         "of the type",
		`{"message":"m","schema":{"properties":{"a":{"type":"array","items":{"type":"string"}}}}}`: "does not say",
	} {
		_, err := QuestionOf(json.RawMessage(text))
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || OutcomeOf(err) != Validation) {
			t.Errorf("%.80s: %v, want %q", text, err, want)
		}
	}
}

// FuzzQuestion: no question and no answer makes reading them fail otherwise than by an error, and what
// fits is an object.
func FuzzQuestion(f *testing.F) {
	f.Add([]byte(`{"message":"m","schema":`+trip+`}`), []byte(`{"city":"Bern"}`), "1")
	f.Add([]byte(`{"message":"m","url":"https://a.example"}`), []byte(``), "")
	f.Add([]byte(`{"message":"m"}`), []byte(`null`), "y")
	f.Fuzz(func(t *testing.T, question, data []byte, typed string) {
		q, err := QuestionOf(question)
		if err != nil {
			return
		}
		if q.CheckAnswer(data) == nil && len(data) > 0 && string(data) != "null" && !json.Valid(data) {
			t.Errorf("an answer that is no JSON fits: %q", data)
		}
		q.Secrets(data)
		fields, err := q.Fields()
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range fields {
			_ = field.Hint()
			raw, err := field.Read(typed)
			if err == nil && raw != nil && field.check(raw) != nil {
				t.Errorf("%q of %s is read as %s, which does not fit", typed, field.Name, raw)
			}
		}
	})
}

// TestQuestionOrder: what is asked follows the text of the schema, also when that was read and written since, or the
// order that the question names.
func TestQuestionOrder(t *testing.T) {
	for _, c := range []struct {
		schema string
		order  []string
		want   string
	}{
		{trip, nil, "city nights budget fast class seat extras mail site on at code pin"},
		{`{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"string"},"c":{"type":"string"}}}`, []string{"c", "none", "b"}, "c b a"},
	} {
		q := Question{Message: "m", Schema: json.RawMessage(c.schema), Order: c.order}.InOrder()
		var schema any
		if err := json.Unmarshal(q.Schema, &schema); err != nil {
			t.Fatal(err)
		}
		q.Schema, _ = json.Marshal(schema)
		fields, err := q.Fields()
		var names []string
		for _, f := range fields {
			names = append(names, f.Name)
		}
		if got := strings.Join(names, " "); err != nil || got != c.want {
			t.Errorf("it asks for %s (%v), want %s", got, err, c.want)
		}
		ordered, err := Question{Message: "m", Schema: q.Ordered()}.Fields()
		if err != nil || len(ordered) != len(fields) || !reflect.DeepEqual(ordered[0], fields[0]) || ordered[len(ordered)-1].Name != names[len(names)-1] {
			t.Errorf("the ordered schema is %s (%v)", q.Ordered(), err)
		}
	}
	if _, err := QuestionOf(json.RawMessage(`{"message":"m","order":["` + strings.Repeat(`a","`, mostFields) + `b"]}`)); OutcomeOf(err) != Validation {
		t.Errorf("a long order: %v", err)
	}
	for _, q := range []Question{{Message: "m"}, {Message: "m", Schema: json.RawMessage(`{"type":"object"}`)}} {
		if got := q.InOrder(); got.Order != nil || string(got.Ordered()) != string(q.Schema) {
			t.Errorf("%+v became %+v", q, got)
		}
	}
}

// TestTypedAnswers: what one text is as the data of an answer.
func TestTypedAnswers(t *testing.T) {
	object := func(required, properties string) json.RawMessage {
		return json.RawMessage(`{"type":"object","properties":{` + properties + `},"required":[` + required + `]}`)
	}
	for name, c := range map[string]struct {
		schema     json.RawMessage
		text, want string
	}{
		"no fields":        {nil, "yes", ""},
		"one text":         {object(`"a"`, `"a":{"type":"string"}`), " b ", `{"a":"b"}`},
		"one number":       {object(``, `"a":{"type":"integer"}`), "7", `{"a":7}`},
		"one choice":       {object(``, `"a":{"type":"string","enum":["x","y"]}`), "2", `{"a":"y"}`},
		"the needed one":   {object(`"b"`, `"a":{"type":"string"},"b":{"type":"boolean"}`), "yes", `{"b":true}`},
		"an object":        {object(`"a","b"`, `"a":{"type":"string"},"b":{"type":"string"}`), `{"a":"1","b":"2"}`, `{"a":"1","b":"2"}`},
		"a text for two":   {object(`"a","b"`, `"a":{"type":"string"},"b":{"type":"string"}`), "x", "validation"},
		"what is no whole": {object(`"a"`, `"a":{"type":"integer"}`), "much", "validation"},
	} {
		got, err := Question{Message: "m", Schema: c.schema}.Typed(c.text)
		if err != nil {
			got = json.RawMessage(OutcomeOf(err))
		}
		if string(got) != c.want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, c.want)
		}
	}
}
