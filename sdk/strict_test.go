package sdk

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestCheckJSON(t *testing.T) {
	for text, want := range map[string]*JSONFault{
		`{"a":{"a":[1,{"a":2},{"a":3}]},"b":"a"}`: nil,
		`[]`:                       nil,
		`"a"`:                      nil,
		``:                         {Kind: JSONSyntax},
		`{"a":1`:                   {Kind: JSONSyntax, Offset: 6},
		`{"a":1}}`:                 {Kind: JSONSyntax, Offset: 7},
		`{"a":1} 2`:                {Kind: JSONSyntax, Offset: 8},
		`{"a" 1}`:                  {Kind: JSONSyntax, Offset: 5},
		`{"a":1,"a":`:              {Kind: JSONSyntax, Offset: 11},
		`{"a":1,"a":2}`:            {Kind: JSONTwice, Name: "a", Offset: 10},
		`[{"":1,"":2}]`:            {Kind: JSONTwice, Name: "", Offset: 9},
		`{"a":1,"\u0061":{"b":2}}`: {Kind: JSONTwice, Name: "a", Offset: 15},
		`[[[[[]]]]]`:               {Kind: JSONDeep, Offset: 5},
		strings.Repeat("[", 99999): {Kind: JSONDeep, Offset: 5},
	} {
		got := CheckJSON([]byte(text), 4)
		if (got == nil) != (want == nil) || got != nil && (got.Kind != want.Kind || got.Name != want.Name || got.Offset != want.Offset || (got.Err != nil) != (got.Kind == JSONSyntax)) {
			t.Errorf("%.40q: %+v, want %+v", text, got, want)
		}
	}
}

func FuzzCheckJSON(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":null}],"c":"d"}`))
	f.Add([]byte(`{"a":1,"a":2}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if fault := CheckJSON(text, 100); (fault == nil || fault.Kind == JSONTwice) && !json.Valid(text) {
			t.Errorf("%q passes: %+v", text, fault)
		}
	})
}
