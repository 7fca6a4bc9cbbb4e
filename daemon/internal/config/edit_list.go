package config

import (
	"bytes"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/bothyd/bothy/sdk"
)

// SetListed has an attribute of a block of the file at path, which is a list of texts, hold one of them or not, and reports whether
// that changed the file. Comments in the list stay. A block that is not there is an error of outcome not_found, a list that is made
// by an expression one of outcome conflict.
func SetListed(path, kind, label, name, text string, listed bool) (bool, error) {
	return edit(path, func(file []byte) ([]byte, error) {
		block, err := findBlock(file, path, kind, label)
		switch {
		case err != nil:
			return nil, err
		case block == nil:
			return nil, sdk.Errorf(sdk.NotFound, "%s has no block %s %q", path, kind, label)
		}
		edited, can := setListed(file, block, name, text, listed)
		if can { // what cannot be foreseen of a text is found here
			if block, err = findBlock(edited, path, kind, label); err == nil && block != nil {
				texts, is := textsOf(block, name)
				can = is && slices.Contains(texts, text) == listed
			}
		}
		if !can || err != nil {
			return nil, sdk.Errorf(sdk.Conflict, "%s of the block %s %q in %s is written in a way that cannot be edited here: change it there", name, kind, label, path)
		}
		return edited, nil
	})
}

// setListed is the text of a file with the list changed; false where the list is none of texts.
func setListed(file []byte, block *hclsyntax.Block, name, text string, listed bool) ([]byte, bool) {
	texts, is := textsOf(block, name)
	at := slices.Index(texts, text)
	switch {
	case !is:
		return file, false
	case listed == (at >= 0):
		return file, true
	case block.Body.Attributes[name] == nil:
		return setAttribute(file, block, attribute{name: name, value: "[" + string(Text(text)) + "]"}), true
	}
	list := block.Body.Attributes[name].Expr.(*hclsyntax.TupleConsExpr)
	if !listed {
		for ; at >= 0; at = slices.Index(texts, text) { // from behind, so that the places of those before stay
			last := len(texts) - 1
			for texts[last] != text {
				last--
			}
			file, texts = withoutElement(file, list, last), slices.Delete(texts, last, last+1)
			list.Exprs = slices.Delete(list.Exprs, last, last+1)
		}
		return file, true
	}
	if n := len(list.Exprs); n > 0 {
		end := list.Exprs[n-1].Range().End.Byte
		return splice(file, end, end, ", "+string(Text(text))), true
	}
	begin := list.OpenRange.End.Byte
	return splice(file, begin, begin, string(Text(text))), true
}

// withoutElement cuts an element out of a list with the comma behind it, or before it where it is the last.
func withoutElement(file []byte, list *hclsyntax.TupleConsExpr, at int) []byte {
	r := list.Exprs[at].Range()
	begin, end := r.Start.Byte, r.End.Byte
	behind := file[end:]
	if comma := bytes.TrimLeft(behind, " \t\r\n"); bytes.HasPrefix(comma, []byte(",")) {
		end += len(behind) - len(comma) + 1
		if bytes.HasPrefix(file[end:], []byte(" ")) && at+1 < len(list.Exprs) {
			end++
		}
		return splice(file, begin, end, "")
	}
	if at > 0 {
		if before := list.Exprs[at-1].Range().End.Byte; string(bytes.TrimSpace(file[before:begin])) == "," {
			begin = before
		}
	}
	return splice(file, begin, end, "")
}

// textsOf are the texts of a list in a block; false where it is made of anything else. One that is not there has none.
func textsOf(block *hclsyntax.Block, name string) (texts []string, is bool) {
	was := block.Body.Attributes[name]
	if was == nil {
		return nil, true
	}
	list, is := was.Expr.(*hclsyntax.TupleConsExpr)
	if !is {
		return nil, false
	}
	for _, x := range list.Exprs {
		v, diags := x.Value(nil)
		if diags.HasErrors() || v.IsNull() || !v.IsKnown() || v.Type().FriendlyName() != "string" {
			return nil, false
		}
		texts = append(texts, v.AsString())
	}
	return texts, true
}
