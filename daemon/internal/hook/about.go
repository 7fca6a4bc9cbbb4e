package hook

import "context"

type aboutKey struct{}

// About is the context of a chain that is asked about the prompt of a run. A plugin that is asked with it may read
// entries of its own schemes as the run finds them.
func About(ctx context.Context, run int64) context.Context {
	return context.WithValue(ctx, aboutKey{}, run)
}

// RunOf is the run that a chain is asked about; 0 is none.
func RunOf(ctx context.Context) int64 {
	run, _ := ctx.Value(aboutKey{}).(int64)
	return run
}
