package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

// TestHandReads: a body is read to its end, or as far as is wanted, in reads of any size; one that was cut off is none.
func TestHandReads(t *testing.T) {
	text := strings.Repeat("0123456789", 30_000)
	for _, most := range []int{1, 1000, beginning - 1, beginning, beginning + 1, 2 * beginning, 299_999, 300_000, 300_001, 5 << 20} {
		for name, wrap := range map[string]func(io.Reader) io.Reader{"whole": func(r io.Reader) io.Reader { return r }, "by halves": iotest.HalfReader, "with its end": iotest.DataErrReader} {
			h := newHand()
			s := h.share()
			got, err := s.read(t.Context(), wrap(strings.NewReader(text)), most)
			if want := text[:min(most, len(text))]; err != nil || string(got) != want {
				t.Errorf("%d %s: %d bytes, %v", most, name, len(got), err)
			}
			if s.close(); h.held != 0 || h.beyond != nil {
				t.Errorf("%d %s: %d bytes are held by nobody", most, name, h.held)
			}
		}
	}
	cut := errors.Join(io.ErrUnexpectedEOF)
	if _, err := newHand().share().read(t.Context(), io.MultiReader(strings.NewReader("x"), iotest.ErrReader(cut)), 10); err != cut { //nolint:errorlint // the very error
		t.Errorf("a body that was cut off: %v", err)
	}
}

// TestHandOfMany: however many large bodies come at a time, all are read, and what is held has a bound.
func TestHandOfMany(t *testing.T) {
	h := newHand()
	body := make([]byte, 1<<20)
	peak := 0
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			s := h.share()
			defer s.close()
			got, err := s.read(t.Context(), bytes.NewReader(body), 1<<20+1)
			if err != nil || len(got) != len(body) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			h.mu.Lock()
			peak = max(peak, h.held)
			h.mu.Unlock()
		})
	}
	if all.Wait(); peak > mostInHand+1<<20 {
		t.Errorf("%d bytes were held", peak)
	}
}

// TestHandIsWaitedFor: who waits for room goes on when there is some, and ends with its call.
func TestHandIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHand()
		first, second, third := h.share(), h.share(), h.share()
		if err := errors.Join(first.take(t.Context(), mostInHand), second.take(t.Context(), 1)); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := third.take(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("there was room: %v", err)
		}
		time.AfterFunc(time.Minute, first.close)
		if err := third.take(t.Context(), 1); err != nil {
			t.Error(err)
		}
	})
}
