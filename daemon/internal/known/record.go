package known

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/durable"
	"github.com/bothyd/bothy/daemon/internal/watch"
	"github.com/bothyd/bothy/sdk"
)

// FileName is what the file is called, in the folder of the daemon's state.
const FileName = "servers.json"

// mostFile bounds the file, and mostServer what of it the tools that are known of one server take,
// and once more those that it has now: the plugin offers 4 MB of texts.
const (
	mostFile   = 256 << 20
	mostServer = 8 << 20
)

// Record is what is known of one server.
type Record struct {
	Command string          `json:"command"` // sums up its block, without files
	Digest  string          `json:"digest"`  // sums up its block, and the files that it starts
	Files   []File          `json:"files"`   // these, wherever the daemon's PATH has them
	Known   map[string]Tool `json:"known"`   // as they were first seen, or accepted, by their own names
	Now     map[string]Tool `json:"now"`     // as they were last
}

// Tool is what a server said of one of its tools.
type Tool struct {
	Name        string          `json:"name"` // that it is offered by
	Hash        string          `json:"hash"`
	Description string          `json:"description"`
	Parameters  string          `json:"parameters"`
	Annotations sdk.Annotations `json:"annotations,omitzero"`
}

// tool is what is kept of a spec: with what is no secret, which its hash is of, too.
func (s *Servers) tool(spec sdk.ToolSpec) Tool {
	t := Tool{Name: spec.Name, Description: s.o.Redact(spec.Description), Parameters: string(spec.Parameters), Annotations: spec.Annotations}
	if whole, err := sdk.Canonical(spec.Parameters); err == nil {
		t.Parameters = string(whole)
	}
	t.Parameters = s.o.Redact(t.Parameters)
	hash, err := sdk.HashOf(map[string]any{"name": spec.SourceName, "description": t.Description, "parameters": t.Parameters, "annotations": t.Annotations})
	if err != nil {
		hash = "unusable: " + err.Error() // of no type that cannot be encoded
	}
	t.Hash = hash
	return t
}

// named reports whether a tool that is known was offered by the name.
func (r *Record) named(name string) bool {
	for _, t := range r.Known {
		if t.Name == name {
			return true
		}
	}
	return false
}

func (t Tool) equal(other Tool) bool { return t == other }

// size is how many bytes of the file a tool takes, by the server's own name for it, about.
func (t Tool) size(own string) int {
	const rest = 256 // names and spaces of the file itself
	return rest + encoded(own) + encoded(t.Name) + encoded(t.Description) + encoded(t.Parameters)
}

// encoded is how many bytes a text takes as JSON.
func encoded(text string) (n int) {
	for _, r := range text {
		switch {
		case r == '"', r == '\\':
			n += 2
		case r < ' ', r == '\u2028', r == '\u2029', r == utf8.RuneError:
			n += 6
		default:
			n += utf8.RuneLen(r)
		}
	}
	return n
}

// size is how many bytes of the file tools take.
func size(tools map[string]Tool) (n int) {
	for own, t := range tools {
		n += t.size(own)
	}
	return n
}

// Text is the tool for a person, line by line.
func (t Tool) Text() string {
	var hints []string
	for _, h := range []struct {
		is   bool
		name string
	}{{t.Annotations.ReadOnly, "read_only"}, {t.Annotations.Destructive, "destructive"}, {t.Annotations.Idempotent, "idempotent"}, {t.Annotations.OpenWorld, "open_world"}} {
		if h.is {
			hints = append(hints, h.name)
		}
	}
	return strings.TrimRight(t.Description, "\n") + "\nhints: " + strings.Join(hints, ", ") + "\nschema: " + t.Parameters + "\n"
}

// otherwise says in what a tool is not any more what it was.
func (t Tool) otherwise(now Tool) string {
	var what []string
	if t.Description != now.Description {
		what = append(what, "another description")
	}
	if t.Parameters != now.Parameters {
		what = append(what, "another schema")
	}
	if t.Annotations != now.Annotations {
		what = append(what, "other hints")
	}
	if len(what) == 0 {
		return "is another"
	}
	return "has " + strings.Join(what, " and ")
}

// Entry is what bothy.lock says of a server that is accepted as it was last seen.
func (r *Record) Entry() config.Locked {
	l := config.Locked{Plugin: "mcp", Digest: r.Digest, Tools: map[string]string{}}
	for name, t := range r.Now {
		l.Tools[norm.NFC.String(name)] = t.Hash
	}
	return l
}

// Read reads the file at path, by the labels of the servers' plugins; none is empty.
func Read(path string) (map[string]*Record, error) {
	records := map[string]*Record{}
	text, err := watch.ReadRegular(path, mostFile)
	if errors.Is(err, fs.ErrNotExist) {
		return records, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &records)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	for label, r := range records {
		if r == nil || r.Known == nil {
			delete(records, label)
		}
	}
	return records, nil
}

// write replaces the file in one step.
func write(path string, records map[string]*Record) error {
	var text bytes.Buffer
	encode := json.NewEncoder(&text)
	encode.SetIndent("", "  ")
	encode.SetEscapeHTML(false)
	if err := encode.Encode(records); err != nil {
		return err
	}
	if text.Len() > mostFile {
		return fmt.Errorf("%s would have %d MB, and may have %d", path, text.Len()>>20, mostFile>>20)
	}
	if err := durable.Write(path, text.Bytes()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
