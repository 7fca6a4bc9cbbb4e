package plugin

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

type everything struct {
	URL     string            `hcl:"url" doc:"Where."`
	Key     string            `hcl:"key,optional" secret:"true"`
	Count   int               `hcl:"count" default:"3"`
	Rate    *float64          `hcl:"rate,optional"`
	On      bool              `hcl:"on" default:"true"`
	Wait    time.Duration     `hcl:"wait" default:"5s"`
	Idle    sdk.Duration      `hcl:"idle,optional"`
	Tags    []string          `hcl:"tags" default:"a,b"`
	Headers map[string]string `hcl:"headers,optional"`
	Style   string            `hcl:"style" enum:"plain,bold" default:"plain"`
	Level   int               `hcl:"level,optional" minimum:"1" maximum:"5"`
	Colours []string          `hcl:"colours,optional" enum:"red,green"`
	Own     string
	private string
}

func TestSchema(t *testing.T) {
	s, err := Schema(&everything{private: "untouched"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"attributes":[` +
		`{"name":"url","type":"string","required":true,"doc":"Where."},` +
		`{"name":"key","type":"string","secret":true},` +
		`{"name":"count","type":"number","default":3},` +
		`{"name":"rate","type":"number"},` +
		`{"name":"on","type":"bool","default":true},` +
		`{"name":"wait","type":"duration","default":"5s"},` +
		`{"name":"idle","type":"duration"},` +
		`{"name":"tags","type":"list(string)","default":["a","b"]},` +
		`{"name":"headers","type":"map(string)"},` +
		`{"name":"style","type":"string","default":"plain","enum":["plain","bold"]},` +
		`{"name":"level","type":"number","minimum":1,"maximum":5},` +
		`{"name":"colours","type":"list(string)","enum":["red","green"]}]}`
	if string(b) != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
}

func TestSchemaMistakes(t *testing.T) {
	for want, config := range map[string]any{
		"must be a pointer to a struct": 5,
		"needs a name": struct {
			A string `hcl:",optional"`
		}{},
		"exported field": struct {
			a string `hcl:"a"`
		}{},
		"unknown option": struct {
			A string `hcl:"a,block"`
		}{},
		"cannot be an attribute": struct {
			A []int `hcl:"a"`
		}{},
		"is no number": struct {
			A int `hcl:"a" default:"x"`
		}{},
		"is no bool": struct {
			A bool `hcl:"a" default:"x"`
		}{},
		`default "x"`: struct {
			A time.Duration `hcl:"a" default:"x"`
		}{},
		"path is the daemon's own attribute of a block": struct {
			A string `hcl:"path"`
		}{},
		`the tag "desc" says nothing here: there are hcl, default, doc`: struct {
			A string `hcl:"a" desc:"what"`
		}{},
		"field A of the plugin's Config: it has the tag default and no tag hcl": struct {
			A string `default:"x"`
		}{},
		"its minimum 5 is above its maximum 1": struct {
			A int `hcl:"a" minimum:"5" maximum:"1"`
		}{},
		"a bool has no enum": struct {
			A bool `hcl:"a" enum:"true"`
		}{},
		"a string has no minimum": struct {
			A string `hcl:"a" minimum:"1"`
		}{},
		`minimum "few" is no number`: struct {
			A int `hcl:"a" minimum:"few"`
		}{},
		`its default: it must be one of "x", "y"`: struct {
			A string `hcl:"a" enum:"x,y" default:"z"`
		}{},
		"cannot have a default": struct {
			A map[string]string `hcl:"a" default:"x"`
		}{},
	} {
		if _, err := Schema(config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%T: %v, want %q", config, err, want)
		}
	}
}

func TestDecode(t *testing.T) {
	c := everything{Own: "kept"}
	err := Decode(json.RawMessage(`{"url":"u","rate":0.5,"wait":"1m","idle":"2s","tags":[],"headers":{"a":"b"},"later":1,"count":null}`), &c)
	half := 0.5
	want := everything{URL: "u", Count: 3, Rate: &half, On: true, Wait: time.Minute, Idle: sdk.Duration(2 * time.Second), Tags: []string{}, Headers: map[string]string{"a": "b"}, Style: "plain", Own: "kept"}
	if err != nil || !reflect.DeepEqual(c, want) {
		t.Errorf("%+v %v", c, err)
	}
	for raw, want := range map[string]string{
		`{}`:                                   `"url" is required`,
		`[]`:                                   "no JSON object",
		`{"url":5}`:                            `"url"`,
		`{"url":"u","wait":30}`:                `"wait": it must be a duration such as "30s", and this is a number`,
		`{"url":"u","count":"many"}`:           `"count": it must be a number, and this is a text`,
		`{"url":"u","count":2.5}`:              `"count": the number does not fit into a int`,
		`{"url":"u","tags":["a",1]}`:           `"tags": it must be a list of texts such as ["a", "b"], and one of its values is a number`,
		`{"url":"u","style":"loud"}`:           `"style": it must be one of "plain", "bold"`,
		`{"url":"u","level":9}`:                `"level": it must be from 1 to 5`,
		`{"url":"u","colours":["red","grey"]}`: `"colours": it must be one of "red", "green"`,
	} {
		if err := Decode(json.RawMessage(raw), &everything{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", raw, err, want)
		}
	}
	if err := Decode(nil, everything{}); err == nil {
		t.Error("a struct that is no pointer was taken")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"url":"u","tags":["x"],"wait":"1s"}`))
	f.Add([]byte(`{"url":null}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var c everything
		if err := Decode(b, &c); err == nil && c.Count == 0 && !strings.Contains(string(b), "count") {
			t.Fatalf("%q lost a default: %+v", b, c)
		}
	})
}
