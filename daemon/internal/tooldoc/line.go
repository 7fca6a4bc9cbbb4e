package tooldoc

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// document is what a model reads of one tool: what it is for, stories by examples, and bounds as RFC 2119 has them.
type document struct {
	tool  string
	shape example // its syntax
	is    string  // what it is for, in a few words
	lines []line
}

// line is one line. The last field is why it is there, which no model reads.
type line struct {
	text string // a rule; or what an example shows
	call *example
	why  string
}

// rule is a bound.
func rule(text, why string) line { return line{text, nil, why} }

// story is an example, with what it shows.
func story(call example, text, why string) line { return line{text, &call, why} }

// example is one call.
type example struct {
	tool       string
	attributes []attribute
	fills      string // the argument that the body is; empty where there is none
	body       string
}

// attribute is one argument. The value "true" of preview, pattern and append is a name alone.
type attribute struct{ name, value string }

// flags are arguments that are there or not.
var flags = map[string]bool{"preview": true, "pattern": true, "append": true}

// lists are arguments that are lists, written as JSON.
var lists = map[string]bool{"options": true}

// numbers are arguments that are numbers.
var numbers = map[string]bool{"line": true, "limit": true, "results": true, "status": true, "timeout_seconds": true}

// call is an example of a tool; the attributes are name and value, one after the other.
func call(tool string, attributes ...string) example {
	e := example{tool: tool}
	for i := 0; i+1 < len(attributes); i += 2 {
		e.attributes = append(e.attributes, attribute{attributes[i], attributes[i+1]})
	}
	return e
}

// with is the example with a body, which fills an argument.
func (e example) with(argument, body string) example {
	e.fills, e.body = argument, body
	return e
}

// write writes the call as a dialect has it.
func (e example) write(dialect string) string {
	if dialect == sdk.DialectTags {
		return e.tag()
	}
	all := make([]string, 0, len(e.attributes)+1)
	for _, a := range append(e.attributes, attribute{e.fills, e.body}) {
		if a.name == "" {
			continue
		}
		value := quoted(a.value)
		if _, err := strconv.Atoi(a.value); flags[a.name] || lists[a.name] || numbers[a.name] && err == nil {
			value = a.value
		}
		all = append(all, quoted(a.name)+": "+value)
	}
	return e.tool + " {" + strings.Join(all, ", ") + "}"
}

func (e example) tag() string {
	var b strings.Builder
	b.WriteString("<" + e.tool)
	for _, a := range e.attributes {
		b.WriteString(" " + a.name)
		if !flags[a.name] {
			b.WriteString(`="` + a.value + `"`)
		}
	}
	if e.fills == "" {
		b.WriteString("/>")
		return b.String()
	}
	b.WriteString(">" + e.body + "</" + e.tool + ">")
	return b.String()
}

// quoted is a text as JSON, which every text has, without escapes that only HTML needs.
func quoted(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text)
	return strings.TrimSuffix(b.String(), "\n")
}

// write writes what a model reads of the tool.
func (d document) write(b *strings.Builder, dialect string) {
	b.WriteString("## ")
	if dialect == sdk.DialectTags {
		b.WriteString(d.shape.tag())
	} else {
		b.WriteString(d.tool)
	}
	b.WriteString(" - " + d.is + "\n")
	for _, l := range d.lines {
		if l.call == nil {
			b.WriteString("* " + l.text + "\n")
			continue
		}
		b.WriteString("Example: " + l.call.write(dialect) + "\n")
		if l.text != "" {
			b.WriteString("    " + l.text + "\n")
		}
	}
}
