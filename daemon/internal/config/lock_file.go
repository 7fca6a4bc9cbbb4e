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
)

// lockVersion is the form of the lock that is written and read.
const lockVersion = 2

const (
	lockHeaderStart = "# What each plugin was when a person last looked at it. `bothy plugins lock` writes this file"
	lockHeader      = lockHeaderStart + "; it keeps comments.\n"
)

const mendLock = "mend it, or move it away and call `bothy plugins lock`, which writes it anew"

// ParseLock reads a lock. What is wrong with it is told with file, line and what
// to do; no text makes it do anything else.
func ParseLock(file string, text []byte) (Lock, Diagnostics) {
	if len(bytes.TrimSpace(text)) == 0 {
		return Lock{}, nil
	}
	p := &lockParser{loader: loader{parser: hclparse.NewParser()}, lock: Lock{Plugins: map[string]Locked{}}}
	if f := p.parse(text, file); f != nil {
		p.read(f)
	}
	if !p.diags.HasErrors() {
		return p.lock, p.diags
	}
	for i, d := range p.diags {
		if d.Severity == "error" {
			p.diags[i].Detail = strings.TrimSuffix(strings.TrimSpace(d.Detail), ".") + "; nothing was changed: " + mendLock
		}
	}
	return Lock{}, p.diags
}

type lockParser struct {
	loader
	lock Lock
}

// read reads the blocks. Of names that a later version may have put into one,
// nothing is said, and they stay as long as their block does.
func (p *lockParser) read(f *hcl.File) {
	var versioned struct {
		Version int      `hcl:"version"`
		Rest    hcl.Body `hcl:",remain"`
	}
	body := f.Body.(*hclsyntax.Body)
	diags := gohcl.DecodeBody(body, nil, &versioned)
	if p.report(diags); diags.HasErrors() {
		return
	}
	if versioned.Version != lockVersion {
		p.reportAt(body.Attributes["version"].SrcRange, "Lock of another version", fmt.Sprintf("A later Bothy wrote it: its version is %d, and this Bothy reads %d.", versioned.Version, lockVersion))
		return
	}
	for name, a := range body.Attributes {
		if name != "version" {
			p.reportAt(a.NameRange, "Unknown attribute in the lock", "A lock has a version, and a block for each plugin.")
		}
	}
	from := 0
	for _, b := range body.Blocks {
		above := commentsIn(f.Bytes[from:b.TypeRange.Start.Byte])
		from = b.CloseBraceRange.End.Byte
		if b.Type != "plugin" || len(b.Labels) != 1 || !labelPattern.MatchString(b.Labels[0]) {
			p.reportAt(b.DefRange(), "No block of a lock", "A lock has blocks plugin \"LABEL\", with the labels of blocks of the configuration.")
			continue
		}
		entry := Locked{text: append(above, f.Bytes[b.TypeRange.Start.Byte:from]...)}
		diags := gohcl.DecodeBody(b.Body, nil, &entry)
		if p.report(diags); !diags.HasErrors() {
			p.put(b.DefRange(), b.Labels[0], entry)
		}
	}
	p.lock.end = commentsIn(f.Bytes[from:])
}

// commentsIn are the comments of a text before a block, or at the end, each on a line.
func commentsIn(text []byte) (comments []byte) {
	tokens, _ := hclsyntax.LexConfig(text, "", hcl.InitialPos) // it was parsed
	for _, t := range tokens {
		if t.Type == hclsyntax.TokenComment && !strings.HasPrefix(string(t.Bytes), lockHeaderStart) {
			comments = append(append(comments, bytes.TrimSpace(t.Bytes)...), '\n')
		}
	}
	return comments
}

func (p *lockParser) put(at hcl.Range, label string, entry Locked) {
	if _, twice := p.lock.Plugins[label]; twice {
		p.reportAt(at, "Block given twice", fmt.Sprintf("There are two of the label %q.", label))
	}
	if b, err := hex.DecodeString(entry.Digest); err != nil || len(b) != 32 || entry.Digest != strings.ToLower(entry.Digest) {
		p.reportAt(at, "No digest", label+" has no digest that is the 64 small hex digits of a SHA-256.")
	}
	p.lock.Plugins[label] = entry
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
			body.SetAttributeRaw(a.name, a.tokens())
		}
	}
	return bytes.TrimSpace(hclwrite.Format(f.Bytes()))
}
