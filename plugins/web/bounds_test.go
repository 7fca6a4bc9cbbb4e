package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"runtime/metrics"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/sdktest"
)

// TestMemory: what hostile servers send side by side is not held beside a bound, and a call of another kind is
// answered meanwhile.
func TestMemory(t *testing.T) {
	const most = 128 << 20
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 200 {
		_, _ = z.Write(make([]byte, 1<<20)) // a buffer takes all
	}
	_ = z.Close()
	chunk := bytes.Repeat([]byte("BT (AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA) Tj ET\n"), 16<<10)
	hungry := pdfOf("/Filter /FlateDecode", inflating(t, chunk, 2<<10))
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/bomb":
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes()) // who hangs up has read enough
		case "/hungry":
			w.Header().Set("Content-Type", "application/pdf")
			_, _ = w.Write(hungry)
		case "/lines":
			serves("text/plain", strings.Repeat("\n", 999_999))(w, r)
		case "/endless":
			w.Header().Set("Content-Type", r.URL.Query().Get("type"))
			for line := bytes.Repeat([]byte("never over\n"), 1000); r.Context().Err() == nil; {
				if _, err := w.Write(line); err != nil {
					return
				}
			}
		default:
			serves("text/plain", "here")(w, r)
		}
	})
	peak, done := uint64(0), make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for tick := time.NewTicker(time.Millisecond); ; {
			select {
			case <-tick.C:
				metrics.Read(sample)
				peak = max(peak, sample[0].Value.Uint64())
			case <-done:
				tick.Stop()
				return
			}
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	var fetches sync.WaitGroup
	for _, path := range []string{"/bomb", "/hungry", "/endless?type=text/plain", "/endless?type=application/pdf", "/endless?type=text/html", "/lines"} {
		for range 8 {
			fetches.Go(func() {
				_, err := s.tools().Invoke(host.With(ctx, s.run), sdk.Invocation{Tool: fetchTool, Arguments: fmt.Appendf(nil, `{"url": %q}`, s.URL+path)}, &sdktest.Recorder{})
				if err != nil && ctx.Err() == nil && sdk.OutcomeOf(err) == sdk.Internal {
					t.Errorf("%s: %v", path, err)
				}
			})
		}
	}
	if r := s.get(t, "/"); !r.Success {
		t.Errorf("%+v", r)
	}
	time.AfterFunc(10*time.Second, cancel)
	fetches.Wait()
	cancel()
	close(done)
	watch.Wait()
	if t.Logf("%d MB at most", peak>>20); peak > most {
		t.Errorf("%d MB were held at a time", peak>>20)
	}
}

// TestTrickles: servers that send just as much as they have to keep nobody else waiting, however many they are.
func TestTrickles(t *testing.T) {
	const many = 64
	var begun sync.WaitGroup
	begun.Add(many)
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/trickle" {
			serves("text/plain", strings.Repeat("here ", 50_000))(w, r)
			return
		}
		w.Header().Set("Content-Type", r.URL.Query().Get("type"))
		_, _ = w.Write(bytes.Repeat([]byte("x"), beginning+1000))
		w.(http.Flusher).Flush()
		begun.Done()
		for tick := time.NewTicker(300 * time.Millisecond); ; {
			select {
			case <-tick.C:
				_, _ = w.Write(bytes.Repeat([]byte("x"), 1000))
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				tick.Stop()
				return
			}
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var fetches sync.WaitGroup
	var ended atomic.Int32
	for i := range many {
		fetches.Go(func() {
			defer ended.Add(1)
			address := s.URL + "/trickle?type=" + [...]string{"text/plain", "text/html", "application/pdf"}[i%3]
			_, _ = s.tools().Invoke(host.With(ctx, s.run), sdk.Invocation{Tool: fetchTool, Arguments: fmt.Appendf(nil, `{"url": %q}`, address)}, &sdktest.Recorder{}) // ends with the test
		})
	}
	begun.Wait()
	if r := s.get(t, "/"); !r.Success || ended.Load() > 0 {
		t.Errorf("it came behind %d of the others: %s", ended.Load(), r.Error)
	}
	cancel()
	fetches.Wait()
}
