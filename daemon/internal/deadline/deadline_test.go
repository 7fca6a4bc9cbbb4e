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
