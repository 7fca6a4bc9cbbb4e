// Package webtest is a small internet on this machine, for tests of what asks the web
// through package webguard. A world has one alias of the loopback to itself. Programs
// that are built with the tag webtest reach it at the public address that stands for
// the alias, by names that its name server answers; the same programs refuse the
// loopback as ever. Others reach nothing of it.
package webtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// ports is where the ports of a world are on its alias, from those that they stand for.
const ports = 10000

// World is servers that a test runs. They end with the test.
type World struct {
	t     testing.TB
	alias [3]byte
	ca    authority

	mu    sync.Mutex
	names map[string]Names
	asked map[string]int
}

// New makes a world without servers but for names, of which it has none.
func New(t testing.TB) *World {
	t.Helper()
	w := &World{t: t, names: map[string]Names{}, asked: map[string]int{}}
	for range 20 {
		w.alias = [3]byte{byte(1 + rand.N(250)), byte(rand.N(256)), byte(1 + rand.N(254))}
		if w.serveNames() == nil {
			return w
		}
	}
	t.Fatal("no alias of the loopback is free")
	return nil
}

// Addr is the public address of the world.
func (w *World) Addr() netip.Addr {
	return netip.AddrFrom4([4]byte{11, w.alias[0], w.alias[1], w.alias[2]})
}

// Addr6 is the same for IPv6.
func (w *World) Addr6() netip.Addr {
	addr := netip.MustParseAddr("2600:bb::").As16()
	copy(addr[13:], w.alias[:])
	return netip.AddrFrom16(addr)
}

// Host is a full name of the world, such as site.1-2-3.test for site. It has the
// addresses that Name gave it.
func (w *World) Host(name string) string {
	return fmt.Sprintf("%s.%d-%d-%d.test", name, w.alias[0], w.alias[1], w.alias[2])
}

// Listen listens at a port of the world.
func (w *World) Listen(port int) net.Listener {
	w.t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", w.at(port))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = listener.Close() })
	return listener
}

func (w *World) at(port int) string {
	ip := netip.AddrFrom4([4]byte{127, w.alias[0], w.alias[1], w.alias[2]})
	return net.JoinHostPort(ip.String(), strconv.Itoa(ports+port))
}

// Serve serves HTTP at a port of the world until the test ends, stalled requests
// included.
func (w *World) Serve(port int, handler http.Handler) {
	w.t.Helper()
	w.ServeAt(w.Listen(port), handler)
}

// ServeRaw serves what need not be HTTP at a port of the world until the test ends: each connection by itself, which is
// closed when serve returns.
func (w *World) ServeRaw(port int, serve func(net.Conn)) {
	w.t.Helper()
	listener := w.Listen(port)
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return // the test is over
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
}

// Hold is a serve for ServeRaw that says nothing and reads nothing, until the test ends.
func (w *World) Hold(net.Conn) { <-w.t.Context().Done() }

// ServeAt serves HTTP at a listener of the caller's.
func (w *World) ServeAt(listener net.Listener, handler http.Handler) {
	server := &http.Server{Handler: handler, ErrorLog: quiet()}
	go func() { _ = server.Serve(listener) }() // ends with Close
	w.t.Cleanup(func() { _ = server.Close() })
}

// URL is an address of the world by its public address.
func (w *World) URL(path string) string {
	return "http://" + w.Addr().String() + "/" + strings.TrimPrefix(path, "/")
}
