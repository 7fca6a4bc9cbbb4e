package skill

import "time"

// Timings say when a Library checks its folders. Zero fields are the usual ones.
type Timings struct {
	Quiet   time.Duration // after the last event: editors take several steps
	Longest time.Duration // after the first event, whatever follows it
	Settle  time.Duration // how long a file must not have changed to be whole
	Mounts  time.Duration // between two checks that the folders are still the same: an unmount makes no event
	Poll    time.Duration // between two checks where watching is impossible
	Every   time.Duration // between two checks in any case: not everything makes an event
	Idle    time.Duration // after which an unused workspace is not watched any more
}

func (t Timings) filled() Timings {
	for _, f := range []struct {
		at    *time.Duration
		usual time.Duration
	}{
		{&t.Quiet, 150 * time.Millisecond}, {&t.Longest, 2 * time.Second}, {&t.Settle, 100 * time.Millisecond},
		{&t.Mounts, 2 * time.Second}, {&t.Poll, 3 * time.Second}, {&t.Every, time.Minute}, {&t.Idle, 15 * time.Minute},
	} {
		if *f.at == 0 {
			*f.at = f.usual
		}
	}
	return t
}
