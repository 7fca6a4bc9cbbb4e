package main

import (
	"context"
	"fmt"
	"log/slog"
)

// answers brings what is owed to a place, one answer after the other, unless that is being done.
func (f *front) answers(ctx context.Context, p place) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.talking[p] {
		return
	}
	f.talking[p] = true
	f.work.Go(func() error {
		for {
			d, more := f.next(p)
			if !more {
				return nil
			}
			if err := f.answer(ctx, p, d); err != nil {
				return err
			}
		}
	})
}

// next is the next answer that is owed to a place; where there is none, nobody brings answers there from then on.
func (f *front) next(p place) (delivery, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if owed := f.records.of(p).Owed; len(owed) > 0 {
		return owed[0], true
	}
	delete(f.talking, p)
	return delivery{}, false
}

// answer brings one answer. It shows what is being written meanwhile, and waits until all of it is there, and has arrived.
func (f *front) answer(ctx context.Context, p place, d delivery) error {
	err := f.reach(ctx, func() error {
		s := &sheet{front: f, place: p, delivery: d, alone: p.Chat > 0, pages: map[int]styled{}}
		err := s.fill(ctx)
		d = s.delivery
		return err
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case isBarred(err):
		slog.Warn(fmt.Sprintf("an answer has nobody who reads it: %v", err))
		err = nil
	case refused(err) != nil:
		slog.Error(fmt.Sprintf("an answer of run %d could not be sent: %v", d.Run, err))
		err = f.tell(ctx, p, fmt.Sprintf("Telegram does not take this answer. At the machine `bothy runs show %d` has it.", d.Run))
	}
	if err == nil {
		_, err = f.records.change(ctx, p, func(r *record) error { return r.done(d.Loop) })
	}
	return err
}
