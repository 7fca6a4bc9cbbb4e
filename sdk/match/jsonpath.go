package match

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp/syntax"
	"strings"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/registry"
	"github.com/theory/jsonpath/spec"
)

// checkJSONPath says why a path cannot be used, or nothing.
func checkJSONPath(text string) (reason string) {
	if _, err := parseJSONPath(text, newMeter()); err != nil {
		return fmt.Sprintf("it is no JSONPath (RFC 9535): %v", err)
	}
	return ""
}

// askJSONPath tells whether the path comes to any value of a text that is JSON. The
// library gives all values at once and cannot be told to stop, so that what it may
// come to is reckoned before it is asked.
func askJSONPath(path, text string, m *meter) (found bool, err error) {
	begin := strings.TrimLeft(text, " \t\r\n")
	if begin == "" || begin[0] != '{' && begin[0] != '[' {
		return false, nil // no path of a scalar comes to anything
	}
	if len(text) > maxDocument {
		m.spend(-1)
		return false, nil
	}
	defer func() { err = recovered(recover(), path, err) }()
	m.take(len(text)/4 + len(path)) // before it is read: what begins like JSON may be none
	var doc any
	if json.Unmarshal([]byte(text), &doc) != nil {
		return false, nil
	}
	q, err := parseJSONPath(path, m)
	if err != nil {
		return false, err // cannot be: Parse has read it
	}
	if most := 16 * mostValues(q.String(), doc); most > maxSteps {
		m.take(-1)
	} else {
		m.take(int(most))
	}
	return len(q.Select(doc)) > 0, nil
}

// recovered turns what a library threw into the error of an evaluation. A meter that
// was used up tells of itself.
func recovered(thrown any, pattern string, err error) error {
	switch thrown := thrown.(type) {
	case nil:
		return err
	case tooMuch:
		return nil
	default:
		return &PatternError{pattern, fmt.Sprintf("it makes no sense for what it is asked of: %v", thrown)}
	}
}

// parseJSONPath reads a path whose functions count their steps with m.
func parseJSONPath(text string, m *meter) (*jsonpath.Path, error) {
	known, compiled := registry.New(), map[string]expression{}
	for name, anchored := range map[string]bool{"match": true, "search": false} {
		err := known.Register(name+ours, spec.FuncLogical, twoValues, func(args []spec.PathValue) spec.PathValue {
			return spec.Logical(fitsValue(args, anchored, compiled, m))
		})
		if err != nil {
			return nil, err
		}
	}
	path, err := jsonpath.NewParser(jsonpath.WithRegistry(known)).Parse(rewriteJSONPath(text))
	if err != nil {
		return nil, errors.New(strings.ReplaceAll(strings.TrimPrefix(err.Error(), "jsonpath: "), ours, ""))
	}
	return path, nil
}

// ours ends the names of our own match and search: those of the library compile an
// expression of any size for each value.
const ours = "_counted"

func twoValues(args []spec.FuncExprArg) error {
	if len(args) != 2 || !args[0].ConvertsTo(spec.FuncValue) || !args[1].ConvertsTo(spec.FuncValue) {
		return errors.New("it takes two values, a text and an expression")
	}
	return nil
}

// fitsValue is match and search of RFC 9535: false for what is no text, and for what
// is no expression.
func fitsValue(args []spec.PathValue, anchored bool, compiled map[string]expression, m *meter) bool {
	text, isText := textOf(args[0])
	pattern, isPattern := textOf(args[1])
	if !isText || !isPattern || len(pattern) > maxExpression {
		return false
	}
	key := fmt.Sprint(anchored, pattern)
	e, known := compiled[key]
	if !known {
		e = compileValue(pattern, anchored, m)
		if len(compiled) < 64 { // those that the path has; a document may bring many
			compiled[key] = e
		}
	}
	found := e.find(text, m)
	m.take(0) // throws when that was too much
	return found
}

// compileValue compiles an expression; the zero value is that of one that is none.
func compileValue(pattern string, anchored bool, m *meter) expression {
	m.take(16 * (len(pattern) + 1))
	if tree, err := syntax.Parse(pattern, syntax.Perl); err != nil || large(tree) {
		return expression{}
	}
	if anchored {
		pattern = `\A(?:` + pattern + `)\z`
	}
	e, reason := parseExpression(pattern)
	if reason != "" {
		return expression{}
	}
	m.take(16 * e.size)
	return e
}

// large tells whether an expression has repeats that make it much longer than it is
// written.
func large(tree *syntax.Regexp) bool {
	if tree.Op == syntax.OpRepeat && max(tree.Min, tree.Max) > 100 {
		return true
	}
	for _, sub := range tree.Sub {
		if large(sub) {
			return true
		}
	}
	return false
}

func textOf(v spec.PathValue) (string, bool) {
	value, ok := v.(*spec.ValueType)
	if !ok || value == nil {
		return "", false
	}
	text, ok := value.Value().(string)
	return text, ok
}

// rewriteJSONPath puts a name into brackets that RFC 9535 does not take behind a dot,
// as other readers do ($.5, $.a-b), and calls our own match and search.
func rewriteJSONPath(text string) string {
	var b strings.Builder
	depth := 0
	for i := 0; i < len(text); {
		c := text[i]
		size := 1
		switch {
		case c == '\'' || c == '"':
			size = quotedSize(text[i:])
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == '.' && depth == 0:
			name := leadingName(text[i+1:])
			if name != "" && (isDigit(name[0]) || strings.Contains(name, "-")) {
				if i > 0 && text[i-1] == '.' {
					b.WriteByte('.')
				}
				b.WriteString("['" + name + "']")
				i += 1 + len(name)
				continue
			}
		case nameByte(c):
			size = len(leadingName(text[i:]))
			word := text[i : i+size]
			if strings.HasPrefix(text[i+size:], "(") && (word == "match" || word == "search") {
				b.WriteString(word + ours)
				i += size
				continue
			}
		}
		b.WriteString(text[i : i+size])
		i += size
	}
	return b.String()
}

// quotedSize is how long the string in quotes is with which s begins.
func quotedSize(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return len(s)
}

func leadingName(s string) string {
	i := 0
	for i < len(s) && nameByte(s[i]) {
		i++
	}
	return s[:i]
}

func nameByte(c byte) bool {
	return c == '_' || c == '-' || c >= 0x80 || isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// mostValues reckons how many values a path looks at, at the most. A value is come to
// once for each selector of each segment; each ".." comes to it from each of its
// ancestors, and comparing looks at all that is in it; and each "$" of a filter
// begins at the root for each value.
func mostValues(path string, doc any) float64 {
	segments, selectors, descents, compares, roots := 0, 1.0, 0, 0, -1
	var brackets []float64 // selectors of those that are open; 0 of parentheses
	for i := 0; i < len(path); {
		size := 1
		switch path[i] {
		case '"', '\'':
			size = quotedSize(path[i:])
		case '[':
			segments++
			brackets = append(brackets, 1)
		case '(':
			brackets = append(brackets, 0)
		case ',':
			if last := len(brackets) - 1; last >= 0 && brackets[last] > 0 {
				brackets[last]++
			}
		case ']', ')':
			if last := len(brackets) - 1; last >= 0 {
				selectors *= max(1, brackets[last])
				brackets = brackets[:last]
			}
		case '.':
			if strings.HasPrefix(path[i:], "..") {
				descents++
				size = 2
			}
		case '$':
			roots++
		case '=', '<', '>':
			right := strings.TrimLeft(path[i+1:], " ")
			if right != "" && (right[0] == '@' || right[0] == '$' || 'a' <= right[0] && right[0] <= 'z') {
				compares = 1 // two that may be large; a scalar is compared at once
			}
		}
		i += size
	}
	values, weighed := 0.0, 0.0
	weigh(doc, 1, float64(descents+compares), &values, &weighed)
	return weighed * selectors * float64(segments) * math.Pow(values, float64(max(0, roots)))
}

// weigh adds up the values of a document, and their depths to the power of exponent.
func weigh(v any, depth, exponent float64, values, weighed *float64) {
	*values++
	*weighed += math.Pow(depth, exponent)
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			weigh(x, depth+1, exponent, values, weighed)
		}
	case map[string]any:
		for _, x := range v {
			weigh(x, depth+1, exponent, values, weighed)
		}
	}
}
