package skill

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	meta "github.com/yuin/goldmark-meta"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
	"go.yaml.in/yaml/v3"
)

// Limits on what a frontmatter may make of its 16 KiB: aliases can multiply a
// few lines into gigabytes.
const (
	maxDepth = 32
	maxNodes = 10_000 // values, every alias counted as all it stands for
)

// boundsError says that a frontmatter is YAML but more than is taken.
type boundsError string

func (e boundsError) Error() string { return string(e) }

// errShape says that a frontmatter is YAML but no list of fields.
var errShape = errors.New("the frontmatter has no fields of the form name: value")

// frontmatter is the fields between the fences.
type frontmatter struct {
	src    []byte
	values map[string]any // as JSON can hold them; nil for null
	twice  []string       // fields that stand twice, of which the last one counts
	root   *yaml.Node     // with the places, once something had to be pointed at
}

// decodeBlock decodes what stands between the fences. Clean fields are decoded by
// goldmark-meta, all else for its nodes.
func decodeBlock(src []byte) (f *frontmatter, err error) {
	defer func() {
		// The texts are anybody's: a fault in a parser must cost one skill and
		// never the daemon.
		if r := recover(); r != nil {
			err = fmt.Errorf("the YAML parser failed: %v", r)
		}
	}()
	f = &frontmatter{src: src}
	if clean(src) && f.viaMarkdown() {
		return f, nil
	}
	return f, f.viaNodes()
}

// clean reports whether goldmark-meta reads a block as YAML means it: it ends the
// block at an indented line of dashes, expands aliases, and takes what stands
// before a second document for all there is.
func clean(src []byte) bool {
	if len(src) == 0 || strings.IndexByte(" \t%.", src[0]) >= 0 || bytes.IndexByte(src, '&') >= 0 || bytes.Contains(src, []byte("\n...")) {
		return false
	}
	for line := range bytes.Lines(src) {
		if line = bytes.TrimSpace(line); len(line) > 0 && len(bytes.Trim(line, "-")) == 0 {
			return false
		}
	}
	return true
}

// markdown reads frontmatter and nothing else.
var markdown = parser.NewParser(parser.WithBlockParsers(util.Prioritized(meta.NewParser(), 0)))

// viaMarkdown reports false when there is something that only nodes tell: that it
// is no YAML, that a field stands twice, that it is very deep.
func (f *frontmatter) viaMarkdown() bool {
	ctx := parser.NewContext()
	markdown.Parse(text.NewReader(slices.Concat([]byte("---\n"), f.src, []byte("\n---\n"))), parser.WithContext(ctx))
	fields, err := meta.TryGet(ctx)
	if err != nil || len(fields) == 0 || len(fields) != len(meta.GetItems(ctx)) {
		return false
	}
	f.values = make(map[string]any, len(fields))
	for name, v := range fields {
		var ok bool
		if f.values[name], ok = plain(v, 1); !ok {
			return false
		}
	}
	return true
}

// plain is a value as JSON can hold it, if it is not too deep.
func plain(v any, depth int) (_ any, ok bool) {
	if depth > maxDepth {
		return nil, false
	}
	switch v := v.(type) {
	case map[any]any:
		m := make(map[string]any, len(v))
		for k, x := range v {
			name, is := k.(string)
			if !is {
				return nil, false // no, y and 1 are names too
			}
			if m[name], ok = plain(x, depth+1); !ok {
				return nil, false
			}
		}
		return m, true
	case []any:
		list := make([]any, len(v))
		for i, x := range v {
			if list[i], ok = plain(x, depth+1); !ok {
				return nil, false
			}
		}
		return list, true
	case string:
		return strings.ToValidUTF8(v, "\uFFFD"), true
	}
	return finite(v), true
}

// finite is a scalar, as text when no JSON can hold it.
func finite(v any) any {
	if f, is := v.(float64); is && (math.IsInf(f, 0) || math.IsNaN(f)) {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return v
}

// viaNodes decodes the block for its nodes, if it is within bounds.
func (f *frontmatter) viaNodes() error {
	doc, err := oneDocument(f.src)
	if err != nil {
		return err
	}
	f.values = map[string]any{}
	if doc.Kind == 0 || len(doc.Content) == 0 || isNull(doc.Content[0]) {
		return nil
	}
	if f.root = doc.Content[0]; f.root.Kind != yaml.MappingNode {
		return errShape
	}
	if err := bounds(f.root); err != nil {
		return err
	}
	for i := 0; i+1 < len(f.root.Content); i += 2 {
		name := scalarText(f.root.Content[i])
		if _, stands := f.values[name]; stands && !slices.Contains(f.twice, name) {
			f.twice = append(f.twice, name)
		}
		f.values[name] = plainNode(f.root.Content[i+1])
	}
	return nil
}

// node is where a field stands; nil when there is no such field.
func (f *frontmatter) node(name string) (key, value *yaml.Node) {
	if f.root == nil {
		if doc, err := oneDocument(f.src); err == nil && len(doc.Content) > 0 {
			f.root = doc.Content[0]
		}
	}
	for i := 0; f.root != nil && i+1 < len(f.root.Content); i += 2 {
		if scalarText(f.root.Content[i]) == name {
			key, value = f.root.Content[i], follow(f.root.Content[i+1])
		}
	}
	return key, value
}

// oneDocument decodes a text for its places. What begins in another column, or
// behind a line of three dots, is a second document, of which YAML says nothing
// when it is asked for one.
func oneDocument(src []byte) (doc yaml.Node, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(src))
	if err := decoder.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			err = nil // it is empty
		}
		return doc, err
	}
	var more yaml.Node
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return doc, errors.New("the fields do not all begin in one column, so that only the first ones count")
	}
	return doc, nil
}

// bounds refuses a tree that is deep, or large once its aliases are followed.
func bounds(root *yaml.Node) error {
	sizes := map[*yaml.Node]int{} // 0: at work on it, so that it contains itself
	var size func(n *yaml.Node, depth int) (int, error)
	size = func(n *yaml.Node, depth int) (int, error) {
		if depth > maxDepth {
			return 0, boundsError(fmt.Sprintf("the frontmatter is more than %d levels deep", maxDepth))
		}
		n = follow(n)
		if known, ok := sizes[n]; ok {
			if known == 0 {
				return 0, boundsError("a value of the frontmatter contains itself")
			}
			return known, nil
		}
		if n.Anchor != "" {
			sizes[n] = 0
		}
		total := 1
		for _, c := range n.Content {
			s, err := size(c, depth+1)
			if err != nil {
				return 0, err
			}
			if total += s; total > maxNodes {
				return 0, boundsError(fmt.Sprintf("the frontmatter stands for more than %d values", maxNodes))
			}
		}
		if n.Anchor != "" {
			sizes[n] = total
		}
		return total, nil
	}
	_, err := size(root, 0)
	return err
}

// plainNode is a node as values that JSON can hold, whatever it is.
func plainNode(n *yaml.Node) any {
	n = follow(n)
	switch n.Kind {
	case yaml.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			m[scalarText(n.Content[i])] = plainNode(n.Content[i+1])
		}
		return m
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, c := range n.Content {
			list = append(list, plainNode(c))
		}
		return list
	}
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool", "!!int", "!!float":
		var v any
		if n.Decode(&v) == nil {
			return finite(v)
		}
	}
	return n.Value
}

// follow is the node that a node stands for.
func follow(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// scalarText is a scalar as it was written; anything else has none.
func scalarText(n *yaml.Node) string {
	if n == nil {
		return ""
	}
	if n = follow(n); n.Kind == yaml.ScalarNode {
		return n.Value
	}
	return ""
}
