package config

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/bothyd/bothy/sdk"
)

// lockVersion is the form of the lock that is written and read.
const lockVersion = 2

const lockHeader = "# What each plugin was when a person last looked at it. `bothy plugins lock` writes this file; it keeps comments.\n"

const mendLock = "mend it, or move it away and call `bothy plugins lock`, which writes it anew"

// ParseLock reads a lock; an empty text has no plugins. What is wrong with it is told with file, line
// and what to do, as Diagnostics in an error of outcome validation; no text makes it do anything else.
func ParseLock(file string, text []byte) (Lock, error) {
	l, lock := &loader{parser: hclparse.NewParser()}, Lock{Plugins: map[string]Locked{}}
	if f := l.parse(text, file); f != nil && len(bytes.TrimSpace(text)) > 0 {
		l.readLock(f, &lock)
	}
	if len(l.diags) == 0 {
		return lock, nil
	}
	for i, d := range l.diags {
		l.diags[i].Detail = strings.TrimSuffix(strings.TrimSpace(d.Detail), ".") + "; nothing was changed: " + mendLock
	}
	return Lock{}, sdk.Errorf(sdk.Validation, "%w", l.diags)
}

// readLock reads the blocks. Of names that a later version may have put into one,
// nothing is said, and they stay as long as their block does.
func (l *loader) readLock(f *hcl.File, lock *Lock) {
	var versioned struct {
		Version int      `hcl:"version"`
		Rest    hcl.Body `hcl:",remain"`
	}
	var file struct {
		Plugins []Locked `hcl:"plugin,block"`
	}
	body := f.Body.(*hclsyntax.Body)
	diags := gohcl.DecodeBody(body, nil, &versioned)
	if !diags.HasErrors() && versioned.Version != lockVersion {
		l.reportAt(body.Attributes["version"].SrcRange, "Lock of another version", fmt.Sprintf("A later Bothy wrote it: its version is %d, and this Bothy reads %d.", versioned.Version, lockVersion))
		return
	}
	if !diags.HasErrors() {
		diags = gohcl.DecodeBody(versioned.Rest, nil, &file)
	}
	if l.report(diags); diags.HasErrors() {
		return
	}
	from := 0
	for i, b := range body.Blocks {
		entry := file.Plugins[i]
		entry.text = append(commentsIn(f.Bytes[from:b.TypeRange.Start.Byte]), f.Bytes[b.TypeRange.Start.Byte:b.CloseBraceRange.End.Byte]...)
		from = b.CloseBraceRange.End.Byte
		if why := labelMistake("plugin", entry.Label); why != "" {
			l.reportAt(b.DefRange(), "Unusable name", why)
		}
		if _, twice := lock.Plugins[entry.Label]; twice {
			l.reportAt(b.DefRange(), "Block given twice", fmt.Sprintf("There are two of the label %q.", entry.Label))
		}
		if sum, err := hex.DecodeString(entry.Digest); err != nil || len(sum) != 32 || entry.Digest != strings.ToLower(entry.Digest) {
			l.reportAt(b.DefRange(), "No digest", entry.Label+" has no digest that is the 64 small hex digits of a SHA-256.")
		}
		lock.Plugins[entry.Label] = entry
	}
	lock.end = commentsIn(f.Bytes[from:])
}

// commentsIn are the comments of a text before a block, or at the end, each on a line.
func commentsIn(text []byte) (comments []byte) {
	tokens, _ := hclsyntax.LexConfig(text, "", hcl.InitialPos) // it was parsed
	for _, t := range tokens {
		if t.Type == hclsyntax.TokenComment && !strings.HasPrefix(string(t.Bytes), strings.TrimSpace(lockHeader)) {
			comments = append(append(comments, bytes.TrimSpace(t.Bytes)...), '\n')
		}
	}
	return comments
}

// encode writes the lock: sorted, with each block that says what it said in was byte for
// byte, and with the comments above those that are left.
func (l Lock) encode(was Lock) []byte {
	out := fmt.Appendf(nil, "%sversion = %d\n", lockHeader, lockVersion)
	for _, label := range slices.Sorted(maps.Keys(l.Plugins)) {
		out = append(append(append(out, '\n'), was.Plugins[label].become(label, l.Plugins[label])...), '\n')
	}
	if l.end != nil {
		out = append(append(out, '\n'), l.end...)
	}
	return out
}

// become is the block of an entry for what the plugin is now. In one that is there only what is another is written.
func (l Locked) become(label string, now Locked) []byte {
	before, says := attributesOf(l), attributesOf(now)
	if l.text == nil {
		return bytes.TrimSpace([]byte(blockText("plugin", label, says)))
	}
	if len(l.Diff(now)) == 0 {
		return l.text
	}
	f, _ := hclwrite.ParseConfig(l.text, "", hcl.InitialPos) // which was parsed
	body := f.Body().Blocks()[0].Body()
	for name := range body.Attributes() {
		if !slices.ContainsFunc(says, func(a attribute) bool { return a.name == name }) {
			body.RemoveAttribute(name)
		}
	}
	for _, a := range says {
		if !slices.ContainsFunc(before, func(was attribute) bool { return was.name == a.name && was.value == a.value }) {
			body.SetAttributeRaw(a.name, hclwrite.Tokens{{Type: hclsyntax.TokenIdent, Bytes: []byte(a.value)}}) // it is only written
		}
	}
	return bytes.TrimSpace(hclwrite.Format(f.Bytes()))
}
