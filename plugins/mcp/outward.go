package main

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"syscall"
	"time"
)

// errRedirected says that what has a token or a code in it was to be sent on.
var errRedirected = errors.New("it redirects to another address, which is not followed")

// errPrivate says that a server of the network named an address that is none of its business.
var errPrivate = errors.New("the address is of this machine or a private network")

// outward is for requests to the authorization server, whose address the MCP server names. Where that is
// reached over the network, which near says, it is not let name addresses of this machine or of a private network;
// no answer takes what is posted elsewhere.
func outward(near bool) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = 20 * time.Second
	through := http.RoundTripper(transport)
	if !near {
		direct := transport.Clone()
		direct.Proxy = nil
		direct.DialContext = (&net.Dialer{Timeout: 20 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			if err != nil || private(at.Addr()) {
				return errPrivate
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

// nearness is where a server was met: at the addresses that its connections have, since a name may lead
// elsewhere with each lookup.
type nearness struct{ met, far bool }

// watched is a request whose connection is looked at.
func (n *nearness) watched(r *http.Request) *http.Request {
	return r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) {
		at, err := netip.ParseAddrPort(c.Conn.RemoteAddr().String())
		n.met, n.far = true, n.far || err != nil || !private(at.Addr()) || proxied(r)
	}}))
}

// near reports whether each was of this machine or a private network.
func (n *nearness) near() bool { return n.met && !n.far }

// proxied reports whether a request goes by a proxy, which is met in the place of the server.
func proxied(r *http.Request) bool {
	by := http.DefaultTransport.(*http.Transport).Proxy
	if by == nil {
		return false
	}
	at, err := by(r)
	return err != nil || at != nil
}

// shared are addresses that providers of access give to many (RFC 6598).
var shared = netip.MustParsePrefix("100.64.0.0/10")

func private(at netip.Addr) bool {
	at = at.Unmap()
	return at.IsLoopback() || at.IsPrivate() || at.IsLinkLocalUnicast() || at.IsMulticast() || at.IsUnspecified() || shared.Contains(at)
}
