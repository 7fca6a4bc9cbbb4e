package webguard

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/bothyd/bothy/sdk/webguard/webtest"
)

// newClient is a client in a world of a test. When it would connect to anything else
// than the world and the options' origins, the test fails.
func newClient(t *testing.T, w *webtest.World, options Options, limits limits) *http.Client {
	t.Helper()
	way := standIn()
	connect := way.connect
	way.connect = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
		own := to.Addr() == w.Addr() || to.Addr() == w.Addr6()
		for _, origin := range options.normal().Origins {
			own = own || strings.Contains(origin, to.String())
		}
		if !own {
			t.Errorf("it would connect to %s", to)
		}
		return connect(ctx, to)
	}
	g := newGuard(options, limits, way)
	g.http.TLSClientConfig = &tls.Config{RootCAs: w.Roots()}
	return &http.Client{Transport: g}
}

// get is the body of an answer, or why there is none.
func get(client *http.Client, address string) (string, *http.Response, error) {
	resp, err := client.Get(address)
	if err != nil {
		return "", nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), resp, err
}

func checkBody(t *testing.T, client *http.Client, address, want string) {
	t.Helper()
	if text, _, err := get(client, address); err != nil || text != want {
		t.Errorf("%s: %q, %v, want %q", address, text, err, want)
	}
}

func checkRefused(t *testing.T, client *http.Client, address string, verdict Verdict, kind Kind) {
	t.Helper()
	_, _, err := get(client, address)
	checkVerdict(t, err, verdict, kind)
}

// seen are the requests that servers of a test had.
type seen struct {
	mu  sync.Mutex
	all []string
}

func (s *seen) add(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, r.Method+" "+r.Host+r.URL.Path)
}

func (s *seen) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := strings.Join(s.all, ", ")
	s.all = nil
	return text
}

// TestRowsSendNothing: what is refused as it is written is refused by the client as well, and
// nothing is asked or connected to.
func TestRowsSendNothing(t *testing.T) {
	w := webtest.New(t)
	client := newClient(t, w, Options{}, usual)
	for _, row := range rows {
		u, err := url.Parse(row.address)
		if row.verdict == Allow || err == nil && strings.HasSuffix(u.Host, ":") {
			continue // http.NewRequest drops an empty port
		}
		t.Run(row.row, func(t *testing.T) {
			_, _, err := get(client, row.address)
			var refusal *Refusal
			switch {
			case err == nil:
				t.Error("it is asked for")
			case row.kind != Malformed:
				checkVerdict(t, err, row.verdict, row.kind)
			case errors.As(err, &refusal) && (refusal.Kind == Unknown || refusal.Kind == Unreached):
				t.Error(err) // what net/http does not read either has no refusal
			}
		})
	}
}

// TestHosts: a host is refused whole when one of its addresses is none of the web,
// whatever kind it is of, and a name is asked for once: what was judged is connected to.
func TestHosts(t *testing.T) {
	w := webtest.New(t)
	w.Serve(80, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/again" {
			http.Redirect(rw, r, "/", http.StatusFound)
		}
		_, _ = io.WriteString(rw, "here")
	}))
	client := newClient(t, w, Options{}, usual)
	here, here6 := w.Addr(), w.Addr6()
	addr := netip.MustParseAddr
	for _, c := range []struct {
		row     string
		names   webtest.Names
		verdict Verdict
		kind    Kind
	}{
		{"public", webtest.Names{Addrs: []netip.Addr{here}}, Allow, ""},
		{"public of IPv6", webtest.Names{Addrs: []netip.Addr{here6}}, Allow, ""},
		{"public of both", webtest.Names{Addrs: []netip.Addr{here, here6}}, Allow, ""},
		{"private", webtest.Names{Addrs: []netip.Addr{addr("10.0.0.1")}}, Deny, Address},
		{"unspecified", webtest.Names{Addrs: []netip.Addr{addr("0.0.0.0")}}, Deny, Address},
		{"46 mixed", webtest.Names{Addrs: []netip.Addr{here, addr("127.0.0.1")}}, Deny, Address},
		{"46 mixed the other way", webtest.Names{Addrs: []netip.Addr{addr("127.0.0.1"), here}}, Deny, Address},
		{"46 documents and loopback", webtest.Names{Addrs: []netip.Addr{addr("203.0.113.9"), addr("127.0.0.1")}}, Deny, Address},
		{"46 the last of many", webtest.Names{Addrs: []netip.Addr{here, here, here, here, here, here, here, here, addr("169.254.169.254")}}, Deny, Address},
		{"47 AAAA private", webtest.Names{Addrs: []netip.Addr{here, addr("::1")}}, Deny, Address},
		{"47 A private", webtest.Names{Addrs: []netip.Addr{here6, addr("192.168.1.1")}}, Deny, Address},
		{"47 AAAA mapped", webtest.Names{Addrs: []netip.Addr{here, addr("::ffff:127.0.0.1")}}, Deny, Address},
		{"47 AAAA mapped alone", webtest.Names{Addrs: []netip.Addr{addr("::ffff:127.0.0.1")}}, Deny, Address},
		{"47 AAAA compatible", webtest.Names{Addrs: []netip.Addr{addr("::127.0.0.1")}}, Deny, Address},
		{"47 AAAA NAT64", webtest.Names{Addrs: []netip.Addr{here, addr("64:ff9b::a9fe:a9fe")}}, Deny, Address},
		{"48 alias of private", webtest.Names{Alias: "router.example.com", Addrs: []netip.Addr{addr("192.168.0.1")}}, Deny, Address},
		{"48 alias of localhost", webtest.Names{Alias: "localhost", Addrs: []netip.Addr{addr("127.0.0.1")}}, Deny, Address},
		{"48 alias of public", webtest.Names{Alias: "cdn.example.com", Addrs: []netip.Addr{here}}, Allow, ""},
		{"49 no address", webtest.Names{}, Error, Unknown},
		{"50 many addresses", webtest.Names{Addrs: many(here, 300)}, Allow, ""},
	} {
		t.Run(c.row, func(t *testing.T) {
			host := w.Name(fmt.Sprintf("h%d", len(c.row)*100+len(c.names.Addrs)), c.names)
			if _, _, err := get(client, "http://"+host+"/"); c.verdict == Allow {
				if err != nil {
					t.Error(err)
				}
			} else {
				checkVerdict(t, err, c.verdict, c.kind)
			}
		})
	}
	t.Run("49 no name", func(t *testing.T) { checkRefused(t, client, "http://"+w.Host("nobody")+"/", Error, Unknown) })
	t.Run("49 no server", func(t *testing.T) { checkRefused(t, client, "http://"+here.String()+":443/", Error, Unreached) })
	t.Run("45 rebinding", func(t *testing.T) {
		host := w.Name("rebind", webtest.Names{Addrs: []netip.Addr{here}, Then: &webtest.Names{Addrs: []netip.Addr{addr("127.0.0.1")}}})
		checkBody(t, client, "http://"+host+"/", "here")
		if n := w.Asked(host); n != 2 {
			t.Errorf("%d questions for one request, want A and AAAA", n)
		}
		checkRefused(t, client, "http://"+host+"/", Deny, Address)
	})
	t.Run("45 rebinding at a redirect", func(t *testing.T) {
		host := w.Name("rehop", webtest.Names{Addrs: []netip.Addr{here}, Then: &webtest.Names{Addrs: []netip.Addr{addr("127.0.0.1")}}})
		checkRefused(t, client, "http://"+host+"/again", Deny, Address)
	})
	t.Run("45 rebinding of IPv6 alone", func(t *testing.T) {
		host := w.Name("rebind6", webtest.Names{Addrs: []netip.Addr{here}, Then: &webtest.Names{Addrs: []netip.Addr{here, addr("::1")}}})
		checkBody(t, client, "http://"+host+"/", "here")
		checkRefused(t, client, "http://"+host+"/", Deny, Address)
	})
}

func many(addr netip.Addr, n int) (all []netip.Addr) {
	for range n {
		all = append(all, addr)
	}
	return all
}

// TestRedirects: each hop is judged anew, and what one may not do is refused.
func TestRedirects(t *testing.T) {
	w := webtest.New(t)
	var requests seen
	handler := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		requests.add(r)
		switch to := r.URL.Query().Get("to"); {
		case r.URL.Path == "/loop":
			rw.Header().Set("Location", "/loop")
			rw.WriteHeader(http.StatusFound)
		case strings.HasPrefix(r.URL.Path, "/down"):
			if left := len(r.URL.Path) - len("/down"); left > 0 {
				http.Redirect(rw, r, r.URL.Path[:len(r.URL.Path)-1], http.StatusFound)
			}
			_, _ = io.WriteString(rw, "down")
		case r.URL.Path == "/refresh":
			rw.Header().Set("Refresh", "0; url=http://127.0.0.1/")
			_, _ = io.WriteString(rw, `<meta http-equiv="refresh" content="0; url=http://127.0.0.1/">`)
		case to != "":
			rw.Header().Set("Location", to)
			code := http.StatusFound
			_, _ = fmt.Sscan(r.URL.Query().Get("code"), &code)
			rw.WriteHeader(code)
		default:
			body, _ := io.ReadAll(r.Body)
			_, _ = fmt.Fprintf(rw, "%s %s %s", r.Host, r.URL.Path, body)
		}
	})
	w.Serve(80, handler)
	w.Serve(8080, handler)
	a, b := w.Here("a"), w.Here("b")
	inside := w.Name("inside", webtest.Names{Addrs: []netip.Addr{netip.MustParseAddr("10.0.0.1")}})
	w.ServeTLS(443, webtest.Proof{Names: []string{a, b}}, handler)
	client := newClient(t, w, Options{Ports: []uint16{8080}}, usual)
	for _, c := range []struct {
		row, from, to string
		verdict       Verdict
		kind          Kind
	}{
		{"38 to metadata", "http://" + a, "http://169.254.169.254/", Deny, Address},
		{"38 to loopback without a scheme", "http://" + a, "//127.0.0.1/", Deny, Address},
		{"38 to a name of an address inside", "http://" + a, "http://" + inside + "/", Deny, Address},
		{"38 to localhost", "http://" + a, "http://localhost/", Deny, Name},
		{"38 to circled digits", "http://" + a, "http://①②⑦.⓪.⓪.①/", Deny, Address},
		{"38 to a decimal", "http://" + a, "http://2130706433/", Deny, Number},
		{"38 to a user", "http://" + a, "http://x:y@" + b + "/", Deny, Userinfo},
		{"38 to a file", "http://" + a, "file:///etc/passwd", Deny, Scheme},
		{"38 to gopher", "http://" + a, "gopher://127.0.0.1:6379/_x", Deny, Scheme},
		{"38 to javascript", "http://" + a, "javascript:alert(1)", Deny, Scheme},
		{"38 to data", "http://" + a, "data:text/plain,x", Deny, Scheme},
		{"38 to another port", "http://" + a, "http://" + b + ":6379/", Deny, Port},
		{"38 to a port that the options open", "http://" + a, "http://" + b + ":8080/", Deny, Port},
		{"38 to that port of the same host", "http://" + a, "http://" + a + ":8080/", Deny, Port},
		{"38 to loopback in capitals", "http://" + a, "HTTP://127.0.0.1/", Deny, Address},
		{"38 to loopback behind a blank", "http://" + a, " http://127.0.0.1/", Deny, Address},
		{"38 to loopback mapped", "http://" + a, "http://[::ffff:127.0.0.1]/", Deny, Address},
		{"38 to another mapped form, https", "https://" + a, "https://[64:ff9b::7f00:1]/", Deny, Address},
		{"38 to a zone", "http://" + a, "http://[fe80::1%25eth0]/", Deny, Address},
		{"38 to a user of its own host", "http://" + a, "http://x@" + a + "/", Deny, Userinfo},
		{"38 to an empty port", "http://" + a, "http://" + b + ":/", Deny, Port},
		{"38 to loopback without slashes", "http://" + a, "http:127.0.0.1/", Error, Malformed},
		{"38 to loopback with three slashes", "http://" + a, "http:///127.0.0.1/", Error, Malformed},
		{"38 to loopback with backslashes", "http://" + a, `http:\\127.0.0.1\`, Error, Malformed},
		{"38 to a path that some read as a host", "http://" + a, `/\127.0.0.1/`, Allow, ""},
		{"38 to a path of backslashes", "http://" + a, `\\127.0.0.1\`, Allow, ""},
		{"38 to a web socket", "http://" + a, "ws://" + a + "/", Deny, Scheme},
		{"38 to what shows source", "http://" + a, "view-source:http://127.0.0.1/", Deny, Scheme},
		{"39 to a control character", "http://" + a, "http://" + b + "/\x01", Error, Answer},
		{"39 to an escaped host", "http://" + a, "http://127%2e0.0.1/", Error, Redirect},
		{"39 to a port of letters", "http://" + a, "http://" + b + ":http/", Error, Redirect},
		{"39 to an empty bracket", "http://" + a, "http://[]/", Error, Redirect},
		{"39 to no address", "http://" + a, "http://exa mple/", Error, Redirect},
		{"39 to no host", "http://" + a, "http:///x", Error, Malformed},
		{"42 from https to http", "https://" + a, "http://" + a + "/", Deny, Redirect},
		{"42 from http to https", "http://" + a, "https://" + a + "/", Allow, ""},
		{"43 to another host", "http://" + a, "http://" + b + "/x", Allow, ""},
		{"43 to the host by its address", "http://" + a, w.URL("/x"), Allow, ""},
		{"43 within an open port", "http://" + a + ":8080", "/x", Allow, ""},
		{"43 from an open port", "http://" + a + ":8080", "http://" + b + "/x", Allow, ""},
	} {
		t.Run(c.row, func(t *testing.T) {
			requests.take()
			_, _, err := get(client, c.from+"/?to="+escape(c.to, "&#+%?"))
			checkVerdict(t, err, c.verdict, c.kind)
			if got := requests.take(); c.verdict != Allow && strings.Contains(got, ", ") {
				t.Errorf("requests were %s", got)
			}
		})
	}
	t.Run("38 by each status", func(t *testing.T) {
		for _, code := range []int{301, 302, 303, 307, 308} {
			checkRefused(t, client, fmt.Sprintf("http://%s/?code=%d&to=http://127.0.0.1/", a, code), Deny, Address)
		}
		for _, code := range []int{300, 304, 305, 306, 201, 404} { // which lead nowhere
			requests.take()
			_, resp, err := get(client, fmt.Sprintf("http://%s/?code=%d&to=http://127.0.0.1/", a, code))
			if got := requests.take(); err != nil || resp.StatusCode != code || strings.Contains(got, ", ") {
				t.Errorf("%d: %v, requests were %s", code, err, got)
			}
		}
	})
	t.Run("40 a body to private", func(t *testing.T) {
		for _, code := range []int{307, 308} {
			_, err := client.Post(fmt.Sprintf("http://%s/?code=%d&to=http://127.0.0.1/", a, code), "text/plain", strings.NewReader("CANARY"))
			checkVerdict(t, err, Deny, Redirect)
		}
	})
	t.Run("40 a body to another host", func(t *testing.T) {
		requests.take()
		_, err := client.Post("http://"+a+"/?code=307&to=http://"+b+"/", "text/plain", strings.NewReader("CANARY"))
		checkVerdict(t, err, Deny, Redirect)
		if got := requests.take(); strings.Contains(got, b) {
			t.Errorf("requests were %s", got)
		}
	})
	t.Run("40 a body to the same host", func(t *testing.T) {
		resp, err := client.Post("http://"+a+"/?code=307&to=/x", "text/plain", strings.NewReader("text"))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if text, _ := io.ReadAll(resp.Body); string(text) != a+" /x text" {
			t.Errorf("it had %q", text)
		}
	})
	t.Run("41 loop", func(t *testing.T) {
		requests.take()
		checkRefused(t, client, "http://"+a+"/loop", Error, Redirect)
		if n := strings.Count(requests.take(), "GET"); n != 6 {
			t.Errorf("%d requests, want one and five redirects", n)
		}
	})
	t.Run("41 five", func(t *testing.T) {
		text, resp, err := get(client, "http://"+a+"/down.....")
		if err != nil || text != "down" || resp.Request.URL.String() != "http://"+a+"/down" {
			t.Errorf("%q, %v", text, err)
		}
	})
	t.Run("41 six", func(t *testing.T) { checkRefused(t, client, "http://"+a+"/down......", Error, Redirect) })
	t.Run("44 refresh", func(t *testing.T) {
		requests.take()
		text, _, err := get(client, "http://"+a+"/refresh")
		if got := requests.take(); err != nil || !strings.Contains(text, "meta") || got != "GET "+a+"/refresh" {
			t.Errorf("%q, %v, requests were %s", text, err, got)
		}
	})
	t.Run("a caller that does not follow", func(t *testing.T) {
		stays := *client
		stays.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		_, resp, err := get(&stays, "http://"+a+"/?to=http://127.0.0.1/")
		if err != nil || resp.Header.Get("Location") != "http://127.0.0.1/" {
			t.Errorf("%v, %v", resp, err)
		}
	})
	t.Run("a caller that follows everything", func(t *testing.T) {
		follows := *client
		follows.CheckRedirect = func(*http.Request, []*http.Request) error { return nil }
		checkRefused(t, &follows, "http://"+a+"/loop", Error, Redirect)
		checkRefused(t, &follows, "https://"+a+"/?to=http://"+a, Deny, Redirect)
	})
}

// TestRedirectsToOrigins: the origins of the options are reached directly, and from
// within themselves, never from elsewhere.
func TestRedirectsToOrigins(t *testing.T) {
	w := webtest.New(t)
	redirect := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(rw, r, to, http.StatusFound)
		}
		_, _ = io.WriteString(rw, "end")
	})
	w.Serve(80, redirect)
	here := "http://" + w.Here("a")
	listener := w.Listen(8888)
	w.ServeAt(listener, redirect)
	own := "http://" + listener.Addr().String()
	client := newClient(t, w, Options{Origins: []string{own}}, usual)
	checkBody(t, client, own+"/", "end")
	checkBody(t, client, own+"/?to=/x", "end")
	checkBody(t, client, own+"/?to="+here, "end")
	checkRefused(t, client, here+"/?to="+own+"/x", Deny, Port)
	checkRefused(t, client, own+"/?to="+here+"/%3Fto="+own+"/x", Deny, Port)
	checkRefused(t, client, own+"/?to=http://127.0.0.1/", Deny, Address)
	only := newClient(t, w, Options{Only: true, Origins: []string{own, here}}, usual)
	checkBody(t, only, own+"/?to=/x", "end")
	checkBody(t, only, here+"/", "end")
	checkRefused(t, only, own+"/?to="+here, Deny, Elsewhere)
	checkRefused(t, only, "http://"+w.Here("b")+"/", Deny, Elsewhere)
}

// TestHeadersThatGoOn: what a caller sends to one origin goes to no other, by whatever
// name, nor where the first address was; not on the way back either.
func TestHeadersThatGoOn(t *testing.T) {
	w := webtest.New(t)
	headers := map[string]http.Header{}
	var mu sync.Mutex
	w.Serve(80, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		mu.Lock()
		headers[r.Host+r.URL.Path] = r.Header
		mu.Unlock()
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(rw, r, to, http.StatusFound)
		}
	}))
	a, b := w.Here("a"), w.Here("b")
	sub := w.Here("sub.a")
	client := newClient(t, w, Options{}, usual)
	for _, path := range []string{"http://" + b + "/other", "http://" + sub + "/below", "http://" + b + "/over?to=http://" + a + "/back%3Fto=/within", "/same"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+a+"/?key=CANARY&to="+escape(path, "&?"), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Authorization": {"CANARY"}, "Cookie": {"CANARY"}, "X-Subscription-Token": {"CANARY"}, "User-Agent": {"Bothy"}, "Accept": {"text/html"}}
		req.Host = "spoofed.example.com"
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(path, err)
		}
		_ = resp.Body.Close()
	}
	for _, at := range []string{b + "/other", sub + "/below", b + "/over", a + "/back", a + "/within"} {
		if h := headers[at]; h == nil || strings.Contains(fmt.Sprint(h), "CANARY") || h.Get("User-Agent") != "Bothy" || h.Get("Accept") != "text/html" {
			t.Errorf("%s had %v", at, h)
		}
	}
	if h := headers[a+"/same"]; h.Get("X-Subscription-Token") != "CANARY" || h.Get("Authorization") != "CANARY" {
		t.Errorf("the same origin had %v", h)
	}
}

// TestProof: a server that does not prove to be the host is refused, and HTTP/1.1 is
// spoken with one that knows more.
func TestProof(t *testing.T) {
	ok := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(rw, r.Proto) })
	for row, proof := range map[string]webtest.Proof{
		"63 self-signed": {SelfSigned: true}, "63 expired": {Expired: true}, "63 wrong name": {Names: []string{"canary.example.com"}}, "63 no name": {},
	} {
		t.Run(row, func(t *testing.T) {
			w := webtest.New(t)
			host := w.Here("a")
			if proof.Names == nil && row != "63 no name" {
				proof.Names = []string{host}
			}
			w.ServeTLS(443, proof, ok)
			_, _, err := get(newClient(t, w, Options{}, usual), "https://"+host+"/")
			checkVerdict(t, err, Error, TLS)
			if strings.Contains(err.Error(), "canary") {
				t.Errorf("it quotes the certificate: %v", err)
			}
		})
	}
	w := webtest.New(t)
	host := w.Here("a")
	w.ServeTLS(443, webtest.Proof{Names: []string{host}}, ok)
	w.Serve(80, ok)
	client := newClient(t, w, Options{}, usual)
	checkBody(t, client, "https://"+host+"/", "HTTP/1.1")
	t.Run("60 no TLS", func(t *testing.T) { checkRefused(t, client, "https://"+host+":80/", Error, TLS) })
	t.Run("61 by the address", func(t *testing.T) { checkRefused(t, client, "https://"+w.Addr().String()+"/", Error, TLS) })
}

// TestNoProxy: what the environment names as a proxy is not asked.
func TestNoProxy(t *testing.T) {
	w := webtest.New(t)
	var requests seen
	w.Serve(80, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(rw, r.RequestURI) }))
	w.Serve(8080, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { requests.add(r) }))
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"} {
		t.Setenv(name, "http://"+w.Addr().String()+":8080")
	}
	checkBody(t, newClient(t, w, Options{}, usual), "http://"+w.Here("a")+"/x", "/x")
	if newGuard(Options{}, usual, internet()).http.Proxy != nil { // net/http may have read the environment before
		t.Error("there may be a proxy")
	}
	if got := requests.take(); got != "" {
		t.Errorf("the proxy had %s", got)
	}
}

// TestDialOfNobody: a connection that no hop asks for is not made, nor one to elsewhere
// than the hop's target.
func TestDialOfNobody(t *testing.T) {
	g := newGuard(Options{}, usual, standIn())
	_, err := g.dial(t.Context(), "tcp", "11.1.1.1:80")
	checkVerdict(t, err, Deny, Elsewhere)
	h := &hop{target: judged{host: "11.1.1.1", addr: netip.MustParseAddr("11.1.1.1"), port: 80}, ctx: t.Context()}
	for _, address := range []string{"127.0.0.1:80", "11.1.1.1:81", "example.com:80"} {
		_, err := g.dial(context.WithValue(t.Context(), hopKey{}, h), "tcp", address)
		checkVerdict(t, err, Deny, Elsewhere)
	}
}

// TestCancelled: the end of the request's own context is that, and no refusal.
func TestCancelled(t *testing.T) {
	for _, path := range []string{"/", "/body"} {
		w := webtest.New(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		mine := errors.New("enough")
		w.Serve(80, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/body" {
				rw.(http.Flusher).Flush()
			}
			cancel(mine)
			<-r.Context().Done()
		}))
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+w.Here("a")+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := newClient(t, w, Options{}, usual).Do(req)
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
		}
		var refusal *Refusal
		if !errors.Is(err, mine) || errors.As(err, &refusal) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
