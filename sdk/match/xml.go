package match

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/antchfx/xpath"
)

// xmlNode is a node of a document; the others are named by their place in it, -1 is
// none. What lies below a node is what follows it, up to end.
type xmlNode struct {
	kind         xpath.NodeType
	prefix, name string
	text         string
	attributes   []xml.Attr
	parent       int
	previous     int
	next         int
	end          int
}

// xmlDocument is a document in the order of its text, the root first.
type xmlDocument []xmlNode

// maxOpen is how deep elements may lie in each other.
const maxOpen = 256

// parseXML reads XML, and HTML as far as it closes its tags in order or leaves them
// out where HTML may. It is not ok when there is no element, or a mistake in one.
func parseXML(text string) (doc xmlDocument, ok bool) {
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict, d.Entity = false, xml.HTMLEntity
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	doc = xmlDocument{{kind: xpath.RootNode, parent: -1, previous: -1, next: -1}}
	last := []int{-1} // the last child of each element that is open
	open := []int{0}
	isHTML := false // in XML, a <link> has an end like any other
	add := func(n xmlNode) int {
		at, top := len(doc), len(open)-1
		n.parent, n.previous, n.next, n.end = open[top], last[top], -1, at+1
		if n.previous >= 0 {
			doc[n.previous].next = at
		}
		last[top] = at
		doc = append(doc, n)
		return at
	}
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			for _, at := range open {
				doc[at].end = len(doc)
			}
			return doc, slices.ContainsFunc(doc, func(n xmlNode) bool { return n.kind == xpath.ElementNode })
		}
		if err != nil {
			return nil, false
		}
		switch token := token.(type) {
		case xml.StartElement:
			at := add(xmlNode{kind: xpath.ElementNode, prefix: token.Name.Space, name: token.Name.Local, attributes: token.Attr})
			name := strings.ToLower(token.Name.Local)
			isHTML = isHTML || name == "html"
			if isHTML && slices.Contains(xml.HTMLAutoClose, name) {
				continue
			}
			if open, last = append(open, at), append(last, -1); len(open) > maxOpen {
				return nil, false
			}
		case xml.EndElement:
			top := len(open) - 1
			for top > 0 && (doc[open[top]].name != token.Name.Local || doc[open[top]].prefix != token.Name.Space) {
				top--
			}
			if top == 0 {
				continue // it closes nothing
			}
			for _, at := range open[top:] {
				doc[at].end = len(doc)
			}
			open, last = open[:top], last[:top]
		case xml.CharData:
			add(xmlNode{kind: xpath.TextNode, text: string(token)})
		case xml.Comment:
			add(xmlNode{kind: xpath.CommentNode, text: string(token)})
		}
	}
}

// cursor is a place in a document, as the library moves it; each move is a step, so
// that no expression goes on for ever.
type cursor struct {
	doc       xmlDocument
	at        int
	attribute int // of the element, or -1
	meter     *meter
	copying   int // what a copy costs, in steps
}

var _ xpath.NodeNavigator = (*cursor)(nil)

func (c *cursor) node() *xmlNode { return &c.doc[c.at] }

func (c *cursor) NodeType() xpath.NodeType {
	if c.attribute >= 0 {
		return xpath.AttributeNode
	}
	return c.node().kind
}

func (c *cursor) LocalName() string {
	if c.attribute >= 0 {
		return c.node().attributes[c.attribute].Name.Local
	}
	return c.node().name
}

func (c *cursor) Prefix() string {
	if c.attribute >= 0 {
		return c.node().attributes[c.attribute].Name.Space
	}
	return c.node().prefix
}

// Value is the text of an attribute, of a text, or all that lies below an element.
func (c *cursor) Value() string {
	n := c.node()
	text := n.text
	switch {
	case c.attribute >= 0:
		text = n.attributes[c.attribute].Value
	case n.kind == xpath.RootNode, n.kind == xpath.ElementNode:
		var b strings.Builder
		c.meter.take(n.end - c.at)
		for _, below := range c.doc[c.at+1 : n.end] {
			if below.kind == xpath.TextNode {
				c.meter.take(len(below.text))
				b.WriteString(below.text)
			}
		}
		return b.String()
	}
	c.meter.take(len(text) + 1)
	return text
}

func (c *cursor) Copy() xpath.NodeNavigator {
	c.meter.take(c.copying)
	twin := *c
	return &twin
}

func (c *cursor) MoveToRoot() { c.at, c.attribute = 0, -1 }

func (c *cursor) MoveToParent() bool {
	c.meter.take(1)
	if c.attribute >= 0 {
		c.attribute = -1
		return true
	}
	return c.moveTo(c.node().parent)
}

func (c *cursor) MoveToNextAttribute() bool {
	c.meter.take(1)
	if c.attribute+1 >= len(c.node().attributes) {
		return false
	}
	c.attribute++
	return true
}

func (c *cursor) MoveToChild() bool {
	c.meter.take(1)
	if c.attribute >= 0 || c.node().end == c.at+1 {
		return false
	}
	return c.moveTo(c.at + 1)
}

func (c *cursor) MoveToFirst() bool {
	c.meter.take(1)
	if c.attribute >= 0 || c.node().previous < 0 {
		return false
	}
	return c.moveTo(c.node().parent + 1)
}

func (c *cursor) MoveToNext() bool {
	c.meter.take(1)
	return c.attribute < 0 && c.moveTo(c.node().next)
}

func (c *cursor) MoveToPrevious() bool {
	c.meter.take(1)
	return c.attribute < 0 && c.moveTo(c.node().previous)
}

func (c *cursor) MoveTo(other xpath.NodeNavigator) bool {
	c.meter.take(1)
	to, ok := other.(*cursor)
	if ok {
		c.at, c.attribute = to.at, to.attribute
	}
	return ok
}

func (c *cursor) moveTo(at int) bool {
	if at < 0 {
		return false
	}
	c.at = at
	return true
}
