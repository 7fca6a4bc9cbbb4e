package frame_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sandbox/frame"
)

func TestFramesComeBackAsTheyWereSent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type sent struct {
			kind    frame.Kind
			payload []byte
		}
		var stream bytes.Buffer
		var want []sent
		for range rapid.IntRange(0, 8).Draw(t, "frames") {
			s := sent{
				kind:    frame.Kind(rapid.Byte().Draw(t, "kind")),
				payload: rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "payload"),
			}
			if err := frame.Write(&stream, s.kind, s.payload); err != nil {
				t.Fatal(err)
			}
			want = append(want, s)
		}
		buf := make([]byte, 100)
		for _, w := range want {
			kind, payload, err := frame.Read(&stream, buf)
			if err != nil || kind != w.kind || !bytes.Equal(payload, w.payload) {
				t.Fatalf("got %v %q %v, want %v %q", kind, payload, err, w.kind, w.payload)
			}
		}
		if _, _, err := frame.Read(&stream, buf); !errors.Is(err, io.EOF) {
			t.Fatalf("after the last frame: %v", err)
		}
	})
}

func TestChunkKeepsEveryByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.Uint64().Draw(t, "id")
		channel := rapid.SampledFrom([]byte{frame.Stdout, frame.Stderr}).Draw(t, "channel")
		data := rapid.SliceOfN(rapid.Byte(), 0, 1000).Draw(t, "data")
		b := frame.NewChunkBuffer(id, channel)
		n := copy(b.Space(), data)
		kind, payload, err := frame.Read(bytes.NewReader(b.Frame(n)), nil)
		if err != nil || kind != frame.KindChunk {
			t.Fatalf("read: %v %v", kind, err)
		}
		got, err := frame.ParseChunk(payload)
		if err != nil || got.ID != id || got.Channel != channel || !bytes.Equal(got.Data, data) {
			t.Fatalf("got %+v %v", got, err)
		}
	})
}

func TestReadRefusesBadFrames(t *testing.T) {
	header := func(n uint32, rest ...byte) []byte {
		return append(binary.BigEndian.AppendUint32(nil, n), rest...)
	}
	for name, c := range map[string]struct {
		in   []byte
		want error
	}{
		"nothing":            {nil, io.EOF},
		"half a length":      {[]byte{0, 0}, io.ErrUnexpectedEOF},
		"no kind":            {header(0), frame.ErrMalformed},
		"length, then end":   {header(3), io.ErrUnexpectedEOF},
		"payload cut short":  {header(4, byte(frame.KindPing), 1), io.ErrUnexpectedEOF},
		"one byte too large": {header(frame.MaxPayload+2, 1), frame.ErrTooLarge},
		"four gigabytes":     {header(0xffffffff, 1), frame.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := frame.Read(bytes.NewReader(c.in), nil)
			if !errors.Is(err, c.want) {
				t.Fatalf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestWriteRefusesWhatReadWould(t *testing.T) {
	var sink bytes.Buffer
	if err := frame.Write(&sink, frame.KindExec, make([]byte, frame.MaxPayload)); err != nil {
		t.Fatalf("the largest frame: %v", err)
	}
	if _, payload, err := frame.Read(&sink, nil); err != nil || len(payload) != frame.MaxPayload {
		t.Fatalf("the largest frame does not come back: %d %v", len(payload), err)
	}
	err := frame.Write(&sink, frame.KindExec, make([]byte, frame.MaxPayload+1))
	if !errors.Is(err, frame.ErrTooLarge) || sink.Len() != 0 {
		t.Fatalf("got %v with %d bytes written", err, sink.Len())
	}
}

func TestMessagesSurviveTheWire(t *testing.T) {
	want := frame.Exec{ID: 7, Argv: []string{"bash", "-c", "echo 'ü'"}, Dir: "/workspace",
		Env: []string{"A=b"}, TimeoutMS: 30000, StdoutCap: 10, StderrCap: 5}
	var stream bytes.Buffer
	if err := frame.WriteJSON(&stream, frame.KindExec, want); err != nil {
		t.Fatal(err)
	}
	_, payload, err := frame.Read(&stream, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got frame.Exec
	if err := frame.Decode(payload, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("got %+v %v", got, err)
	}
	if err := frame.Decode([]byte("{"), &got); !errors.Is(err, frame.ErrMalformed) {
		t.Fatalf("broken JSON: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, byte(frame.KindPing)})
	f.Add([]byte{0, 0, 0, 0})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 1})
	b := frame.NewChunkBuffer(1, frame.Stdout)
	f.Add(append([]byte(nil), b.Frame(copy(b.Space(), "hi"))...))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := bytes.NewReader(in)
		buf := make([]byte, 64)
		for {
			before := r.Len()
			kind, payload, err := frame.Read(r, buf)
			if err != nil {
				return
			}
			if used := before - r.Len(); used != 5+len(payload) {
				t.Fatalf("frame of %d bytes used %d", len(payload), used)
			}
			if kind == frame.KindChunk {
				if c, err := frame.ParseChunk(payload); err == nil && len(c.Data) != len(payload)-9 {
					t.Fatalf("chunk lost bytes: %d of %d", len(c.Data), len(payload))
				}
			}
			var again bytes.Buffer
			if err := frame.Write(&again, kind, payload); err != nil {
				t.Fatalf("a frame that was read cannot be written: %v", err)
			}
		}
	})
}
