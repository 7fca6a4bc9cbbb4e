package process

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
)

// TestReadEntry: what a logger wrote is read, and nothing else is taken for it.
func TestReadEntry(t *testing.T) {
	for line, want := range map[string]*entry{
		`{"@level":"trace","@message":"m"}`:                          {hclog.Trace, "m", nil},
		`{"@message":"m","@level":"error"}`:                          {hclog.Error, "m", nil},
		`{"@message":"m"}`:                                           {hclog.Info, "m", nil},
		`{"@level":"error"}`:                                         {hclog.Error, "", nil},
		`{"@level":"warn","@message":"m","a":true,"b":null}`:         {hclog.Warn, "m", []any{"a", true, "b", nil}},
		`{"@level":"warn","@message":"m","a":1e400}`:                 {hclog.Warn, "m", []any{"a", json.Number("1e400")}},
		`{"@level":"warn","@message":"m","a":{"b":[]}}`:              {hclog.Warn, "m", []any{"a", `{"b":[]}`}},
		`{"@level":"warn","@message":"m","@module":"x","@caller":5}`: {hclog.Warn, "m", []any{"@caller", json.Number("5")}},
		`{"@level":"warn","@message":"first","@message":"last"}`:     {hclog.Warn, "last", nil},
		`{"level":"warn","@message":"m"}`:                            nil, // another logger's
		` {"@level":"warn"}`:                                         nil,
		`{"@level":"warn"`:                                           nil,
		`{"@level":"warn"}{"@level":"warn"}`:                         nil,
		`["@level"]`:                                                 nil,
		``:                                                           nil,
	} {
		if got := readEntry([]byte(line)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", line, got, want)
		}
	}
}

// FuzzReadEntry: whatever a plugin writes is no more than an entry or a line: a level that a
// log has, and a value for each name.
func FuzzReadEntry(f *testing.F) {
	for _, line := range []string{
		`{"@level":"warn","@message":"m","a":1}`, `{"@level":5,"@message":{"a":[]}}`, `{"@a":`, `{"@":{"@":{}}}`, "{\"@\xff\":1}", `{"@level":"off"}`,
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		e := readEntry([]byte(line))
		if e == nil {
			return
		}
		if !json.Valid([]byte(line)) || !strings.HasPrefix(line, `{"@`) {
			t.Errorf("%q is taken for an entry", line)
		}
		if e.level < hclog.Trace || e.level > hclog.Error || len(e.members)%2 != 0 {
			t.Errorf("%q: %+v", line, e)
		}
		for n := 0; n < len(e.members); n += 2 {
			if name, is := e.members[n].(string); !is || name == "@level" || name == "@message" || name == "@module" || name == "@timestamp" {
				t.Errorf("%q has the member %v", line, e.members[n])
			}
			switch e.members[n+1].(type) {
			case nil, string, bool, json.Number:
			default:
				t.Errorf("%q has the value %#v", line, e.members[n+1])
			}
		}
	})
}
