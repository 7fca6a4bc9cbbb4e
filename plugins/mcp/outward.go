package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
	"time"
)

// errRedirected says that what has a token or a code in it was to be sent on.
var errRedirected = errors.New("it redirects to another address, which is not followed")

// outward is for requests to the authorization server, whose address the MCP server names. One
// that is reached over the network is not let name addresses of this machine or of a private network, and
// no answer takes what is posted elsewhere.
func outward(ctx context.Context, server *url.URL) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = 20 * time.Second
	through := http.RoundTripper(transport)
	if !near(ctx, server) {
		direct := transport.Clone()
		direct.Proxy = nil
		direct.DialContext = (&net.Dialer{Timeout: 20 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			if err != nil || private(at.Addr()) {
				return errors.New("the address is of this machine or a private network")
			}
			return nil
		}}).DialContext
		through = apart{transport, direct}
	}
	return &http.Client{Transport: through, Timeout: 30 * time.Second, CheckRedirect: stay}
}

// apart sends a request that goes by a proxy, which looks up its address, by one transport, and each other
// by another: this machine is reached by no proxy, whatever the environment says (http.ProxyFromEnvironment).
type apart struct{ proxied, direct *http.Transport }

// RoundTrip implements http.RoundTripper.
func (a apart) RoundTrip(r *http.Request) (*http.Response, error) {
	if a.proxied.Proxy != nil {
		if by, err := a.proxied.Proxy(r); err == nil && by != nil {
			return a.proxied.RoundTrip(r)
		}
	}
	return a.direct.RoundTrip(r)
}

// CloseIdleConnections is for http.Client.
func (a apart) CloseIdleConnections() {
	a.proxied.CloseIdleConnections()
	a.direct.CloseIdleConnections()
}

// stay follows a redirect only where nothing was posted, and neither down to plain HTTP nor on and on.
func stay(r *http.Request, via []*http.Request) error {
	first := via[0]
	if first.Method != http.MethodGet || len(via) > 5 || first.Header.Get("Authorization") != "" || first.URL.Scheme == "https" && r.URL.Scheme != "https" {
		return errRedirected
	}
	return nil
}

// within follows a redirect that stays at the server.
func within(r *http.Request, via []*http.Request) error {
	if len(via) > 5 || origin(r.URL) != origin(via[0].URL) {
		return errRedirected
	}
	return nil
}

// near reports whether the server itself is of this machine or a private network.
func near(ctx context.Context, server *url.URL) bool {
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", server.Hostname())
	return err == nil && allPrivate(found)
}

// allPrivate is false where one address is of the network: whoever has a name there may add any address to it.
func allPrivate(found []netip.Addr) bool {
	return !slices.ContainsFunc(found, func(at netip.Addr) bool { return !private(at) })
}

// shared are addresses that providers of access give to many (RFC 6598).
var shared = netip.MustParsePrefix("100.64.0.0/10")

func private(at netip.Addr) bool {
	at = at.Unmap()
	return at.IsLoopback() || at.IsPrivate() || at.IsLinkLocalUnicast() || at.IsMulticast() || at.IsUnspecified() || shared.Contains(at)
}
