package skill

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

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

// shapeError says that a frontmatter is YAML but no list of fields.
type shapeError string

func (e shapeError) Error() string { return string(e) }

// decodeBlock decodes what stands between the fences, if it is within bounds: the
// mapping with the places of its keys, some of which may stand twice; nil when
// there is no field.
func decodeBlock(src []byte) (root *yaml.Node, err error) {
	defer func() {
		// The texts are anybody's: a fault in a parser must cost one skill and
		// never the daemon.
		if r := recover(); r != nil {
			err = fmt.Errorf("the YAML parser failed: %v", r)
		}
	}()
	doc, err := oneDocument(src)
	if err != nil {
		return nil, err
	}
	if doc.Kind == 0 || len(doc.Content) == 0 || isNull(doc.Content[0]) {
		return nil, nil
	}
	root = doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, shapeError("the frontmatter has no fields of the form name: value")
	}
	if err := bounds(root); err != nil {
		return nil, err
	}
	if templated(root) {
		return nil, errors.New("a value begins with {{")
	}
	return root, nil
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

// templated reports whether the name or the description is {{a placeholder}},
// which YAML takes for a map.
func templated(root *yaml.Node) bool {
	for i := 0; i+1 < len(root.Content); i += 2 {
		if k, n := scalarText(root.Content[i]), root.Content[i+1]; (k == "name" || k == "description") &&
			n.Kind == yaml.MappingNode && len(n.Content) > 0 && n.Content[0].Kind == yaml.MappingNode {
			return true
		}
	}
	return false
}

// bounds refuses a tree that is deep, or large once its aliases are followed.
func bounds(root *yaml.Node) error {
	sizes := map[*yaml.Node]int{} // 0: at work on it, so that it contains itself
	var size func(n *yaml.Node, depth int) (int, error)
	size = func(n *yaml.Node, depth int) (int, error) {
		if depth > maxDepth {
			return 0, boundsError(fmt.Sprintf("the frontmatter is more than %d levels deep", maxDepth))
		}
		if n.Kind == yaml.AliasNode {
			n = n.Alias
		}
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
			if f, is := v.(float64); is && (math.IsInf(f, 0) || math.IsNaN(f)) {
				return strconv.FormatFloat(f, 'g', -1, 64)
			}
			return v
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

func isNull(n *yaml.Node) bool {
	n = follow(n)
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// scalarText is a scalar as it was written; anything else has none.
func scalarText(n *yaml.Node) string {
	if n = follow(n); n.Kind == yaml.ScalarNode {
		return n.Value
	}
	return ""
}
