package main

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
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
	web := outward(t.Context(), &url.URL{Scheme: "https", Host: "192.0.2.1"})
	t.Cleanup(web.CloseIdleConnections)
	if answer, err := web.Get(here.URL); err == nil || !strings.Contains(err.Error(), "private network") || asked != 0 {
		t.Errorf("this machine was asked %d times: %v, %v", asked, answer, err)
	}
	answer, err := web.Get("http://192.0.2.2/metadata")
	if err != nil || passed != 1 {
		t.Fatalf("the proxy was asked %d times: %v", passed, err)
	}
	_ = answer.Body.Close()
}

// TestNear: a name with an address of the network is none of here, whichever it has beside that.
func TestNear(t *testing.T) {
	for text, want := range map[string]bool{
		"127.0.0.1": true, "::1": true, "10.0.0.1 192.168.1.1": true, "fd00::1 100.64.0.1": true, "::ffff:10.0.0.1": true,
		"192.0.2.1": false, "192.0.2.1 127.0.0.1": false, "127.0.0.1 2001:db8::1": false,
	} {
		var found []netip.Addr
		for _, at := range strings.Fields(text) {
			found = append(found, netip.MustParseAddr(at))
		}
		if got := allPrivate(found); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
