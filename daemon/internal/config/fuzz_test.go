package config

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/bothyd/bothy/sdk"
)

// FuzzParseSet: whatever a person writes behind --set becomes one attribute that can be read
// again, or an error; a text becomes that text, and never a call of something else.
func FuzzParseSet(f *testing.F) {
	for _, text := range []string{"", "a", "1.5", "true", "x,y", "k=v,l=w", `secret("K")`, `env("K") + file("/etc/passwd")`, "${x}", "%{ if x }", "\x00", "30s", "secret(\"\xce\")", "\xff"} {
		f.Add(text, uint8(0))
		f.Add(text, uint8(len(text)))
	}
	kinds := []string{"string", "number", "bool", "duration", "list(string)", "map(string)"}
	f.Fuzz(func(t *testing.T, text string, kind uint8) {
		set, err := ParseSet(sdk.ConfigAttribute{Name: "a", Type: kinds[int(kind)%len(kinds)]}, text)
		if err != nil {
			if sdk.OutcomeOf(err) != sdk.Validation {
				t.Fatal(err)
			}
			return
		}
		file, diags := hclsyntax.ParseConfig([]byte(set.String()+"\n"), "", hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatalf("%q became %s: %v", text, set, diags)
		}
		body := file.Body.(*hclsyntax.Body)
		if len(body.Attributes) != 1 || len(body.Blocks) > 0 || body.Attributes["a"] == nil {
			t.Fatalf("%q became %s", text, set)
		}
		if reference.MatchString(text) {
			return
		}
		if v, diags := body.Attributes["a"].Expr.Value(nil); diags.HasErrors() || v.IsNull() {
			t.Fatalf("%q became %s, which comes to nothing: %v", text, set, diags)
		}
	})
}

// FuzzRemoveBlock: what is put in can be taken out, and leaves the text as it was.
func FuzzRemoveBlock(f *testing.F) {
	for _, text := range fragments {
		f.Add([]byte(text), "/p")
	}
	f.Add([]byte("\xef\xbb\xbf# x\r\n"), "${x}")
	f.Fuzz(func(t *testing.T, text []byte, path string) {
		if block, err := findBlock(text, "x", "plugin", "s"); err != nil || block != nil || len(text) > 64<<10 {
			return
		}
		with, err := setPlugin(text, "x", PluginEdit{Kind: "plugin", Label: "s", Path: path, SHA256: "ab"})
		if err != nil {
			return // as a text whose last line goes on
		}
		without, err := removeBlock(with, "x", "plugin", "s")
		if err != nil || strings.TrimRight(string(without), "\r\n") != strings.TrimRight(string(text), "\r\n") || !bytes.HasPrefix(with, text) {
			t.Fatalf("%v\n%q\n%q\n%q", err, text, with, without)
		}
	})
}
