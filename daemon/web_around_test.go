package daemon

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bothyd/bothy/sdk/webguard/webtest"
)

// TestWebAround: what the machine and the user's own file say of the way out. A proxy of the environment is not asked, ports are open
// that the block names and no others, and no server is believed that does not prove to be the host.
func TestWebAround(t *testing.T) {
	w := webtest.New(t)
	t.Setenv("SSL_CERT_FILE", w.RootsFile())
	var proxied atomic.Int32
	w.Serve(3128, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { proxied.Add(1) }))
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"} {
		t.Setenv(name, "http://"+w.Addr().String()+":3128")
	}
	site := w.Here("site")
	here := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(rw, r, to, http.StatusFound)
			return
		}
		_, _ = io.WriteString(rw, r.Proto+" here")
	})
	for _, port := range []int{80, 8080, 8081} {
		w.Serve(port, here)
	}
	w.ServeTLS(443, webtest.Proof{Names: []string{site}}, here)
	w.ServeTLS(8443, webtest.Proof{Names: []string{site}, SelfSigned: true}, here)
	w.ServeTLS(8444, webtest.Proof{Names: []string{site}, Expired: true}, here)
	w.ServeTLS(8445, webtest.Proof{Names: []string{w.Host("other")}}, here)
	for port, said := range map[int]string{8446: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + strings.Repeat("\x00\x00\x04\x09\x00\x00\x00\x00\x01xxxx", 1000), 8447: "SSH-2.0-OpenSSH_9.2\r\n"} {
		w.ServeRaw(port, func(c net.Conn) {
			_, _ = io.WriteString(c, said) // who hangs up has read enough
			_, _ = io.Copy(io.Discard, c)
		})
	}
	w.ServeRaw(8448, w.Hold)
	e := newExecuting(t, "plugin \"web\" {\n  grants = [\"entries\"]\n  ports  = [8080, 8443, 8444, 8445, 8446, 8447, 8448]\n}\n")
	rows := []webRow{
		{name: "F12 a proxy", address: "http://" + site + "/", has: "here"},
		{name: "F12 a proxy for https, which speaks HTTP-1.1", address: "https://" + site + "/", has: "HTTP/1.1 here"},
		{name: "37 a port that the block opens", address: "http://" + site + ":8080/", has: "here"},
		{name: "37 within that port", address: "http://" + site + ":8080/?to=/x", has: "here"},
		{name: "37 to that port from elsewhere", address: "http://" + site + "/?to=http://" + site + ":8080/", kind: "port"},
		{name: "37 another port", address: "http://" + site + ":8081/", kind: "port"},
		{name: "37 to that port of this machine", address: "http://" + site + ":8080/?to=http://127.0.0.1:8080/", kind: "port"},
		{name: "63 self-signed", address: "https://" + site + ":8443/", kind: "tls"},
		{name: "63 expired", address: "https://" + site + ":8444/", kind: "tls"},
		{name: "63 a wrong name", address: "https://" + site + ":8445/", kind: "tls"},
		{name: "63 by its address", address: "https://" + w.Addr().String() + "/", kind: "tls"},
		{name: "59 HTTP-2 that nobody asked for", address: "http://" + site + ":8446/", kind: "answer"},
		{name: "59 the same for TLS", address: "https://" + site + ":8446/", kind: "tls"},
		{name: "62 another protocol", address: "http://" + site + ":8447/", kind: "answer"},
		{name: "57 a stall of TLS", address: "https://" + site + ":8448/", kind: "timeout"},
	}
	for _, address := range []string{"172.15.255.255", "172.32.0.1", "100.63.255.255", "100.128.0.1", "9.9.9.9"} { // a test connects to none of them
		rows = append(rows, webRow{name: "F3 " + address, address: fmt.Sprintf("http://%s/", address), kind: "unreached"})
	}
	e.webRows(t, rows)
	if proxied.Load() > 0 {
		t.Errorf("the proxy had %d requests", proxied.Load())
	}
}
