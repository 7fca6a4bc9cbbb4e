package server

import (
	"reflect"
	"time"
)

// Limits bound what one client can cost. A zero field takes its default.
type Limits struct {
	Frame       int           // bytes of one message from a client: 4 MiB
	Depth       int           // nesting of its JSON: 64
	Batch       int           // requests of one message: 32
	BatchAnswer int           // bytes of answers to a batch, behind which the rest is refused: 16 MiB
	Connections int           // at a time: 64
	InFlight    int           // requests at work, per connection: 32
	Watches     int           // per connection: 16
	RingRows    int           // rows that wait for a slow client, per watch: 1,024
	RingBytes   int           // their bytes: 1 MiB; one row always fits
	FirstByte   time.Duration // for a client to say anything at all: 5 s
	Partial     time.Duration // from a message's first byte to its last: 10 s
	Patience    time.Duration // how long a watch waits for room in its ring before it sends a gap: 3 s
	Write       time.Duration // how long a write may make no progress before the connection is closed: 5 s
	Watchdog    time.Duration // how often the files of the socket and the tokens are looked at: 2 s
	WrongToken  time.Duration // how long the answer to a wrong token takes: 500 ms
	Buffer      time.Duration // for a client to say how it has a file: 1 s
	Pairing     time.Duration // how long a code of channels/pair is good: 10 min
}

// DefaultLimits are the limits of a daemon that says nothing.
func DefaultLimits() Limits {
	return Limits{
		Frame: 4 << 20, Depth: 64, Batch: 32, BatchAnswer: 16 << 20, Connections: 64, InFlight: 32, Watches: 16,
		RingRows: 1024, RingBytes: 1 << 20,
		FirstByte: 5 * time.Second, Partial: 10 * time.Second,
		Patience: 3 * time.Second, Write: 5 * time.Second, Watchdog: 2 * time.Second,
		WrongToken: 500 * time.Millisecond, Buffer: time.Second, Pairing: 10 * time.Minute,
	}
}

func (l Limits) withDefaults() Limits {
	given, defaults := reflect.ValueOf(&l).Elem(), reflect.ValueOf(DefaultLimits())
	for i := range given.NumField() {
		if given.Field(i).Int() <= 0 {
			given.Field(i).Set(defaults.Field(i))
		}
	}
	return l
}
