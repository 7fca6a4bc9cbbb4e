package webguard

import (
	"context"
	"math/rand/v2"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/idna"
)

// notWeb are IANA's registries of special purposes for IPv4 and IPv6, whole, with what
// is multicast, reserved or not given out. It is written anew here, and looked at in
// another way than by the code.
var notWeb = prefixes(`
	0.0.0.0/8 0.0.0.0/32 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.0.0/29 192.0.0.8/32 192.0.0.9/32
	192.0.0.10/32 192.0.0.170/32 192.0.0.171/32 192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.88.99.2/32 192.168.0.0/16
	192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 255.255.255.255/32 168.63.129.16/32
	::1/128 ::/128 ::/96 ::ffff:0:0/96 ::ffff:0:0:0/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001::/32 2001:1::1/128 2001:1::2/128
	2001:1::3/128 2001:2::/48 2001:3::/32 2001:4:112::/48 2001:10::/28 2001:20::/28 2001:30::/28 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20
	5f00::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8 ::/3 4000::/2 8000::/1`)

func prefixes(text string) (all []netip.Prefix) {
	for field := range strings.FieldsSeq(text) {
		all = append(all, netip.MustParsePrefix(field))
	}
	return all
}

// refusedByTables is the second judge of an address: every row, and for IPv6 the
// address of IPv4 that may be in it at each place where one is put.
func refusedByTables(addr netip.Addr) bool {
	for _, prefix := range notWeb {
		if prefix.Addr().BitLen() != addr.BitLen() {
			continue
		}
		if p, err := addr.WithZone("").Prefix(prefix.Bits()); err == nil && p == prefix.Masked() {
			return true
		}
	}
	return addr.Zone() != "" || !addr.IsGlobalUnicast() || addr.IsPrivate() || addr.IsLoopback() || addr.IsLinkLocalUnicast()
}

// readAsNumber reads a host as inet_aton and browsers do: one to four numbers, decimal,
// octal or hexadecimal, of which the last fills the rest.
func readAsNumber(host string) (netip.Addr, bool) {
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var value uint64
	for i, part := range parts {
		base := 10
		switch low := strings.ToLower(part); {
		case strings.HasPrefix(low, "0x"):
			part, base = part[2:], 16
			if part == "" {
				part = "0"
			}
		case len(part) > 1 && part[0] == '0':
			base = 8
		}
		n, err := strconv.ParseUint(part, base, 64)
		room := uint64(256)
		if i == len(parts)-1 {
			room = 1 << (8 * (5 - len(parts)))
		}
		if err != nil || n >= room {
			return netip.Addr{}, false
		}
		value = value*room + n
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), true
}

// refusedSlowly is the second judge of an address as it is written.
func refusedSlowly(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return true
	}
	if port := u.Port(); strings.HasSuffix(u.Host, ":") || port != "" {
		if n, err := strconv.Atoi(port); err != nil || n != 80 && n != 443 {
			return true
		}
	}
	host := u.Hostname()
	for _, read := range []func(string) (string, error){
		func(h string) (string, error) { return h, nil },
		idna.ToASCII, idna.Lookup.ToASCII, idna.Display.ToASCII, idna.Punycode.ToASCII,
		func(h string) (string, error) { return idna.ToUnicode(h) },
	} {
		h, err := read(host)
		if err != nil {
			continue
		}
		h = strings.ToLower(strings.TrimRight(h, "."))
		if addr, err := netip.ParseAddr(h); err == nil && refusedByTables(addr) {
			return true
		}
		if addr, ok := readAsNumber(h); ok && refusedByTables(addr) {
			return true
		}
		if ip := net.ParseIP(h); ip != nil && (ip.IsLoopback() || ip.IsPrivate() || ip.IsUnspecified() || ip.IsLinkLocalUnicast()) {
			return true
		}
		if h == "localhost" || strings.HasSuffix(h, ".localhost") || strings.HasSuffix(h, ".local") || strings.HasSuffix(h, ".internal") || strings.HasSuffix(h, ".home.arpa") {
			return true
		}
	}
	return false
}

// FuzzJudge: nothing is allowed that the second judge refuses, what is allowed is allowed
// again as it is returned, for the same host, and nothing panics.
func FuzzJudge(f *testing.F) {
	for _, row := range rows {
		if len(row.address) < 1<<10 {
			f.Add(row.address)
		}
	}
	f.Fuzz(func(t *testing.T, address string) {
		if len(address) > 4<<10 {
			return // the second judge is slow
		}
		u, err := Judge(address)
		if err != nil {
			if _, ok := err.(*Refusal); !ok {
				t.Fatalf("%q: the error is %T", address, err)
			}
			return
		}
		if refusedSlowly(address) || refusedSlowly(u.String()) {
			t.Fatalf("%q is allowed as %s", address, u)
		}
		again, err := Judge(u.String())
		if err != nil || again.String() != u.String() {
			t.Fatalf("%q is allowed as %s, and that as %v, %v", address, u, again, err)
		}
		if _, err := (Options{Only: true, Origins: []string{"http://127.0.0.1"}}).Judge(address); err == nil {
			t.Fatalf("%q is allowed where one origin is", address)
		}
	})
}

// FuzzAddress: no address is taken for public that a row of the tables has.
func FuzzAddress(f *testing.F) {
	for _, prefix := range notWeb {
		f.Add(prefix.Addr().AsSlice())
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		addr, ok := netip.AddrFromSlice(raw)
		if ok && refusedByTables(addr) && public(addr) == nil {
			t.Fatalf("%s is taken for public", addr)
		}
	})
}

// TestEdges: at each end of each row and beside it, both judges say the same; so they
// do of addresses by chance.
func TestEdges(t *testing.T) {
	same := func(addr netip.Addr) {
		if addr.IsValid() && refusedByTables(addr) != (public(addr) != nil) {
			t.Errorf("%s: the tables say %v, and the code says %v", addr, refusedByTables(addr), public(addr))
		}
	}
	for _, prefix := range notWeb {
		prefix = prefix.Masked()
		last := prefix.Addr().AsSlice()
		for i := prefix.Bits(); i < prefix.Addr().BitLen(); i++ {
			last[i/8] |= 0x80 >> (i % 8)
		}
		end, _ := netip.AddrFromSlice(last)
		for _, addr := range []netip.Addr{prefix.Addr(), prefix.Addr().Prev(), end, end.Next()} {
			same(addr)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		n := random.Uint32()
		same(netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}))
		addr := [16]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n), 15: 1}
		same(netip.AddrFrom16(addr))
	}
}

// TestNear: an address of this machine is found to be its own, without a packet.
func TestNear(t *testing.T) {
	for text, want := range map[string]bool{"127.0.0.1": true, "127.0.0.2": false} {
		if got := near(t.Context(), netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
	interfaces, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, own := range interfaces {
		prefix, err := netip.ParsePrefix(own.String())
		if err == nil && !prefix.Addr().IsLinkLocalUnicast() && !near(t.Context(), prefix.Addr()) {
			t.Errorf("%s is this machine's, and is not found to be", prefix.Addr())
		}
	}
}

// TestNearIsRefused: a public address is refused where it is this machine's own, and by
// what origins open is not asked for.
func TestNearIsRefused(t *testing.T) {
	way := standIn()
	way.near = near
	g := newGuard(Options{}, usual, way)
	addr := netip.MustParseAddr("127.0.0.1")
	host := judged{host: "example.com"}
	if err := g.judgeAnswer(t.Context(), judged{host: "example.com", opened: true}, addr); err != nil {
		t.Error(err)
	}
	way.near = func(_ context.Context, a netip.Addr) bool { return a == netip.MustParseAddr("8.8.8.8") }
	g = newGuard(Options{}, usual, way)
	checkVerdict(t, g.judgeAnswer(t.Context(), host, netip.MustParseAddr("8.8.8.8")), Deny, Address)
	checkVerdict(t, g.judgeAnswer(t.Context(), host, netip.MustParseAddr("8.8.8.9")), Allow, "")
}

// TestSameAddress: the last look takes the judged address, at a port and over TCP, and
// nothing else.
func TestSameAddress(t *testing.T) {
	judged := netip.MustParseAddrPort("8.8.8.8:80")
	for _, c := range []struct {
		network, address string
		same             bool
	}{
		{"tcp4", "8.8.8.8:80", true}, {"tcp6", "[::ffff:8.8.8.8]:80", false}, {"tcp4", "8.8.8.8:81", false}, {"tcp4", "127.0.0.1:80", false},
		{"udp4", "8.8.8.8:80", false}, {"unix", "8.8.8.8:80", false}, {"tcp", "8.8.8.8:80", false}, {"tcp4", "", false},
	} {
		if err := sameAddress(c.network, c.address, judged); (err == nil) != c.same {
			t.Errorf("%s %s: %v", c.network, c.address, err)
		}
	}
}
