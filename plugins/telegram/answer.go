package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
)

// answers brings what is owed to a place: of each run one answer after the other, beside those of other runs, since one that
// was left may wait for long.
func (f *front) answers(ctx context.Context, p place) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range f.records.of(p).Owed {
		t := dialogue{p, d.Run}
		if f.talking[t] {
			continue
		}
		f.talking[t] = true
		f.work.Go(func() error {
			for {
				d, more := f.next(t)
				if !more {
					return nil
				}
				if err := f.answer(ctx, p, d); err != nil {
					return err
				}
			}
		})
	}
}

// next is the next answer that is owed of a dialogue; where there is none, nobody brings its answers from then on.
func (f *front) next(t dialogue) (delivery, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range f.records.of(t.place).Owed {
		if d.Run == t.run {
			return d, true
		}
	}
	delete(f.talking, t)
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
	case movedTo(err) != 0:
		return f.move(ctx, p, place{Chat: movedTo(err)})
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

// move brings what is owed to a place to another one that it became. Messages of the old one cannot be written in any more.
func (f *front) move(ctx context.Context, from, to place) error {
	owed := f.records.of(from).Owed
	_, err := f.records.change(ctx, to, func(r *record) error {
		for _, d := range owed {
			if d.Parts = nil; !slices.ContainsFunc(r.Owed, func(o delivery) bool { return o.Loop == d.Loop }) {
				r.Owed = append(r.Owed, d)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if _, err = f.records.change(ctx, from, func(r *record) error {
		r.Owed, r.Asked = nil, nil
		return nil
	}); err == nil {
		f.answers(ctx, to)
	}
	return err
}
