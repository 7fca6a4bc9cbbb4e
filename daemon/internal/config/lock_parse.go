package config

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// BrokenLock is why a lock cannot be read, and where.
type BrokenLock struct {
	File   string
	Line   int
	Reason string
}

func (b *BrokenLock) Error() string {
	return fmt.Sprintf("%s:%d: %s; %s", b.File, b.Line, b.Reason, b.what())
}

func (b *BrokenLock) what() string {
	return "nothing was changed: mend it, or move it away and call `bothy plugins lock`, which writes it anew"
}

// deepestLock is how deep objects may lie in each other.
const deepestLock = 32

// ParseLock reads a lock. The error is validation with a *BrokenLock in its
// chain; no text makes it do anything else.
func ParseLock(file string, text []byte) (Lock, error) {
	p := lockParser{file: file, text: text}
	if len(bytes.TrimSpace(text)) == 0 {
		return Lock{}, nil
	}
	l, err := p.lock()
	if err != nil {
		return Lock{}, &sdk.Error{Outcome: sdk.Validation, Message: err.Error(), Cause: err}
	}
	return l, nil
}

type lockParser struct {
	file string
	text []byte
}

// part is a piece of the text, which begins at an offset.
type part struct {
	text json.RawMessage
	at   int
}

func (p lockParser) broken(at int, format string, args ...any) error {
	at = min(max(at, 0), len(p.text))
	return &BrokenLock{File: p.file, Line: 1 + bytes.Count(p.text[:at], []byte("\n")), Reason: fmt.Sprintf(format, args...)}
}

func (p lockParser) lock() (Lock, error) {
	if err := p.valid(); err != nil {
		return Lock{}, err
	}
	members, err := p.members(part{p.text, 0}, "the lock")
	if err != nil {
		return Lock{}, err
	}
	l := Lock{Plugins: map[string]Locked{}, extra: map[string]json.RawMessage{}}
	version, ok := members["version"]
	if !ok {
		return Lock{}, p.broken(0, "it has no version")
	}
	var n int
	if json.Unmarshal(version.text, &n) != nil || n < 1 {
		return Lock{}, p.broken(version.at, "its version is %s, which is no number", clip(version.text))
	}
	if n > lockVersion {
		return Lock{}, p.broken(version.at, "a later Bothy wrote it: its version is %d, and this Bothy reads %d", n, lockVersion)
	}
	for name, m := range members {
		switch name {
		case "version":
		case "plugins":
			if l.Plugins, err = p.plugins(m); err != nil {
				return Lock{}, err
			}
		default:
			l.extra[name] = m.text
		}
	}
	return l, nil
}

// valid places what is no JSON, and what readers disagree about; what comes after
// it reads strict JSON.
func (p lockParser) valid() error {
	fault := sdk.CheckJSON(p.text, deepestLock)
	switch {
	case fault == nil:
		return nil
	case fault.Kind == sdk.JSONDeep:
		return p.broken(fault.Offset, "it is nested deeper than %d levels", deepestLock)
	case fault.Kind == sdk.JSONTwice:
		return p.broken(fault.Offset, "an object has two members called %q", clip([]byte(fault.Name)))
	default:
		return p.broken(min(fault.Offset, len(p.text)-1), "%v", fault.Err)
	}
}

func (p lockParser) plugins(m part) (map[string]Locked, error) {
	entries, err := p.members(m, "plugins")
	if err != nil {
		return nil, err
	}
	out := map[string]Locked{}
	for label, e := range entries {
		if !labelPattern.MatchString(label) {
			return nil, p.broken(e.at, "%q cannot be the label of a block", clip([]byte(label)))
		}
		if out[label], err = p.entry(label, e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (p lockParser) entry(label string, e part) (Locked, error) {
	members, err := p.members(e, label)
	if err != nil {
		return Locked{}, err
	}
	var l Locked
	if err := json.Unmarshal(e.text, &l); err != nil {
		at := e.at
		var mistyped *json.UnmarshalTypeError
		if errors.As(err, &mistyped) {
			at += int(mistyped.Offset)
		}
		return Locked{}, p.broken(at, "%s: %v", label, err)
	}
	if b, err := hex.DecodeString(l.Digest); err != nil || len(b) != 32 || l.Digest != strings.ToLower(l.Digest) {
		return Locked{}, p.broken(e.at, "%s has no digest that is the 64 small hex digits of a SHA-256", label)
	}
	l.raw, l.extra = e.text, map[string]json.RawMessage{}
	for name, m := range members {
		switch known := lockedNames[strings.ToLower(name)]; {
		case known && !lockedNames[name]:
			return Locked{}, p.broken(m.at, "%s: write %q in small letters", label, clip([]byte(name)))
		case !known:
			l.extra[name] = m.text
		}
	}
	return l, nil
}

// lockedNames are the members of an entry that this version knows.
var lockedNames = func() map[string]bool {
	names := map[string]bool{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Locked]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			names[name] = true
		}
	}
	return names
}()

// members takes an object apart, which is strict JSON.
func (p lockParser) members(m part, what string) (map[string]part, error) {
	d := json.NewDecoder(bytes.NewReader(m.text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, p.broken(m.at+int(d.InputOffset()), "%s is no object", what)
	}
	out := map[string]part{}
	for d.More() {
		name, err := d.Token()
		var value json.RawMessage
		if err == nil {
			err = d.Decode(&value)
		}
		if err != nil {
			return nil, p.broken(m.at+int(d.InputOffset()), "%s: %v", what, err)
		}
		out[name.(string)] = part{value, m.at + int(d.InputOffset()) - len(value)}
	}
	return out, nil
}

// clip keeps a text from filling a screen.
func clip(text []byte) string {
	const most = 60
	if r := []rune(string(text)); len(r) > most {
		return string(r[:most]) + "..."
	}
	return string(text)
}
