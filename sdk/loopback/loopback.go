// Package loopback keeps a listener of HTTP to this machine. A page in a browser can send requests
// to an address of this machine too, so a request must name it by a name that nobody else can give
// it, and come from no page of elsewhere. Who serves asks for a token besides: other users of the
// machine reach the address as well.
package loopback

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Listen listens at an address of this machine's own, such as 127.0.0.1:8377, and at no other.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	if err := CheckAddress(address); err != nil {
		return nil, err
	}
	var config net.ListenConfig
	return config.Listen(ctx, "tcp", address)
}

// CheckAddress says why Listen would refuse an address.
func CheckAddress(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if !IsLoopback(host) {
		return fmt.Errorf("%s: only addresses of this machine are served, such as 127.0.0.1:8377", address)
	}
	return nil
}

// Check refuses a request whose Host or Origin is none of this machine. A request without an Origin
// comes from no page.
func Check(r *http.Request) error {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	if !IsLoopback(host) {
		return errors.New("the Host is none of this machine")
	}
	for _, h := range r.Header.Values("Origin") {
		u, err := url.Parse(h)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || !IsLoopback(u.Hostname()) {
			return errors.New("the Origin is none of this machine")
		}
	}
	return nil
}

// Token is the token that a request brings, as `Authorization: Bearer TOKEN` or as ?token=TOKEN;
// empty when it brings none. Compare it in a time that tells nothing of it.
func Token(r *http.Request) string {
	kind, token, is := strings.Cut(r.Header.Get("Authorization"), " ")
	if is && strings.EqualFold(kind, "Bearer") {
		return strings.TrimSpace(token)
	}
	return r.URL.Query().Get("token")
}

// IsLoopback reports whether a host is this machine by a name that nobody else can give it.
func IsLoopback(host string) bool {
	host = strings.ToLower(strings.Trim(host, "[]"))
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
