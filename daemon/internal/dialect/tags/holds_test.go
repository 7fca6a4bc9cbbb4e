package tags

import "reflect"

// failer is what of a test is used here: rapid has one of its own.
type failer interface {
	Helper()
	Errorf(string, ...any)
}

// holds checks what is true of the reading of any answer.
func holds(t failer, answer string, got Reading) {
	t.Helper()
	last := 0
	for i, c := range got.Calls {
		if c.At.Start < last && !(i > 0 && c.At == got.Calls[i-1].At) || c.At.End < c.At.Start || c.At.End > len(answer) {
			t.Errorf("%q: call %d stands at %v, behind %d", answer, i, c.At, last)
		}
		last = c.At.End
		if c.BodyAt.End > 0 && (c.BodyAt.Start < c.At.Start || c.BodyAt.End > c.At.End || c.Body != answer[c.BodyAt.Start:c.BodyAt.End]) {
			t.Errorf("%q: the body %q of call %d is not what stands at %v", answer, c.Body, i, c.BodyAt)
		}
	}
	if len(got.Calls) > MaxCalls || len(got.Warnings) > maxWarnings+3 {
		t.Errorf("%d calls and %d warnings", len(got.Calls), len(got.Warnings))
	}
	for _, size := range []int{1, 3, 7} {
		r := NewReader(offered)
		for i := 0; i < len(answer); i += size {
			r.Write(answer[i:min(i+size, len(answer))])
		}
		if whole := r.End(); !reflect.DeepEqual(whole, got) {
			t.Errorf("%q in pieces of %d is read as\n%+v\nand as a whole as\n%+v", answer, size, whole, got)
		}
	}
}
