package tags

import (
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk/edit"
)

// MaxCalls is how many calls of one answer are taken. What exceeds it is left out with a warning, so that a broken model
// cannot flood a run.
const MaxCalls = 99

// Reading is what was read of an answer.
type Reading struct {
	Calls     []Call
	Warnings  []Warning
	Narration string // what stands outside of calls; empty when that is white space
	Lost      bool   // one of the warnings is of what may have been meant as a call, and is none
}

// Read reads a whole answer.
func Read(s *Set, answer string) Reading {
	r := NewReader(s)
	r.text.s = answer
	return r.End()
}

// Reader reads an answer piece by piece. However it comes in pieces, the end of the reading is that of the whole. It is
// for one goroutine.
type Reader struct {
	set  *Set
	text text
	came strings.Builder // the pieces; text.s is what it holds
	progress

	most    int             // how many calls are taken
	began   int             // where the step did
	tried   int             // how much had come when a step last had to wait for more
	spent   int             // what steps have cost that had to wait
	inBody  bool            // what the last one waited for is the end of a body
	closer  bool            // a closing tag has come since, in part at least
	nested  []int           // of each tool, while a body is read: how many of its tags are open in it
	missing map[string]bool // words of markers that do not come any more
	regions *edit.Regions   // of edit markers; nil before the first
}

// progress is how far an answer is read. A step that has to wait for more leaves it as it was.
type progress struct {
	pos       int
	calls     []Call
	warnings  []Warning
	narration []byte
	lost      string // what may have been meant as a call first, and is none; empty when nothing may

	quotes, dropped, untold int // of warnings, see told
	fence                   int // the length of the fence that is open around calls; 0 when none is
	fenced                  int // how many calls there were when it began
	apostrophe              int // behind the last backquote that is none of code; 0 before the first
	before                  int // how many calls there were then
	looked                  int // before here no other program's form is looked for: it was, and is none
	misses                  int // of here documents
	brokens                 int // values in JSON with line breaks in their texts
	flat                    bool
}

// NewReader makes a reader of calls of a set of tools.
func NewReader(s *Set) *Reader {
	return &Reader{set: s, most: MaxCalls, nested: make([]int, len(s.tools)), missing: map[string]bool{}}
}

// Write takes the next piece of the answer. What can be read of it now is, but for what is cheaper to read later.
func (r *Reader) Write(piece string) {
	from := max(len(r.text.s)-longestName, 0) // a tag may have come in part
	r.came.WriteString(piece)
	r.text.s = r.came.String()
	if r.inBody && !r.closer {
		r.text.steps += len(r.text.s) - from
		r.closer = strings.Contains(r.text.s[from:], "</")
	}
	if r.ripe() {
		r.read()
	}
}

// End says that nothing comes any more, and is the reading of the whole.
func (r *Reader) End() Reading {
	r.text.whole = true
	r.read()
	return r.Reading()
}

// Reading is what was read so far. What it has does not change any more, but for the last warnings, which count.
func (r *Reader) Reading() Reading {
	all := Reading{Calls: slices.Clip(r.calls), Warnings: r.told(), Lost: r.lost != "" || r.dropped > 0}
	if text := string(r.narration); !blank(text) {
		all.Narration = text
	}
	return all
}

// Forming is the call whose body has begun and not ended, as far as it has come; false when there is none.
func (r *Reader) Forming() (Call, bool) { return r.forming(len(r.text.s)) }

// forming is that call with what has come of its body up to end, or none of it where end is before that.
func (r *Reader) forming(end int) (Call, bool) {
	if r.text.ends(r.pos) || r.text.s[r.pos] != '<' {
		return Call{}, false
	}
	t, i := r.opens(r.pos)
	if t == nil {
		return Call{}, false
	}
	saved := r.progress
	defer func() { r.progress = saved }()
	r.text.short = false
	o := r.opener(r.pos, t, i, true)
	if r.text.short || o.cut || o.closed || o.odd {
		return Call{}, false
	}
	return r.make(o, ending{body: Range{o.end, max(o.end, end)}}), true
}

// ripe reports whether it is worth while to try a step again that had to wait: where what it waited for may have come,
// as long as trying costs no more than a multiple of the answer, and at the latest when the answer has grown by half of what it waits with.
func (r *Reader) ripe() bool {
	if r.text.s == "" || len(r.text.s)-r.tried > (r.tried-r.pos)/2 {
		return true
	}
	return r.spent < 8*len(r.text.s)+(1<<16) && (!r.inBody || r.closer)
}

// read makes steps as long as there is enough for them.
func (r *Reader) read() {
	for r.pos < len(r.text.s) {
		saved, steps := r.progress, r.text.steps
		r.text.short, r.inBody, r.closer = false, false, false
		r.step()
		if r.text.short {
			r.progress = saved
			r.tried = len(r.text.s)
			r.spent += r.text.steps - steps
			return
		}
	}
	r.tried = len(r.text.s)
}

// step reads what begins where the reading is: text up to the next byte that may mean something, or what that means.
func (r *Reader) step() {
	i := r.pos
	r.began = i
	switch r.text.s[i] {
	case '<':
		r.angle(i)
	case '`', '~':
		r.backquote(i)
	case '{', '[':
		if !r.json(i) {
			r.keep(i + 1)
		}
	case 'c':
		if !r.callForm(i) {
			r.keep(i + 1)
		}
	default:
		for i++; i < len(r.text.s) && !special[r.text.s[i]]; i++ {
		}
		r.text.steps += i - r.pos
		r.keep(i)
	}
}

// special are the bytes at which something may begin that is no text.
var special = [256]bool{'<': true, '`': true, '~': true, '{': true, '[': true, 'c': true}

// keep takes what stands up to end as text.
func (r *Reader) keep(end int) {
	r.narration = append(r.narration, r.text.s[r.pos:end]...)
	r.pos = end
}

// skip leaves out what stands up to end.
func (r *Reader) skip(end int) { r.pos = end }

// angle reads what begins with an angle bracket.
func (r *Reader) angle(i int) {
	if t, behind := r.opens(i); t != nil {
		quotes := r.quotes
		o := r.opener(i, t, behind, true)
		if o.cut || o.odd {
			r.quotes = quotes
		}
		r.tagged(o)
		return
	}
	if t, end := r.closes(i); t != nil {
		r.skip(end) // it closes nothing
		return
	}
	if !r.foreignTag(i) && !r.plainTag(i) {
		r.keep(i + 1)
	}
}

// tagged reads the call that an opener begins.
func (r *Reader) tagged(o opener) {
	name := o.tool.Name
	switch {
	case o.cut:
		r.lose("<"+name+">", Opener, "the answer ended within the tag <%s>: no call was made of it. Write it again.", name)
		r.keep(o.end)
		return
	case o.odd:
		r.lose("<"+name+">", Opener, "<%s has words behind it that are no attributes, so it was taken as text. A call is <%s name=\"value\">.", name, name)
		r.keep(o.from + 1 + len(name))
		return
	}
	e := ending{next: o.end, body: Range{o.end, o.end}}
	if !o.closed {
		r.inBody = true
		e = r.body(o.tool, o.end)
	}
	switch e.kind {
	case Unclosed:
		what := "everything up to the end of the answer is its body"
		if e.first {
			what = "its body is what stands before the first </" + name + ">"
		} else if e.before {
			what = "its body is what stands before the next tag"
		} else if e.lost {
			what += ", and the tags in it are no calls"
		}
		r.warn(Unclosed, "<%s> is not closed: %s. Close it with </%s>.", name, what, name)
	case Emptied:
		r.warn(Emptied, "<%s> was not closed before the next tag, so it is a call without a body. End such a tag with />.", name)
	case Mismatched:
		r.warn(Mismatched, "<%s> was closed by </%s>, which was taken for </%s>.", name, e.by.Name, name)
	}
	if len(r.calls) == r.most {
		r.dropped++
	} else {
		c := r.make(o, e)
		c.At = Range{o.from, e.next}
		c.Open = e.kind == Unclosed && e.next == len(r.text.s)
		r.calls = append(r.calls, c)
	}
	r.skip(e.next)
}

// make makes the call of a tag and its body.
func (r *Reader) make(o opener, e ending) Call {
	m := making{progress: &r.progress, t: o.tool, call: Call{Tool: o.tool.Name}}
	m.call.Arguments = make([]Argument, 0, len(o.attrs)+1)
	for _, a := range o.attrs {
		if a.alone && o.tool.types[o.tool.argument(a.name)].kind == "" {
			m.argument(a.name, true)
			continue
		}
		m.argument(a.name, decoded(a.value))
	}
	switch {
	case e.kind == Emptied:
		m.emptied()
	case !o.closed && !(o.bare && e.body.Start == e.body.End):
		m.body(r.text.s, e.body)
	}
	if e.lost {
		m.swallowed()
	}
	return m.done()
}
