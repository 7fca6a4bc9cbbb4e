package webguard

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"syscall"
)

const mostTried = 6 // addresses of one host

// dial connects to the host of the hop that the context has, by an address that was
// judged. All addresses of the host are: a name that has one in a local network is
// there to lead into it. The connection ends with the hop: http.Transport goes on with a
// lookup and a handshake that nobody waits for any more.
func (g *guard) dial(ctx context.Context, _, address string) (net.Conn, error) {
	h, ok := ctx.Value(hopKey{}).(*hop)
	if !ok || address != h.target.dialled() {
		return nil, denied(Elsewhere, "nobody judged the host that is to be connected to")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(h.ctx, cancel)()
	conn, err := g.reach(ctx, h)
	if err == nil {
		context.AfterFunc(h.ctx, func() { _ = conn.Close() }) // closed twice is closed
	}
	return conn, err
}

// reach is a connection to the hop's target.
func (g *guard) reach(ctx context.Context, h *hop) (net.Conn, error) {
	addrs, err := g.lookup(ctx, h.target)
	if err != nil {
		return nil, err
	}
	for _, addr := range addrs {
		if err := g.judgeAnswer(ctx, h.target, addr); err != nil {
			return nil, err
		}
	}
	err = nil
	for _, addr := range addrs[:min(len(addrs), mostTried)] {
		var conn net.Conn
		if conn, err = g.network.connect(ctx, netip.AddrPortFrom(addr, h.target.port)); err == nil {
			return conn, nil
		}
		if _, refused := errors.AsType[*Refusal](err); refused || ctx.Err() != nil {
			return nil, err
		}
	}
	return nil, failed(Unreached, "%s cannot be reached at port %d: %s", h.target.host, h.target.port, cause(err)).because(err)
}

// dialled is how http.Transport names the target.
func (t judged) dialled() string {
	return net.JoinHostPort(t.host, strconv.Itoa(int(t.port)))
}

// lookup is the addresses of the target. A public name is asked for as it is, and not
// below the domains of the local network.
func (g *guard) lookup(ctx context.Context, t judged) ([]netip.Addr, error) {
	if t.addr.IsValid() {
		return []netip.Addr{t.addr}, nil
	}
	name := t.host
	if !t.opened {
		name += "."
	}
	addrs, err := g.network.resolver(t.host).LookupNetIP(ctx, "ip", name)
	if err != nil {
		return nil, failed(Unknown, "%s has no address: %s", t.host, lookupCause(err)).because(err)
	}
	if len(addrs) == 0 {
		return nil, failed(Unknown, "%s has no address", t.host)
	}
	for i, addr := range addrs {
		addrs[i] = addr.Unmap()
	}
	return addrs, nil
}

// judgeAnswer judges an address that a name server, or the address itself, gave.
func (g *guard) judgeAnswer(ctx context.Context, t judged, addr netip.Addr) error {
	err := t.permits(addr)
	if err == nil && !t.opened && g.network.near(ctx, addr) {
		err = denied(Address, "%s is public, and belongs to this machine or its local network", addr)
	}
	refusal, ok := err.(*Refusal)
	if !ok || t.addr.IsValid() {
		return err
	}
	refusal.Reason = t.host + " leads elsewhere than to the web: " + refusal.Reason
	return refusal
}

// cause is what is wrong, without the addresses that come before it in Go's errors.
func cause(err error) string {
	if number, is := errors.AsType[syscall.Errno](err); is {
		return number.Error()
	}
	if timeout, is := errors.AsType[net.Error](err); is && timeout.Timeout() {
		return "it does not take the connection"
	}
	return short(err.Error())
}

func lookupCause(err error) string {
	said, is := errors.AsType[*net.DNSError](err)
	switch {
	case !is:
		return short(err.Error())
	case said.IsNotFound:
		return "there is no such name"
	case said.IsTimeout:
		return "the name server does not answer"
	}
	return short(said.Err)
}
