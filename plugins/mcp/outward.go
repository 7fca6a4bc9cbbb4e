package main

import (
	"errors"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/bothyd/bothy/sdk/webguard"
)

// errRedirected says that what has a token or a code in it was to be sent on.
var errRedirected = errors.New("it redirects to another address, which is not followed")

// errPrivate says that a server of the network named an address that is none of its business.
var errPrivate = errors.New("the address is of this machine or a private network")

// outward is for requests to an address that the MCP server names, such as that of its authorization server. Where that is
// reached over the network, which near says, it names none of this machine or of a private network, by the web guard, and no
// other port than the usual ones and its own. No answer takes what is posted elsewhere.
func outward(server *url.URL, near bool) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = 20 * time.Second
	through := http.RoundTripper(transport)
	if !near {
		through = guarded(server, transport)
	}
	return &http.Client{Transport: through, Timeout: 30 * time.Second, CheckRedirect: stay}
}

// apart sends a request by the web guard, and one that goes by a proxy, which looks up its address, as far as the
// guard would let it without that: this machine is reached by no proxy, whatever the environment says (http.ProxyFromEnvironment).
type apart struct {
	options webguard.Options
	proxied *http.Transport
	direct  http.RoundTripper
}

func guarded(server *url.URL, proxied *http.Transport) apart {
	options := webguard.Options{Ports: portOf(server)}
	return apart{options, proxied, webguard.Client(options).Transport}
}

func portOf(u *url.URL) (ports []uint16) {
	if port, err := strconv.ParseUint(u.Port(), 10, 16); err == nil {
		ports = []uint16{uint16(port)}
	}
	return ports
}

// RoundTrip implements http.RoundTripper.
func (a apart) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := (webguard.Options{Ports: portOf(r.URL)}).Judge(r.URL.String()); errors.Is(inside(err), errPrivate) {
		return nil, errPrivate // which says more than that its port is not open
	}
	through := a.direct
	if by, err := a.by(r); err == nil && by != nil {
		if _, err := a.options.Judge(r.URL.String()); err != nil {
			return nil, inside(err)
		}
		through = a.proxied
	}
	answer, err := through.RoundTrip(r)
	return answer, inside(err)
}

func (a apart) by(r *http.Request) (*url.URL, error) {
	if a.proxied.Proxy == nil {
		return nil, nil
	}
	return a.proxied.Proxy(r)
}

// inside is an error of the guard's about where an address leads as what the person is told, and each other error as it is.
func inside(err error) error {
	refused, is := errors.AsType[*webguard.Refusal](err)
	if is && slices.Contains([]webguard.Kind{webguard.Address, webguard.Name, webguard.Number}, refused.Kind) {
		return errPrivate
	}
	return err
}

// CloseIdleConnections is for http.Client.
func (a apart) CloseIdleConnections() { a.proxied.CloseIdleConnections() }

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
type nearness struct{ met, far atomic.Bool }

// watched is a request whose connection is looked at.
func (n *nearness) watched(r *http.Request) *http.Request {
	return r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) {
		at, err := netip.ParseAddrPort(c.Conn.RemoteAddr().String())
		if n.met.Store(true); err != nil || !private(at.Addr()) || proxied(r) {
			n.far.Store(true)
		}
	}}))
}

// near reports whether each was of this machine or a private network.
func (n *nearness) near() bool { return n.met.Load() && !n.far.Load() }

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
