package frontmatter

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// Limits on what a frontmatter may make of its bytes: aliases can multiply a
// few lines into gigabytes.
const (
	maxDepth = 32
	maxNodes = 10_000 // values, every alias counted as all it stands for
)

// refused says that a frontmatter is YAML and not taken: it is no list of fields, or
// more than is read.
type refused struct{ code, message, help string }

func (e refused) Error() string { return e.message }

// decodeBlock decodes what stands between the fences.
func decodeBlock(src []byte) (*Fields, error) {
	root, err := oneDocument(src)
	if err != nil {
		return nil, err
	}
	f := &Fields{fields: map[string]field{}}
	if IsNull(root) {
		return f, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, refused{"frontmatter-fields", "the frontmatter has no fields of the form name: value", helpFrontmatter}
	}
	left := maxNodes
	if err := bounds(root, 0, &left); err != nil {
		return nil, err
	}
	for key, value := range Pairs(root) {
		name := Follow(key).Value
		if _, stands := f.fields[name]; stands && !slices.Contains(f.Twice, name) {
			f.Twice = append(f.Twice, name)
		}
		f.fields[name] = field{key, value}
	}
	return f, nil
}

// oneDocument decodes a text; nil when it is empty. What begins in another column,
// or behind a line of three dots, is a second document, of which YAML says nothing
// when it is asked for one.
func oneDocument(src []byte) (root *yaml.Node, err error) {
	defer func() {
		// The texts are anybody's: a fault in a parser must cost one file and
		// never the daemon.
		if r := recover(); r != nil {
			err = fmt.Errorf("the YAML parser failed: %v", r)
		}
	}()
	var doc, more yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(src))
	switch err := decoder.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("the fields do not all begin in one column, so that only the first ones count")
	}
	return doc.Content[0], nil
}

// bounds refuses a tree that is deep, or large once its aliases are followed. left
// is how many values it may still have.
func bounds(n *yaml.Node, depth int, left *int) error {
	if *left--; depth > maxDepth || *left < 0 {
		return refused{"yaml-bounds", fmt.Sprintf("the frontmatter is more than %d levels deep, or stands for more than %d values", maxDepth, maxNodes), "Write the values out, few and flat."}
	}
	for _, c := range Follow(n).Content {
		if err := bounds(c, depth+1, left); err != nil {
			return err
		}
	}
	return nil
}

// Pairs are the keys and values of a mapping; aliases of the values are followed.
func Pairs(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], Follow(n.Content[i+1])) {
				return
			}
		}
	}
}

// Plain is a node as values that JSON can hold, whatever it is.
func Plain(n *yaml.Node) any {
	n = Follow(n)
	switch n.Kind {
	case yaml.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		for key, value := range Pairs(n) {
			m[Follow(key).Value] = Plain(value)
		}
		return m
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, c := range n.Content {
			list = append(list, Plain(c))
		}
		return list
	}
	var v any = n.Value
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool", "!!int", "!!float":
		if n.Decode(&v) != nil {
			return n.Value
		}
	}
	if f, is := v.(float64); is && (math.IsInf(f, 0) || math.IsNaN(f)) {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return v
}

// Follow is the node that a node stands for.
func Follow(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// IsNull reports whether there is no value.
func IsNull(n *yaml.Node) bool {
	return n == nil || n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// ScalarText is a value as it was written, on one line, so that 1.0 stays 1.0; null,
// a list and a mapping have none.
func ScalarText(n *yaml.Node) string {
	if IsNull(n) {
		return ""
	}
	return Visible(n.Value)
}
