package webguard

import "net/netip"

// span is a part of the address space and what is there.
type span struct {
	prefix netip.Prefix
	what   string
}

func spans(rows ...[2]string) []span {
	var all []span
	for _, row := range rows {
		all = append(all, span{netip.MustParsePrefix(row[0]), row[1]})
	}
	return all
}

// special4 is what of IPv4 is not the public internet: IANA's registry of special
// purposes whole, with what it says of some that they are reachable; multicast; and an
// address of a cloud that lies among the public ones.
var special4 = spans(
	[2]string{"0.0.0.0/8", "belongs to this machine"},
	[2]string{"10.0.0.0/8", "belongs to a private network"},
	[2]string{"100.64.0.0/10", "belongs to a provider's inside, or a private overlay"},
	[2]string{"127.0.0.0/8", "belongs to this machine"},
	[2]string{"169.254.0.0/16", "belongs to the local link, where clouds have their metadata"},
	[2]string{"172.16.0.0/12", "belongs to a private network"},
	[2]string{"192.0.0.0/24", "is kept for protocols"},
	[2]string{"192.0.2.0/24", "is kept for documents"},
	[2]string{"192.31.196.0/24", "is kept for protocols"},
	[2]string{"192.52.193.0/24", "is kept for protocols"},
	[2]string{"192.88.99.0/24", "is a relay to IPv6"},
	[2]string{"192.168.0.0/16", "belongs to a private network"},
	[2]string{"192.175.48.0/24", "is kept for protocols"},
	[2]string{"198.18.0.0/15", "is kept for measurements"},
	[2]string{"198.51.100.0/24", "is kept for documents"},
	[2]string{"203.0.113.0/24", "is kept for documents"},
	[2]string{"224.0.0.0/4", "is multicast"},
	[2]string{"240.0.0.0/4", "is reserved, or broadcast"},
	[2]string{"168.63.129.16/32", "belongs to a cloud's inside"},
)

// global6 is what of IPv6 is given out at all; special6 what of it is not the public
// internet. Everything else, with addresses of IPv4 in it or not, is refused unnamed.
var (
	global6  = netip.MustParsePrefix("2000::/3")
	special6 = spans(
		[2]string{"2001::/23", "is kept for protocols"},
		[2]string{"2001:db8::/32", "is kept for documents"},
		[2]string{"2002::/16", "is a tunnel to an address of IPv4"},
		[2]string{"2620:4f:8000::/48", "is kept for protocols"},
		[2]string{"3fff::/20", "is kept for documents"},
	)
)

// public refuses an address that is none of the public internet.
func public(addr netip.Addr) error {
	special := special4
	if !addr.Is4() {
		special = special6
		if addr.Zone() != "" || !global6.Contains(addr) {
			return denied(Address, "%s is no public address", addr.WithZone(""))
		}
	}
	for _, s := range special {
		if s.prefix.Contains(addr) {
			return denied(Address, "%s is no public address: it %s", addr, s.what)
		}
	}
	return nil
}

// ofOneMachine refuses an address that cannot be one of a machine that a user names.
func ofOneMachine(addr netip.Addr) error {
	if !addr.IsValid() || addr.IsUnspecified() || addr.IsMulticast() || addr.Zone() != "" || addr == netip.AddrFrom4([4]byte{255, 255, 255, 255}) {
		return denied(Address, "%s is no address of one machine", addr.WithZone(""))
	}
	return nil
}
