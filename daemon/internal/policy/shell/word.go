package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is a word of a command, decoded as bash would decode it.
type word struct {
	text   string // what the program gets, as far as that can be said
	source string // as it stands in the line
	from   uint
	to     uint
	known  bool    // text is what the program gets, patterns aside
	glob   bool    // an unquoted pattern character
	tilde  bool    // a home directory was put in
	proc   bool    // it is the name of a pipe from or to other commands
	why    finding // what speaks against the word
}

// decoder makes one word. Its judge sees what the word runs.
type decoder struct {
	*judge
	text   strings.Builder
	word   word
	square bool // an unquoted [ stands in it
	curly  bool // an unquoted { stands in it
	split  bool // and a comma or two dots behind that, which makes it a list
}

// word decodes one word and judges the commands in it.
func (j *judge) word(w *syntax.Word) word {
	d := decoder{judge: j, word: word{known: true, from: w.Pos().Offset(), to: w.End().Offset()}}
	d.word.source = j.slice(d.word.from, d.word.to)
	for i, part := range w.Parts {
		d.part(part, i == 0, false)
	}
	if d.split {
		d.doubt(Unproven, "shell.dynamic", "%s is a list in braces, which bash makes several words of; write the words", brief(d.word.source))
	}
	d.word.text = d.text.String()
	if !d.word.known && d.text.Len() == 0 || d.word.proc {
		d.word.text = d.word.source
	}
	return d.word
}

// peek decodes a word without judging what is in it.
func (j *judge) peek(w *syntax.Word) word {
	alone := judge{src: j.src, at: j.at, dirs: j.dirs, value: j.value, out: &tally{calls: map[string][]string{}}}
	return alone.word(w)
}

// words decodes words, lists in braces taken apart.
func (j *judge) words(list []*syntax.Word) []word {
	all := make([]word, 0, len(list))
	for _, w := range list {
		all = j.brace(all, w, j.word(w))
	}
	return all
}

// doubt notes what speaks against a word whose text is known all the same.
func (d *decoder) doubt(g Grade, rule, format string, args ...any) {
	d.word.why = worse(d.word.why, finding{g, rule, says(format, args...)})
}

// dynamic notes that nobody can say what the word will be.
func (d *decoder) dynamic(g Grade, rule, format string, args ...any) {
	d.word.known = false
	d.doubt(g, rule, format, args...)
}

func (d *decoder) part(part syntax.WordPart, first, quoted bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		if quoted {
			d.text.WriteString(unescape(p.Value, "$`\"\\\n"))
		} else {
			d.bare(p.Value, first)
		}
	case *syntax.SglQuoted:
		if p.Dollar {
			d.dynamic(Unsafe, "shell.quoting", "$'...' hides what it says; write the text plainly in single quotes")
		}
		d.text.WriteString(p.Value)
	case *syntax.DblQuoted:
		if p.Dollar {
			d.dynamic(Unsafe, "shell.quoting", "$\"...\" is translated before it is used; leave the dollar sign out")
		}
		for _, inner := range p.Parts {
			d.part(inner, false, true)
		}
	case *syntax.ParamExp:
		d.param(p, quoted)
	case *syntax.CmdSubst:
		d.dynamic(Unproven, "shell.substitution", "%s puts in what a command says, which nobody can see beforehand; run it first and write down what it said", d.brief(p))
		d.judge.substitution(p.Stmts)
	case *syntax.ProcSubst:
		d.word.proc = true
		d.dynamic(Unproven, "shell.substitution", "%s joins commands by a hidden pipe; use a file in the workspace", d.brief(p))
		d.judge.process(p, false)
	case *syntax.ArithmExp:
		d.dynamic(Unproven, "shell.dynamic", "the result of arithmetic is not known beforehand; write the number")
		d.judge.arithmetic(p.X)
	case *syntax.ExtGlob:
		d.word.glob = true
		d.dynamic(Unproven, "shell.dynamic", "%s is a pattern that bash does not read in the way it is written here; name the files", d.brief(p))
	default:
		d.dynamic(Unsafe, "shell.syntax", "%T in a word is nothing that is known; write it plainly", part)
	}
}

// bare decodes unquoted text.
func (d *decoder) bare(lit string, first bool) {
	if first && strings.HasPrefix(lit, "~") {
		lit = d.home(lit)
	}
	for i := 0; i < len(lit); i++ {
		c := lit[i]
		switch c {
		case '\\':
			if i+1 < len(lit) {
				i++
				if lit[i] == '\n' {
					continue
				}
				c = lit[i]
			}
		case '*', '?':
			d.word.glob = true
		case '[':
			d.square = true
		case ']':
			d.word.glob = d.word.glob || d.square
		case '{':
			d.curly = true
		case ',':
			d.split = d.split || d.curly
		case '.':
			d.split = d.split || d.curly && strings.HasSuffix(d.text.String(), ".")
		case '~':
			if before := d.text.String(); strings.HasSuffix(before, "=") || strings.HasSuffix(before, ":") {
				d.dynamic(Unproven, "shell.path", "the ~ in %s may become a home directory; write the path below the workspace", brief(d.word.source))
			}
		}
		d.text.WriteByte(c)
	}
}

// home writes what a leading ~ stands for, and returns what follows it.
func (d *decoder) home(lit string) string {
	name, rest := lit, ""
	if i := strings.IndexByte(lit, '/'); i >= 0 {
		name, rest = lit[:i], lit[i:]
	}
	if name == "~" && d.at.Home != "" {
		d.word.tilde = true
		d.text.WriteString(d.at.Home)
		return rest
	}
	d.dynamic(Unproven, "shell.path", "%s stands for a directory that is not the workspace; write a path below the workspace", name)
	return lit
}

// unescape takes the backslash away before the characters that it can quote
// inside double quotes, or in a here-document.
func unescape(lit, quotable string) string {
	if !strings.Contains(lit, "\\") {
		return lit
	}
	var b strings.Builder
	for i := 0; i < len(lit); i++ {
		if lit[i] == '\\' && i+1 < len(lit) && strings.IndexByte(quotable, lit[i+1]) >= 0 {
			i++
			if lit[i] == '\n' {
				continue
			}
		}
		b.WriteByte(lit[i])
	}
	return b.String()
}

// param notes what an expansion does, and puts in the values that are known: of
// HOME, of PWD and of the variable of a loop. No rule for commands rests on them.
func (d *decoder) param(p *syntax.ParamExp, quoted bool) {
	source := d.brief(p)
	if b := d.judge.value; b.is(p) && (quoted || !b.glob) {
		d.doubt(Contained, "shell.dynamic", "%s is each of the words that stand behind in", source)
		d.word.glob = d.word.glob || b.glob
		d.text.WriteString(b.text)
		return
	}
	if value, found := d.known(p); found {
		grade := Contained
		if !quoted && !plainItem.MatchString(value) {
			grade = Unproven // bash makes several words of it
		}
		d.doubt(grade, "shell.dynamic", "%s is put in when the line runs; write the path", source)
		d.text.WriteString(value)
		return
	}
	d.dynamic(Unproven, "shell.dynamic", "%s is put in when the line runs, so nobody can say what it will be; write the value", source)
	d.judge.expansion(p, source)
	d.text.WriteString(d.slice(p.Pos().Offset(), p.End().Offset()))
}

// plainParam reports whether an expansion is a name and nothing else.
func plainParam(p *syntax.ParamExp) bool {
	return p.Param != nil && !p.Excl && !p.Length && !p.Width && !p.IsSet && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Exp == nil &&
		p.Names == 0 && p.NestedParam == nil && p.Flags == nil && len(p.Modifiers) == 0
}

// known is what $HOME or $PWD stand for.
func (d *decoder) known(p *syntax.ParamExp) (string, bool) {
	if !plainParam(p) {
		return "", false
	}
	switch {
	case p.Param.Value == "HOME" && d.at.Home != "":
		return d.at.Home, true
	case p.Param.Value == "PWD" && len(d.dirs) == 1:
		return d.dirs[0], true
	}
	return "", false
}

// expansion judges the parts of an expansion that is more than a name.
func (j *judge) expansion(p *syntax.ParamExp, source string) {
	if p.Excl {
		j.structure(finding{Unsafe, "shell.dynamic", says("%s takes the name of a variable from another one; name the variable", source)})
	}
	if p.Index != nil {
		j.subscript(p.Index)
	}
	if p.Slice != nil {
		j.arithmetic(p.Slice.Offset)
		j.arithmetic(p.Slice.Length)
	}
	if p.Repl != nil {
		j.look(p.Repl.Orig)
		j.look(p.Repl.With)
	}
	if p.NestedParam != nil || p.Flags != nil || len(p.Modifiers) > 0 {
		j.structure(finding{Unsafe, "shell.syntax", says("%s is nothing that bash knows; write it plainly", source)})
	}
	if p.Exp == nil {
		return
	}
	switch p.Exp.Op {
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		j.structure(finding{Unsafe, "shell.assignment", says("%s assigns while it expands; use :- instead of :=", source)})
	case syntax.OtherParamOps:
		if op := j.peekText(p.Exp.Word); !slices.Contains([]string{"Q", "U", "u", "L", "a"}, op) {
			j.structure(finding{Unsafe, "shell.dynamic", says("%s expands the value once more, and so may run it; use the value as it is", source)})
		}
	}
	j.look(p.Exp.Word)
}

// look judges what runs in a word that is no word of a command.
func (j *judge) look(w *syntax.Word) {
	if w == nil {
		return
	}
	if d := j.word(w); d.why.grade > Proven {
		j.structure(d.why)
	}
}

func (j *judge) peekText(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	return j.peek(w).text
}

// A list in braces is taken apart when it is not longer than this, and into so
// many words.
const (
	braceBytes = 256
	braceDepth = 16
	braceCap   = 64
)

// brace adds a word to others, a list in braces taken apart, so that what it would run is seen. What
// is not a plain list stays one word that nobody knows.
func (j *judge) brace(all []word, w *syntax.Word, d word) []word {
	if d.why.rule != "shell.dynamic" || !d.known || !strings.Contains(d.source, "{") || !strings.ContainsAny(d.source, ",.") {
		return append(all, d)
	}
	if len(d.source) > braceBytes || strings.Count(d.source, "{") > braceDepth { // taking it apart costs the square
		d.known = false
		return append(all, d)
	}
	split := syntax.Word{Parts: slices.Clone(w.Parts)}
	syntax.SplitBraces(&split)
	variants, ok := variants(&split)
	if !ok {
		d.known = false
		return append(all, d)
	}
	for _, v := range variants {
		one := j.peek(&syntax.Word{Parts: v})
		one.from, one.to, one.source, one.why = d.from, d.to, d.source, worse(d.why, one.why)
		all = append(all, one)
	}
	return all
}

// variants are the words that a word with lists stands for, or false when they
// are too many or a sequence.
func variants(w *syntax.Word) ([][]syntax.WordPart, bool) {
	all := [][]syntax.WordPart{nil}
	for _, part := range w.Parts {
		choices := [][]syntax.WordPart{{part}}
		if list, is := part.(*syntax.BraceExp); is {
			if list.Sequence {
				return nil, false
			}
			choices = nil
			for _, elem := range list.Elems {
				inner, ok := variants(elem)
				if !ok {
					return nil, false
				}
				choices = append(choices, inner...)
			}
		}
		if len(all)*len(choices) > braceCap {
			return nil, false
		}
		var next [][]syntax.WordPart
		for _, head := range all {
			for _, tail := range choices {
				next = append(next, append(slices.Clip(slices.Clone(head)), tail...))
			}
		}
		all = next
	}
	return all, true
}

// synthetic are words that a wrapper makes out of a text of its own.
func synthetic(source word, texts []string) []word {
	all := make([]word, 0, len(texts))
	for _, text := range texts {
		all = append(all, word{text: text, source: source.source, from: source.from, to: source.to, known: true, why: source.why})
	}
	return all
}

// single reports whether bash makes exactly one word of it.
func (w word) single() bool { return w.known && !w.glob }

// texts are the words as programs get them, what is not known as it stands in
// the line.
func texts(words []word) []string {
	all := make([]string, 0, len(words))
	for _, w := range words {
		all = append(all, w.text)
	}
	return all
}

// base is a program's name without its directory.
func base(w word) string {
	if w.text == "" || strings.HasSuffix(w.text, "/") {
		return ""
	}
	return path.Base(w.text)
}
