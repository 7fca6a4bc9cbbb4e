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
		`{"name":"headers","type":"map(string)"}]}`
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
	want := everything{URL: "u", Count: 3, Rate: &half, On: true, Wait: time.Minute, Idle: sdk.Duration(2 * time.Second), Tags: []string{}, Headers: map[string]string{"a": "b"}, Own: "kept"}
	if err != nil || !reflect.DeepEqual(c, want) {
		t.Errorf("%+v %v", c, err)
	}
	for raw, want := range map[string]string{
		`{}`:                         `"url" is required`,
		`[]`:                         "no JSON object",
		`{"url":5}`:                  `"url"`,
		`{"url":"u","wait":30}`:      "a duration is text",
		`{"url":"u","count":"many"}`: `"count"`,
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
