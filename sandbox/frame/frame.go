// Package frame is the wire between the manager and the programs that it has
// beside it: the runner inside a container, and the helper that makes views
// ([ViewRequest]).
//
// The runner speaks length-prefixed frames over one Unix socket.
// A frame is a four byte big-endian length, one byte of kind and the payload;
// the length counts kind and payload. Control frames carry JSON, chunks carry
// raw bytes, so that what a command prints arrives byte for byte. Both sides
// refuse a frame larger than [MaxPayload] before they allocate for it: the
// other side of the wire is a container that runs a stranger's commands.
package frame

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Version is the protocol both sides must speak; it travels in [Hello] and
// [Welcome]. A runner of another version is replaced, never adapted to.
const Version = 4

// MaxPayload is the largest payload of one frame in bytes. It bounds what a
// peer can make the reader allocate.
const MaxPayload = 2 << 20

// MaxChunk is the most output one [KindChunk] frame carries, in bytes.
const MaxChunk = 64 << 10

const headerSize = 5

// Kind says what a frame's payload is.
type Kind byte

// The kinds, in the order of a conversation. The runner sends Hello, Chunk,
// Exit, Pong and Settled; the manager sends Welcome, Exec, Cancel, Ping and
// Settle.
const (
	KindHello Kind = iota + 1
	KindWelcome
	KindExec
	KindChunk
	KindExit
	KindCancel
	KindPing
	KindPong
	KindSettle
	KindSettled
)

// ErrTooLarge is what [Read] and [Write] return for a payload above
// [MaxPayload]. The stream is unusable afterwards: close it.
var ErrTooLarge = errors.New("frame is larger than the protocol allows")

// ErrMalformed is what the parsers return for bytes that are no frame of the
// protocol. The stream is unusable afterwards: close it.
var ErrMalformed = errors.New("malformed frame")

// Write sends one frame with a single call to w, so that frames of several
// goroutines never interleave as long as the caller serialises the calls.
func Write(w io.Writer, kind Kind, payload []byte) error {
	if len(payload) > MaxPayload {
		return fmt.Errorf("%w: %d bytes of at most %d", ErrTooLarge, len(payload), MaxPayload)
	}
	buf := make([]byte, headerSize+len(payload))
	putHeader(buf, kind, len(payload))
	copy(buf[headerSize:], payload)
	_, err := w.Write(buf)
	return err
}

// WriteJSON sends one control frame whose payload is v as JSON.
func WriteJSON(w io.Writer, kind Kind, v any) error {
	payload, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode frame: %w", err)
	}
	return Write(w, kind, payload)
}

// Read receives one frame. The payload is a part of buf when it fits there and
// is valid until the next Read with the same buf. A stream that ends between
// two frames gives io.EOF, one that ends inside a frame io.ErrUnexpectedEOF.
func Read(r io.Reader, buf []byte) (Kind, []byte, error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(r, header[:4]); err != nil {
		return 0, nil, err
	}
	length := binary.BigEndian.Uint32(header[:4])
	if length == 0 {
		return 0, nil, fmt.Errorf("%w: no kind", ErrMalformed)
	}
	if length-1 > MaxPayload {
		return 0, nil, fmt.Errorf("%w: %d bytes of at most %d", ErrTooLarge, length-1, MaxPayload)
	}
	if _, err := io.ReadFull(r, header[4:]); err != nil {
		return 0, nil, unexpected(err)
	}
	size := int(length - 1)
	if size > len(buf) {
		buf = make([]byte, size)
	}
	if _, err := io.ReadFull(r, buf[:size]); err != nil {
		return 0, nil, unexpected(err)
	}
	return Kind(header[4]), buf[:size], nil
}

// Decode reads the JSON payload of a control frame into v.
func Decode(payload []byte, v any) error {
	if err := json.Unmarshal(payload, v); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return nil
}

func putHeader(buf []byte, kind Kind, size int) {
	binary.BigEndian.PutUint32(buf, uint32(size)+1)
	buf[4] = byte(kind)
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
