package credential

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Ring keeps keys for the person who is logged in, and asks that person nothing. Its calls end
// with their context.
type Ring interface {
	// Read returns those of the names that it has, also beside an error.
	Read(ctx context.Context, names []string) (map[string]string, error)
	// Write keeps a key in the place of one of the same name.
	Write(ctx context.Context, name, value string) error
	// Remove reports whether there was one.
	Remove(ctx context.Context, name string) (bool, error)
}

// service is the name under which all keys of Bothy are in a keyring; secret-tool and security
// find them as `service bothy username NAME` and `-s bothy -a NAME`.
const service = "bothy"

const (
	askTime    = 2 * time.Second  // for all names that are asked for at once
	changeTime = 10 * time.Second // to keep or remove a key
)

// errSilent says that a keyring did not answer in time.
var errSilent = errors.New("it did not answer in time; `bothy config reload` asks again")

// bounded calls do, and returns when that does, or when the time is over.
func bounded[R any](ctx context.Context, limit time.Duration, do func(context.Context) (R, error)) (R, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	type answer struct {
		result R
		err    error
	}
	told := make(chan answer, 1)
	go func() {
		r, err := do(ctx)
		told <- answer{r, err}
	}()
	var a answer
	select {
	case a = <-told:
	case <-ctx.Done():
		a.err = ctx.Err()
	}
	if a.err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		a.err = errSilent
	}
	return a.result, a.err
}

// none is the keyring of a machine that has none.
type none struct{ why string }

func (n none) Read(context.Context, []string) (map[string]string, error) { return nil, n.err() }
func (n none) Write(context.Context, string, string) error               { return n.err() }
func (n none) Remove(context.Context, string) (bool, error)              { return false, n.err() }
func (n none) err() error                                                { return fmt.Errorf("there is none: %s", n.why) }
