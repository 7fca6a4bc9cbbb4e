package host

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestBroughtEntries: a call brings plain writes of the schemes that its plugin declares and its block allows, with
// the grant; else it has failed.
func TestBroughtEntries(t *testing.T) {
	for name, c := range map[string]struct {
		grants, schemes []string
		n               int
		text            string
		want            string // of the error; empty is none
	}{
		"granted":            {[]string{sdk.GrantEntries}, nil, 2, "fact://a", ""},
		"as many as may be":  {[]string{sdk.GrantEntries}, nil, sdk.MostWrites, "fact://a", ""},
		"more":               {[]string{sdk.GrantEntries}, nil, sdk.MostWrites + 1, "fact://a", "may bring 50 entries, and this one brings 51"},
		"no grant":           {nil, nil, 1, "fact://a", `grants = ["entries"]`},
		"not declared":       {[]string{sdk.GrantEntries}, nil, 1, "https://a", "uses entries of https://"},
		"not in the block":   {[]string{sdk.GrantEntries}, []string{"known"}, 1, "fact://a", `schemes = ["known", "fact"]`},
		"a file of a person": {[]string{sdk.GrantEntries}, []string{"known"}, 1, "main.go", "file"},
	} {
		t.Run(name, func(t *testing.T) {
			s := spec("fault", "")
			s.Grants, s.Schemes = c.grants, c.schemes
			r := started(t, func(c *Config) { c.Services = &fakeDaemon{} }, s)
			got, err := r.call(t, "bring", fmt.Sprintf(`{"n":%d,"text":%q}`, c.n, c.text))
			if err != nil {
				t.Fatal(err)
			}
			if c.want != "" {
				if got.Success || len(got.Writes) > 0 || !strings.Contains(got.Error, c.want) {
					t.Errorf("%+v", got)
				}
				return
			}
			if !got.Success || len(got.Writes) != c.n {
				t.Fatalf("%+v", got)
			}
			for n, w := range got.Writes {
				plain := sdk.Write{Path: fmt.Sprintf("%s%d", c.text, n), Visibility: sdk.Archived, Writer: sdk.WriterPlugin, State: sdk.StateResolved}
				if *w.Body != "text" || string(w.Attributes) != `{"a":1}` {
					t.Errorf("%+v", w)
				}
				if w.Body, w.Attributes = nil, nil; fmt.Sprintf("%+v", w) != fmt.Sprintf("%+v", plain) {
					t.Errorf("%+v", w)
				}
			}
		})
	}
}
