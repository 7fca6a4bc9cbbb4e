package skill

import "time"

// Timings say when a Library looks. Zero fields are the usual ones.
type Timings struct {
	Quiet   time.Duration // after the last event: editors take several steps
	Longest time.Duration // after the first event, whatever comes behind it
	Settle  time.Duration // how long a file must not have changed to be whole
	Glance  time.Duration // between two checks that the folders are still the same: an unmount makes no event
	Poll    time.Duration // between two looks where watching is impossible
	Again   time.Duration // between two looks in any case: not everything makes an event
	Idle    time.Duration // after which an unused workspace is let go
}

func (t Timings) filled() Timings {
	for _, f := range []struct {
		at    *time.Duration
		usual time.Duration
	}{
		{&t.Quiet, 150 * time.Millisecond}, {&t.Longest, 2 * time.Second}, {&t.Settle, 100 * time.Millisecond},
		{&t.Glance, 2 * time.Second}, {&t.Poll, 3 * time.Second}, {&t.Again, time.Minute}, {&t.Idle, 15 * time.Minute},
	} {
		if *f.at == 0 {
			*f.at = f.usual
		}
	}
	return t
}
