package tags

import (
	"encoding/json"
	"slices"
	"strings"
)

// Markers are what keeps a part of a body from being searched for the end of that body.
type Markers int

// The kinds of markers.
const (
	NoMarkers     Markers = iota
	EditMarkers           // <<NEW ... NEW, as bodies of set have them
	HereDocuments         // <<EOF, up to a line that is EOF, as command lines have them
)

// Tool is a tool as the reader is told of it.
type Tool struct {
	Name       string
	Parameters json.RawMessage // the JSON Schema of an object: types, defaults and what is required

	// Target is an argument that a body fills, without white space around it, when no attribute names it.
	Target string
	// Body is the argument that any other body fills as it stands. With neither it is the only text that
	// is required, else a body is a JSON object of arguments.
	Body string
	// Aliases are names by which models write arguments, with those that they mean.
	Aliases map[string]string
	Markers Markers
}

// Set is the tools that are offered. It does not change, and any number of readers may use it.
type Set struct {
	tools  []*tool
	byName map[string]*tool
	// qualified says that a name has what no tool's own has, since that of a plugin stands before it.
	qualified bool
	sizes     [256]uint64 // for each first byte of a name a bit for each length, so that most tags are known for none at once
}

// NewSet makes one. Of tools of one name the first counts; a schema that cannot be read is one that says nothing.
func NewSet(tools []Tool) *Set {
	s := &Set{byName: make(map[string]*tool, len(tools))}
	for _, t := range tools {
		if t.Name == "" || s.byName[t.Name] != nil {
			continue
		}
		made := compile(t)
		made.index = len(s.tools)
		s.tools = append(s.tools, made)
		s.byName[t.Name] = made
		s.qualified = s.qualified || len(t.Name) > longestName || strings.ContainsAny(t.Name, "-.") || !letter(t.Name[0])
		s.sizes[t.Name[0]] |= 1 << min(len(t.Name), 63)
	}
	return s
}

// Requires reports whether a tool cannot do without an argument.
func (s *Set) Requires(name, argument string) bool {
	t := s.byName[name]
	return t != nil && slices.Contains(t.required, argument)
}

// named is the tool of a name; nil when there is none.
func (s *Set) named(name string) *tool {
	if name == "" || s.sizes[name[0]]&(1<<min(len(name), 63)) == 0 {
		return nil
	}
	return s.byName[name]
}

// tool is a Tool with its schema read.
type tool struct {
	Tool
	index    int // in its set
	types    map[string]property
	required []string
	defaults []string // the arguments that have one, sorted
	guessed  bool     // its Body is said by its schema alone
}

// property is what a schema says of one argument.
type property struct {
	kind  string // its type; empty when it says none, or several
	enum  []json.RawMessage
	value any // the default; nil when there is none
}

func compile(t Tool) *tool {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	_ = json.Unmarshal(t.Parameters, &schema) // what it does not say is left out
	made := &tool{Tool: t, types: make(map[string]property, len(schema.Properties)), required: schema.Required}
	for name, raw := range schema.Properties {
		p := readProperty(raw)
		made.types[name] = p
		if p.value != nil {
			made.defaults = append(made.defaults, name)
		}
	}
	slices.Sort(made.defaults)
	if made.Target == "" && made.Body == "" {
		made.Body = made.onlyText()
		made.guessed = made.Body != ""
	}
	return made
}

func readProperty(raw json.RawMessage) (p property) {
	var said struct {
		Type    json.RawMessage   `json:"type"`
		Enum    []json.RawMessage `json:"enum"`
		Default json.RawMessage   `json:"default"`
	}
	if json.Unmarshal(raw, &said) != nil {
		return p
	}
	var several []string
	if json.Unmarshal(said.Type, &p.kind) != nil && json.Unmarshal(said.Type, &several) == nil {
		several = slices.DeleteFunc(several, func(kind string) bool { return kind == "null" })
		if len(several) == 1 {
			p.kind = several[0]
		}
	}
	p.enum = said.Enum
	if len(said.Default) > 0 && string(said.Default) != "null" {
		p.value = fromJSON(said.Default)
	}
	return p
}

// onlyText is the one argument that is a text and required; empty when there are none or several.
func (t *tool) onlyText() (found string) {
	for _, name := range t.required {
		if t.types[name].kind != "string" {
			continue
		}
		if found != "" {
			return ""
		}
		found = name
	}
	return found
}
