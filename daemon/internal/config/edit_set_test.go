package config

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestParseSetBounds: a value that the block would be refused for is refused before it stands there.
func TestParseSetBounds(t *testing.T) {
	high := 8.0
	for want, set := range map[string]struct {
		a    sdk.ConfigAttribute
		text string
	}{
		`style: it must be one of "plain", "bold"`: {sdk.ConfigAttribute{Name: "style", Type: "string", Enum: []string{"plain", "bold"}}, "loud"},
		"indent: it must be 8 or less":             {sdk.ConfigAttribute{Name: "indent", Type: "number", Maximum: &high}, "9"},
	} {
		if _, err := ParseSet(set.a, set.text); err == nil || err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestParseSet(t *testing.T) {
	for _, c := range []struct {
		kind, text string
		secret     bool
		want, err  string
	}{
		{kind: "string", text: `a "b" ${c}=d`, want: `a = "a \"b\" $${c}=d"`},
		{kind: "string", text: "", want: `a = ""`},
		{kind: "string", text: `secret("KEY")`, secret: true, want: `a = secret("KEY")`},
		{kind: "string", text: `env("KEY")`, want: `a = env("KEY")`},
		{kind: "string", text: `env("a") + file("${b}")`, want: `a = "env(\"a\") + file(\"$${b}\")"`},
		{kind: "string", text: "hidden", secret: true, err: `--set 'a=secret("NAME")'`},
		{kind: "number", text: "1.5", want: "a = 1.5"},
		{kind: "number", text: "many", err: `a: "many" is no number`},
		{kind: "bool", text: "true", want: "a = true"},
		{kind: "bool", text: "yes", err: `"yes" is no bool`},
		{kind: "duration", text: "90s", want: `a = "90s"`},
		{kind: "duration", text: "90", err: "with a unit"},
		{kind: "list(string)", text: "x,y", want: `a = ["x", "y"]`},
		{kind: "list(string)", text: "", want: `a = []`},
		{kind: "map(string)", text: "k=v,l=1=2", want: "a = {\n  \"k\" = \"v\"\n  \"l\" = \"1=2\"\n}"},
		{kind: "string", text: "a\xff", err: `a: "a\xff" is no UTF-8`},
		{kind: "string", text: "secret(\"\xce\")", secret: true, err: "is no UTF-8"},
		{kind: "map(string)", text: "k", err: `"k" is no NAME=VALUE`},
	} {
		set, err := ParseSet(sdk.ConfigAttribute{Name: "a", Type: c.kind, Secret: c.secret}, c.text)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s %q: %v, want %q", c.kind, c.text, err, c.err)
			}
			continue
		}
		if err != nil || set.String() != c.want {
			t.Errorf("%s %q: %v, %s, want %s", c.kind, c.text, err, set, c.want)
		}
		e := PluginEdit{Kind: "plugin", Label: "s", Sets: []Set{set}}
		for _, text := range []string{"", "plugin \"s\" {\n  a = 7\n}\n", e.Text()} {
			if got, err := setPlugin([]byte(text), "x", e); err != nil || !strings.Contains(string(got), strings.SplitN(c.want, "\n", 2)[0]) {
				t.Errorf("%s %q into %q: %v, %s", c.kind, c.text, text, err, got)
			}
		}
	}
}
