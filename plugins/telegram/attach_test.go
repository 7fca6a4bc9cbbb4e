package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
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
