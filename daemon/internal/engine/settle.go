package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// errUnsettled is the error of work that did not end when it was cancelled.
var errUnsettled = errors.New("it did not stop when it was told to")

// settle does work that somebody else's code does, and waits for it. When ctx
// ends the work has a short time left to end in order; then it is given up:
// the engine goes on, and Close still waits for it. A panic is an error.
func settle[T any](ctx context.Context, e *Engine, what string, work func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	e.busy.Add(1) // the caller is counted too, so Close cannot have returned
	go func() {
		defer e.busy.Done()
		var a answer
		defer func() {
			if p := recover(); p != nil {
				e.log.Error("a panic was caught", "in", what, "panic", p, "stack", string(debug.Stack()))
				a.err = fmt.Errorf("%s failed with an internal error: %v", what, p)
			}
			done <- a
		}()
		a.value, a.err = work()
	}()
	select {
	case a := <-done:
		return a.value, a.err
	case <-ctx.Done():
	}
	select {
	case a := <-done:
		return a.value, a.err
	case <-time.After(settleTime):
		e.log.Warn("cancelled work did not end in time and was given up", "what", what)
		var none T
		return none, fmt.Errorf("%s: %w", what, errUnsettled)
	}
}
