package frame

import (
	"encoding/binary"
	"fmt"
)

// chunkPrefix is the command id and the channel before a chunk's bytes.
const chunkPrefix = 9

// ChunkBuffer is a frame under construction: output is read straight into its
// [ChunkBuffer.Space], so that a chunk is copied once, by the kernel.
type ChunkBuffer struct {
	buf []byte
}

// NewChunkBuffer makes a buffer for chunks of command id on a channel (1 is
// stdout, 2 is stderr).
func NewChunkBuffer(id uint64, channel byte) *ChunkBuffer {
	b := &ChunkBuffer{buf: make([]byte, headerSize+chunkPrefix+MaxChunk)}
	binary.BigEndian.PutUint64(b.buf[headerSize:], id)
	b.buf[headerSize+8] = channel
	return b
}

// Space is where the next chunk's bytes go.
func (b *ChunkBuffer) Space() []byte { return b.buf[headerSize+chunkPrefix:] }

// Frame is the finished frame for the first n bytes of Space, header included.
// It shares memory with the buffer: write it before the next read into Space.
func (b *ChunkBuffer) Frame(n int) []byte {
	putHeader(b.buf, KindChunk, chunkPrefix+n)
	return b.buf[:headerSize+chunkPrefix+n]
}

// Chunk is a piece of a command's output. Data shares memory with the payload
// it was parsed from.
type Chunk struct {
	ID      uint64
	Channel byte
	Data    []byte
}

// ParseChunk reads the payload of a [KindChunk] frame.
func ParseChunk(payload []byte) (Chunk, error) {
	if len(payload) < chunkPrefix {
		return Chunk{}, fmt.Errorf("%w: chunk of %d bytes", ErrMalformed, len(payload))
	}
	c := Chunk{ID: binary.BigEndian.Uint64(payload), Channel: payload[8], Data: payload[chunkPrefix:]}
	if c.Channel != Stdout && c.Channel != Stderr {
		return Chunk{}, fmt.Errorf("%w: chunk on channel %d", ErrMalformed, c.Channel)
	}
	return c, nil
}

// The channels of a chunk.
const (
	Stdout byte = 1
	Stderr byte = 2
)
