package config

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	"golang.org/x/text/unicode/norm"

	"github.com/bothyd/bothy/sdk"
)

// setSkill is the text with one skill block edited. hclwrite makes what is new;
// it is put in by its place in the text, for hclwrite alone would write tabs as
// spaces and leave out a byte order mark.
func setSkill(text []byte, path, name string, enabled bool) ([]byte, error) {
	block, err := findSkill(text, path, name)
	if err != nil {
		return nil, err
	}
	var edited []byte
	switch {
	case block == nil:
		edited = appendSkill(text, name, enabled)
	case block.Body.Attributes["enabled"] != nil:
		edited = replaceEnabled(text, block.Body.Attributes["enabled"], enabled)
	default:
		edited = insertEnabled(text, block, enabled)
	}
	// What cannot be foreseen of a text is found here, before anything is written.
	block, err = findSkill(edited, path, name)
	if err != nil || block == nil || !says(block, enabled) {
		return nil, sdk.Errorf(sdk.Conflict, "the block skill %q of %s is written in a way that cannot be edited here: put enabled = %v into it", name, path, enabled)
	}
	return edited, nil
}

// says reports whether a block says just that.
func says(block *hclsyntax.Block, enabled bool) bool {
	a := block.Body.Attributes["enabled"]
	if a == nil {
		return false
	}
	v, diags := a.Expr.Value(nil)
	return !diags.HasErrors() && !v.IsNull() && v.Type() == cty.Bool && v.True() == enabled
}

// findSkill is the skill block of a name at the top of a text, nil when there is
// none.
func findSkill(text []byte, path, name string) (*hclsyntax.Block, error) {
	l := &loader{parser: hclparse.NewParser()}
	var found *hclsyntax.Block
	if !l.tooDeep(text, path) {
		f, diags := l.parser.ParseHCL(text, path)
		l.report(diags)
		if !diags.HasErrors() {
			for _, b := range f.Body.(*hclsyntax.Body).Blocks {
				switch {
				case b.Type != "skill" || len(b.Labels) != 1 || !sameName(b.Labels[0], name):
				case found != nil:
					l.reportAt(b.DefRange(), "Block given twice", fmt.Sprintf("The block skill %q stands on line %d already; put both into one.", name, found.Range().Start.Line))
				default:
					found = b
				}
			}
		}
	}
	if l.diags.HasErrors() {
		return nil, sdk.Errorf(sdk.Validation, "%s cannot be edited before this is mended:\n%w", path, l.diags)
	}
	return found, nil
}

// sameName reports whether two names are one skill's, however accents are
// written.
func sameName(a, b string) bool { return norm.NFC.String(a) == norm.NFC.String(b) }

// appendSkill puts a new block at the end.
func appendSkill(text []byte, name string, enabled bool) []byte {
	f := hclwrite.NewEmptyFile()
	f.Body().AppendNewBlock("skill", []string{name}).Body().SetAttributeValue("enabled", cty.BoolVal(enabled))
	eol := lineEnd(text)
	out := slices.Clone(text)
	if content := bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")); len(content) > 0 {
		if !bytes.HasSuffix(content, []byte("\n")) {
			out = append(out, eol...)
		}
		out = append(out, eol...)
	}
	return append(out, strings.ReplaceAll(string(f.Bytes()), "\n", eol)...)
}

// replaceEnabled writes another value in the place of the one that is there.
func replaceEnabled(text []byte, a *hclsyntax.Attribute, enabled bool) []byte {
	if v, diags := a.Expr.Value(nil); !diags.HasErrors() && v.Type() == cty.Bool && !v.IsNull() && v.True() == enabled {
		return text
	}
	return splice(text, a.Expr.Range().Start.Byte, a.Expr.Range().End.Byte, string(hclwrite.TokensForValue(cty.BoolVal(enabled)).Bytes()))
}

// insertEnabled writes the attribute as the block's last.
func insertEnabled(text []byte, block *hclsyntax.Block, enabled bool) []byte {
	f := hclwrite.NewEmptyFile()
	f.Body().SetAttributeValue("enabled", cty.BoolVal(enabled))
	eol := lineEnd(text)
	attribute := "  " + strings.TrimSuffix(string(f.Bytes()), "\n") + eol
	end := block.CloseBraceRange.Start.Byte
	if opensLine(text, block) {
		return splice(text, end, end, attribute)
	}
	text = splice(text, end, end, eol+attribute)
	if len(block.Body.Attributes) > 0 { // skill "x" { other = 1 }
		begin := block.OpenBraceRange.End.Byte
		text = splice(text, begin, begin, eol+" ")
	}
	return text
}

// opensLine reports whether what is in a block begins on a line of its own.
func opensLine(text []byte, block *hclsyntax.Block) bool {
	tokens, _ := hclsyntax.LexConfig(text, "", hcl.InitialPos) // it was parsed already
	for _, t := range tokens {
		if t.Range.Start.Byte < block.OpenBraceRange.End.Byte {
			continue
		}
		if t.Type != hclsyntax.TokenComment || bytes.HasSuffix(t.Bytes, []byte("\n")) {
			return t.Type == hclsyntax.TokenNewline || t.Type == hclsyntax.TokenComment
		}
	}
	return false
}

// lineEnd is how the lines of a text end.
func lineEnd(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// splice is a text with something else from one byte to another.
func splice(text []byte, from, to int, with string) []byte {
	return slices.Concat(text[:from], []byte(with), text[to:])
}
