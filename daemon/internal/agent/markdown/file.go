package markdown

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/frontmatter"
	"github.com/bothyd/bothy/sdk"
)

// MaxFile is how many bytes of an agent's file are read: the longest public ones have half of it.
const MaxFile = 128 << 10

// File is an agent's file, read. It never changes.
type File struct {
	Path string        // absolute, as found: a link is not followed here
	Tier sdk.SkillTier // the user's, or a workspace's
	Root string        // the folder that it was found in
	Hash string        // hex SHA-256 of its bytes, to which trust is bound
	Text string        // its bytes; empty where they could not be read

	// Agent is what the file asks for, with a name in every case. Its Model is empty: that is
	// among Models.
	Agent  sdk.Agent
	Models []string // that it names, the one that it wants first before the others

	SkillsLine int // where it names its skills; 0 when it does not

	Loaded      bool // false: it is no agent that can be used, and Diagnostics say why
	Off         bool // it says of itself that it is not to be used
	Repaired    bool // its fields were no YAML until values were quoted
	Diagnostics []frontmatter.Diagnostic

	modelLine int
	notes     []string // the diagnostics, each in a line
}

// Parse reads the text of a file at this path. It takes any bytes.
func Parse(text []byte, path string) *File {
	sum := sha256.Sum256(text)
	x := &File{Path: path, Hash: hex.EncodeToString(sum[:]), Text: string(text)}
	x.Agent.Name = nameOf(stem(path))
	d := frontmatter.Parse(text, MaxFile)
	x.Repaired = d.Repaired
	if d.Fields != nil {
		r := reader{Fields: d.Fields, file: x}
		r.read()
		if x.Agent.Persona = strings.TrimSpace(d.Body); x.Agent.Persona == "" {
			line, _ := frontmatter.PlaceOf(text, len(text)-len(d.Body))
			d.Note(frontmatter.Warning("body-empty", line, 1, "there is no text below the frontmatter, so the agent is told nothing of itself", "Write who it is and what it has to do."))
		}
	}
	if x.Agent.Name == "" {
		d.Note(frontmatter.Wrong("name-unusable", 1, 1, "neither its name nor that of the file can be that of an agent",
			"Write one such as name: reviewer, with a to z, 0 to 9, hyphens, dots and underscores, at most 64 of them."))
		x.Agent.Name = "unnamed-" + x.Hash[:8]
	}
	d.Sort()
	x.Diagnostics = d.Diagnostics
	x.Loaded = !slices.ContainsFunc(x.Diagnostics, frontmatter.IsError)
	for _, note := range x.Diagnostics {
		x.notes = append(x.notes, fmt.Sprintf("line %d: %s", note.Line, note.Message))
	}
	return x
}

// unread is a file of which nothing but its place is known.
func unread(path string, why *frontmatter.Diagnostic) *File {
	x := &File{Path: path, Diagnostics: []frontmatter.Diagnostic{*why}}
	x.Agent.Name = nameOf(stem(path))
	return x
}

// stem is a file's name without the endings that it has in the collections of other agents.
func stem(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	for _, ending := range []string{".agent", ".chatmode", ".subagent"} {
		name = strings.TrimSuffix(name, ending)
	}
	return name
}

// nameOf makes of any text a name that an agent's block could have, as the names of files here
// and of commands are: empty where nothing of the text can stand in one.
func nameOf(text string) string {
	text = strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '.', c == '_':
			return c
		case c >= 'A' && c <= 'Z':
			return c - 'A' + 'a'
		case sdk.Hidden(c) || c == '\'' || c == '"':
			return -1
		}
		return '-'
	}, text)
	parts := strings.FieldsFunc(text, func(c rune) bool { return c == '-' })
	name := strings.TrimLeft(strings.Join(parts, "-"), "._-")
	return strings.TrimRight(name[:min(len(name), maxName)], "._-")
}

const maxName = 64
