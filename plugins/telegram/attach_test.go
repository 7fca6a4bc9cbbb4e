package main

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/plugins/telegram/telegramtest"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestManyPictures: a prompt with more pictures than a message to the daemon has room for has the others as files.
func TestManyPictures(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/file/bot"+telegramtest.Token) {
			_, _ = w.Write(bytes.Repeat([]byte("p"), 700<<10)) // whoever reads it finds out
			return
		}
		fmt.Fprint(w, `{"ok":true,"result":{"file_id":"p","file_path":"photos/p"}}`)
	}))
	t.Cleanup(service.Close)
	d := newDesk("7")
	f := newFront(botOf(t, service.URL, nil), user{}, d, d, "telegram", "/p")
	var err error
	if f.records, err = load(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	var files []attachment
	for i := range 10 {
		files = append(files, attachment{file{ID: "p", Name: fmt.Sprintf("photo-%d.jpg", i)}, true})
	}
	p := rpc.Prompt{Prompt: "look"}
	if err := f.attach(t.Context(), &message{ID: 1, From: user{ID: 7}, Chat: chat{ID: 7, Type: "private"}}, &p, files); err != nil {
		t.Fatal(err)
	}
	if len(d.files) != 10 || len(p.Media) != 3 {
		t.Errorf("%d files, of which the model is shown %d", len(d.files), len(p.Media))
	}
}

// TestBrokenFile: a file that Telegram fails to hand out is given up after a while, since everybody waits for it.
func TestBrokenFile(t *testing.T) {
	server, d := telegramtest.New(t), newDesk("7", "8")
	server.Plan("getFile", slices.Repeat([]telegramtest.Answer{telegramtest.Refusal(500, "Internal Server Error")}, 1000)...)
	c := talk(t, server, d)
	server.Write(map[string]any{"from": map[string]any{"id": 7}, "chat": map[string]any{"id": 7, "type": "private"}, "date": 1700000000,
		"document": map[string]any{"file_id": "d", "file_name": "list.txt", "file_size": 20}})
	c.shows(7, "That was not taken: 1-list.txt: Telegram refused getFile: 500 Internal Server Error")
	server.Says(8, "x")
	c.shows(8, "You said: x")
}

// TestMarksOutOfPlace: an entity that marks nothing of its text is none.
func TestMarksOutOfPlace(t *testing.T) {
	m := &message{Text: "@a😀"}
	for _, e := range []entity{{Offset: 1, Length: math.MaxInt}, {Offset: math.MaxInt, Length: 1}, {Offset: -1, Length: 1}, {Offset: 0, Length: 5}} {
		if got := m.part(e); got != "" {
			t.Errorf("%+v marks %q", e, got)
		}
	}
}
