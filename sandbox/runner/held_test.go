package main

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sandbox/frame"
)

// sent collects the bytes of chunks.
func sent(t interface{ Fatal(...any) }, k *kept) []byte {
	var out []byte
	err := k.send(7, frame.Stderr, func(b []byte) error {
		_, payload, err := frame.Read(bytes.NewReader(b), nil)
		if err != nil {
			return err
		}
		c, err := frame.ParseChunk(payload)
		if err == nil && (c.ID != 7 || c.Channel != frame.Stderr) {
			err = fmt.Errorf("chunk %d on %d", c.ID, c.Channel)
		}
		out = append(out, c.Data...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestKeptIsWhatWasPrintedUpToItsLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := kept{limit: rapid.Int64Range(0, 600<<10).Draw(t, "limit")}
		var all []byte
		for range rapid.IntRange(0, 12).Draw(t, "pieces") {
			n := rapid.OneOf(rapid.IntRange(0, 10), rapid.IntRange(0, 64<<10)).Draw(t, "size")
			piece := bytes.Repeat([]byte{rapid.Byte().Draw(t, "byte")}, n)
			k.add(piece)
			all = append(all, piece...)
		}
		want := all[:min(int64(len(all)), k.limit)]
		if got := sent(t, &k); !bytes.Equal(got, want) {
			t.Fatalf("kept %d bytes, want %d of %d", len(got), len(want), len(all))
		}
		if k.lost != int64(len(all)-len(want)) {
			t.Fatalf("lost %d, want %d", k.lost, len(all)-len(want))
		}
		k.forget()
		if got := sent(t, &k); len(got) != 0 || k.lost != int64(len(all)) {
			t.Fatalf("after it was forgotten: %d bytes, lost %d of %d", len(got), k.lost, len(all))
		}
	})
}

func TestHeldIsTheLastCommandsByCall(t *testing.T) {
	var h held
	for i := range heldCommands + 2 {
		e := h.begin(fmt.Sprint("call-", i), int64(i))
		e.stdout.add([]byte("out"))
		if _, _, ok := h.find(fmt.Sprint("call-", i)); ok {
			t.Error("a command that runs has come to something")
		}
		h.end(e, frame.Exit{Started: true, Code: i})
	}
	h.end(h.begin("", 1), frame.Exit{Code: 99})
	for call, want := range map[string]int{"": -1, "other": -1, "call-1": -1, "call-2": 2, "call-8": 8, "call-9": 9} {
		e, exit, ok := h.find(call)
		if ok != (want >= 0) || ok && (exit.Code != want || e.timeoutMS != int64(want) || exit.StdoutDropped != 3) {
			t.Errorf("%q: %+v %v", call, exit, ok)
		}
	}
	e := h.begin("call-9", 5)
	h.end(e, frame.Exit{Code: 6})
	if _, exit, ok := h.find("call-9"); !ok || exit.Code != 6 {
		t.Errorf("a call id that comes again: %+v", exit)
	}
}
