package deadline

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

var errLate = errors.New("late")

// TestHeldTimeDoesNotCount: work ends when it has taken its time, however long it was held
// meanwhile, and by however many.
func TestHeldTimeDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, d, end := With(t.Context(), time.Minute, errLate)
		defer end()
		time.Sleep(40 * time.Second)
		first := d.Hold()
		time.Sleep(time.Hour)
		second := d.Hold()
		first()
		time.Sleep(time.Hour)
		if ctx.Err() != nil {
			t.Fatal("it ended while it was held")
		}
		second()
		time.Sleep(19 * time.Second)
		if ctx.Err() != nil {
			t.Fatal("it ended before its time")
		}
		time.Sleep(2 * time.Second)
		if cause := context.Cause(ctx); !errors.Is(cause, errLate) {
			t.Fatalf("it ended with %v", cause)
		}
	})
}

// TestUntil: the end moves while the work is held, and stays where it came to.
func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if is := (*Deadline)(nil).Until(); !is.IsZero() {
			t.Errorf("nil ends at %v", is)
		}
		began := time.Now()
		_, d, end := With(t.Context(), time.Minute, errLate)
		defer end()
		letGo := d.Hold()
		time.Sleep(time.Hour)
		if is := d.Until(); !is.Equal(began.Add(time.Hour + time.Minute)) {
			t.Errorf("held, it ends at %v", is.Sub(began))
		}
		letGo()
		time.Sleep(time.Second)
		if is := d.Until(); !is.Equal(began.Add(time.Hour + time.Minute)) {
			t.Errorf("let go of, it ends at %v", is.Sub(began))
		}
	})
}

// TestNobodyHolds: without anybody who holds it, it is an ordinary deadline; nil is none.
func TestNobodyHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		(*Deadline)(nil).Hold()()
		ctx, _, end := With(t.Context(), time.Minute, errLate)
		time.Sleep(61 * time.Second)
		if cause := context.Cause(ctx); !errors.Is(cause, errLate) {
			t.Fatalf("it ended with %v", cause)
		}
		end()
		ctx, d, end := With(t.Context(), time.Minute, errLate)
		end()
		d.Hold()()
		if !errors.Is(context.Cause(ctx), context.Canceled) {
			t.Fatal("it ended otherwise than it was ended")
		}
	})
}

// TestSilence: work ends when nobody has held it for its time, which begins anew each time it
// is let go of, and may be another from then on; zero is no end.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, d, end := Silence(t.Context(), time.Minute, errLate)
		defer end()
		for range 3 {
			time.Sleep(59 * time.Second)
			letGo := d.Hold()
			time.Sleep(time.Hour)
			letGo()
		}
		if ctx.Err() != nil {
			t.Fatal("it ended though something had come")
		}
		other, letGo := errors.New("later"), d.Hold()
		d.Becomes(time.Second, other)
		time.Sleep(time.Hour)
		letGo()
		time.Sleep(time.Second / 2)
		if ctx.Err() != nil {
			t.Fatal("it ended before its time")
		}
		time.Sleep(time.Second)
		if cause := context.Cause(ctx); !errors.Is(cause, other) {
			t.Fatalf("it ended with %v", cause)
		}

		ctx, d, end = Silence(t.Context(), 0, errLate)
		defer end()
		d.Becomes(time.Second, errLate)
		time.Sleep(time.Hour)
		if d != nil || ctx.Err() != nil {
			t.Fatal("no time is an end")
		}
	})
}
