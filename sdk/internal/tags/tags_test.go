package tags

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	for tag, want := range map[string]string{
		``:                               "",
		`json:"a,omitempty" minimum:"1"`: "",
		`json:"a" yaml:"b" db:"c"`:       "",
		`doc:"a \"b\": c" minimum:"1"`:   `the tag "doc" says nothing here: there are json, minimum`,
		`json:"a" minimun:"5"`:           `the tag "minimun" says nothing here`,
		`minimum:5`:                      "cannot be read",
		"minimum:`5`":                    "cannot be read",
		`minimum`:                        "cannot be read",
		`json:"a",minimum:"5"`:           `the tag ",minimum" says nothing`,
		`json: "a"`:                      "cannot be read",
		`  json:"a"   minimum:"1"  `:     "",
		`json:"a"minimum:"1"`:            "",
	} {
		err := Check(reflect.StructField{Name: "A", Tag: reflect.StructTag(tag)}, "json", "minimum")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", tag, err, want)
		}
	}
}

// FuzzNames: no tag makes it panic, and what reflect finds is among the names.
func FuzzNames(f *testing.F) {
	for _, tag := range []string{`a:"1" b:"2"`, `a:"`, `:""`, `a:"\q"`, "a:``"} {
		f.Add(tag)
	}
	f.Fuzz(func(t *testing.T, tag string) {
		names, whole := Names(reflect.StructTag(tag))
		for _, name := range []string{"a", "b"} {
			if _, has := reflect.StructTag(tag).Lookup(name); has && whole && !slices.Contains(names, name) {
				t.Fatalf("%q has %s, and the names are %q", tag, name, names)
			}
		}
	})
}
