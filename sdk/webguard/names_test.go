package webguard

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/bothyd/bothy/sdk/webguard/webtest"
)

// nameServer answers each question with what reply makes of it; nil is no answer. It is closed with the test.
func nameServer(t *testing.T, reply func(q dnsmessage.Question) *dnsmessage.Message) string {
	t.Helper()
	conn, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return // closed
			}
			var asked dnsmessage.Message
			if asked.Unpack(buffer[:n]) != nil || len(asked.Questions) != 1 {
				continue
			}
			m := reply(asked.Questions[0])
			if m == nil {
				continue
			}
			m.ID, m.Response, m.RecursionAvailable, m.Questions = asked.ID, true, true, asked.Questions
			if raw, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(raw, from) // who does not get it asks again
			}
		}
	}()
	return conn.LocalAddr().String()
}

// address is an answer that a name has an address.
func address(name, addr string) dnsmessage.Resource {
	owner := dnsmessage.MustNewName(name)
	a := netip.MustParseAddr(addr)
	if a.Is4() {
		return dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: owner, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}, Body: &dnsmessage.AResource{A: a.As4()}}
	}
	return dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: owner, Type: dnsmessage.TypeAAAA, Class: dnsmessage.ClassINET}, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}}
}

// TestOddNameServers: what a name server says beside a public address, for whatever name and in whatever section it counts, opens nothing;
// one that fails or is silent costs its request.
func TestOddNameServers(t *testing.T) {
	w := webtest.New(t)
	w.Serve(80, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, "here") }))
	const host = "odd.example."
	here := w.Addr().String()
	for row, c := range map[string]struct {
		a, aaaa *dnsmessage.Message // answers to the two questions
		verdict Verdict
		kind    Kind
	}{
		"a public one": {&dnsmessage.Message{Answers: []dnsmessage.Resource{address(host, here)}}, &dnsmessage.Message{}, Allow, ""},
		"one of another name": {
			&dnsmessage.Message{Answers: []dnsmessage.Resource{address(host, here), address("other.example.", "10.0.0.1")}}, &dnsmessage.Message{}, Deny, Address,
		},
		"only one of another name": {&dnsmessage.Message{Answers: []dnsmessage.Resource{address("other.example.", "10.0.0.1")}}, &dnsmessage.Message{}, Deny, Address},
		"a private one in another section": {
			&dnsmessage.Message{Answers: []dnsmessage.Resource{address(host, here)}, Additionals: []dnsmessage.Resource{address(host, "10.0.0.1")}}, &dnsmessage.Message{}, Allow, "",
		},
		"a private one where none was asked for": {
			&dnsmessage.Message{Answers: []dnsmessage.Resource{address(host, here), address(host, "::1")}}, &dnsmessage.Message{}, Deny, Address,
		},
		"a public one, and a failure":  {&dnsmessage.Message{Answers: []dnsmessage.Resource{address(host, here)}}, &dnsmessage.Message{Header: dnsmessage.Header{RCode: dnsmessage.RCodeServerFailure}}, Allow, ""},
		"a failure, and a private one": {&dnsmessage.Message{Header: dnsmessage.Header{RCode: dnsmessage.RCodeServerFailure}}, &dnsmessage.Message{Answers: []dnsmessage.Resource{address(host, "fd00::1")}}, Deny, Address},
		"failures":                     {&dnsmessage.Message{Header: dnsmessage.Header{RCode: dnsmessage.RCodeServerFailure}}, &dnsmessage.Message{Header: dnsmessage.Header{RCode: dnsmessage.RCodeRefused}}, Error, Unknown},
		"neither":                      {&dnsmessage.Message{}, &dnsmessage.Message{}, Error, Unknown},
		"no such name, and an address": {&dnsmessage.Message{Header: dnsmessage.Header{RCode: dnsmessage.RCodeNameError}, Answers: []dnsmessage.Resource{address(host, "127.0.0.1")}}, &dnsmessage.Message{Header: dnsmessage.Header{RCode: dnsmessage.RCodeNameError}}, Error, Unknown},
		"silence":                      {nil, nil, Error, Timeout},
		"silence to one question":      {&dnsmessage.Message{Answers: []dnsmessage.Resource{address(host, here)}}, nil, Error, Timeout},
	} {
		t.Run(row, func(t *testing.T) {
			at := nameServer(t, func(q dnsmessage.Question) *dnsmessage.Message {
				if q.Type == dnsmessage.TypeA {
					return c.a
				}
				return c.aaaa
			})
			way := standIn()
			way.resolver = func(string) *net.Resolver {
				return resolver(func(ctx context.Context, kind, _ string) (net.Conn, error) {
					return new(net.Dialer).DialContext(ctx, kind, at)
				})
			}
			limits := usual
			if c.kind == Timeout {
				limits.header = 200 * time.Millisecond
			}
			_, _, err := get(&http.Client{Transport: newGuard(Options{}, limits, way)}, "http://odd.example/")
			checkVerdict(t, err, c.verdict, c.kind)
		})
	}
}
