package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/conformance"
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
		var got conformance.Deltas
		c := newCompletion(client, got.Add)
		err := c.readEvents(modelhttp.NewEvents(bytes.NewReader(in)), func(time.Duration) {})
		if err == nil {
			err = c.close()
		}
		if err != nil {
			if e := providerError(t, err); e.Class == "" || e.Message == "" || got.Wrong() != nil {
				t.Errorf("%+v, %v", *e, got.Wrong())
			}
			return
		}
		if err := got.End(); err != nil {
			t.Error(err)
		}
		if got.Completion.Extra != nil {
			checkGoesBack(t, got.Completion, client.Host())
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

// FuzzKept reads any JSON as what an earlier answer left: it costs no panic, and what
// was said and called goes back whole.
func FuzzKept(f *testing.F) {
	f.Add([]byte(`{"from":"h","blocks":[{"thinking":"{}"},{"text":2},{"call":true},{"text":-1}]}`), "abc", 1)
	f.Fuzz(func(t *testing.T, in []byte, text string, n int) {
		var k kept
		if json.Unmarshal(in, &k) != nil {
			return
		}
		calls := make([]*wireBlock, min(max(n, 0), 9))
		for i := range calls {
			calls[i] = &wireBlock{Type: "tool_use"}
		}
		said, called := "", 0
		for _, b := range k.order(text, calls) {
			switch b.Type {
			case "text":
				said += b.Text
			case "tool_use":
				called++
			}
		}
		if strings.Join(strings.Fields(said), "") != strings.Join(strings.Fields(text), "") || called != len(calls) {
			t.Errorf("%q and %d calls became %q and %d", text, len(calls), said, called)
		}
	})
}
