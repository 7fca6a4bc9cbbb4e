package stream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// Limits on what a stream holds in memory.
const (
	maxPending = 4 << 20  // not committed yet; more is left out of the chunks, never out of the result
	maxSent    = 64 << 10 // of the end, for a call that never gives its result
)

// chunkTime is the least time between two commits of one stream.
const chunkTime = 200 * time.Millisecond

// errClosed answers pieces of what was given up.
var errClosed = errors.New("it did not stop when it was told to")

// Stream takes what a call or a model sends and commits it in pieces, at most
// one commit in chunkTime, and none for what is shorter than that: its end
// holds all. It is safe for concurrent use, and refuses pieces once it is
// closed.
//
// Locks: commits is held over a commit and keeps pieces in order; mu guards
// the rest and is never held while calling out.
type Stream struct {
	to     To
	run    int64
	loop   int64
	turn   int
	path   string
	keep   int      // bytes of the end that are kept for close
	places []string // of what each channel sends, from 1 on; path where there are none

	commits sync.Mutex
	begin   *sdk.Write // makes the entry, or empties it; nil for one that is there
	made    bool       // begin was committed; guarded by commits

	mu      sync.Mutex
	closed  bool
	fresh   bool        // begin comes before the next piece
	timer   *time.Timer // set while something waits
	pending []piece
	size    int
	carry   map[int][]byte // an unfinished character, per channel
	clean   map[int]Pieces // takes secrets out, per channel
	note    *progressNote
	sent    []byte
	bytes   [2]int // of each place
	lost    [2]int // likewise, of what was left out
}

// piece is what one channel has sent since the last commit. It grows in place:
// a model sends words one by one.
type piece struct {
	channel int
	text    []byte
}

type progressNote struct {
	Path     string  `json:"path"`
	Message  string  `json:"message"`
	Fraction float64 `json:"fraction"`
}

// Chunk implements [sdk.Stream].
func (s *Stream) Chunk(channel int, p []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	s.take(max(channel, 1), s.redacting(max(channel, 1)).Write(s.text(max(channel, 1), p)))
	return nil
}

// take keeps what is clear of a channel for the next commit.
func (s *Stream) take(channel int, text string) {
	if text == "" {
		return
	}
	if s.sent = append(s.sent, text...); len(s.sent) > 2*s.keep {
		s.sent = append(s.sent[:0], s.sent[len(s.sent)-s.keep:]...)
	}
	at := min(channel, 2) - 1
	s.bytes[at] += len(text)
	if s.size+len(text) > maxPending {
		s.lost[at] += len(text)
		return
	}
	s.size += len(text)
	if n := len(s.pending); n > 0 && s.pending[n-1].channel == channel {
		s.pending[n-1].text = append(s.pending[n-1].text, text...)
	} else {
		s.pending = append(s.pending, piece{channel, []byte(text)})
	}
	s.arm()
}

// redacting is what takes secrets out of a channel.
func (s *Stream) redacting(channel int) Pieces {
	if s.clean[channel] == nil {
		if s.clean == nil {
			s.clean = map[int]Pieces{}
		}
		s.clean[channel] = s.to.Redacting()
	}
	return s.clean[channel]
}

// rest takes what the channels hold back, for nothing follows.
func (s *Stream) rest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, channel := range slices.Sorted(maps.Keys(s.clean)) {
		s.take(channel, s.clean[channel].End())
	}
}

// Progress implements [sdk.Stream]. Of several between two commits the last counts.
func (s *Stream) Progress(message string, fraction float64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	s.note = &progressNote{Path: s.path, Message: strings.ToValidUTF8(message, "\uFFFD"), Fraction: fraction}
	s.arm()
	return nil
}

// text makes valid UTF-8 of bytes that may end inside a character, which then
// waits for the rest of it.
func (s *Stream) text(channel int, p []byte) string {
	b := append(s.carry[channel], p...)
	cut := len(b)
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-i:]) {
				cut = len(b) - i
			}
			break
		}
	}
	if s.carry == nil {
		s.carry = map[int][]byte{}
	}
	text := strings.ToValidUTF8(string(b[:cut]), "\uFFFD")
	s.carry[channel] = append([]byte(nil), b[cut:]...)
	return text
}

func (s *Stream) arm() {
	if s.timer == nil {
		s.timer = time.AfterFunc(chunkTime, s.flush)
	}
}

// restart drops what waits: the answer begins anew, and so does its entry.
func (s *Stream) restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending, s.size, s.carry, s.clean, s.fresh = nil, 0, nil, nil, s.begin != nil
}

// flush commits what waits. A failure loses nothing that counts: the end of
// the action, or the record of the answer, holds the whole.
func (s *Stream) flush() {
	s.commits.Lock()
	defer s.commits.Unlock()
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	change := sdk.Change{Run: s.run}
	begins := s.fresh && len(s.pending) > 0
	if begins {
		change.Writes = append(change.Writes, *s.begin)
		s.fresh = false
	}
	change.Writes = append(change.Writes, s.chunks()...)
	if s.note != nil {
		change.Notes = []sdk.Note{{Kind: sdk.KindNoteProgress, Loop: s.loop, Turn: s.turn, Data: s.note}}
	}
	s.pending, s.size, s.note, s.timer = nil, 0, nil, nil
	s.mu.Unlock()
	if len(change.Writes)+len(change.Notes) == 0 {
		return
	}
	_, err := s.to.Commit(context.Background(), change)
	if err != nil {
		s.to.Log.Warn("a piece of a stream could not be recorded; its end will hold it", "path", s.path, "error", err)
	}
	if err != nil {
		s.miss(change.Writes)
	}
	if begins && err == nil {
		s.made = true
	} else if begins {
		s.mu.Lock()
		s.fresh = true
		s.mu.Unlock()
	}
}

// chunks are what waits, as it is written.
func (s *Stream) chunks() (writes []sdk.Write) {
	for _, p := range s.pending {
		w := sdk.Write{Path: s.path, Writer: sdk.WriterSystem, Chunk: &sdk.Chunk{Channel: p.channel, Text: string(p.text)}}
		if s.places != nil {
			w.Chunk.Channel = min(p.channel, len(s.places))
			w.Path = s.places[w.Chunk.Channel-1]
		}
		writes = append(writes, w)
	}
	return writes
}

// miss counts pieces that could not be kept, of which the end of a call with places has to tell.
func (s *Stream) miss(writes []sdk.Write) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range writes {
		if w.Chunk != nil {
			s.lost[min(w.Chunk.Channel, len(s.lost))-1] += len(w.Chunk.Text)
		}
	}
}

// Uncommitted is what waits in a stream with places that was closed.
func (s *Stream) Uncommitted() []sdk.Write {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.places == nil {
		return nil
	}
	for i, n := range s.lost {
		if n > 0 {
			s.pending = append(s.pending, piece{i + 1, fmt.Appendf(nil, "\n[%d bytes were left out, which could not be kept in time]\n", n)})
		}
	}
	writes := s.chunks()
	s.pending, s.lost = nil, [2]int{}
	return writes
}

// Close ends the stream and returns the end of what was sent. When it returns
// no commit of the stream is under way. What waits is committed first when
// nothing else will hold it, and dropped otherwise.
func (s *Stream) Close(commit bool) string {
	s.rest()
	if commit {
		s.flush()
	}
	s.mu.Lock()
	s.closed = true
	if s.timer != nil {
		s.timer.Stop()
	}
	sent := s.sent[max(0, len(s.sent)-s.keep):]
	s.mu.Unlock()
	s.commits.Lock()
	defer s.commits.Unlock()
	return strings.ToValidUTF8(string(sent), "")
}

// Began reports, once the stream is closed, whether it has made its entry.
func (s *Stream) Began() bool {
	s.commits.Lock()
	defer s.commits.Unlock()
	return s.made
}

// Bytes are how many came for each place.
func (s *Stream) Bytes() [2]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}
