package match

import (
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Kind is how a pattern is read, which its shape alone decides.
type Kind string

// The kinds, in the order in which shapes are tried.
const (
	KindRegex    Kind = "regex"    // /body/flags: RE2, found anywhere unless it is anchored
	KindJSONPath Kind = "jsonpath" // $.name or $[0]: RFC 9535, on a text that is JSON
	KindXPath    Kind = "xpath"    // //name, /a/b[2], an axis: XPath 1.0, on a text that is XML
	KindGlob     Kind = "glob"     // * ? ** [ab]* !(a)
	KindLiteral  Kind = "literal"  // all else
)

// The longest patterns, in bytes. A path of any entry can be a literal or a glob.
const (
	maxPattern    = 4 << 10
	maxExpression = 1 << 10 // of the three kinds that are languages
)

// Pattern is a checked pattern of models and clients, who name entries by it and
// search bodies. Unlike a Glob, it takes a bracket for a class only where its own
// segment has a "*" or "?" too, for "src/[id]/page.tsx" is a path like any other;
// and what is written as the pattern itself always matches. Make one with Parse; it
// may be used by several goroutines at once.
type Pattern struct {
	text  string
	kind  Kind
	glob  wildcard
	regex expression
}

// Parse reads a pattern. The error is a *PatternError with the code validation.
func Parse(pattern string) (Pattern, error) {
	p := Pattern{text: pattern, kind: kindOf(pattern)}
	longest := maxPattern
	if p.kind != KindGlob && p.kind != KindLiteral {
		longest = maxExpression
	}
	if len(pattern) > longest {
		return Pattern{}, &PatternError{pattern, fmt.Sprintf("it is longer than %d bytes", longest)}
	}
	var reason string
	switch p.kind {
	case KindRegex:
		p.regex, reason = parseExpression(slashed(pattern))
	case KindJSONPath:
		reason = checkJSONPath(pattern)
	case KindXPath:
		reason = checkXPath(pattern)
	case KindGlob:
		p.glob, reason = parseWildcard(pattern)
	}
	if reason != "" {
		return Pattern{}, &PatternError{pattern, reason}
	}
	return p, nil
}

// Kind tells how the pattern is read.
func (p Pattern) Kind() Kind {
	if p.kind == "" {
		return KindLiteral
	}
	return p.kind
}

// String returns the pattern as it was given.
func (p Pattern) String() string { return p.text }

// Prefix returns text with which everything begins that Match finds; it may be
// empty. A store reads less by it.
func (p Pattern) Prefix() string {
	switch p.Kind() {
	case KindLiteral:
		return p.text
	case KindGlob:
		return commonPrefix(p.glob.prefix(), p.text)
	default:
		return ""
	}
}

// Match tells whether the pattern fits text as a whole: a path, a name, a document.
// Regular expressions are the exception, which fit anywhere. An error has the code
// overflow where it would take too many steps, and validation where a part of an
// XPath makes no sense for what it is asked of. Between texts a caller looks at its
// context: one call can take seconds on a text of megabytes. Who asks of many takes Within.
func (p Pattern) Match(text string) (bool, error) { return p.match(text, newMeter()) }

// Search tells whether a part of text fits: a literal anywhere, a glob within a
// line, whose "*" crosses slashes then and whose "**" crosses lines. JSONPath and
// XPath are asked of the whole text. Errors are those of Match.
func (p Pattern) Search(text string) (bool, error) { return p.search(text, newMeter()) }

func (p Pattern) match(text string, m *meter) (found bool, err error) {
	if text == p.text {
		return true, nil
	}
	switch p.Kind() {
	case KindGlob:
		found = p.glob.match(text, m)
	case KindLiteral: // it is not the pattern's own text
	default:
		found, err = p.ask(text, m)
	}
	return p.answer(found, m, err)
}

func (p Pattern) search(text string, m *meter) (found bool, err error) {
	switch p.Kind() {
	case KindGlob:
		found = strings.Contains(text, p.text) || p.glob.search(text, m)
	case KindLiteral:
		found = strings.Contains(text, p.text)
	default:
		found, err = p.ask(text, m)
	}
	return p.answer(found, m, err)
}

// ask is for the kinds that look for something in a text, whichever way it is put.
func (p Pattern) ask(text string, m *meter) (bool, error) {
	switch p.kind {
	case KindRegex:
		return p.regex.find(text, m), nil
	case KindJSONPath:
		return askJSONPath(p.text, text, m)
	default:
		return askXPath(p.text, text, m)
	}
}

func (p Pattern) answer(found bool, m *meter, err error) (bool, error) {
	switch {
	case m.over():
		return false, sdk.Errorf(sdk.Overflow, "the pattern %q takes more than %d steps on a text of this size: ask for less at once", clip(p.text, 80), maxSteps)
	case err != nil:
		return false, err
	}
	return found, nil
}

// kindOf reads the shape of a pattern.
func kindOf(p string) Kind {
	switch {
	case isSlashed(p):
		return KindRegex
	case strings.HasPrefix(p, "$."), strings.HasPrefix(p, "$["):
		return KindJSONPath
	case isXPath(p):
		return KindXPath
	case strings.ContainsAny(p, "*?"), strings.Contains(p, "!(") && strings.Contains(p, ")"):
		return KindGlob
	default:
		return KindLiteral
	}
}

// isSlashed finds /body/flags, with the flags of JavaScript, of which models know
// this form. A body does not begin with a slash there, and here //a/i is an XPath.
func isSlashed(p string) bool {
	last := strings.LastIndexByte(p, '/')
	if last < 2 || p[0] != '/' || p[1] == '/' {
		return false
	}
	flags := p[last+1:]
	for i := range len(flags) {
		if !strings.Contains("gimsuy", flags[i:i+1]) || strings.Contains(flags[:i], flags[i:i+1]) {
			return false
		}
	}
	return true
}

// isXPath finds //x, and what begins with a slash and has an axis (child::, or @ of
// the last step) or a predicate: a bracket behind a name, behind which the step ends.
func isXPath(p string) bool {
	if !strings.HasPrefix(p, "/") {
		return false
	}
	if strings.HasPrefix(p, "//") && len(p) > 2 || strings.Contains(p, "::") {
		return true
	}
	if strings.HasPrefix(p[strings.LastIndexByte(p, '/'):], "/@") {
		return true
	}
	for i := 1; i < len(p); i++ {
		if p[i] != '[' || strings.IndexByte("/[](", p[i-1]) >= 0 {
			continue
		}
		end := strings.IndexByte(p[i:], ']')
		if end > 1 && (i+end+1 == len(p) || strings.IndexByte("/[]| ", p[i+end+1]) >= 0) {
			return true
		}
	}
	return false
}

func commonPrefix(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}
