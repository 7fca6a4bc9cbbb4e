package tags

import "strings"

// value is where the value of an attribute ends that a quote begins.
type value struct {
	end      int // of the value
	next     int // where reading goes on
	repaired bool
}

// mostInner is how many quotes within a value are passed over.
const mostInner = 8

// quoted reads a value from behind its quote. The next quote of its kind ends it, unless what follows says that this
// one is missing and the next belongs to something else: then the value ends where the tag or its next attribute begins.
func (r *Reader) quoted(i int, quote byte) value {
	end := r.text.find(quote, i)
	if end < 0 {
		if end = r.tagIn(i, len(r.text.s)); end < 0 {
			end = len(r.text.s)
		}
		return r.unended(i, end)
	}
	within := r.text.s[i:end]
	r.text.steps += len(within)
	next := r.text.at(end + 1)
	proper := space(next) || next == '>' || next == '/' || r.text.ends(end+1)
	name := assigned(within)
	if proper && name < 0 {
		return value{end: end, next: end + 1}
	}
	tag := r.tagIn(i, end)
	switch {
	case tag >= 0 && (name >= 0 || !proper):
		return r.unended(i, tag)
	case proper:
		return value{end: end, next: end + 1}
	case name >= 0 && !strings.Contains(within, ">"):
		return value{end: i + len(strings.TrimRight(within[:name], " \t\r\n")), next: i + name, repaired: true}
	case strings.Contains(within, ">"):
		return r.unended(i, end)
	case next == quote:
		return value{end: end, next: end + 2, repaired: true}
	case r.assigns(end + 1):
		return value{end: end, next: end + 1}
	}
	if inner := r.inner(end+1, quote); inner >= 0 {
		return value{end: inner, next: inner + 1, repaired: true}
	}
	return value{end: end, next: end + 1, repaired: true}
}

// unended is a value from i on whose quote is missing, and which ends before limit: where the tag does, if it does.
func (r *Reader) unended(i, limit int) value {
	r.text.steps += limit - i
	n := strings.IndexByte(r.text.s[i:limit], '>')
	if n < 0 {
		return value{end: limit, next: limit, repaired: true}
	}
	end := i + n
	if n > 0 && r.text.s[end-1] == '/' {
		end--
	}
	return value{end: end, next: end, repaired: true}
}

// assigned is where in a value its last word begins, if that is the name of an attribute and a sign of
// equality, as in `a.go line=`; else -1.
func assigned(within string) int {
	name, is := strings.CutSuffix(strings.TrimRight(within, " "), "=")
	if !is {
		return -1
	}
	from := len(name)
	for from > 0 && (named(name[from-1]) || name[from-1] == '-') {
		from--
	}
	if from == len(name) || from == 0 || !space(name[from-1]) {
		return -1
	}
	return from
}

// assigns reports whether an attribute with a value begins at i.
func (r *Reader) assigns(i int) bool {
	end := r.text.name(i)
	return end > i && r.text.at(end) == '='
}

// inner is the quote that ends a value in which quotes of its kind stand: one behind which the tag ends or an attribute
// begins. It is -1 when none of the next ones is.
func (r *Reader) inner(i int, quote byte) int {
	for range mostInner {
		from := i
		i = r.text.find(quote, i)
		if i < 0 || r.tagIn(from, i) >= 0 {
			return -1
		}
		behind := r.text.spaces(i + 1)
		c := r.text.at(behind)
		if c == '>' || c == '/' && r.text.at(behind+1) == '>' || behind > i+1 && r.assigns(behind) {
			return i
		}
		i++
	}
	return -1
}

// otherQuotes are what models write in the place of quotes: as a book has them, and as a text in JSON has them.
var otherQuotes = []struct{ opens, ends string }{{"\u201c", "\u201d"}, {"\u2018", "\u2019"}, {`\"`, `\"`}, {`\'`, `\'`}, {"&quot;", "&quot;"}, {"`", "`"}}

// longestOther is how long a value between such quotes may be.
const longestOther = 1024

// otherQuotes is what stands between two of them from i on, with the place behind; next is 0 when there are none on the line.
func (r *Reader) otherQuotes(i int) (from, end, next int) {
	for _, quote := range otherQuotes {
		if !r.text.has(i, quote.opens) {
			continue
		}
		from = i + len(quote.opens)
		for end = from; end < from+longestOther; end++ {
			switch c := r.text.at(end); {
			case r.text.ends(end), c == '\n', c == '<' && r.tag(end):
				return 0, 0, 0
			case r.text.has(end, quote.ends):
				return from, end, end + len(quote.ends)
			}
		}
	}
	return 0, 0, 0
}
