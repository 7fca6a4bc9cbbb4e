package main

import (
	"runtime/debug"
	"sync"

	"github.com/bothyd/bothy/sandbox/frame"
)

const (
	// heldCommands is how many ends are held. Commands come one at a time, but
	// the manager that asked for one may die before it could pass its end on,
	// while the next one runs already.
	heldCommands = 8
	// heldOutput bounds what is held of one command's output, in bytes. It is
	// above what fits one result.
	heldOutput = 12 << 20
	// heldMuch is worth giving back at once.
	heldMuch = 1 << 20
)

// held is how the last commands ended, by call. It lies in the runner's memory,
// which no command can read or write.
type held struct {
	mu      sync.Mutex
	entries []*heldCommand // the newest is last
}

// heldCommand is one command that runs or has ended.
type heldCommand struct {
	call      string
	timeoutMS int64
	stdout    kept
	stderr    kept
	exit      *frame.Exit // nil while it runs
}

// begin makes room for a command. From here on only the exits of earlier ones
// are held: one large output at a time.
func (h *held) begin(call string, timeoutMS int64) *heldCommand {
	h.mu.Lock()
	defer h.mu.Unlock()
	var freed int64
	for _, e := range h.entries {
		freed += e.forget()
	}
	if freed >= heldMuch {
		go debug.FreeOSMemory() // it counts against what commands may use
	}
	e := &heldCommand{call: call, timeoutMS: timeoutMS}
	if call == "" {
		return e // nobody can ask
	}
	e.stdout.limit, e.stderr.limit = heldOutput, heldOutput
	if len(h.entries) == heldCommands {
		h.entries = append(h.entries[:0], h.entries[1:]...)
	}
	h.entries = append(h.entries, e)
	return e
}

// end holds how a command ended.
func (h *held) end(e *heldCommand, exit frame.Exit) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e.exit = &exit
}

// find is what is held of a call; what was printed and is held no longer counts
// as dropped.
func (h *held) find(call string) (*heldCommand, frame.Exit, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := len(h.entries) - 1; i >= 0 && call != ""; i-- {
		if e := h.entries[i]; e.call == call && e.exit != nil {
			exit := *e.exit
			exit.StdoutDropped += e.stdout.lost
			exit.StderrDropped += e.stderr.lost
			return e, exit, true
		}
	}
	return nil, frame.Exit{}, false
}

func (e *heldCommand) forget() (freed int64) {
	return e.stdout.forget() + e.stderr.forget()
}

// kept is the output of one channel, as far as it is kept.
type kept struct {
	limit  int64
	size   int64
	lost   int64
	blocks [][]byte
}

// The sizes of blocks: most commands print little, and what was added once is
// not copied again.
const (
	firstBlock   = 4 << 10
	largestBlock = 256 << 10
)

// add keeps a copy of what fits.
func (k *kept) add(p []byte) {
	fits := min(int64(len(p)), k.limit-k.size)
	k.lost += int64(len(p)) - fits
	k.size += fits
	for p = p[:fits]; len(p) > 0; {
		last := len(k.blocks) - 1
		if last < 0 || len(k.blocks[last]) == cap(k.blocks[last]) {
			k.blocks = append(k.blocks, make([]byte, 0, k.nextBlock(len(p))))
			last++
		}
		block := k.blocks[last]
		n := min(len(p), cap(block)-len(block))
		k.blocks[last] = append(block, p[:n]...)
		p = p[n:]
	}
}

func (k *kept) nextBlock(atLeast int) int {
	size := firstBlock
	if n := len(k.blocks); n > 0 {
		size = 2 * cap(k.blocks[n-1])
	}
	return min(max(size, atLeast), largestBlock)
}

// send writes what is kept as chunks.
func (k *kept) send(id uint64, channel byte, send func([]byte) error) error {
	if k.size == 0 {
		return nil
	}
	chunk := frame.NewChunkBuffer(id, channel)
	for _, block := range k.blocks {
		for len(block) > 0 {
			n := copy(chunk.Space(), block)
			if err := send(chunk.Frame(n)); err != nil {
				return err
			}
			block = block[n:]
		}
	}
	return nil
}

// forget gives the memory back; what was kept is lost.
func (k *kept) forget() (freed int64) {
	freed = k.size
	k.lost += freed
	k.size, k.limit, k.blocks = 0, 0, nil
	return freed
}
