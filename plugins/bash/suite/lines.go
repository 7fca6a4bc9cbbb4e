package suite

import (
	"iter"
	"regexp"
	"strings"
)

// line is one of an output.
type line struct {
	text   string
	before string // the line above it
	rest   string // what comes behind it
	first  byte   // the first that is no space; 0 in a line that has none, and in one of more than mostLine bytes
}

// mostLine is how long a line may be that says anything of tests, but for an event of Go.
const mostLine = 64 << 10

// lines are those of a text. Each is cut off as it is asked for: an output may be millions of them.
func lines(text string) iter.Seq[line] {
	return func(yield func(line) bool) {
		var l line
		for more := true; more; {
			l.before = l.text
			l.text, l.rest, more = strings.Cut(text, "\n")
			text, l.first = l.rest, 0
			if word := strings.TrimLeft(l.text, " "); word != "" && len(l.text) <= mostLine {
				l.first = word[0]
			}
			if !yield(l) {
				return
			}
		}
	}
}

// form is a line that a framework prints; the zero value is every line. An expression costs far more than a look at one
// byte, and most lines are of no form.
type form struct {
	begins     string // it has the first byte of each such line that is no space
	expression *regexp.Regexp
}

func formOf(begins, expression string) form { return form{begins, regexp.MustCompile(expression)} }

// is reports whether a line is of the form.
func (f form) is(l line) bool {
	return strings.IndexByte(f.begins, l.first) >= 0 && f.expression.MatchString(l.text)
}

// digits are what a line with a sum begins with.
const digits = "0123456789"

// rule is what a reader does with each line of a form. Those of one reader are followed in their order.
type rule struct {
	form
	take func(m []string, l line)
}

// reader counts what one framework prints, and nothing that another does.
type reader struct {
	rules []rule
	count func() Count
}

// follow gives each line of a text to the rules of all readers.
func follow(text string, readers []reader) {
	var by [256][]rule
	for _, r := range readers {
		for _, one := range r.rules {
			for first := range by {
				if one.expression == nil || strings.IndexByte(one.begins, byte(first)) >= 0 {
					by[first] = append(by[first], one)
				}
			}
		}
	}
	for l := range lines(text) {
		for _, one := range by[l.first] {
			if one.expression == nil {
				one.take(nil, l)
			} else if m := one.expression.FindStringSubmatch(l.text); m != nil {
				one.take(m, l)
			}
		}
	}
}

// block is the beginning of a text, up to the first line for which ends holds.
func block(text string, ends func(line) bool) string {
	size := 0
	for l := range lines(text) {
		if ends(l) || size > 4*mostText {
			break
		}
		size += len(l.text) + 1
	}
	return text[:min(size, len(text))]
}
