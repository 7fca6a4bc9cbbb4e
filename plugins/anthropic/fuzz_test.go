package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/modelhttp"
)

// FuzzStream reads any bytes as an answer: it ends with a finish or an error of a
// provider, its calls can be put together, and what it leaves can be given back.
func FuzzStream(f *testing.F) {
	files, err := filepath.Glob("testdata/*.sse")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	client, err := modelhttp.New(modelhttp.Options{Base: "http://127.0.0.1:1"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var got sdk.Completion
		ids := map[string]bool{}
		c := newCompletion(client, func(d sdk.Delta) error {
			if n := fieldsOf(d); n != 1 || !utf8.ValidString(d.Text+d.Reasoning) {
				t.Errorf("a delta with %d fields: %+v", n, d)
			}
			got.Text += d.Text
			if d.Call != nil {
				if err := addCall(&got, ids, *d.Call); err != nil {
					t.Error(err)
				}
			}
			if d.Finish != nil {
				got.Finish, got.Extra = d.Finish.Reason, d.Finish.Extra
			}
			return nil
		})
		err := c.readEvents(bytes.NewReader(in), func(time.Duration) {})
		if err == nil {
			err = c.close()
		}
		if err != nil {
			if e := providerError(t, err); e.Class == "" || e.Message == "" {
				t.Errorf("an error that says nothing: %+v", *e)
			}
			return
		}
		if got.Finish == "" {
			t.Error("no finish and no error")
		}
		if got.Extra != nil {
			checkGoesBack(t, got, client.Host())
		}
	})
}

// checkGoesBack holds an answer that was kept to its order.
func checkGoesBack(t *testing.T, got sdk.Completion, host string) {
	k := readKept(got.Extra, host)
	calls := make([]*wireBlock, len(got.Calls))
	for i := range calls {
		calls[i] = &wireBlock{Type: "tool_use"}
	}
	if len(k.Blocks) > 0 && !k.fits(got.Text, calls) {
		t.Errorf("%s does not fit %q and %d calls", got.Extra, got.Text, len(calls))
	}
	content := k.order(got.Text, calls)
	if _, err := json.Marshal(content); err != nil {
		t.Errorf("%s cannot be written: %v", got.Extra, err)
	}
}
