package daemon

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/engine"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/webguard"
	"github.com/bothyd/bothy/sdk/webguard/webtest"
)

// webRow is an address that web_fetch is called with through the daemon, as a person who agrees to all calls
// it. Kind is the guard's; empty is an answer, of which Has is a part.
type webRow struct {
	name, address, kind, has string
}

// webOf fetches an address, and says what came of it in words.
func (e *executing) webOf(t *testing.T, address string) sdk.ToolResult {
	t.Helper()
	arguments, err := json.Marshal(map[string]string{"url": address})
	if err != nil {
		t.Fatal(err)
	}
	done, err := e.engine.CallTool(t.Context(), engine.ToolCall{
		Project: e.project, Run: e.run.Alias, Tool: "web_fetch", Arguments: arguments, Approved: true,
	})
	if err != nil && done.Result.Error == "" {
		done.Result.Error = err.Error()
	}
	return done.Result
}

func (e *executing) webRows(t *testing.T, rows []webRow) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			r := e.webOf(t, row.address)
			if row.kind == "" {
				if !r.Success || !strings.Contains(r.Output, row.has) {
					t.Errorf("%s: %q, %q", row.address, r.Error, r.Output)
				}
				return
			}
			// What an address alone decides, policy or the plugin says in the guard's words.
			said := strings.HasSuffix(r.Error, "("+row.kind+")")
			if _, err := webguard.Judge(row.address); err != nil && !said {
				refusal, is := errors.AsType[*webguard.Refusal](err)
				said = is && string(refusal.Kind) == row.kind && strings.HasPrefix(r.Error, refusal.Reason)
			}
			if r.Success || !said || strings.Contains(r.Error, "\n") {
				t.Errorf("%s: %q %q", row.address, r.Error, r.Output)
			}
		})
	}
}

// TestWebAsWritten: the rows of the cases that an address alone decides, over the real plugin. Nobody hears of any.
func TestWebAsWritten(t *testing.T) {
	w := webtest.New(t)
	var heard atomic.Int32
	for _, port := range []int{80, 443} {
		w.Serve(port, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { heard.Add(1) }))
	}
	e := newExecuting(t, "plugin \"web\" {\n  grants = [\"entries\"]\n}\n")
	var rows []webRow
	for kind, addresses := range map[string][]string{
		"address": {
			"http://127.0.0.1/", "http://0.0.0.0/", "http://[::]/", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[64:ff9b::7f00:1]/", "http://[64:ff9b::a9fe:a9fe]/",
			"http://[64:ff9b:1::7f00:1]/", "http://[2002:7f00:1::]/", "http://[2001::1]/", "http://[fc00::1]/", "http://[fd00:ec2::254]/", "http://[ff02::1]/", "http://[fe80::1]/",
			"http://224.0.0.1/", "http://255.255.255.255/", "http://10.0.0.1/", "http://10.255.255.255/", "http://172.16.0.0/", "http://172.31.255.255/", "http://192.168.0.1/", "http://192.168.255.255/",
			"http://100.64.0.1/", "http://100.100.100.200/", "http://169.254.169.254/", "http://169.254.170.2/", "http://168.63.129.16/", "http://198.18.0.1/", "http://192.0.0.192/", "http://192.0.2.1/",
			"http://240.0.0.1/", "http://0.1.2.3/", "http://192.88.99.1/", "http://①②⑦.⓪.⓪.①/", "http://127.0.0.1./", "http://127.0.0.1#@example.com/",
			"http://[2001:db8::1]/", "http://[3fff::1]/", "http://[5f00::1]/", "http://[100::1]/", "http://[fec0::1]/", "http://[::127.0.0.1]/", "http://[::ffff:0:7f00:1]/", "http://[fe80::1%25lo]/", "http://[::1%25eth0]/",
		},
		"name":      {"http://metadata.google.internal/", "http://localhost/", "http://LOCALHOST./", "HTTP://LocalHost/", "http://foo.localhost/", "http://router/", "http://printer.local/", "http://nas.home.arpa/"},
		"number":    {"http://2130706433/", "http://0x7f.1/", "http://127.1/", "http://0177.0.0.1/", "http://0x7f000001/"},
		"userinfo":  {"http://user:pw@127.0.0.1/", "http://example.com@127.0.0.1/", "http://u:p@example.com/"},
		"port":      {"http://example.com:0/", "http://example.com:22/", "http://example.com:25/", "http://example.com:6379/", "http://example.com:2375/", "http://example.com:99999/", "http://example.com:/"},
		"malformed": {"http:/x", "http:///x", "//x", "", "http://exa mple.com/", "http://a..b/", "http://" + strings.Repeat("a", 300) + ".com/"},
		"scheme":    {"file:///etc/passwd", "gopher://example.com/", "ftp://example.com/", "data:text/html,x", "javascript:alert(1)"},
	} {
		for _, address := range addresses {
			rows = append(rows, webRow{name: kind + "/" + strings.NewReplacer("/", "_", " ", "_").Replace(address), address: address, kind: kind})
		}
	}
	e.webRows(t, rows)
	if heard.Load() > 0 {
		t.Errorf("%d requests were made", heard.Load())
	}
}

// TestWebAsAsked: the rows that names, redirects and servers decide.
func TestWebAsAsked(t *testing.T) {
	w := webtest.New(t)
	t.Setenv("SSL_CERT_FILE", w.RootsFile())
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 200 {
		_, _ = z.Write(bytes.Repeat([]byte("0123456789abcde\n"), 64<<10)) // a buffer takes all
	}
	_ = z.Close()
	loopback, public := netip.MustParseAddr("127.0.0.1"), w.Addr()
	site, secure := w.Here("site"), w.Here("secure")
	private6 := netip.MustParseAddr("fd00::1")
	names := map[string]string{
		"mixed":     w.Name("mixed", webtest.Names{Addrs: []netip.Addr{public, loopback}}),
		"rebound":   w.Name("rebound", webtest.Names{Addrs: []netip.Addr{public}, Then: &webtest.Names{Addrs: []netip.Addr{loopback}}}),
		"inside6":   w.Name("inside6", webtest.Names{Addrs: []netip.Addr{public, private6}}),
		"outside6":  w.Name("outside6", webtest.Names{Addrs: []netip.Addr{loopback, w.Addr6()}}),
		"alias":     w.Name("alias", webtest.Names{Alias: w.Host("private"), Addrs: []netip.Addr{loopback}}),
		"expired":   site,
		"wrongname": site,
	}
	w.Serve(80, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/to":
			http.Redirect(rw, r, r.URL.Query().Get("to"), http.StatusFound)
		case "/dir/next.html", "/ok", "/":
			if r.URL.Query().Get("hop") != "" {
				http.Redirect(rw, r, "/?hop="+r.URL.Query().Get("hop")+"1", http.StatusFound)
				return
			}
			rw.Header().Set("Refresh", "0; url=http://127.0.0.1/")
			rw.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(rw, `<meta http-equiv="refresh" content="0; url=http://127.0.0.1/"><p>here`)
		case "/dir/a":
			http.Redirect(rw, r, r.URL.Query().Get("to"), http.StatusTemporaryRedirect)
		case "/bomb":
			rw.Header().Set("Content-Type", "text/plain")
			rw.Header().Set("Content-Encoding", "gzip")
			_, _ = rw.Write(bomb.Bytes())
		case "/tags":
			rw.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(rw, "here")
		}
	}))
	w.ServeTLS(443, webtest.Proof{Names: []string{secure}}, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/down" {
			http.Redirect(rw, r, "http://"+site+"/", http.StatusFound)
			return
		}
		_, _ = io.WriteString(rw, "secure here")
	}))
	e := newExecuting(t, "plugin \"web\" {\n  grants = [\"entries\"]\n}\n")
	to := func(address string) string { return "http://" + site + "/to?to=" + address }
	e.webRows(t, []webRow{
		{name: "38 to metadata", address: to("http://169.254.169.254/"), kind: "address"},
		{name: "F8 to the loopback", address: to("//127.0.0.1/"), kind: "address"},
		{name: "F8 to a private one", address: to("http://10.0.0.1/"), kind: "address"},
		{name: "F8 to a file", address: to("file:///x"), kind: "scheme"},
		{name: "40 kept method to a private one", address: "http://" + site + "/dir/a?to=http://10.0.0.1/", kind: "address"},
		{name: "F9 beside it", address: "http://" + site + "/dir/a?to=next.html", has: "here"},
		{name: "F9 a query", address: "http://" + site + "/dir/a?to=/?p=2", has: "here"},
		{name: "F9 another path", address: "http://" + site + "/dir/a?to=/ok", has: "here"},
		{name: "41 F10 a loop", address: "http://" + site + "/?hop=1", kind: "redirect"},
		{name: "42 down from https", address: "https://" + secure + "/down", kind: "redirect"},
		{name: "43 to another host", address: to("https://" + secure + "/"), has: "secure here"},
		{name: "44 a refresh", address: "http://" + site + "/", has: "here"},
		{name: "45 F7 rebound", address: "http://" + names["rebound"] + "/", has: "here"},
		{name: "46 F6 mixed", address: "http://" + names["mixed"] + "/", kind: "address"},
		{name: "47 AAAA private", address: "http://" + names["inside6"] + "/", kind: "address"},
		{name: "47 A private", address: "http://" + names["outside6"] + "/", kind: "address"},
		{name: "48 an alias of a private one", address: "http://" + names["alias"] + "/", kind: "address"},
		{name: "54 F11 a bomb", address: "http://" + site + "/bomb", has: "0123456789abcde"},
		{name: "63 a wrong name", address: "https://" + site + "/", kind: "tls"},
		{name: "an unknown name", address: "http://" + w.Host("nobody") + "/", kind: "unknown"},
		{name: "F3 next to private", address: "http://172.32.0.1/", kind: "unreached"},
	})
}

// TestWebHostileServers: stalls, floods and trickles cost their call, which says so in a sentence, and no other.
func TestWebHostileServers(t *testing.T) {
	w := webtest.New(t)
	site := w.Here("site")
	w.Serve(80, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(rw, "here") }))
	for port, serve := range map[int]func(net.Conn){
		8001: func(c net.Conn) { // headers that never end
			for i := 0; ; i++ {
				if _, err := fmt.Fprintf(c, "%sX-%d: %s\r\n", map[bool]string{true: "HTTP/1.1 200 OK\r\n"}[i == 0], i, strings.Repeat("x", 1000)); err != nil {
					return
				}
			}
		},
		8002: func(c net.Conn) { // a flood of what comes before an answer
			for {
				if _, err := io.WriteString(c, "HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n"); err != nil {
					return
				}
			}
		},
		8003: func(c net.Conn) { // a trickle
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
			for tick := time.NewTicker(100 * time.Millisecond); ; <-tick.C {
				if _, err := io.WriteString(c, "x"); err != nil {
					tick.Stop()
					return
				}
			}
		},
		8004: func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, // nothing at all
	} {
		w.ServeRaw(port, serve)
	}
	e := newExecuting(t, "plugin \"web\" {\n  grants = [\"entries\"]\n  ports  = [8001, 8002, 8003, 8004]\n}\n")
	for port, kind := range map[int]string{8001: "answer", 8002: "answer", 8003: "slow", 8004: "timeout"} {
		t.Run(kind+fmt.Sprint(port), func(t *testing.T) {
			t.Parallel()
			if r := e.webOf(t, fmt.Sprintf("http://%s:%d/", site, port)); r.Success || !strings.HasSuffix(r.Error, "("+kind+")") || strings.Contains(r.Error, "\n") {
				t.Errorf("%+v", r)
			}
			if r := e.webOf(t, "http://"+site+"/"); !r.Success {
				t.Errorf("%+v", r)
			}
		})
	}
}
