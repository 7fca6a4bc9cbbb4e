package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

// TestOutwardByProxy: a server that is reached by a proxy names no address of this machine either, which
// no proxy is asked for.
func TestOutwardByProxy(t *testing.T) {
	asked := 0
	here := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	t.Cleanup(here.Close)
	passed := 0
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { passed++ }))
	t.Cleanup(proxy.Close)
	by, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	through := http.DefaultTransport.(*http.Transport)
	was := through.Proxy
	t.Cleanup(func() { through.Proxy = was })
	through.Proxy = func(r *http.Request) (*url.URL, error) {
		if r.URL.Hostname() == "127.0.0.1" { // as http.ProxyFromEnvironment
			return nil, nil
		}
		return by, nil
	}
	web := outward(&url.URL{Scheme: "https", Host: "mcp.example"}, false)
	t.Cleanup(web.CloseIdleConnections)
	if answer, err := web.Get(here.URL); err == nil || !strings.Contains(err.Error(), "private network") || asked != 0 {
		t.Errorf("this machine was asked %d times: %v, %v", asked, answer, err)
	}
	for _, near := range []string{"http://169.254.169.254/latest", "http://192.0.2.2/", "http://metadata.google.internal/", "http://0x7f.1/"} {
		if answer, err := web.Get(near); err == nil || !strings.Contains(err.Error(), "private network") || passed != 0 {
			t.Errorf("%s: the proxy was asked %d times: %v, %v", near, passed, answer, err)
		}
	}
	answer, err := web.Get("http://9.9.9.9/metadata")
	if err != nil || passed != 1 {
		t.Fatalf("the proxy was asked %d times: %v", passed, err)
	}
	_ = answer.Body.Close()
}

// elsewhere is a connection that says that it is to another address.
type elsewhere struct {
	net.Conn
	at net.Addr
}

// RemoteAddr implements net.Conn.
func (e elsewhere) RemoteAddr() net.Addr { return e.at }

// TestNear: where a server is, the addresses of its connections say, and not what its name leads to at another
// time; one of the network is enough.
func TestNear(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(s.Close)
	for text, want := range map[string]bool{
		"": false, "127.0.0.1": true, "::1": true, "10.0.0.1 192.168.1.1": true, "fd00::1 100.64.0.1": true, "::ffff:10.0.0.1": true,
		"192.0.2.1": false, "192.0.2.1 127.0.0.1": false, "127.0.0.1 2001:db8::1": false,
	} {
		var met nearness
		for _, at := range strings.Fields(text) {
			web := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				c, err := new(net.Dialer).DialContext(ctx, network, address)
				return elsewhere{c, &net.TCPAddr{IP: net.ParseIP(at), Port: 443}}, err
			}}}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := web.Do(met.watched(r))
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
		}
		if got := met.near(); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestLoginOfAFlippingName: a server of the network whose name led to this machine a moment before has nobody log
// in here.
func TestLoginOfAFlippingName(t *testing.T) {
	a := served(t, nil)
	to, err := url.Parse(a.resource)
	if err != nil {
		t.Fatal(err)
	}
	through := http.DefaultTransport.(*http.Transport)
	was := through.DialContext
	t.Cleanup(func() { through.DialContext = was; through.CloseIdleConnections() })
	through.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := was(ctx, network, address)
		if err == nil && address == to.Host {
			c = elsewhere{c, &net.TCPAddr{IP: net.ParseIP("192.0.2.1"), Port: 443}}
		}
		return c, err
	}
	if _, err := (sitter{}).logsIn(t.Context(), t, a.block("")); err == nil || !strings.Contains(err.Error(), "private network") {
		t.Errorf("it is led to this machine: %v", err)
	}
}

// TestRenewalOfAFarServer: a login that was not made at a server of here is renewed nowhere here, and says what to do.
func TestRenewalOfAFarServer(t *testing.T) {
	a, d, m := entered(t, nil)
	l := kept(t, d)
	l.Near = false
	d.SetLogin(l.Text())
	a.revoke(false)
	for range 2 {
		if err := echoes(t, m); err == nil || !strings.Contains(err.Error(), "private network): `bothy mcp login fake`") {
			t.Errorf("%v", err)
		}
	}
	if n, _ := a.seen(); n != 0 {
		t.Errorf("it was renewed %d times", n)
	}
}

// TestLedElsewhere: a server of the network leads a connection to no address of this machine, by a redirect or as the
// endpoint of an SSE server; one of here may.
func TestLedElsewhere(t *testing.T) {
	var asked atomic.Int32
	over := make(chan struct{}, 16)
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked.Add(1)
		over <- struct{}{}
	}))
	t.Cleanup(other.Close)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, "event: endpoint\ndata: %s/messages\n\n", other.URL)
			_ = http.NewResponseController(w).Flush()
			select { // a stream that ends would be an error by itself
			case <-over:
			case <-r.Context().Done():
			}
			return
		}
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(server.Close)
	through := http.DefaultTransport.(*http.Transport)
	was := through.DialContext
	t.Cleanup(func() { through.DialContext = was; through.CloseIdleConnections() })
	for _, far := range []bool{true, false} {
		through.CloseIdleConnections()
		through.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := was(ctx, network, address)
			if err == nil && far {
				c = elsewhere{c, &net.TCPAddr{IP: net.ParseIP("192.0.2.1"), Port: 443}}
			}
			return c, err
		}
		for _, transport := range []string{"http", "sse"} {
			asked.Store(0)
			for len(over) > 0 {
				<-over
			}
			_, err := configured(t, fmt.Sprintf(`{"url":%q, "transport":%q}`, server.URL, transport))
			if err == nil || far == (asked.Load() > 0) || far && !strings.Contains(err.Error(), "private network") {
				t.Errorf("far %t, %s: this machine was asked %d times: %v", far, transport, asked.Load(), err)
			}
		}
	}
}
