package webguard

import (
	"context"
	"io"
	"time"
)

// body is the body of an answer, decompressed, with an end to how long it may take and
// how large it may be.
type body struct {
	inner  io.ReadCloser
	hop    *hop
	limits limits
	caller context.Context
	cancel context.CancelCauseFunc
	stop   func()

	most   int64         // bytes that may come
	left   int64         // of those, how many still may
	credit time.Duration // how long it may still be waited for
}

// Read waits for the next bytes as long as there is credit: each second that it waits
// costs one, and each second's worth of bytes earns one. The time that the caller takes
// between two reads does not count.
func (b *body) Read(p []byte) (int, error) {
	slow := time.AfterFunc(b.credit, func() {
		b.cancel(failed(TooSlow, "%s sends less than %d bytes a second", b.hop.target.host, b.limits.floor))
	})
	began := time.Now()
	n, err := b.inner.Read(p)
	slow.Stop()
	earned := time.Duration(n) * time.Second / time.Duration(b.limits.floor)
	b.credit = min(b.credit-time.Since(began)+earned, b.limits.grace)
	if int64(n) > b.left {
		n, b.left = int(b.left), 0
		return n, failed(TooLarge, "%s sends more than the %d bytes that are read", b.hop.target.host, b.most)
	}
	b.left -= int64(n)
	if err != nil && err != io.EOF {
		err = b.hop.failure(b.caller, err)
	}
	return n, err
}

// Close ends the answer, read to its end or not.
func (b *body) Close() error {
	err := b.inner.Close()
	b.stop()
	return err
}
