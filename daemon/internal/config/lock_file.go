package config

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/gocty"

	"github.com/bothyd/bothy/sdk"
)

// lockVersion is the form of the lock that is written and read. Version 1 was JSON.
const lockVersion = 2

const (
	lockHeaderStart = "# What each plugin was when a person last looked at it. `bothy plugins lock` writes this file"
	lockHeader      = lockHeaderStart + "; it keeps comments above blocks.\n"
)

const mendLock = "mend it, or move it away and call `bothy plugins lock`, which writes it anew"

// lockOf is ParseLock for who has no use for warnings.
func lockOf(file string, text []byte) (Lock, error) {
	l, diags := ParseLock(file, text)
	if diags.HasErrors() {
		return Lock{}, sdk.Errorf(sdk.Validation, "%w", diags)
	}
	return l, nil
}

// ParseLock reads a lock. What is wrong with it is told with file, line and what
// to do; no text makes it do anything else.
func ParseLock(file string, text []byte) (Lock, Diagnostics) {
	start := bytes.TrimSpace(text)
	if len(start) == 0 {
		return Lock{}, nil
	}
	p := &lockParser{loader: loader{parser: hclparse.NewParser()}, lock: Lock{Plugins: map[string]Locked{}, comments: map[string][]byte{}}}
	if start[0] == '{' || start[0] == '[' {
		p.readOld(file, text)
	} else if !p.tooDeep(text, file) {
		p.read(file, text)
	}
	for i := range p.diags {
		if d := &p.diags[i]; d.Severity == "error" {
			d.Detail = strings.TrimSuffix(strings.TrimSpace(d.Detail), ".") + "; nothing was changed: " + mendLock
		}
	}
	if p.diags.HasErrors() {
		return Lock{}, p.diags
	}
	return p.lock, p.diags
}

type lockParser struct {
	loader
	lock Lock
}

// read reads the blocks. Of names that a later version may have put into one,
// nothing is said, and they stay as long as their block does.
func (p *lockParser) read(file string, text []byte) {
	f, diags := p.parser.ParseHCL(text, file)
	if p.report(diags); diags.HasErrors() {
		return
	}
	var versioned struct {
		Version int      `hcl:"version"`
		Rest    hcl.Body `hcl:",remain"`
	}
	body := f.Body.(*hclsyntax.Body)
	diags = gohcl.DecodeBody(body, nil, &versioned)
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
	tokens, _ := hclsyntax.LexConfig(text, file, hcl.InitialPos) // which was parsed
	for _, b := range body.Blocks {
		tokens = p.comments(tokens, strings.Join(b.Labels, " "), b.Range().Start.Byte, b.CloseBraceRange.End.Byte)
		if b.Type != "plugin" || len(b.Labels) != 1 || !labelPattern.MatchString(b.Labels[0]) {
			p.reportAt(b.DefRange(), "No block of a lock", "A lock has blocks plugin \"LABEL\", with the labels of blocks of the configuration.")
			continue
		}
		entry := Locked{text: text[b.TypeRange.Start.Byte:b.CloseBraceRange.End.Byte]}
		diags := gohcl.DecodeBody(b.Body, nil, &entry)
		if p.report(diags); !diags.HasErrors() {
			p.put(b.DefRange(), b.Labels[0], entry)
		}
	}
	p.comments(tokens, "", len(text), len(text))
}

// comments keeps the comments before a block that lies from start to end, and
// returns the tokens behind it.
func (p *lockParser) comments(tokens hclsyntax.Tokens, label string, start, end int) hclsyntax.Tokens {
	for i, t := range tokens {
		if t.Range.Start.Byte >= end {
			return tokens[i:]
		}
		if t.Type == hclsyntax.TokenComment && t.Range.Start.Byte < start && !strings.HasPrefix(string(t.Bytes), lockHeaderStart) {
			p.lock.comments[label] = append(append(p.lock.comments[label], bytes.TrimSpace(t.Bytes)...), '\n')
		}
	}
	return nil
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

// oldLocked is what version 1 of a lock says of a plugin: mostly its manifest.
type oldLocked struct {
	sdk.Manifest
	Plugin  string            `json:"plugin"`
	Digest  string            `json:"digest"`
	Script  bool              `json:"script"`
	Tools   map[string]string `json:"tools"`
	Sources []string          `json:"sources"`
}

// readOld reads version 1, which was JSON.
func (p *lockParser) readOld(file string, text []byte) {
	fail := func(at int, why string) {
		line := 1 + bytes.Count(text[:min(max(at, 0), len(text))], []byte("\n"))
		pos := hcl.Pos{Line: line, Column: 1}
		p.reportAt(hcl.Range{Filename: file, Start: pos, End: pos}, "The lock cannot be read", why)
	}
	var old struct {
		Version int                  `json:"version"`
		Plugins map[string]oldLocked `json:"plugins"`
	}
	if fault := sdk.CheckJSON(text, deepest); fault != nil {
		fail(min(fault.Offset, len(text)-1), fault.Error())
		return
	}
	if err := json.Unmarshal(text, &old); err != nil {
		at := 0
		var mistyped *json.UnmarshalTypeError
		if errors.As(err, &mistyped) {
			at = int(mistyped.Offset)
		}
		fail(at, err.Error())
		return
	}
	if old.Version != 1 {
		fail(0, fmt.Sprintf("its version is %d, and JSON is the form of version 1", old.Version))
		return
	}
	for label, o := range old.Plugins {
		if !labelPattern.MatchString(label) {
			fail(0, fmt.Sprintf("%.64q cannot be the label of a block", label))
		}
		o.Name = o.Plugin
		entry := LockOf(o.Manifest, o.Digest, o.Script)
		maps.Copy(entry.Tools, o.Tools)
		entry.Sources = set(o.Sources)
		p.put(hcl.Range{Filename: file, Start: hcl.Pos{Line: 1, Column: 1}}, label, entry)
	}
	p.lock.Old = true
	p.diags = append(p.diags, Diagnostic{Severity: "warning", Summary: "The lock of the plugins is JSON, as earlier versions wrote it", File: file, Line: 1, Column: 1,
		Detail: "It holds as it is. The next `bothy plugins lock` writes it anew, in HCL."})
}

// encode writes the lock: sorted, with each block that is as it was read byte for
// byte, and with the comments above those that are left.
func (l Lock) encode() ([]byte, error) {
	out := fmt.Appendf(nil, "%sversion = %d\n", lockHeader, lockVersion)
	for _, label := range slices.Sorted(maps.Keys(l.Plugins)) {
		text := l.Plugins[label].text
		if text == nil {
			var err error
			if text, err = l.Plugins[label].block(label); err != nil {
				return nil, err
			}
		}
		out = append(append(append(append(out, '\n'), l.comments[label]...), text...), '\n')
	}
	if last := l.comments[""]; last != nil {
		out = append(append(out, '\n'), last...)
	}
	return out, nil
}

// block writes an entry, without what is empty.
func (l Locked) block(label string) ([]byte, error) {
	f := hclwrite.NewEmptyFile()
	body := f.Body().AppendNewBlock("plugin", []string{label}).Body()
	v := reflect.ValueOf(l)
	for _, field := range reflect.VisibleFields(v.Type()) {
		name, kind, _ := strings.Cut(field.Tag.Get("hcl"), ",")
		x := v.FieldByIndex(field.Index)
		if name == "" || kind == "optional" && (x.IsZero() || x.Kind() >= reflect.Map && x.Kind() <= reflect.Slice && x.Len() == 0) {
			continue
		}
		ty, err := gocty.ImpliedType(x.Interface())
		if err != nil {
			return nil, sdk.Errorf(sdk.Internal, "write the lock: %w", err)
		}
		value, err := gocty.ToCtyValue(x.Interface(), ty)
		if err != nil {
			return nil, sdk.Errorf(sdk.Internal, "write the lock: %w", err)
		}
		body.SetAttributeRaw(name, lockTokens(value))
	}
	return bytes.TrimSpace(hclwrite.Format(f.Bytes())), nil
}

// lockTokens has all keys of a map in quotes: HCL takes a first key that is the
// word for as the beginning of something else.
func lockTokens(value cty.Value) hclwrite.Tokens {
	if !value.Type().IsMapType() {
		return hclwrite.TokensForValue(value)
	}
	var pairs []hclwrite.ObjectAttrTokens
	for key, x := range value.Elements() {
		pairs = append(pairs, hclwrite.ObjectAttrTokens{Name: hclwrite.TokensForValue(key), Value: hclwrite.TokensForValue(x)})
	}
	return hclwrite.TokensForObject(pairs)
}
