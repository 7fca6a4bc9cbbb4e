package backlog

import (
	"context"
	"errors"
	"testing"
)

// TestBacklog holds that waiting ends with the last of what is held, or with who waits.
func TestBacklog(t *testing.T) {
	var b Backlog
	if err := b.Wait(t.Context()); err != nil || b.Reason() != nil {
		t.Fatalf("nothing is held: %v, %v", err, b.Reason())
	}
	full, tired := errors.New("the disk is full"), errors.New("tired")
	first, second := b.Add(errors.New("locked")), b.Add(full)
	if !errors.Is(b.Reason(), full) {
		t.Errorf("held because %v", b.Reason())
	}
	first()
	first() // once
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(tired)
	if err := b.Wait(ctx); !errors.Is(err, tired) {
		t.Errorf("one is held still, and waiting ended with %v", err)
	}
	waited := make(chan error)
	go func() { waited <- b.Wait(context.Background()) }()
	second()
	if err := <-waited; err != nil || b.Reason() != nil {
		t.Errorf("nothing is held any more: %v, %v", err, b.Reason())
	}
}
