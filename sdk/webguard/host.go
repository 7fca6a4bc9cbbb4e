package webguard

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// names is the profile idna.Lookup, except that a host may have two hyphens as its
// third and fourth character, as branches at some hosters do (v1--site.example).
var names = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.CheckJoiners(true), idna.CheckHyphens(false), idna.StrictDomainName(true), idna.Transitional(false))

const (
	mostWritten = 1024 // bytes of a host as it is written, before it is mapped
	mostName    = 253
	mostLabel   = 63
)

// parse reads an address once; nothing reads it otherwise later. What net/url says is
// not passed on, since it quotes the address.
func parse(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch _, rest, _ := strings.Cut(address, "//"); {
	case address == "":
		return nil, failed(Malformed, "the address is empty: write it as https://HOST/PATH")
	case err != nil:
		return nil, failed(Malformed, "the address cannot be read: write it as https://HOST/PATH, without blanks and control characters")
	case !strings.HasPrefix(u.Host, "[") && strings.Contains(rest[:authority(rest)], "%"):
		return nil, failed(Malformed, "the host has a percent sign: write the name itself")
	}
	return u, nil
}

// authority is where what may be host, port and userinfo ends.
func authority(rest string) int {
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		return i
	}
	return len(rest)
}

// hostOf is a host as it will be asked for: in ASCII, lower case, without the dot at its
// end; and its address when it is one.
func hostOf(u *url.URL) (string, netip.Addr, error) {
	written := u.Hostname()
	if strings.HasPrefix(u.Host, "[") {
		return literal(written)
	}
	if len(written) > mostWritten {
		return "", netip.Addr{}, failed(Malformed, "the host is longer than a name can be")
	}
	host, err := names.ToASCII(written)
	if err != nil || !utf8.ValidString(written) {
		return "", netip.Addr{}, noName()
	}
	host = strings.TrimSuffix(host, ".")
	labels := strings.Split(host, ".")
	if len(host) > mostName || slices.ContainsFunc(labels, wrongLabel) {
		return "", netip.Addr{}, noName()
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return host, addr, nil
	}
	// No top-level domain begins with a digit. What does is read as an address by
	// programs that know octal, hexadecimal and short forms, and by others not.
	if last := labels[len(labels)-1]; last[0] >= '0' && last[0] <= '9' {
		return "", netip.Addr{}, denied(Number, "%s is a number that programs read in several ways: write the address as four decimal numbers", short(host))
	}
	return host, netip.Addr{}, nil
}

func noName() error {
	return failed(Malformed, "the host is no name: one has letters, digits and hyphens, with single dots between, and 253 bytes")
}

func wrongLabel(label string) bool {
	return label == "" || len(label) > mostLabel || label[0] == '-' || label[len(label)-1] == '-'
}

// literal is an address of IPv6. One within it of IPv4 is written so only to be taken
// for another one.
func literal(written string) (string, netip.Addr, error) {
	addr, err := netip.ParseAddr(written)
	switch {
	case err != nil || addr.Is4():
		return "", addr, failed(Malformed, "what stands in brackets is no address of IPv6")
	case addr.Zone() != "":
		return "", addr, denied(Address, "an address with a zone is one of a local network, and none of the web")
	case addr.Is4In6():
		return "", addr, denied(Address, "%s is %s of IPv4 in the form of IPv6: write it as IPv4", addr, addr.Unmap())
	}
	return addr.String(), addr, nil
}

// portOf is the port that is meant. None behind a colon is no way to write the
// standard one.
func portOf(u *url.URL) (uint16, error) {
	text := u.Port()
	if text == "" && !strings.HasSuffix(u.Host, ":") {
		return standardPort(u.Scheme), nil
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 {
		return 0, denied(Port, "there is no port %s: leave it out, or write one that there is", strconv.Quote(short(text)))
	}
	return uint16(port), nil
}

func standardPort(scheme string) uint16 {
	if scheme == "https" {
		return 443
	}
	return 80
}

// local are the top-level names that the public name service has not: names of this
// machine, of a local network, of a cloud's inside (RFC 6761, 6762, 7686, 8375, and
// what ICANN keeps free of them).
var local = []string{"localhost", "localdomain", "local", "internal", "intranet", "private", "corp", "home", "lan", "home.arpa", "onion", "alt"}

// publicName refuses a name that leads to this machine or into a local network by
// what it is, whatever a name server would answer.
func publicName(host string) error {
	for _, name := range local {
		if host == name || strings.HasSuffix(host, "."+name) {
			return denied(Name, "%s is a name of this machine or of a local network, and none of the web", short(host))
		}
	}
	if !strings.Contains(host, ".") {
		return denied(Name, "%s is a name of a local network, and none of the web: public names have a dot", short(host))
	}
	return nil
}
