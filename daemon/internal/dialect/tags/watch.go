package tags

// longestForming is how long a tag may be that is looked at again and again until it is whole. A longer one is shown when its call is
// read.
const longestForming = 4 << 10

// Watch is what people are shown of an answer while it comes: the text outside of calls, and each call as soon as its tag is whole. It is
// for one goroutine.
type Watch struct {
	r       *Reader
	text    int // how much of the narration was shown
	calls   int // how many calls are read, and shown
	forming int // where the call begins that was shown before it was read; -1 for none
}

// NewWatch begins to watch an answer.
func NewWatch(s *Set) *Watch { return &Watch{r: NewReader(s), forming: -1} }

// Write takes the next piece, and returns what is to be shown now.
func (w *Watch) Write(piece string) (text string, begun []Call) {
	w.r.Write(piece)
	text, begun = w.read()
	if at := w.r.pos; at != w.forming && len(w.r.text.s)-at <= longestForming {
		if c, is := w.r.forming(0); is {
			w.forming, begun = at, append(begun, c)
		}
	}
	return text, begun
}

// End returns what is still to be shown when nothing comes any more.
func (w *Watch) End() (text string, begun []Call) {
	w.r.text.whole = true
	w.r.read()
	return w.read()
}

// read is what was read since it was last asked for, without the call that was shown already.
func (w *Watch) read() (text string, begun []Call) {
	for _, c := range w.r.calls[w.calls:] {
		if c.At.Start != w.forming || w.forming < 0 {
			begun = append(begun, c)
		}
	}
	w.calls = len(w.r.calls)
	text = string(w.r.narration[w.text:])
	w.text = len(w.r.narration)
	return text, begun
}
