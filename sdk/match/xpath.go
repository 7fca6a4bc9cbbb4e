package match

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/antchfx/xpath"
)

// xpathNames is what may stand before a parenthesis: the functions of XPath 1.0, node
// tests and operators. The library has more, of which some make texts that grow with
// each other, or keep expressions that a document brought.
var xpathNames = strings.Fields(`last position count local-name namespace-uri name
	string concat starts-with contains substring-before substring-after substring string-length
	normalize-space translate boolean not true false number sum floor ceiling round ends-with lower-case
	node text comment processing-instruction and or div mod`)

// checkXPath says why an expression cannot be used, or nothing.
func checkXPath(text string) (reason string) {
	if name := unknownName(text); name != "" {
		return fmt.Sprintf("it calls %s(), which is none of the functions of XPath 1.0", name)
	}
	if _, err := xpath.Compile(text); err != nil {
		return fmt.Sprintf("it is no XPath: %v", err)
	}
	return ""
}

// unknownName finds a name before a parenthesis that is none of xpathNames.
func unknownName(text string) string {
	for i := 0; i < len(text); {
		switch {
		case text[i] == '\'' || text[i] == '"':
			end := strings.IndexByte(text[i+1:], text[i])
			if end < 0 {
				return "" // which is no XPath
			}
			i += end + 2
		case nameByte(text[i]):
			name := leadingName(text[i:])
			i += len(name)
			if strings.HasPrefix(strings.TrimLeft(text[i:], " \t\r\n"), "(") && !slices.Contains(xpathNames, name) {
				return name
			}
		default:
			i++
		}
	}
	return ""
}

// askXPath tells whether the expression finds a node in a text that is XML, or comes
// to true, to text, or to a number other than 0. It is compiled anew each time, since
// one that was used keeps where it was.
func askXPath(expression, text string, m *meter) (found bool, err error) {
	begin := strings.TrimLeft(text, " \t\r\n\ufeff")
	if !strings.HasPrefix(begin, "<") {
		return false, nil
	}
	if len(text) > maxDocument {
		m.spend(-1)
		return false, nil
	}
	defer func() { err = recovered(recover(), expression, err) }()
	m.take(len(text) + len(expression))
	doc, ok := parseXML(begin)
	if !ok {
		return false, nil
	}
	compiled, err := xpath.Compile(expression)
	if err != nil {
		return false, err // cannot be: Parse has read it
	}
	switch v := compiled.Evaluate(&cursor{doc: doc, attribute: -1, meter: m, copying: 16 + len(expression)/16}).(type) {
	case bool:
		return v, nil
	case float64:
		return v != 0 && !math.IsNaN(v), nil
	case string:
		return v != "", nil
	case *xpath.NodeIterator:
		return v.MoveNext(), nil
	}
	return false, nil
}
