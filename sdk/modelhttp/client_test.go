package modelhttp

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bothyd/bothy/sdk"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func client(t *testing.T, o Options) *Client {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestNoProxyOnThisMachine: nothing that a server of this machine is told goes to a proxy, whichever way
// its address is written.
func TestNoProxyOnThisMachine(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://proxy.invalid:3128") // read once by Go, before this or here
	t.Setenv("http_proxy", "http://proxy.invalid:3128")
	for _, host := range []string{"127.0.0.1:1", "localhost:1", "[::1]:1", "0.0.0.0:1", "[::]:1"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+host+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		if at, err := proxy(r); at != nil || err != nil {
			t.Errorf("%s is asked by way of %v, %v", host, at, err)
		}
	}
}

// TestDo: a request of any kind, with its own type and an answer that is read as it comes;
// a failure has its class as everywhere.
func TestDo(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // it was sent whole
		switch r.URL.Path {
		case "/models":
			_, _ = io.WriteString(w, "one\ntwo\n")
		case "/form":
			_, _ = io.WriteString(w, r.Method+" "+r.Header.Get("Content-Type")+" "+r.Header.Get("Accept")+" "+string(body))
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	c := client(t, Options{Base: server.URL, Key: "k"})
	for _, q := range []struct{ method, path, kind, body, want string }{
		{http.MethodGet, "/models", "", "", "one\ntwo\n"},
		{http.MethodPut, "/form", "application/x-www-form-urlencoded", "a=1", "PUT application/x-www-form-urlencoded */* a=1"},
	} {
		answer, err := c.Do(t.Context(), q.method, q.path, q.kind, []byte(q.body))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer)
		if err := errors.Join(err, answer.Close()); err != nil || string(text) != q.want {
			t.Errorf("%s: %q, %v", q.path, text, err)
		}
	}
	var failed *sdk.ProviderError
	if _, err := c.Do(t.Context(), http.MethodGet, "/none", "", nil); !errors.As(err, &failed) || failed.Class != sdk.ClassGateway {
		t.Error(err)
	}
}

// listener takes connections into its queue and says nothing.
func listener(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// TestTimeoutsAreDistinct has one case for each way in which a server does not
// answer; every one must be told apart by its text.
func TestTimeoutsAreDistinct(t *testing.T) {
	silent := listener(t)
	closed := listener(t)
	_ = closed.Close()
	release := make(chan struct{})
	stalls := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/headers") {
			w.(http.Flusher).Flush() // headers, and no byte of the body
		}
		if strings.HasSuffix(r.URL.Path, "/begun") {
			_, _ = io.WriteString(w, "begun")
			w.(http.Flusher).Flush()
		}
		<-release
	}))
	t.Cleanup(stalls.Close)
	t.Cleanup(func() { close(release) })
	breaks := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/begun") {
			_, _ = io.WriteString(w, "begun")
			w.(http.Flusher).Flush()
		}
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(breaks.Close)
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)

	const short = 100 * time.Millisecond
	for _, c := range []struct {
		name, base, path string
		timeouts         Timeouts // the others are the defaults: only one can pass
		class            sdk.FailureClass
		says             string
	}{
		{"refused", "http://" + closed.Addr().String(), "", Timeouts{}, sdk.ClassGateway, "nothing listens at"},
		{"handshake", "https://" + silent.Addr().String(), "", Timeouts{TLS: short}, sdk.ClassGateway, "TLS handshake"},
		{"certificate", secure.URL, "", Timeouts{}, sdk.ClassNever, "cannot be trusted"},
		{"plain where TLS is expected", "https" + strings.TrimPrefix(stalls.URL, "http"), "", Timeouts{}, sdk.ClassNever, "speaks plain HTTP"},
		{"first byte", stalls.URL, "", Timeouts{FirstByte: short}, sdk.ClassGateway, "first_byte_timeout"},
		{"headers only", stalls.URL, "/headers", Timeouts{FirstByte: short}, sdk.ClassGateway, "first_byte_timeout"},
		{"idle", stalls.URL, "/begun", Timeouts{Idle: short}, sdk.ClassGateway, "idle_timeout"},
		{"reset before", breaks.URL, "", Timeouts{}, sdk.ClassGateway, "before it answered"},
		{"reset within", breaks.URL, "/begun", Timeouts{}, sdk.ClassGateway, "in the middle of its answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer, err := client(t, Options{Base: c.base, Timeouts: c.timeouts}).Post(t.Context(), c.path, struct{}{})
			if err == nil {
				_, err = io.ReadAll(answer)
				_ = answer.Close()
			}
			var e *sdk.ProviderError
			if !errors.As(err, &e) {
				t.Fatalf("error %v (%T)", err, err)
			}
			if e.Class != c.class || !strings.Contains(e.Message, c.says) {
				t.Errorf("%+v, want class %s and %q", *e, c.class, c.says)
			}
		})
	}
}

// TestUnreachable has the failures of dialling that no address of this machine
// is certain to give.
func TestUnreachable(t *testing.T) {
	for _, x := range []struct {
		err   error
		class sdk.FailureClass
		says  string
	}{
		{&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, sdk.ClassGateway, "did not take the connection within 10s"},
		{&net.DNSError{Err: "no such host", Name: "host", IsNotFound: true}, sdk.ClassNever, "is not known"},
		{&net.DNSError{Err: "server misbehaving", Name: "host", IsTemporary: true}, sdk.ClassGateway, "cannot be reached"},
		{&net.OpError{Op: "dial", Err: syscall.ENETUNREACH}, sdk.ClassGateway, "cannot be reached"},
		{&tls.CertificateVerificationError{Err: errors.New(strings.Repeat("a name, ", maxMessage))}, sdk.ClassNever, "install the server's certificate"},
	} {
		c := client(t, Options{Base: "http://host"})
		c.http.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) { return nil, x.err }
		_, err := c.Post(t.Context(), "", struct{}{})
		var e *sdk.ProviderError
		if !errors.As(err, &e) || e.Class != x.class || !strings.Contains(e.Message, x.says) {
			t.Errorf("%v became %v, want class %s and %q", x.err, err, x.class, x.says)
		}
	}
}

func TestSlowReaderIsNotIdle(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "ab")
	}))
	t.Cleanup(srv.Close)
	answer, err := client(t, Options{Base: srv.URL, Timeouts: Timeouts{Idle: 100 * time.Millisecond}}).Post(t.Context(), "", struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Close() }()
	one := make([]byte, 1)
	if _, err := io.ReadFull(answer, one); err != nil {
		t.Fatal(err)
	}
	busy := time.NewTimer(300 * time.Millisecond) // the work that a caller does between two reads
	<-busy.C
	if _, err := io.ReadFull(answer, one); err != nil {
		t.Errorf("time of the caller's was counted: %v", err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
	}))
	t.Cleanup(srv.Close)
	_, err := client(t, Options{Base: srv.URL}).Post(ctx, "", struct{}{})
	var e *sdk.ProviderError
	if !errors.Is(err, context.Canceled) || errors.As(err, &e) {
		t.Errorf("error %v (%T)", err, err)
	}
}

// TestKeysAreInNoError provokes every kind of failure with keys in every place
// they can be in, and looks for them in every spelling.
func TestKeysAreInNoError(t *testing.T) {
	const key, password, token, query = "sk-Key0123456789/+x", "pass word 123", "tok-abcdef987654", "query-key-456789"
	echo := strings.Join([]string{key, password, token, query, url.QueryEscape(key), base64.StdEncoding.EncodeToString([]byte(key)), "Bearer " + key, "sk-another-0123456789abc"}, " ; ")
	const target = "" // a server that answers as the case says
	closed := listener(t)
	_ = closed.Close()
	for name, c := range map[string]struct {
		base   string
		answer func(w http.ResponseWriter, r *http.Request)
	}{
		"echoed as JSON": {target, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(401)
			_, _ = io.WriteString(w, `{"error":{"message":"Incorrect key: `+echo+`","type":"`+key+`","code":"`+token+`"}}`)
		}},
		"echoed as text": {target, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, echo, 500) }},
		"redirect": {target, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/x?key="+key, http.StatusTemporaryRedirect)
		}},
		"broken off": {target, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
		"refused":    {"http://u:" + url.PathEscape(password) + "@" + closed.Addr().String() + "?k=" + query, nil},
		"not a URL":  {"http://u:" + key + "@host:port/%zz", nil},
		"not http":   {"ftp://u:" + url.PathEscape(password) + "@host/", nil},
		"bad key":    {target, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if c.base == target {
				srv := httptest.NewServer(http.HandlerFunc(c.answer))
				defer srv.Close()
				c.base = strings.Replace(srv.URL, "http://", "http://user:"+url.PathEscape(password)+"@", 1) + "?api-key=" + query
			}
			o := Options{Base: c.base, Key: key, Headers: map[string]string{"X-Token": token}}
			if name == "bad key" {
				o.Key += "\n"
			}
			cl, err := New(o)
			if err == nil {
				defer cl.Close()
				_, err = cl.Post(t.Context(), "/chat", struct{}{})
			}
			if err == nil {
				t.Fatal("no error")
			}
			text := err.Error()
			for _, secret := range []string{key, password, url.PathEscape(password), token, query, url.QueryEscape(key), base64.StdEncoding.EncodeToString([]byte(key)), "0123456789abc"} {
				if strings.Contains(text, secret) {
					t.Errorf("%q holds %q", text, secret)
				}
			}
		})
	}
}

func TestOrdinaryWordsStay(t *testing.T) {
	in := "task skeleton risk-free bearer of news; ask-me; sk-; the model gpt-4.1-mini-2025-04-14 at /v1/pk"
	if got := (redactor{}).clean(in); got != in {
		t.Errorf("%q became %q", in, got)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, o := range []Options{
		{Base: ""}, {Base: "host:1"}, {Base: "http://"}, {Base: "file:///etc"},
		{Base: "http://h", Key: "a\r\nX: y"}, {Base: "http://h", Headers: map[string]string{"X Y": "1"}}, {Base: "http://h", Headers: map[string]string{"X": "a\nb"}},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}

func TestAnswersAreBounded(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/bad") {
			w.WriteHeader(500)
		}
		for range 20 {
			if _, err := io.WriteString(w, strings.Repeat(" ", 1<<20)); err != nil {
				return
			}
		}
	}))
	t.Cleanup(srv.Close)
	c := client(t, Options{Base: srv.URL})
	var out any
	if err := c.Get(t.Context(), "/list", &out); err == nil || !strings.Contains(err.Error(), "more than 16 MiB") {
		t.Errorf("a list without end: %v", err)
	}
	if err := c.Get(t.Context(), "/bad", &out); err == nil {
		t.Error("an error without end was no error")
	}
}

// TestWhatIsSent: the key in the header that the server wants, the query of a path
// beside that of the base URL, and raw JSON as it is.
func TestWhatIsSent(t *testing.T) {
	var got *http.Request
	var body []byte
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			t.Error(err)
		}
		got = r
		_, _ = io.WriteString(w, `{}`)
	}))
	defer srv.Close()
	c := client(t, Options{Base: srv.URL + "/v1?a=1", Key: "k-0123456789", KeyHeader: "x-api-key"})
	var out struct{}
	if err := c.Get(t.Context(), "/models?after=b%20c", &out); err != nil || got.URL.String() != "/v1/models?a=1&after=b%20c" {
		t.Errorf("asked for %s, error %v", got.URL, err)
	}
	if got.Header.Get("x-api-key") != "k-0123456789" || got.Header.Get("Authorization") != "" {
		t.Errorf("headers %v", got.Header)
	}
	if err := c.PostJSON(t.Context(), "/x", json.RawMessage(`{"a": "<\u003c&\u2028"}`), &out); err != nil || strings.TrimSpace(string(body)) != `{"a":"<\u003c&\u2028"}` {
		t.Errorf("sent %s, error %v", body, err)
	}
}
