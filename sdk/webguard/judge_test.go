package webguard

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// rows are addresses and what is said of them. A row that begins with a number is one
// of a collection of attacks; the others are of the same kind.
var rows = []struct {
	row     string
	address string
	verdict Verdict
	kind    Kind
}{
	{"1 loopback", "http://127.0.0.1/", Deny, Address},
	{"1 all of 127", "http://127.8.9.10/", Deny, Address},
	{"2 decimal", "http://2130706433/", Deny, Number},
	{"2 decimal beyond", "http://4294967297/", Deny, Number},
	{"3 octal", "http://0177.0.0.1/", Deny, Number},
	{"3 octal whole", "http://017700000001/", Deny, Number},
	{"3 octal, public by the decimal reading", "http://010.8.8.8/", Deny, Number},
	{"3 octal with many zeros", "http://0000000177.0.0.1/", Deny, Number},
	{"4 hexadecimal", "http://0x7f000001/", Deny, Number},
	{"4 hexadecimal parts", "http://0x7f.0x0.0x0.0x1/", Deny, Number},
	{"4 hexadecimal last part", "http://127.0.0.0x1/", Deny, Number},
	{"4 hexadecimal upper case", "http://0X7F.1/", Deny, Number},
	{"4 hexadecimal without digits", "http://127.0.0.0x/", Deny, Number},
	{"4 0x alone", "http://0x/", Deny, Number},
	{"5 short", "http://127.1/", Deny, Number},
	{"5 short of three", "http://127.0.1/", Deny, Number},
	{"5 zero", "http://0/", Deny, Number},
	{"6 five parts", "http://127.0.0.1.1/", Deny, Number},
	{"6 parts too large", "http://256.256.256.256/", Deny, Number},
	{"6 mixed forms", "http://0x7f.0.0.01/", Deny, Number},
	{"6 number below a name", "http://example.com.127/", Deny, Number},
	{"6 public as a number", "http://134744072/", Deny, Number},
	{"7 unspecified", "http://0.0.0.0/", Deny, Address},
	{"7 this network", "http://0.1.2.3/", Deny, Address},
	{"8 unspecified of IPv6", "http://[::]/", Deny, Address},
	{"9 loopback of IPv6", "http://[::1]/", Deny, Address},
	{"9 loopback written out", "http://[0:0:0:0:0:0:0:1]/", Deny, Address},
	{"9 loopback without brackets", "http://::1/", Error, Malformed},
	{"10 mapped", "http://[::ffff:127.0.0.1]/", Deny, Address},
	{"10 mapped in hexadecimal", "http://[::ffff:7f00:1]/", Deny, Address},
	{"10 mapped public", "http://[::ffff:8.8.8.8]/", Deny, Address},
	{"11 compatible", "http://[::127.0.0.1]/", Deny, Address},
	{"12 translated", "http://[::ffff:0:127.0.0.1]/", Deny, Address},
	{"13 NAT64", "http://[64:ff9b::7f00:1]/", Deny, Address},
	{"13 NAT64 public", "http://[64:ff9b::808:808]/", Deny, Address},
	{"13 metadata compatible", "http://[::a9fe:a9fe]/", Deny, Address},
	{"14 local NAT64", "http://[64:ff9b:1::7f00:1]/", Deny, Address},
	{"15 6to4", "http://[2002:7f00:1::]/", Deny, Address},
	{"15 Teredo", "http://[2001::1]/", Deny, Address},
	{"15 ORCHID", "http://[2001:20::1]/", Deny, Address},
	{"15 above the protocols", "http://[2001:200::1]/", Allow, ""},
	{"16 link-local with a zone", "http://[fe80::1%25lo]/", Deny, Address},
	{"16 loopback with a zone", "http://[::1%25eth0]/", Deny, Address},
	{"16 public with a zone", "http://[2600::1%25eth0]/", Deny, Address},
	{"16 zone as it is not written", "http://[fe80::1%lo]/", Error, Malformed},
	{"16 link-local", "http://[fe80::1]/", Deny, Address},
	{"16 site-local", "http://[fec0::1]/", Deny, Address},
	{"17 unique local", "http://[fc00::1]/", Deny, Address},
	{"17 metadata of IPv6", "http://[fd00:ec2::254]/", Deny, Address},
	{"18 discard", "http://[100::1]/", Deny, Address},
	{"18 documents", "http://[2001:db8::1]/", Deny, Address},
	{"18 more documents", "http://[3fff::1]/", Deny, Address},
	{"18 segment routing", "http://[5f00::1]/", Deny, Address},
	{"18 not given out", "http://[4000::1]/", Deny, Address},
	{"18 below what is given out", "http://[1fff:ffff::1]/", Deny, Address},
	{"18 AS112", "http://[2620:4f:8000::1]/", Deny, Address},
	{"18 public", "http://[2606:4700:4700::1111]/", Allow, ""},
	{"19 multicast of IPv6", "http://[ff02::1]/", Deny, Address},
	{"19 multicast", "http://224.0.0.1/", Deny, Address},
	{"19 broadcast", "http://255.255.255.255/", Deny, Address},
	{"20 10/8 first", "http://10.0.0.0/", Deny, Address},
	{"20 10/8 last", "http://10.255.255.255/", Deny, Address},
	{"20 below 10/8", "http://9.255.255.255/", Allow, ""},
	{"20 above 10/8", "http://11.0.0.0/", Allow, ""},
	{"20 172.16/12 first", "http://172.16.0.0/", Deny, Address},
	{"20 172.16/12 last", "http://172.31.255.255/", Deny, Address},
	{"20 below 172.16/12", "http://172.15.255.255/", Allow, ""},
	{"20 above 172.16/12", "http://172.32.0.0/", Allow, ""},
	{"20 192.168/16 first", "http://192.168.0.0/", Deny, Address},
	{"20 192.168/16 last", "http://192.168.255.255/", Deny, Address},
	{"20 below 192.168/16", "http://192.167.255.255/", Allow, ""},
	{"20 above 192.168/16", "http://192.169.0.0/", Allow, ""},
	{"21 a provider's inside", "http://100.64.0.1/", Deny, Address},
	{"21 a provider's inside last", "http://100.127.255.255/", Deny, Address},
	{"21 below", "http://100.63.255.255/", Allow, ""},
	{"21 above", "http://100.128.0.0/", Allow, ""},
	{"21 metadata there", "http://100.100.100.200/latest/meta-data/", Deny, Address},
	{"22 metadata", "http://169.254.169.254/latest/meta-data/", Deny, Address},
	{"22 metadata of containers", "http://169.254.170.2/v2/credentials", Deny, Address},
	{"23 a cloud's inside", "http://168.63.129.16/machine", Deny, Address},
	{"23 its neighbours", "http://168.63.129.17/", Allow, ""},
	{"24 measurements", "http://198.18.0.1/", Deny, Address},
	{"24 measurements last", "http://198.19.255.255/", Deny, Address},
	{"24 protocols", "http://192.0.0.192/", Deny, Address},
	{"24 documents", "http://192.0.2.1/", Deny, Address},
	{"24 documents 2", "http://198.51.100.1/", Deny, Address},
	{"24 documents 3", "http://203.0.113.9/", Deny, Address},
	{"24 reserved", "http://240.0.0.1/", Deny, Address},
	{"24 relay", "http://192.88.99.1/", Deny, Address},
	{"25 metadata by name", "http://metadata.google.internal/", Deny, Name},
	{"25 metadata by name with a dot", "http://Metadata.Google.Internal./", Deny, Name},
	{"25 metadata by half a name", "http://metadata/", Deny, Name},
	{"26 localhost", "http://localhost/", Deny, Name},
	{"26 localhost in capitals with a dot", "http://LOCALHOST./", Deny, Name},
	{"26 below localhost", "http://foo.localhost/", Deny, Name},
	{"26 localdomain", "http://localhost.localdomain/", Deny, Name},
	{"26 multicast DNS", "http://printer.local/", Deny, Name},
	{"26 home network", "http://nas.home.arpa/", Deny, Name},
	{"26 home network by habit", "http://fritz.lan/", Deny, Name},
	{"26 of a company", "http://wiki.corp/", Deny, Name},
	{"26 without a dot", "http://intranet/", Deny, Name},
	{"26 without a dot of IPv6", "http://ip6-localhost/", Deny, Name},
	{"26 onion", "http://expyuzz4wqqyqhjn.onion/", Deny, Name},
	{"26 no more than alike", "http://notlocalhost.com/", Allow, ""},
	{"26 another arpa", "http://example.arpa/", Allow, ""},
	{"27 fullwidth", "http://\uff11\uff12\uff17.\uff10.\uff10.\uff11/", Deny, Address},
	{"27 fullwidth stop", "http://127\uff0e0\uff0e0\uff0e1/", Deny, Address},
	{"27 fullwidth slash", "http://127.0.0.1\uff0fx.example.com/", Error, Malformed},
	{"27 fullwidth percent sign", "http://\uff0531.0.0.1/", Error, Malformed},
	{"27 fullwidth letters", "http://\uff4c\uff4f\uff43\uff41\uff4c\uff48\uff4f\uff53\uff54/", Deny, Name},
	{"27 ideographic stops", "http://127\u30020\u30020\u30021/", Deny, Address},
	{"27 halfwidth stops", "http://127\uff610\uff610\uff611/", Deny, Address},
	{"27 soft hyphen", "http://local\u00adhost/", Deny, Name},
	{"27 joiner in a number", "http://127.0.0.\u200b1/", Deny, Address},
	{"27 digits of another script", "http://١٢٧.٠.٠.١/", Error, Malformed},
	{"27 bold digits", "http://𝟏𝟐𝟕.𝟎.𝟎.𝟏/", Deny, Address},
	{"27 parenthesized digits", "http://⑴.1.1.1/", Error, Malformed},
	{"28 circled digits", "http://①②⑦.⓪.⓪.①/", Deny, Address},
	{"28 circled letters", "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/", Deny, Name},
	{"28 circled digits with escapes", "http://%E2%91%A0%E2%91%A1%E2%91%A6.%E2%93%AA.%E2%93%AA.%E2%91%A0/", Error, Malformed},
	{"28 punycode that is ASCII", "http://xn--localhost-.com/", Error, Malformed},
	{"28 punycode that is wrong", "http://xn--0.com/", Error, Malformed},
	{"28 punycode of what is mapped", "http://xn--orh.com/", Error, Malformed},
	{"29 with a dot", "http://127.0.0.1./", Deny, Address},
	{"29 with two dots", "http://127.0.0.1../", Error, Malformed},
	{"30 user and password", "http://user:pw@127.0.0.1/", Deny, Userinfo},
	{"30 a host as the user", "http://example.com@127.0.0.1/", Deny, Userinfo},
	{"30 a public host", "https://user@example.com/", Deny, Userinfo},
	{"30 none before the @", "https://@example.com/", Deny, Userinfo},
	{"30 two of them", "https://a@b@example.com/", Deny, Userinfo},
	{"31 @ in the fragment", "http://127.0.0.1#@example.com", Deny, Address},
	{"31 @ in the query", "http://127.0.0.1?@example.com/", Deny, Address},
	{"31 @ in the path", "http://127.0.0.1/@example.com/", Deny, Address},
	{"32 backslash before the @", `http://example.com\@127.0.0.1/`, Error, Malformed},
	{"32 backslash in the host", `http://127.0.0.1\.example.com/`, Error, Malformed},
	{"32 backslashes for slashes", `http:\\127.0.0.1\`, Error, Malformed},
	{"32 backslash in the path", `http://example.com/a\b`, Allow, ""},
	{"33 NUL", "http://127.0.0.1\x00.example.com/", Error, Malformed},
	{"33 NUL escaped", "http://127.0.0.1%00.example.com/", Error, Malformed},
	{"33 tab", "http://127.0.\t0.1/", Error, Malformed},
	{"33 line feed", "http://example.com\n/", Error, Malformed},
	{"33 carriage return and line feed", "http://example.com/\r\nHost: x", Error, Malformed},
	{"33 carriage return and line feed escaped in the host", "http://example.com%0d%0aHost:x/", Error, Malformed},
	{"33 blank before", " http://example.com/", Error, Malformed},
	{"33 blank in the host", "http://exam ple.com/", Error, Malformed},
	{"33 DEL", "http://example.com\x7f/", Error, Malformed},
	{"33 not UTF-8", "http://\xff\xfe.com/", Error, Malformed},
	{"34 escaped digits", "http://%31%32%37.0.0.1/", Error, Malformed},
	{"34 escaped dots", "http://127%2e0%2e0%2e1/", Error, Malformed},
	{"34 escaped @", "http://example.com%40127.0.0.1/", Error, Malformed},
	{"34 escaped slash", "http://127.0.0.1%2f.example.com/", Error, Malformed},
	{"34 escaped twice", "http://%2531.0.0.1/", Error, Malformed},
	{"35 one slash", "http:/x", Error, Malformed},
	{"35 three slashes", "http:///x", Error, Malformed},
	{"35 no scheme", "//x", Error, Malformed},
	{"35 nothing", "", Error, Malformed},
	{"35 a path", "/etc/passwd", Error, Malformed},
	{"35 a name", "example.com", Error, Malformed},
	{"35 opaque", "http:example.com", Error, Malformed},
	{"35 scheme alone", "http://", Error, Malformed},
	{"36 file", "file:///etc/passwd", Deny, Scheme},
	{"36 file of a host", "file://example.com/x", Deny, Scheme},
	{"36 gopher", "gopher://127.0.0.1:6379/_INFO", Deny, Scheme},
	{"36 ftp", "ftp://example.com/", Deny, Scheme},
	{"36 data", "data:text/html,x", Deny, Scheme},
	{"36 javascript", "javascript:alert(1)", Deny, Scheme},
	{"36 dict", "dict://127.0.0.1:11211/", Deny, Scheme},
	{"36 unix", "unix:///var/run/docker.sock", Deny, Scheme},
	{"36 http over unix", "http+unix://x/", Deny, Scheme},
	{"36 web socket", "ws://example.com/", Deny, Scheme},
	{"36 view-source", "view-source:http://127.0.0.1/", Deny, Scheme},
	{"36 in capitals", "HTTP://EXAMPLE.COM/", Allow, ""},
	{"37 port 0", "http://example.com:0/", Deny, Port},
	{"37 port 22", "http://example.com:22/", Deny, Port},
	{"37 port 25", "http://example.com:25/", Deny, Port},
	{"37 port 6379", "http://example.com:6379/", Deny, Port},
	{"37 port 2375", "http://example.com:2375/", Deny, Port},
	{"37 port 8080", "http://example.com:8080/", Deny, Port},
	{"37 port 99999", "http://example.com:99999/", Deny, Port},
	{"37 port that wraps to 80", "http://example.com:65616/", Deny, Port},
	{"37 port empty", "http://example.com:/", Deny, Port},
	{"37 port empty of IPv6", "http://[2600::1]:/", Deny, Port},
	{"37 port of letters", "http://example.com:http/", Error, Malformed},
	{"37 port negative", "http://example.com:-80/", Error, Malformed},
	{"37 two ports", "http://example.com:80:80/", Error, Malformed},
	{"37 port with zeros", "http://example.com:0080/", Allow, ""},
	{"37 port of the other scheme", "http://example.com:443/", Allow, ""},
	{"51 label of 300 bytes", "http://" + strings.Repeat("a", 300) + ".com/", Error, Malformed},
	{"51 label of 64 bytes", "http://" + strings.Repeat("a", 64) + ".com/", Error, Malformed},
	{"51 label of 63 bytes", "http://" + strings.Repeat("a", 63) + ".com/", Allow, ""},
	{"51 name of 260 bytes", "http://" + strings.Repeat("a.", 128) + "com/", Error, Malformed},
	{"51 megabyte", "http://" + strings.Repeat("ⓐ", 1<<20) + ".com/", Error, Malformed},
	{"51 empty label", "http://a..com/", Error, Malformed},
	{"51 empty label first", "http://.com/", Error, Malformed},
	{"51 dot alone", "http://./", Error, Malformed},
	{"51 underscore", "http://a_b.com/", Error, Malformed},
	{"51 blank", "http://a b.com/", Error, Malformed},
	{"51 hyphen first", "http://-a.com/", Error, Malformed},
	{"51 hyphen last", "http://a-.com/", Error, Malformed},
	{"51 hyphens within", "https://v1--site.example.com/", Allow, ""},
	{"51 comma", "http://a,b.com/", Error, Malformed},
	{"51 bracket open", "http://[::1/", Error, Malformed},
	{"51 IPv4 in brackets", "http://[127.0.0.1]/", Error, Malformed},
	{"51 name in brackets", "http://[example.com]/", Error, Malformed},
	{"51 two brackets", "http://[::1][::1]/", Error, Malformed},
	{"9 loopback with a mask", "http://[::1/128]/", Error, Malformed},
	{"10 mapped public in hexadecimal", "http://[::ffff:0808:0808]/", Deny, Address},
	{"10 mapped with a zone", "http://[::ffff:8.8.8.8%25eth0]/", Deny, Address},
	{"15 6to4 of a private one", "http://[2002:c0a8:101::1]/", Deny, Address},
	{"15 Teredo with a private one", "http://[2001:0:0a00:1::f5ff:fffe]/", Deny, Address},
	{"15 last of the protocols", "http://[2001:1ff:ffff::1]/", Deny, Address},
	{"16 empty zone", "http://[2600::1%25]/", Error, Malformed},
	{"16 escapes in a zone", "http://[fe80::1%25%6c%6f]/", Deny, Address},
	{"18 above 6to4", "http://[2003::1]/", Allow, ""},
	{"18 last of documents", "http://[3fff:fff:ffff::1]/", Deny, Address},
	{"18 above documents", "http://[3fff:1000::1]/", Allow, ""},
	{"18 beside AS112", "http://[2620:4f:8001::1]/", Allow, ""},
	{"18 public with a part of IPv4", "http://[2606:4700::8.8.8.8]/", Allow, ""},
	{"18 a version to come", "http://[v1.fe80::a]/", Error, Malformed},
	{"21 metadata of another cloud", "http://169.254.0.23/", Deny, Address},
	{"24 everything at an end", "http://255.255.255.254/", Deny, Address},
	{"25 a cluster", "http://kubernetes.default.svc.cluster.local/", Deny, Name},
	{"25 an instance", "http://instance-data.ec2.internal/", Deny, Name},
	{"26 below a local name with an ideographic stop", "http://sub.localhost\u3002/", Deny, Name},
	{"26 home network with an ideographic stop", "http://x.home\u3002arpa/", Deny, Name},
	{"26 a top-level name alone", "http://ai./", Deny, Name},
	{"27 a grapheme joiner", "http://lo\u034fcalhost/", Deny, Name},
	{"27 a joiner at the end", "http://localhost\u200c/", Error, Malformed},
	{"27 a soft hyphen before a number", "http://\u00ad127.0.0.1/", Deny, Address},
	{"27 hexadecimal in fullwidth", "http://\uff10\uff587f.\uff11/", Deny, Number},
	{"27 one fullwidth digit", "http://127.0.0.\uff11/", Deny, Address},
	{"27 fullwidth at", "http://example.com\uff20127.0.0.1/", Error, Malformed},
	{"27 fullwidth colon", "http://example.com\uff1a80/", Error, Malformed},
	{"27 fullwidth number sign before a user", "http://example.com\uff03@127.0.0.1/", Error, Malformed},
	{"27 account of", "http://example.com\u2100.example.com/", Error, Malformed},
	{"27 bidi in a name", "http://exa\u202emple.com/", Error, Malformed},
	{"27 a line separator", "http://exam\u2028ple.com/", Error, Malformed},
	{"27 brackets of letters", "http://[\uff1a\uff1a1]/", Error, Malformed},
	{"27 a byte order mark before it", "\ufeffhttp://127.0.0.1/", Error, Malformed},
	{"28 public in circled digits", "http://①.①.①.①/", Allow, ""},
	{"28 punycode of digits", "http://xn--127-0-0-1.com/", Error, Malformed},
	{"28 punycode of nothing", "http://xn--.com/", Error, Malformed},
	{"29 stops of two kinds", "http://127.0.0.1.\u3002/", Error, Malformed},
	{"30 a port before the @", "http://example.com:80@127.0.0.1/", Deny, Userinfo},
	{"30 a bracket before the @", "http://[2600::1]@127.0.0.1/", Error, Malformed},
	{"30 a colon before the @", "https://:@example.com/", Deny, Userinfo},
	{"31 a backslash and @ in the path", `http://127.0.0.1/\@example.com/`, Deny, Address},
	{"35 one backslash after the slashes", `http:/\127.0.0.1/`, Error, Malformed},
	{"35 four slashes", "http:////127.0.0.1/", Error, Malformed},
	{"36 blob", "blob:http://127.0.0.1/x", Deny, Scheme},
	{"36 about", "about:blank", Deny, Scheme},
	{"36 mail", "mailto:a@example.com", Deny, Scheme},
	{"36 two schemes", "http:http://127.0.0.1/", Error, Malformed},
	{"36 a scheme that is alike", "httpss://example.com/", Deny, Scheme},
	{"37 port with a sign", "http://example.com:+80/", Error, Malformed},
	{"37 port in fullwidth", "http://example.com:\uff18\uff10/", Error, Malformed},
	{"37 port of another script", "http://example.com:٨٠/", Error, Malformed},
	{"37 port beyond 64 bits", "http://example.com:18446744073709551696/", Deny, Port},
	{"37 port without a host", "http://:80/", Error, Malformed},
	{"37 port in hexadecimal", "http://example.com:0x50/", Error, Malformed},
	{"51 text behind the brackets", "http://[2600::1].example.com/", Error, Malformed},
	{"51 empty brackets", "http://[]/", Error, Malformed},
	{"a name", "https://example.com/a/b?c=d", Allow, ""},
	{"a name with a dot", "https://example.com./", Allow, ""},
	{"a name of another script", "https://bücher.example/", Allow, ""},
	{"a name in punycode", "https://xn--bcher-kva.example/", Allow, ""},
	{"a public address", "http://8.8.8.8/", Allow, ""},
	{"escapes behind the host", "https://example.com/%2e%2e/a%00b?q=%40", Allow, ""},
}

// TestJudge: each row has its verdict and kind, and a refusal says why in one sentence.
func TestJudge(t *testing.T) {
	for _, row := range rows {
		t.Run(row.row, func(t *testing.T) {
			u, err := Judge(row.address)
			checkVerdict(t, err, row.verdict, row.kind)
			if (u == nil) != (err != nil) {
				t.Errorf("there is %v with the error %v", u, err)
			}
		})
	}
}

// checkVerdict holds what is said of an address, or of asking for it.
func checkVerdict(t *testing.T, err error, verdict Verdict, kind Kind) {
	t.Helper()
	if verdict == Allow {
		if err != nil {
			t.Errorf("it is refused: %v", err)
		}
		return
	}
	var refusal *Refusal
	if !errors.As(err, &refusal) {
		t.Fatalf("the error is %v, and no refusal", err)
	}
	if refusal.Verdict != verdict || refusal.Kind != kind {
		t.Errorf("it is %s %s (%s), want %s %s", refusal.Verdict, refusal.Kind, refusal.Reason, verdict, kind)
	}
	if s := refusal.Reason; s == "" || strings.ContainsAny(s, "\n\r\t\x00") || strings.HasSuffix(s, ".") || len(s) > 600 {
		t.Errorf("no sentence: %q", s)
	}
}

// TestJudgeSaysNoSecrets: what may be a password or a key is in no refusal.
func TestJudgeSaysNoSecrets(t *testing.T) {
	for _, address := range []string{
		"https://user:CANARY@example.com/", "https://CANARY@example.com/", "https://user:CAN/CANARY@example.com/", "https://us er:CANARY@example.com/",
		"http://127.0.0.1/CANARY?key=CANARY#CANARY", "http://example.com:22/CANARY", "http://exa%6dple.com/?CANARY", "file:///CANARY", "http://a:CANARY@b:CANARY/",
	} {
		_, err := Judge(address)
		if err == nil || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%s: %v", address, err)
		}
		if cause := errors.Unwrap(err); cause != nil {
			t.Errorf("%s: behind the refusal is %v", address, cause)
		}
	}
}

// TestJudgeAsks: an address is returned as it would be asked for.
func TestJudgeAsks(t *testing.T) {
	for address, want := range map[string]string{
		"HTTPS://Example.COM.:443/a?b#c":      "https://example.com/a?b",
		"http://example.com:80":               "http://example.com",
		"http://example.com:443/":             "http://example.com:443/",
		"http://BÜCHER.example/":              "http://xn--bcher-kva.example/",
		"http://8\u30028.8.8/x":               "http://8.8.8.8/x",
		"http://[2600:0::1]:80/":              "http://[2600::1]/",
		"http://example.com/a%2fb/ü":          "http://example.com/a%2fb/%C3%BC",
		"http://example.com/a b?q=c d&e=ü%20": "http://example.com/a%20b?q=c%20d&e=%C3%BC%20",
		`http://example.com/[a]{b}\"?"<>`:     "http://example.com/%5Ba%5D%7Bb%7D%5C%22?%22%3C%3E",
		"http://example.com/\xff?\xff":        "http://example.com/%FF?%FF",
		"http://example.com/a%7Bb?%7B%":       "http://example.com/a%7Bb?%7B%",
	} {
		u, err := Judge(address)
		if err != nil || u.String() != want {
			t.Errorf("%s: %v, %v, want %s", address, u, err, want)
		}
	}
}

// TestOptions: ports and origins that the options name are open, those alone, and
// neither makes anything else of an address right.
func TestOptions(t *testing.T) {
	options := Options{Ports: []uint16{8080}, Origins: []string{"http://127.0.0.1:8888", "http://LOCALHOST.:9000/", "https://wiki", "http://[fd00::5]", "http://10.1.1.1:8080", "no origin", "http://0.0.0.0", "http://[ff02::1]"}}
	for _, c := range []struct {
		address string
		verdict Verdict
		kind    Kind
	}{
		{"http://example.com:8080/", Allow, ""},
		{"https://example.com:8080/", Allow, ""},
		{"http://example.com:8081/", Deny, Port},
		{"http://127.0.0.1:8888/search?q=x", Allow, ""},
		{"http://127.0.0.1.:8888/", Allow, ""},
		{"https://127.0.0.1:8888/", Deny, Port},
		{"http://127.0.0.1:8080/", Deny, Address},
		{"http://127.0.0.1/", Deny, Address},
		{"http://127.0.0.2:8888/", Deny, Port},
		{"http://127.1:8888/", Deny, Number},
		{"http://user@127.0.0.1:8888/", Deny, Userinfo},
		{"http://localhost:9000/", Allow, ""},
		{"http://localhost/", Deny, Name},
		{"http://a.localhost:9000/", Deny, Port},
		{"https://wiki/", Allow, ""},
		{"http://wiki/", Deny, Name},
		{"http://[fd00::5]/", Allow, ""},
		{"http://[fd00::6]/", Deny, Address},
		{"http://10.1.1.1:8080/", Allow, ""},
		{"http://0.0.0.0/", Deny, Address},
		{"http://[ff02::1]/", Deny, Address},
	} {
		_, err := options.Judge(c.address)
		t.Run(c.address, func(t *testing.T) { checkVerdict(t, err, c.verdict, c.kind) })
	}
	only := Options{Only: true, Origins: []string{"https://api.example.com", "http://127.0.0.1:8888"}}
	for address, kind := range map[string]Kind{"https://api.example.com/x": "", "http://127.0.0.1:8888/": "", "https://example.com/": Elsewhere, "http://api.example.com/": Elsewhere} {
		_, err := only.Judge(address)
		if kind == "" && err != nil {
			t.Errorf("%s: %v", address, err)
		} else if kind != "" {
			checkVerdict(t, err, Deny, kind)
		}
	}
	_, err := Options{Only: true}.Judge("https://example.com/")
	checkVerdict(t, err, Deny, Elsewhere)
}

// TestOrigin: an origin is written in one way, and what has none is refused.
func TestOrigin(t *testing.T) {
	for address, want := range map[string]string{
		"http://127.0.0.1:8888/x?y": "http://127.0.0.1:8888", "https://EXAMPLE.com:443": "https://example.com", "http://[fd00:0::5]:80": "http://[fd00::5]", "http://localhost:65535": "http://localhost:65535",
	} {
		if got, err := Origin(address); err != nil || got != want {
			t.Errorf("%s: %s, %v", address, got, err)
		}
	}
	for _, address := range []string{"", "127.0.0.1:8888", "localhost", "ftp://x", "http://u@localhost", "http://localhost:0", "http://127.1"} {
		if got, err := Origin(address); err == nil {
			t.Errorf("%q has the origin %s", address, got)
		}
	}
}

// TestJudgeURL: an address that a server wrote in another script is judged as it is meant.
func TestJudgeURL(t *testing.T) {
	base, err := url.Parse("https://example.com/a/b")
	if err != nil {
		t.Fatal(err)
	}
	for location, want := range map[string]string{
		"//b\u00fccher.example/\u00fc?q": "https://xn--bcher-kva.example/%C3%BC?q", "../c": "https://example.com/c", "HTTP://EXAMPLE.COM.:80": "http://example.com", "?x": "https://example.com/a/b?x",
		"//①②⑦.⓪.⓪.①/": "", "//u@example.com/": "", "file:///x": "", "http:example.com": "", "//example.com:/": "",
	} {
		to, err := base.Parse(location)
		if err != nil {
			t.Fatal(err)
		}
		if u, err := (Options{}).JudgeURL(to); (err == nil) != (want != "") || err == nil && u.String() != want {
			t.Errorf("%s: %v, %v, want %s", location, u, err, want)
		}
	}
}

// TestJudgeOfNoText: addresses that no text is read to are judged as well.
func TestJudgeOfNoText(t *testing.T) {
	for _, u := range []*url.URL{
		{}, {Scheme: "http"}, {Scheme: "http", Host: "exa/mple.com"}, {Scheme: "http", Host: "127.0.0.1:80:80"}, {Scheme: "http", Host: "[::1"}, {Scheme: "http", Host: "[]"},
		{Scheme: "http", Host: "::1"}, {Scheme: "http", Host: "a.com@127.0.0.1"}, {Scheme: "http", Host: "[::1%lo]"}, {Scheme: "http", Host: "127.0.0.1%31"}, {Scheme: "http", Host: "\x00"},
		{Scheme: "http", Opaque: "//127.0.0.1/", Host: "example.com"}, {Scheme: "http", Host: "example.com", User: url.User("")}, {Scheme: "HTTP", Host: "example.com"},
	} {
		if got, err := (Options{}).judge(u); err == nil {
			t.Errorf("%+v is asked for as %s", u, got.url)
		}
	}
}

func BenchmarkJudge(b *testing.B) {
	for _, address := range []string{"https://example.com/a/b?c=d", "http://8.8.8.8/", "http://[2606:4700:4700::1111]/", "http://127.0.0.1/", "https://bücher.example/"} {
		b.Run(fmt.Sprintf("%q", address), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = Judge(address)
			}
		})
	}
}
