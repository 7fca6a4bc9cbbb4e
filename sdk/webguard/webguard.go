// Package webguard says which addresses of the web may be asked for from this
// machine, and has a client that holds to it. What a model, a page or a file of
// somebody else's names can be anything: the router, a cloud's metadata, a service
// that listens on this machine alone. None of those is the web.
//
// An address is judged as it is written ([Judge]), without a packet. The client
// ([Client]) judges it again at every hop, with all addresses that its host has, and
// connects to one of those and to nothing else. It takes no proxy from the
// environment, keeps no cookies and has no setting that lets more through than
// [Options] names.
package webguard

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Options are what a user's own file opens beyond the web, and how much is read. The
// zero value opens nothing. Never fill it from what a model, a page or a project's
// file says.
type Options struct {
	// Ports may be asked for besides 80 and 443, on public hosts.
	Ports []uint16
	// Origins may be asked for though they are none of the web, such as
	// http://127.0.0.1:8080: scheme, host and port, all three, as [Origin] writes them.
	// No redirect leads to one from elsewhere.
	Origins []string
	// Only says that nothing but Origins is asked for.
	Only bool
	// MaxBytes is how much of a body can be read, counted decompressed; 20 MiB when
	// it is 0. Reading on fails with the kind [TooLarge]. Who wants less reads less.
	MaxBytes int64
}

// Judge says whether an address may be asked for, as far as it tells without asking
// anybody: the addresses of a host are judged by the client. It returns the address as
// it would be asked for, with its host in ASCII and without a fragment, or a *[Refusal].
// Give that to the client: http.NewRequest drops an empty port, which is refused here.
func Judge(address string) (*url.URL, error) { return Options{}.Judge(address) }

// Judge is [Judge] with what the options open.
func (o Options) Judge(address string) (*url.URL, error) {
	u, err := parse(address)
	if err != nil {
		return nil, err
	}
	return o.JudgeURL(u)
}

// JudgeURL is [Options.Judge] of an address that is read already, such as one that a
// redirect leads to: written again, a host of another script would be escaped, which is
// none.
func (o Options) JudgeURL(u *url.URL) (*url.URL, error) {
	t, err := o.normal().judge(u)
	if err != nil {
		return nil, err
	}
	return t.url, nil
}

// Origin is the origin of an address as Options.Origins has it: scheme, host in
// ASCII, and port unless it is that of the scheme. It fails where there could be none,
// and says nothing of whether it may be asked for.
func Origin(address string) (string, error) {
	u, err := parse(address)
	if err != nil {
		return "", err
	}
	t, err := target(u)
	if err != nil {
		return "", err
	}
	return t.origin, nil
}

// normal has the options' origins as a target's are written. One that is none opens
// nothing.
func (o Options) normal() Options {
	origins := make([]string, 0, len(o.Origins))
	for _, text := range o.Origins {
		if origin, err := Origin(text); err == nil {
			origins = append(origins, origin)
		}
	}
	o.Origins = origins
	return o
}

// judged is an address that could be asked for: it is written as one of the web.
type judged struct {
	url    *url.URL
	host   string     // in ASCII, without a dot at its end
	addr   netip.Addr // of a host that is one
	port   uint16
	origin string
	opened bool // Options.Origins has it
}

// target reads an address and refuses what is wrong wherever it leads.
func target(u *url.URL) (judged, error) {
	switch {
	case u.Scheme == "":
		return judged{}, failed(Malformed, "this is no address of the web: it begins with https:// or http://")
	case u.Scheme != "http" && u.Scheme != "https":
		return judged{}, denied(Scheme, "the scheme %s is not asked for: use an address that begins with https:// or http://", short(u.Scheme))
	case u.Opaque != "" || u.Host == "":
		return judged{}, failed(Malformed, "the address names no host: write it as https://HOST/PATH")
	case u.User != nil:
		return judged{}, denied(Userinfo, "the address has a user or a password before its host: leave out what stands before the @")
	}
	host, addr, err := hostOf(u)
	if err != nil {
		return judged{}, err
	}
	port, err := portOf(u)
	if err != nil {
		return judged{}, err
	}
	at := host
	if addr.Is6() {
		at = "[" + host + "]"
	}
	if port != standardPort(u.Scheme) {
		at += ":" + strconv.Itoa(int(port))
	}
	return judged{url: clean(u, at), host: host, addr: addr, port: port, origin: u.Scheme + "://" + at}, nil
}

// clean is the address as it is sent. What net/url would send as it stands, and a
// server would read otherwise, is escaped: blanks in a query, all but ASCII.
func clean(u *url.URL, host string) *url.URL {
	c := *u
	c.Host, c.Fragment, c.RawFragment = host, "", ""
	c.RawQuery = escape(u.RawQuery, "\"<>\\")
	if raw := escape(u.RawPath, "\"<>\\[]{}|^`"); raw != "" {
		if path, err := url.PathUnescape(raw); err == nil {
			c.Path, c.RawPath = path, raw
		}
	}
	return &c
}

// escape escapes what is not printable ASCII in a part of an address, blanks, and some
// bytes besides. Escapes in it stay.
func escape(part, besides string) string {
	var b strings.Builder
	for i := range len(part) {
		if c := part[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(besides, c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// judge says whether an address may be asked for. The options are normal.
func (o Options) judge(u *url.URL) (judged, error) {
	t, err := target(u)
	if err != nil {
		return t, err
	}
	t.opened = slices.Contains(o.Origins, t.origin)
	switch {
	case o.Only && !t.opened:
		return t, denied(Elsewhere, "%s is not where this client goes: it asks for %s alone", t.origin, list(o.Origins))
	case !t.opened && t.port != 80 && t.port != 443 && !slices.Contains(o.Ports, t.port):
		return t, denied(Port, "the port %d is not open: web servers are asked at 80 and 443", t.port)
	case t.addr.IsValid():
		return t, t.permits(t.addr)
	case !t.opened:
		return t, publicName(t.host)
	}
	return t, nil
}

// permits says whether an address of the target's host may be connected to.
func (t judged) permits(addr netip.Addr) error {
	if t.opened {
		return ofOneMachine(addr)
	}
	return public(addr)
}
