//go:build linux

package daemon

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// tokenServer is a model that writes so many tokens at this pace, each with the moment at
// which it was written. The prompt "N bytes" has it write that many, as fast as it can.
func tokenServer(b *testing.B, tokens int, pace time.Duration) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost { // /models, the one other thing that it is asked
			fmt.Fprint(w, `{"data":[{"id":"m"}]}`)
			return
		}
		var text strings.Builder
		_, _ = bufio.NewReader(r.Body).WriteTo(&text) // what cannot be read is answered anyhow
		w.Header().Set("Content-Type", "text/event-stream")
		flush := w.(http.Flusher).Flush
		if _, rest, ok := strings.Cut(text.String(), "write MB "); ok {
			n, _ := strconv.Atoi(rest[:strings.IndexAny(rest, `" `)])
			piece := strings.Repeat("a token ", 128)
			for range n << 10 {
				fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", piece)
			}
		} else {
			for range tokens {
				fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":\"@%d \"}}]}\n\n", time.Now().UnixNano())
				flush()
				time.Sleep(pace)
			}
		}
		fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	b.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

func tokenProvider(b *testing.B, url string) {
	path := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "bothy", "config.hcl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.Fatal(err)
	}
	write(b, path, noPlugins+fmt.Sprintf("provider \"tokens\" {\n  plugin = \"openai\"\n  base_url = %q\n}\n", url))
}

// ages takes the whole tokens from a text that goes on, and is how old they are.
func ages(text *string, now time.Time) (all []time.Duration) {
	for {
		token, rest, whole := strings.Cut(*text, " ")
		if !whole {
			return all
		}
		*text = rest
		if at, err := strconv.ParseInt(strings.TrimPrefix(token, "@"), 10, 64); err == nil {
			all = append(all, now.Sub(time.Unix(0, at)))
		}
	}
}

// BenchmarkStream measures a token from the provider's socket to a client's, and the first
// one from the prompt on, beside a bare HTTP client.
func BenchmarkStream(b *testing.B) {
	surroundings(b)
	url := tokenServer(b, 100, time.Millisecond)
	tokenProvider(b, url)
	serving(b)
	if _, err := firstStatus(); err != nil {
		b.Fatal(err)
	}
	var c client.Client
	project := b.TempDir()
	var through, bare, first, bareFirst []time.Duration
	// The client watches before it asks, as the terminal does.
	events := make(chan client.Event, 1024)
	go func() {
		defer close(events)
		_ = c.Follow(b.Context(), client.Watch{After: -1, Preview: true}, func(e client.Event) error { // ends with the benchmark
			events <- e
			return nil
		})
	}()
	ask := func(keep bool) {
		run, err := c.StartRun(context.Background(), rpc.StartRun{Project: project, Model: "tokens/m"})
		if err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		accepted, err := c.Act(context.Background(), rpc.Prompt{Project: project, Run: run.Run, Prompt: "write", Model: "tokens/m"})
		if err != nil {
			b.Fatal(err)
		}
		seen, text := false, ""
		for e := range events {
			now := time.Now()
			switch {
			case e.Preview != nil && e.Preview.Run == accepted.ID:
				text += e.Preview.Text
				all := ages(&text, now)
				if keep && len(all) > 0 && !seen {
					first = append(first, now.Sub(began))
				}
				seen = seen || len(all) > 0
				if keep {
					through = append(through, all...)
				}
			case e.Row != nil && e.Row.Kind == sdk.KindLoopEnded && e.Row.Run == accepted.ID:
				return
			}
		}
		b.Fatal("the daemon was lost")
	}
	askBare := func() {
		began := time.Now()
		r, err := http.Post(url+"/chat/completions", "application/json", strings.NewReader(`{"messages":[{"role":"user","content":"write"}]}`))
		if err != nil {
			b.Fatal(err)
		}
		defer r.Body.Close()
		lines := bufio.NewScanner(r.Body)
		for one := true; lines.Scan(); {
			_, text, ok := strings.Cut(lines.Text(), `"content":"`)
			if !ok {
				continue
			}
			now := time.Now()
			if one {
				bareFirst, one = append(bareFirst, now.Sub(began)), false
			}
			text, _, _ = strings.Cut(text, `"`)
			bare = append(bare, ages(&text, now)...)
		}
	}
	ask(false) // the plugin is started
	for b.Loop() {
		ask(true)
		askBare()
	}
	p99 := func(all []time.Duration) time.Duration {
		s := slices.Sorted(slices.Values(all))
		return s[len(s)*99/100]
	}
	report(b, "a token from the provider's socket to a client's: p50", fmt.Sprintf("%v (a bare client %v, n=%d)", round(median(through)), round(median(bare)), len(through)), "reported")
	report(b, "a token from the provider's socket to a client's: p99", fmt.Sprintf("%v (a bare client %v)", round(p99(through)), round(p99(bare))), "reported")
	report(b, "first token from the prompt on, over a bare client", fmt.Sprintf("%v  (%v against %v, n=%d)", round(median(first)-median(bareFirst)), round(median(first)), round(median(bareFirst)), len(first)), "at most 5ms")
}

// BenchmarkStreamMemory measures the most memory of the daemon and of the provider's plugin
// while a long answer streams, against a short one. An answer is kept whole, up to 16 MB.
func BenchmarkStreamMemory(b *testing.B) {
	surroundings(b)
	tokenProvider(b, tokenServer(b, 1, 0))
	project := b.TempDir()
	most := func(mb int) (daemon, plugin int64) {
		bothyd := exec.Command(filepath.Join(installation(b), "bin", "bothyd"))
		if err := bothyd.Start(); err != nil {
			b.Fatal(err)
		}
		defer func() { _ = bothyd.Process.Signal(os.Interrupt); _ = bothyd.Wait() }()
		if _, err := firstStatus(); err != nil {
			b.Fatal(err)
		}
		var c client.Client
		accepted, err := c.Act(context.Background(), rpc.Prompt{Project: project, Prompt: fmt.Sprintf("write MB %d ", mb), Model: "tokens/m"})
		if err != nil {
			b.Fatal(err)
		}
		err = c.Follow(context.Background(), client.Watch{Run: accepted.ID, After: accepted.Seq, Preview: true}, func(e client.Event) error {
			if e.Row == nil || e.Row.Kind != sdk.KindLoopEnded {
				return nil
			}
			if !strings.Contains(string(e.Row.Data), `"status":200`) {
				return fmt.Errorf("%s", e.Row.Data)
			}
			return client.ErrDone
		})
		if err != nil {
			b.Fatal(err)
		}
		st, err := c.Status(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		for _, p := range st.Plugins {
			if p.Instance == "tokens" {
				plugin = peakOf(b, p.PID)
			}
		}
		return peakOf(b, bothyd.Process.Pid), plugin
	}
	var short, long, shortPlugin, longPlugin []int64
	for b.Loop() {
		if len(long) >= 5 {
			continue
		}
		d, p := most(1)
		short, shortPlugin = append(short, d), append(shortPlugin, p)
		d, p = most(10)
		long, longPlugin = append(long, d), append(longPlugin, p)
	}
	middle := func(all []int64) int64 { return slices.Sorted(slices.Values(all))[len(all)/2] }
	of := func(what string, over, under []int64) {
		x := float64(middle(over)) / float64(middle(under))
		report(b, "most memory of "+what+" while 10 MB stream, against 1 MB", fmt.Sprintf("%.2fx  (%s against %s)", x, megabytes(middle(over)), megabytes(middle(under))), "2")
	}
	of("bothyd", long, short)
	of("a provider's plugin", longPlugin, shortPlugin)
}

// peakOf is the most that was resident of a process.
func peakOf(b *testing.B, pid int) int64 {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return n << 10
}
