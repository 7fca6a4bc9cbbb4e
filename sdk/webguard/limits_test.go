package webguard

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/bothyd/bothy/sdk/webguard/webtest"
)

// piped is a client whose connections end in serve, in a bubble with a clock of its
// own. Names have no server there, so addresses of IPv4 are asked for.
func piped(t *testing.T, options Options, serve func(net.Conn)) *http.Client {
	var servers sync.WaitGroup
	t.Cleanup(servers.Wait)
	way := standIn()
	way.connect = func(context.Context, netip.AddrPort) (net.Conn, error) {
		own, others := net.Pipe()
		servers.Go(func() { serve(others) })
		return own, nil
	}
	return &http.Client{Transport: newGuard(options, usual, way)}
}

// script answers a request with texts and pauses (time.Duration), and leaves the
// connection as it is until the client closes it.
func script(parts ...any) func(net.Conn) {
	return func(conn net.Conn) {
		defer conn.Close()
		_, _ = conn.Read(make([]byte, 1<<16))
		for _, part := range parts {
			switch part := part.(type) {
			case time.Duration:
				time.Sleep(part)
			case string:
				if _, err := io.WriteString(conn, part); err != nil {
					return
				}
			case func(net.Conn):
				part(conn)
			}
		}
		_, _ = io.Copy(io.Discard, conn)
	}
}

// forever writes a text again and again, with a pause before each.
func forever(pause time.Duration, text string) func(net.Conn) {
	return func(conn net.Conn) {
		for {
			time.Sleep(pause)
			if _, err := io.WriteString(conn, text); err != nil {
				return
			}
		}
	}
}

const head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"

// TestTimes: a header has 10 s, all of it 30 s, and a body 1 KB in each second after 5.
func TestTimes(t *testing.T) {
	for _, c := range []struct {
		row   string
		https bool
		serve func(net.Conn)
		kind  Kind
		after time.Duration
	}{
		{"56 a byte each 100 ms", false, script(head, forever(100*time.Millisecond, "x")), TooSlow, 5 * time.Second},
		{"56 no body", false, script(head), TooSlow, 5 * time.Second},
		{"56 much, and then nothing", false, script(head, strings.Repeat("x", 100000), 4*time.Second, strings.Repeat("x", 100000)), TooSlow, 9 * time.Second},
		{"56 just enough, without end", false, script(head, forever(time.Second, strings.Repeat("x", 1001))), Timeout, 30 * time.Second},
		{"56 just too little", false, script(head, forever(time.Second, strings.Repeat("x", 500))), TooSlow, 9 * time.Second},
		{"57 no header", false, script(), Timeout, 10 * time.Second},
		{"57 headers that trickle", false, script("HTTP/1.1 200 OK\r\n", forever(time.Second, "X: y\r\n")), Timeout, 10 * time.Second},
		{"57 a header without end of line", false, script("HTTP/1.1 200 OK\r\nX: ", forever(time.Second, "y")), Timeout, 10 * time.Second},
		{"57 a TLS stall", true, script(), Timeout, 10 * time.Second},
		{"57 a TLS stall in the middle", true, script("\x16\x03\x03\x40\x00", forever(time.Second, "x")), Timeout, 10 * time.Second},
		{"59 1xx that trickle", false, script(forever(time.Second, "HTTP/1.1 103 Early Hints\r\n\r\n")), Timeout, 10 * time.Second},
	} {
		t.Run(c.row, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				address := "http://11.1.1.1/"
				if c.https {
					address = "https://11.1.1.1/"
				}
				_, _, err := get(piped(t, Options{}, c.serve), address)
				checkVerdict(t, err, Error, c.kind)
				if took := time.Since(began); took < c.after || took > c.after+time.Second {
					t.Errorf("it took %s, want %s", took, c.after)
				}
			})
		})
	}
}

// TestTimesOfACaller: what a caller takes between two reads is not the server's, and 30 s
// hold for all hops together.
func TestTimesOfACaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		resp, err := piped(t, Options{}, script(strings.Replace(head, "\r\n\r\n", "\r\nContent-Length: 20\r\n\r\n", 1), strings.Repeat("x", 20))).Get("http://11.1.1.1/")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		for range 20 {
			if n, err := resp.Body.Read(make([]byte, 1)); n != 1 || err != nil && err != io.EOF {
				t.Fatalf("%d, %v", n, err)
			}
			time.Sleep(time.Second)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		client := piped(t, Options{}, script(8*time.Second, "HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"))
		_, _, err := get(client, "http://11.1.1.1/")
		checkVerdict(t, err, Error, Timeout)
		if took := time.Since(began); took != 30*time.Second {
			t.Errorf("it took %s", took)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		resp, err := piped(t, Options{}, script(head)).Get("http://11.1.1.1/")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(31 * time.Second) // who forgets an answer leaves no connection
		_, err = resp.Body.Read(make([]byte, 1))
		checkVerdict(t, err, Error, Timeout)
	})
}

// TestFloods: what comes without end is read to a bound.
func TestFloods(t *testing.T) {
	for row, c := range map[string]struct {
		serve func(net.Conn)
		kind  Kind
	}{
		"57 headers without end":         {script("HTTP/1.1 200 OK\r\n", forever(0, "X: "+strings.Repeat("y", 1000)+"\r\n")), Answer},
		"57 a header without end":        {script("HTTP/1.1 200 OK\r\nX: ", forever(0, strings.Repeat("y", 1000))), Answer},
		"58 a body without end":          {script(head, forever(0, strings.Repeat("y", 10000))), TooLarge},
		"58 chunks without end":          {script("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", forever(0, "400\r\n"+strings.Repeat("y", 1024)+"\r\n")), TooLarge},
		"58 chunks with long extensions": {script("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", forever(0, "1;"+strings.Repeat("y", 1024)+"\r\ny\r\n")), Answer},
		"58 trailers without end":        {script("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n0\r\n", forever(0, "X: "+strings.Repeat("y", 1000)+"\r\n")), Answer},
		"59 1xx without end":             {script(forever(0, "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")), Answer},
		"59 100 Continue without end":    {script(forever(0, "HTTP/1.1 100 Continue\r\n\r\n")), Answer},
		"59 HTTP/2 in clear":             {script("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + strings.Repeat("\x00\x00\x00\x09", 100)), Answer},
		"62 another protocol":            {script("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"), Answer},
		"62 no HTTP":                     {script("SSH-2.0-OpenSSH_9.2\r\n"), Answer},
		"62 HTTP/0.9":                    {script("<html>\n"), Answer},
		"62 two lengths":                 {script("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx"), Answer},
		"64 a body that is cut off": {func(conn net.Conn) {
			script("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx", func(c net.Conn) { _ = c.Close() })(conn)
		}, Answer},
		"64 closed at once":                 {func(conn net.Conn) { _ = conn.Close() }, Answer},
		"54 gzip that is none":              {script("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 20\r\n\r\n" + strings.Repeat("x", 20)), Answer},
		"54 brotli":                         {script("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\nx"), Encoding},
		"54 brotli in a second header":      {script("HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\nContent-Encoding: br\r\n\r\nx"), Encoding},
		"54 deflate":                        {script("HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\nx"), Encoding},
		"54 zstd":                           {script("HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\n\r\nx"), Encoding},
		"54 gzip with the sum of another":   {script("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + strings.TrimSuffix(zipped(t, 0), "\x00\x00\x00\x00\x00\x00\x00\x00") + "xxxxxxxx"), Answer},
		"62 a status of letters":            {script("HTTP/1.1 OK 200\r\n\r\n"), Answer},
		"62 a length and chunks":            {script("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, identity\r\n\r\nx"), Answer},
		"62 a length of letters":            {script("HTTP/1.1 200 OK\r\nContent-Length: 1x\r\n\r\nx"), Answer},
		"62 a negative length":              {script("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nx"), Answer},
		"62 a chunk of 2^64":                {script("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000000\r\n"), Answer},
		"54 gzip twice":                     {script("HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip\r\n\r\nx"), Encoding},
		"54 empty members of gzip, no end":  {script("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", forever(time.Millisecond, zipped(t, 0))), TooSlow},
		"54 a gzip header that has no end":  {script("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\x00", forever(time.Millisecond, strings.Repeat("y", 100))), Answer},
		"54 members of gzip with two bytes": {script("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", forever(time.Millisecond, zipped(t, 2))), Timeout},
	} {
		t.Run(row, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, _, err := get(piped(t, Options{MaxBytes: 1 << 20}, c.serve), "http://11.1.1.1/")
				checkVerdict(t, err, Error, c.kind)
			})
		})
	}
}

// TestQuotesNothing: what a server sends is in no refusal.
func TestQuotesNothing(t *testing.T) {
	for _, sent := range []string{
		"CANARY\r\n", "HTTP/1.1 CANARY\r\n\r\n", "HTTP/1.1 200 OK\r\nCANARY\r\n\r\n", "HTTP/1.1 200 OK\r\n: CANARY\r\n\r\n", "HTTP/CANARY 200 OK\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Encoding: CANARY\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: CANARY\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: CANARY\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nCANARY\r\n", "HTTP/1.1 101 CANARY\r\n\r\n", "HTTP/1.1 302 Found\r\nLocation: http://CANARY CANARY/\r\n\r\n",
		"HTTP/1.1 302 Found\r\nLocation: http://CANARY_/\r\n\r\n", "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/CANARY?CANARY\r\n\r\n", "HTTP/1.1 302 Found\r\nLocation: http://CANARY@127.0.0.1/\r\n\r\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			_, _, err := get(piped(t, Options{}, script(sent, func(conn net.Conn) { _ = conn.Close() })), "http://11.1.1.1/")
			var refusal *Refusal
			if !errors.As(err, &refusal) || strings.Contains(refusal.Reason, "CANARY") {
				t.Errorf("%q: %v", sent, err)
			}
		})
	}
}

// FuzzServer: whatever a server sends before it hangs up is an answer, or a refusal in one sentence.
func FuzzServer(f *testing.F) {
	for _, sent := range []string{
		head + "x", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x\r\ny\r\n0\r\nX: y\r\n\r\n", "HTTP/1.1 302 Found\r\nLocation: //11.2.2.2/\r\n\r\n", "HTTP/1.1 103 x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nx",
		"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x01\x01\x00\xfe\xffx\x83\x16\xdc\x8c\x01\x00\x00\x00", "HTTP/1.0 101 x\r\n\r\n", "HTTP/1.1 204 \r\n\r\nx",
	} {
		f.Add(sent)
	}
	f.Fuzz(func(t *testing.T, sent string) {
		client := piped(t, Options{MaxBytes: 1 << 16}, script(sent, func(conn net.Conn) { _ = conn.Close() }))
		text, resp, err := get(client, "http://11.1.1.1/")
		if err == nil {
			if _, err := Judge(resp.Request.URL.String()); err != nil || len(text) > 1<<16 {
				t.Errorf("%s has %d bytes, %v", resp.Request.URL, len(text), err)
			}
			return
		}
		refusal, is := errors.AsType[*Refusal](err)
		if !is || refusal.Reason == "" || strings.ContainsFunc(refusal.Reason, unicode.IsControl) || len(refusal.Reason) > 600 {
			t.Errorf("%q: %v", sent, err)
		}
	})
}

// zipped is n bytes of zeros, compressed.
func zipped(t *testing.T, n int) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.CopyN(z, zeros{}, int64(n))
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestBomb: a bomb of gzip is decompressed as far as it is read, and no further than the
// options say.
func TestBomb(t *testing.T) {
	const size = 200 << 20
	bomb := zipped(t, size)
	w := webtest.New(t)
	w.Serve(80, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			t.Error("gzip is not asked for")
		}
		rw.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(rw, bomb)
	}))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	resp, err := newClient(t, w, Options{MaxBytes: 5 << 20}, usual).Get(w.URL("/"))
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, resp.Body)
	checkVerdict(t, err, Error, TooLarge)
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; n != 5<<20 || used > 8<<20 {
		t.Errorf("%d bytes were read, with %d of memory", n, used)
	}
	t.Logf("of %d bytes that come to %d", len(bomb), size)
}

// TestMostBytes: a body of just as many bytes as may be read is read to its end, of
// whatever size the reads are.
func TestMostBytes(t *testing.T) {
	w := webtest.New(t)
	text := strings.Repeat("x", 10000)
	w.Serve(80, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, text) }))
	for most, whole := range map[int64]bool{9999: false, 10000: true, 10001: true, 1: false, 0: true, -1: true, math.MaxInt64: true} {
		for _, size := range []int{1, 100, 9999, 10000, 10001, 1 << 16} {
			resp, err := newClient(t, w, Options{MaxBytes: most}, usual).Get(w.URL("/"))
			if err != nil {
				t.Fatal(err)
			}
			got, err := drain(resp.Body, size)
			_ = resp.Body.Close()
			switch {
			case whole && (err != io.EOF || got != text):
				t.Errorf("of %d in reads of %d: %d bytes, %v", most, size, len(got), err)
			case !whole:
				checkVerdict(t, err, Error, TooLarge)
				if int64(len(got)) != most {
					t.Errorf("of %d in reads of %d: %d bytes", most, size, len(got))
				}
			}
		}
	}
}

func drain(r io.Reader, size int) (string, error) {
	var all []byte
	p := make([]byte, size)
	for {
		n, err := r.Read(p)
		all = append(all, p[:n]...)
		if err != nil {
			return string(all), err
		}
	}
}

// TestStalls: servers that stand still, on real sockets of several hosts at once, cost
// each other nothing and end.
func TestStalls(t *testing.T) {
	short := limits{header: 100 * time.Millisecond, whole: 300 * time.Millisecond, grace: 50 * time.Millisecond, floor: 1000}
	for range 3 {
		w := webtest.New(t)
		w.ServeRaw(80, w.Hold)
		w.Serve(8080, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			rw.(http.Flusher).Flush()
			<-r.Context().Done()
		}))
		for at, kind := range map[string]Kind{"http://%s/": Timeout, "https://%s:80/": Timeout, "http://%s:8080/": TooSlow} {
			t.Run(at, func(t *testing.T) {
				t.Parallel()
				checkRefused(t, newClient(t, w, Options{Ports: []uint16{8080}}, short), fmt.Sprintf(at, w.Addr()), Error, kind)
			})
		}
	}
}

// TestNobodyWaits: what a hop began ends with it, also where nothing but its own context
// ends it.
func TestNobodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		way := standIn()
		way.connect = func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
			<-ctx.Done() // a bubble that has something waiting at its end fails
			return nil, ctx.Err()
		}
		_, _, err := get(&http.Client{Transport: newGuard(Options{}, usual, way)}, "http://11.1.1.1/")
		checkVerdict(t, err, Error, Timeout)
	})
}

// TestHeader: a header of 64 KiB is read, and one that is larger refused.
func TestHeader(t *testing.T) {
	for size, kind := range map[int]Kind{mostHeader - 1000: "", mostHeader + 1000: Answer} {
		synctest.Test(t, func(t *testing.T) {
			_, _, err := get(piped(t, Options{}, script("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: "+strings.Repeat("x", size)+"\r\n\r\n")), "http://11.1.1.1/")
			if kind == "" && err != nil {
				t.Error(err)
			} else if kind != "" {
				checkVerdict(t, err, Error, kind)
			}
		})
	}
}

// TestCallersEncoding: a caller that asks for gzip itself gets text, too.
func TestCallersEncoding(t *testing.T) {
	w := webtest.New(t)
	w.Serve(80, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(rw, zipped(t, 3))
	}))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URL("/"), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", "gzip")
	resp, err := newClient(t, w, Options{}, usual).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); string(text) != "\x00\x00\x00" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

// TestHead: an answer to HEAD has no body, whatever encoding it names.
func TestHead(t *testing.T) {
	w := webtest.New(t)
	w.Serve(80, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { rw.Header().Set("Content-Encoding", "br") }))
	resp, err := newClient(t, w, Options{}, usual).Head(w.URL("/"))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(resp.Body); len(text) > 0 || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	_ = resp.Body.Close()
}
