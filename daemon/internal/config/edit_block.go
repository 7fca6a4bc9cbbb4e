package config

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"golang.org/x/text/unicode/norm"

	"github.com/bothyd/bothy/sdk"
)

// setSkill is the text with one skill block edited.
func setSkill(text []byte, path, name string, enabled bool) ([]byte, error) {
	return setBlock(text, path, "skill", name, []attribute{{name: "enabled", value: cty.BoolVal(enabled)}}, fmt.Sprintf("put enabled = %v into it", enabled))
}

// unsetSkill is the text without one skill block, where that only says enabled.
func unsetSkill(text []byte, path, name string) ([]byte, error) {
	block, err := findBlock(text, path, "skill", name)
	if err != nil || block == nil {
		return text, err
	}
	for _, enabled := range []bool{true, false} {
		written := appendBlock(nil, "skill", block.Labels[0], attribute{name: "enabled", value: cty.BoolVal(enabled)})
		if written = bytes.ReplaceAll(written, []byte("\n"), []byte(lineEnd(text))); bytes.HasPrefix(text[block.Range().Start.Byte:], written) {
			return removeBlock(text, path, "skill", name)
		}
	}
	return text, nil
}

// setBlock is the text with a block that says all the attributes; yourself is
// what to do where that cannot be written. hclwrite makes what is new; it is put
// in by its place in the text, for hclwrite alone would write tabs as spaces and
// leave out a byte order mark.
func setBlock(text []byte, path, kind, label string, attributes []attribute, yourself string) ([]byte, error) {
	block, err := findBlock(text, path, kind, label)
	if err != nil {
		return nil, err
	}
	edited := text
	if block == nil {
		edited = appendBlock(text, kind, label, attributes...)
	} else {
		for _, a := range attributes {
			edited = setAttribute(edited, block, a)
			if block, err = findBlock(edited, path, kind, label); err != nil || block == nil {
				break
			}
		}
	}
	// What cannot be foreseen of a text is found here, before anything is written.
	block, err = findBlock(edited, path, kind, label)
	if err != nil || block == nil || slices.ContainsFunc(attributes, func(a attribute) bool { return !saysValue(edited, block, a) }) {
		return nil, sdk.Errorf(sdk.Conflict, "the block %s %q of %s is written in a way that cannot be edited here: %s", kind, label, path, yourself)
	}
	return edited, nil
}

// attribute is one attribute of a block with the value that it is to have.
type attribute struct {
	name       string
	value      cty.Value
	expression string // in the place of a value: it is evaluated where it is read
	block      bool   // a block inside with what the value, an object, has; of a new block alone
}

func (a attribute) tokens() hclwrite.Tokens {
	if a.expression != "" {
		return hclwrite.Tokens{{Type: hclsyntax.TokenIdent, Bytes: []byte(a.expression)}}
	}
	return hclwrite.TokensForValue(a.value)
}

// stands reports whether an attribute of a text says this.
func (a attribute) stands(text []byte, is *hclsyntax.Attribute) bool {
	if a.expression != "" {
		return string(is.Expr.Range().SliceBytes(text)) == a.expression
	}
	return hasValue(is, a.value)
}

func saysValue(text []byte, block *hclsyntax.Block, want attribute) bool {
	if want.block {
		return slices.ContainsFunc(block.Body.Blocks, func(b *hclsyntax.Block) bool { return b.Type == want.name })
	}
	a := block.Body.Attributes[want.name]
	return a != nil && want.stands(text, a)
}

func hasValue(a *hclsyntax.Attribute, want cty.Value) bool {
	v, diags := a.Expr.Value(nil)
	if diags.HasErrors() || v.IsNull() {
		return false
	}
	if same, err := convert.Convert(v, want.Type()); err == nil && v.Type().IsPrimitiveType() == want.Type().IsPrimitiveType() {
		v = same
	}
	return v.Type().Equals(want.Type()) && v.RawEquals(want)
}

// findBlock is the block of a type and a label at the top of a text, nil when
// there is none.
func findBlock(text []byte, path, kind, name string) (*hclsyntax.Block, error) {
	l := &loader{parser: hclparse.NewParser()}
	var found *hclsyntax.Block
	if !l.tooDeep(text, path) {
		f, diags := l.parser.ParseHCL(text, path)
		l.report(diags)
		if !diags.HasErrors() {
			for _, b := range f.Body.(*hclsyntax.Body).Blocks {
				switch {
				case b.Type != kind || len(b.Labels) != 1 || !sameName(b.Labels[0], name):
				case found != nil:
					l.reportAt(b.DefRange(), "Block given twice", fmt.Sprintf("The block %s %q stands on line %d already; put both into one.", kind, name, found.Range().Start.Line))
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

// appendBlock puts a new block at the end.
func appendBlock(text []byte, kind, label string, attributes ...attribute) []byte {
	f := hclwrite.NewEmptyFile()
	body := f.Body().AppendNewBlock(kind, []string{label}).Body()
	for _, a := range attributes {
		if !a.block {
			body.SetAttributeRaw(a.name, a.tokens())
			continue
		}
		inner := body.AppendNewBlock(a.name, nil).Body()
		for _, name := range slices.Sorted(maps.Keys(a.value.AsValueMap())) {
			inner.SetAttributeValue(name, a.value.GetAttr(name))
		}
	}
	eol := lineEnd(text)
	out := slices.Clone(text)
	if content := bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")); len(content) > 0 {
		if !bytes.HasSuffix(content, []byte("\n")) {
			out = append(out, eol...)
		}
		out = append(out, eol...)
	}
	return append(out, strings.ReplaceAll(string(hclwrite.Format(f.Bytes())), "\n", eol)...)
}

// setAttribute gives one attribute of a block its value, where it stands or as
// the block's last.
func setAttribute(text []byte, block *hclsyntax.Block, a attribute) []byte {
	was := block.Body.Attributes[a.name]
	if was == nil {
		return insertAttribute(text, block, a)
	}
	if a.stands(text, was) {
		return text
	}
	return splice(text, was.Expr.Range().Start.Byte, was.Expr.Range().End.Byte, string(a.tokens().Bytes()))
}

// insertAttribute writes an attribute as the block's last.
func insertAttribute(text []byte, block *hclsyntax.Block, a attribute) []byte {
	f := hclwrite.NewEmptyFile()
	f.Body().SetAttributeRaw(a.name, a.tokens())
	eol := lineEnd(text)
	line := "  " + strings.TrimSuffix(string(f.Bytes()), "\n") + eol
	end := block.CloseBraceRange.Start.Byte
	if opensLine(text, block) {
		return splice(text, end, end, line)
	}
	text = splice(text, end, end, eol+line)
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
