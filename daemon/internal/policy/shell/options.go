package shell

import (
	"slices"
	"strings"
)

// usage is what a program may be told and is still known to be harmless. An
// option that is not in it is not proven.
//
// An option is followed by one sign for each of its values: ":" a word, "<" a
// path that is read, ">" a path that is written, or by "?" for a value that can
// only be glued to it. Where programs differ, "?" is the safe one: what follows
// is then judged as a word of its own. A long name behind "!" exists and is not
// proven; it is listed so that its abbreviations are known.
type usage struct {
	short    string // letters: "alk:o>"
	long     string // names between spaces: "all key: output>"
	operands string // a sign for each operand, the last one for all that follow; "" takes none
	instead  string // options, between spaces, that stand for the first operand
	digits   bool   // -5 is an option
	exact    bool   // long names cannot be abbreviated
	dash     bool   // long names have one dash, and letters cannot be bundled
	leading  bool   // behind the first operand there are only operands
	names    bool   // it shows names and dates of files, never what is in them
	also     func(r *reading) finding
}

// options is a usage that is ready for use.
type options struct {
	usage
	letters map[byte]string
	words   map[string]string
	sorted  []string // all long names, with the unproven ones
	refused map[string]bool
}

// reading is one call as its program reads it.
type reading struct {
	call
	with     *options
	given    []string // the options, by letter or full name
	operands []string
	globs    []bool // of operands: may expand to several
	ended    bool   // "--" was seen
	closed   bool   // no more options: as ended, or behind a leading operand
	worst    finding
}

func (s usage) ready() *options {
	o := &options{usage: s, letters: map[byte]string{}, words: map[string]string{}, refused: map[string]bool{}}
	for i := 0; i < len(s.short); {
		signs := signsOf(s.short[i+1:])
		o.letters[s.short[i]] = signs
		i += 1 + len(signs)
	}
	for _, name := range strings.Fields("help version " + s.long) {
		name, refused := strings.CutPrefix(name, "!")
		bare := strings.TrimRight(name, ":<>?")
		o.words[bare] = name[len(bare):]
		o.refused[bare] = refused
		o.sorted = append(o.sorted, bare)
	}
	slices.Sort(o.sorted)
	o.sorted = slices.Compact(o.sorted)
	return o
}

// signsOf is the run of value signs that a text begins with.
func signsOf(text string) string {
	return text[:len(text)-len(strings.TrimLeft(text, ":<>?"))]
}

// program judges calls by the usage.
func (s usage) program() program {
	o := s.ready()
	return func(c call) finding { return o.judge(c) }
}

func (o *options) judge(c call) finding {
	r := &reading{call: c, with: o}
	for i := 1; i < len(c.argv); i++ {
		word := c.argv[i]
		switch {
		case r.closed, len(word) < 2, word[0] != '-':
			r.operand(i)
			r.closed = r.closed || o.leading
		case c.glob(i):
			r.found(r.globbed(word))
		case word == "--" && !o.dash:
			r.ended, r.closed = true, true
		case strings.HasPrefix(word, "--") || o.dash:
			i = r.longOption(i)
		default:
			i = r.bundle(i)
		}
	}
	r.judgeOperands()
	if o.also != nil {
		r.found(o.also(r))
	}
	return c.orSecret(r.worst, o.names)
}

// found keeps what is worst.
func (r *reading) found(f finding) {
	if f.grade > r.worst.grade {
		r.worst = f
	}
}

func (r *reading) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(r.given, name) })
}

// longOption reads the option in a word and its values, and returns the index
// of the last word that it took.
func (r *reading) longOption(i int) int {
	text, value, glued := strings.Cut(strings.TrimLeft(r.argv[i], "-"), "=")
	name, known := r.with.full(text)
	if !known || r.with.dash && (glued || strings.HasPrefix(r.argv[i], "--")) {
		r.found(r.unknown(r.argv[i]))
		return i
	}
	r.given = append(r.given, name)
	signs := r.with.words[name]
	switch {
	case signs == "?":
		return i
	case glued && signs == "":
		r.found(r.unknown(r.argv[i]))
		return i
	case glued:
		r.value(signs[0], value, false)
		signs = signs[1:]
	}
	return r.values(i, signs)
}

// full is the name that a long option or an abbreviation stands for.
func (o *options) full(text string) (name string, known bool) {
	if _, exact := o.words[text]; exact {
		return text, !o.refused[text]
	}
	if o.exact || o.dash || text == "" {
		return "", false
	}
	at, _ := slices.BinarySearch(o.sorted, text)
	if at == len(o.sorted) || !strings.HasPrefix(o.sorted[at], text) {
		return "", false
	}
	if at+1 < len(o.sorted) && strings.HasPrefix(o.sorted[at+1], text) {
		return "", false // the program refuses what could be two
	}
	return o.sorted[at], !o.refused[o.sorted[at]]
}

// bundle reads a word of option letters, of which one with a value takes the
// rest of the word, or the next ones.
func (r *reading) bundle(i int) int {
	word := r.argv[i]
	if r.with.digits && isDigits(word[1:]) {
		return i
	}
	for at := 1; at < len(word); at++ {
		signs, known := r.with.letters[word[at]]
		if !known {
			r.found(r.unknown(word))
			return i
		}
		r.given = append(r.given, word[at:at+1])
		rest := word[at+1:]
		switch {
		case signs == "?":
			return i
		case signs != "" && rest != "":
			r.value(signs[0], rest, false)
			return r.values(i, signs[1:])
		case signs != "":
			return r.values(i, signs)
		}
	}
	return i
}

// values reads one word for each sign. A missing one is for the program to
// complain about.
func (r *reading) values(i int, signs string) int {
	for _, sign := range []byte(signs) {
		if i++; i == len(r.argv) {
			return i
		}
		r.value(sign, r.argv[i], r.glob(i))
	}
	return i
}

func (r *reading) value(sign byte, text string, glob bool) {
	switch {
	case glob:
		r.found(r.globbed(text))
	case sign == '<':
		r.found(r.reads(text, r.with.names))
	case sign == '>':
		r.found(r.writes(text))
	}
}

func (r *reading) operand(i int) {
	r.operands = append(r.operands, r.argv[i])
	r.globs = append(r.globs, r.glob(i))
	if r.glob(i) && !r.ended && !r.place.noOption(r.argv[0], r.argv[i]) {
		r.found(r.globbed(r.argv[i]))
	}
}

// judgeOperands comes last: an option that follows an operand can say what it
// is.
func (r *reading) judgeOperands() {
	kinds, skip := r.with.operands, 0
	if slices.ContainsFunc(strings.Fields(r.with.instead), func(name string) bool { return r.has(name) }) {
		skip = 1
	}
	if strings.HasSuffix(kinds, "<") && len(r.operands)+skip < len(kinds) {
		r.found(r.reads(".", true)) // many look around where they start
	}
	for i, text := range r.operands {
		if kinds == "" {
			r.found(r.unproven("shell.option", "%q means something else to %s than to show what there is, which is not proven; leave it out", text, r.argv[0]))
			return
		}
		at := min(i+skip, len(kinds)-1)
		if r.globs[i] {
			r.found(r.expands(text, at == len(kinds)-1 && kinds[at] != '>', r.with.names))
			continue
		}
		r.value(kinds[at], text, false)
	}
}

func (r *reading) unknown(word string) finding {
	return r.unproven("shell.option", "the option %q of %s is not known to be harmless; leave it out, or use the full name of one that only reads", word, r.argv[0])
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// glob reports whether a word has an unquoted pattern character.
func (c call) glob(i int) bool { return i < len(c.globs) && c.globs[i] }

func (c call) unproven(rule, format string, args ...any) finding {
	return finding{Unproven, rule, says(format, args...)}
}
