package webguard

import (
	"context"
	"net"
	"net/netip"
	"regexp"
	"strconv"
)

// standIn is the way out of tests: a small internet on this machine. Judging is not
// changed by it, so that a test can hold that the loopback is refused by the program that
// reaches the test's servers. What is public there is the addresses 11.X.Y.Z and
// 2600:bb::XX:YYZZ, whose ports p are 127.X.Y.Z:10000+p; the names that end with X-Y-Z.test
// are asked of 127.X.Y.Z:10053. The loopback is itself, for Options.Origins. Nothing else
// can be connected to. Package webtest has servers for it.
//
// Only programs built with the tag webtest have it; what is shipped is not.
func standIn() network {
	const ports = 10000
	name := regexp.MustCompile(`(?:^|\.)(\d{1,3})-(\d{1,3})-(\d{1,3})\.test$`)
	public4, public6 := netip.MustParsePrefix("11.0.0.0/8"), netip.MustParsePrefix("2600:bb::/32")
	return network{
		resolver: func(host string) *net.Resolver {
			return resolver(func(ctx context.Context, kind, _ string) (net.Conn, error) {
				m := name.FindStringSubmatch(host)
				if m == nil {
					return nil, failed(Unknown, "a test has no name server for %s", host)
				}
				var dialer net.Dialer
				return dialer.DialContext(ctx, kind, "127."+m[1]+"."+m[2]+"."+m[3]+":"+strconv.Itoa(ports+53))
			})
		},
		near: func(context.Context, netip.Addr) bool { return false },
		connect: func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			addr := to.Addr()
			if addr.IsLoopback() {
				return connect(ctx, to)
			}
			if !public4.Contains(addr) && !public6.Contains(addr) || to.Port() > 1<<16-1-ports {
				return nil, failed(Unreached, "a test must not connect to %s", to)
			}
			low := addr.AsSlice()
			low = low[len(low)-3:]
			return connect(ctx, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, low[0], low[1], low[2]}), to.Port()+ports))
		},
	}
}
