package webguard

import (
	"context"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// network is the way out.
type network struct {
	// resolver is who is asked for the addresses of a host.
	resolver func(host string) *net.Resolver
	// near says whether a public address is one of this machine or of the local network.
	near func(ctx context.Context, addr netip.Addr) bool
	// connect connects to a judged address.
	connect func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
}

// internet is the way out of a program that is not a test.
func internet() network {
	own := resolver(nil)
	return network{
		resolver: func(string) *net.Resolver { return own },
		near:     near,
		connect:  connect,
	}
}

// resolver is Go's, whatever GODEBUG says and however the program is built: a lookup by
// libc cannot be ended, and asks whom its own configuration names. It asks the servers of
// resolv.conf, or by dial.
func resolver(dial func(ctx context.Context, network, address string) (net.Conn, error)) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: dial}
}

// near asks the kernel which own address it would send from: the same one means this
// machine; one of the same /64 of IPv6 means the local network, where the router and
// the printer have public addresses too. Connecting UDP sends nothing.
func near(ctx context.Context, addr netip.Addr) bool {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "udp", netip.AddrPortFrom(addr, 80).String())
	if err != nil {
		return false // there is no way to it, which connecting will say
	}
	defer conn.Close()
	from, ok := conn.LocalAddr().(*net.UDPAddr)
	if !ok {
		return false
	}
	own := from.AddrPort().Addr().Unmap().WithZone("")
	if addr.Is4() {
		return own == addr
	}
	return netip.PrefixFrom(own, 64).Masked().Contains(addr)
}

const (
	longestTry  = 3 * time.Second
	noKeepAlive = -1
)

// connect connects to an address, looks once more at the socket that it is that one,
// and at whom it is connected to.
func connect(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	dialer := net.Dialer{Timeout: longestTry, KeepAlive: noKeepAlive, ControlContext: func(_ context.Context, network, address string, _ syscall.RawConn) error {
		return sameAddress(network, address, to)
	}}
	conn, err := dialer.DialContext(ctx, "tcp", to.String())
	if err != nil {
		return nil, err
	}
	if peer := conn.RemoteAddr(); sameAddress("tcp4", peer.String(), to) != nil {
		_ = conn.Close() // nothing was sent
		return nil, denied(Address, "%s answers in the place of the address that was judged", peer)
	}
	return conn, nil
}

func sameAddress(network, address string, judged netip.AddrPort) error {
	if network != "tcp4" && network != "tcp6" || address != judged.String() {
		return denied(Address, "%s at %s is not the address that was judged", address, network)
	}
	return nil
}
