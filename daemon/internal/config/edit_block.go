package config

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"golang.org/x/text/unicode/norm"

	"github.com/bothyd/bothy/sdk"
)

// attribute is one attribute of a block as it is to stand there.
type attribute struct {
	name  string
	value string     // an expression
	block attributes // in the place of a value a block inside, for who has none of the name
}

// attributes are those of a block, in their order.
type attributes []attribute

// attributesOf are those that a struct says by the hcl tags of its fields, without what is empty and may be. A
// block inside is a pointer to a struct.
func attributesOf(says any) attributes {
	all, v := attributes{}, reflect.ValueOf(says)
	for _, field := range reflect.VisibleFields(v.Type()) {
		name, kind, _ := strings.Cut(field.Tag.Get("hcl"), ",")
		x := v.FieldByIndex(field.Index)
		switch {
		case name == "" || kind == "label" || kind != "" && (x.IsZero() || (x.Kind() == reflect.Map || x.Kind() == reflect.Slice) && x.Len() == 0):
		case kind == "block":
			all = append(all, attribute{name: name, block: attributesOf(x.Elem().Interface())})
		default:
			all = append(all, attribute{name: name, value: expression(x)})
		}
	}
	return all
}

// expression is a value as it stands in a file. The keys of a map are in quotes, all of them: HCL takes a first one that
// is the word for as the beginning of something else.
func expression(v reflect.Value) string {
	var each []string
	switch v.Kind() {
	case reflect.Pointer:
		return expression(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			each = append(each, expression(v.Index(i)))
		}
		return "[" + strings.Join(each, ", ") + "]"
	case reflect.Map:
		for key, x := range v.Seq2() {
			each = append(each, "  "+expression(key)+" = "+expression(x)+"\n")
		}
		slices.Sort(each)
		return "{\n" + strings.Join(each, "") + "}"
	}
	switch x := v.Interface().(type) {
	case string, time.Duration:
		return string(Text(fmt.Sprint(x)))
	default: // a number, a truth, an Expression
		return fmt.Sprint(x)
	}
}

// stands reports whether a block of a text says this, in whichever words.
func (a attribute) stands(text []byte, block *hclsyntax.Block) bool {
	if a.block != nil {
		return inner(block.Body, a.name) != nil
	}
	is := block.Body.Attributes[a.name]
	if is == nil {
		return false
	}
	if bytes.Equal(hclwrite.Format(is.Expr.Range().SliceBytes(text)), hclwrite.Format([]byte(a.value))) {
		return true
	}
	expr, _ := hclsyntax.ParseExpression([]byte(a.value), "", hcl.InitialPos) // it was written by hclwrite, or is a reference
	v, want := valueOf(is.Expr, nil), valueOf(expr, nil)
	return !want.IsNull() && v.RawEquals(want)
}

// CheckLabel refuses a label that no block of a type, as "plugin", can have.
func CheckLabel(kind, label string) error {
	if why := labelMistake(kind, label); why != "" {
		return sdk.Errorf(sdk.Validation, "a block cannot be named %q: %s", label, why)
	}
	return nil
}

// putBlock has a block of the file at path say all the attributes, and reports whether that changed the
// file. One that is to be new and is there is an error of outcome conflict.
func putBlock(path, kind, label string, wanted attributes, isNew bool) (bool, error) {
	if err := CheckLabel(kind, label); err != nil {
		return false, err
	}
	return edit(path, func(text []byte) ([]byte, error) { return setBlock(text, path, kind, label, wanted, isNew) })
}

// setBlock is the text with a block that says all the attributes. hclwrite makes what is new; it is put in by its place in the text, for hclwrite
// alone would write tabs as spaces and leave out a byte order mark.
func setBlock(text []byte, path, kind, label string, wanted attributes, isNew bool) ([]byte, error) {
	block, err := findBlock(text, path, kind, label)
	switch {
	case err != nil:
		return nil, err
	case block != nil && isNew:
		return nil, sdk.Errorf(sdk.Conflict, "%s has a block %s %q already: change it there, or take another name", path, kind, label)
	}
	edited := text
	if block == nil {
		edited = appendBlock(text, kind, label, wanted)
	} else {
		for _, a := range wanted {
			edited = setAttribute(edited, block, a)
			if block, err = findBlock(edited, path, kind, label); err != nil || block == nil {
				break
			}
		}
	}
	// What cannot be foreseen of a text is found here, before anything is written.
	block, err = findBlock(edited, path, kind, label)
	if err != nil || block == nil || slices.ContainsFunc(wanted, func(a attribute) bool { return !a.stands(edited, block) }) {
		return nil, sdk.Errorf(sdk.Conflict, "the block %s %q of %s is written in a way that cannot be edited here: make it say this yourself:\n%s", kind, label, path, blockText(kind, label, wanted))
	}
	return edited, nil
}

// removeBlock is the text without a block. The empty line that set it apart goes with it.
func removeBlock(text []byte, path, kind, label string) ([]byte, error) {
	block, err := findBlock(text, path, kind, label)
	if err != nil || block == nil {
		return text, err
	}
	begin, end := block.Range().Start.Byte, block.CloseBraceRange.End.Byte
	rest := text[end:]
	if n := bytes.IndexByte(rest, '\n'); n >= 0 && len(bytes.TrimSpace(rest[:n])) == 0 {
		end += n + 1
	}
	edited := splice(text, begin, end, "")
	eol := lineEnd(text)
	if bytes.HasSuffix(edited[:begin], []byte(eol+eol)) && (begin == len(edited) || bytes.HasPrefix(edited[begin:], []byte(eol))) {
		edited = splice(edited, begin-len(eol), begin, "")
	}
	if left, err := findBlock(edited, path, kind, label); err != nil || left != nil {
		return nil, sdk.Errorf(sdk.Conflict, "the block %s %q of %s is written in a way that cannot be edited here: remove it yourself", kind, label, path)
	}
	return edited, nil
}

// findBlock is the block of a type and a label at the top of a text, nil when there is none.
func findBlock(text []byte, path, kind, name string) (*hclsyntax.Block, error) {
	l := &loader{parser: hclparse.NewParser()}
	var found *hclsyntax.Block
	if f := l.parse(text, path); f != nil {
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
	if l.diags.HasErrors() {
		return nil, sdk.Errorf(sdk.Validation, "%s cannot be edited before this is mended:\n%w", path, l.diags)
	}
	return found, nil
}

// sameName reports whether two names are one skill's, however accents are written.
func sameName(a, b string) bool { return norm.NFC.String(a) == norm.NFC.String(b) }

// appendBlock puts a new block at the end.
func appendBlock(text []byte, kind, label string, says attributes) []byte {
	eol := lineEnd(text)
	out := slices.Clone(text)
	if content := bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")); len(content) > 0 {
		if !bytes.HasSuffix(content, []byte("\n")) {
			out = append(out, eol...)
		}
		out = append(out, eol...)
	}
	return append(out, strings.ReplaceAll(blockText(kind, label, says), "\n", eol)...)
}

// blockText is a block as hclwrite lays it out.
func blockText(kind, label string, says attributes) string {
	return string(hclwrite.Format(fmt.Appendf(nil, "%s %s {\n%s}\n", kind, Text(label), says.lines())))
}

// lines are the attributes, one below the other.
func (as attributes) lines() (text string) {
	for _, a := range as {
		if a.block != nil {
			text += a.name + " {\n" + a.block.lines() + "}\n"
		} else {
			text += a.name + " = " + a.value + "\n"
		}
	}
	return text
}

// setAttribute gives one attribute of a block its value, where it stands or as the block's last.
func setAttribute(text []byte, block *hclsyntax.Block, a attribute) []byte {
	if a.stands(text, block) {
		return text
	}
	if was := block.Body.Attributes[a.name]; was != nil {
		return splice(text, was.Expr.Range().Start.Byte, was.Expr.Range().End.Byte, a.value)
	}
	eol := lineEnd(text)
	line := strings.TrimSuffix(string(hclwrite.Format([]byte(attributes{a}.lines()))), "\n")
	line = "  " + strings.ReplaceAll(line, "\n", eol+"  ") + eol
	end := block.CloseBraceRange.Start.Byte
	start := bytes.LastIndexByte(text[:end], '\n') + 1
	if len(bytes.TrimSpace(text[start:end])) == 0 {
		return splice(text, start, start, line)
	}
	text = splice(text, end, end, eol+line)
	for _, is := range block.Body.Attributes {
		if is.SrcRange.Start.Line == block.OpenBraceRange.Start.Line { // skill "x" { other = 1 }
			begin := block.OpenBraceRange.End.Byte
			return splice(text, begin, begin, eol+" ")
		}
	}
	return text
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
