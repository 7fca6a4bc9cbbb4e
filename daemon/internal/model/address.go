package model

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/url"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/config"
)

// base is where a provider's server is. An address without a port, as
// OLLAMA_HOST may hold it, means Ollama's own.
func (r resolver) base(p config.Plugin) string {
	base := p.BaseURL(r.cfg.Context)
	if u, ok := parseBase(base); ok && p.Binary == "ollama" && u.Port() == "" && !strings.Contains(base, "://") {
		return net.JoinHostPort(u.Hostname(), "11434")
	}
	return base
}

// answers reports whether anything listens there. That it is a model server is
// found out by its plugin. An address from which nothing came back is not asked
// again for a while.
func (r resolver) answers(ctx context.Context, base string) bool {
	address := hostPort(base)
	if r.kept.isSilent(address) {
		return false
	}
	limited, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	dial := r.dial
	if dial == nil {
		dial = dialTCP
	}
	err := dial(limited, address)
	var late net.Error // a dialler's clock may run out before that of its context
	if errors.As(err, &late) && late.Timeout() && ctx.Err() == nil {
		r.kept.wasSilent(address)
	}
	return err == nil
}

func dialTCP(ctx context.Context, address string) error {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err == nil {
		_ = conn.Close() // nothing was written
	}
	return err
}

// parseBase reads a base URL, with or without a scheme ("127.0.0.1:11434") or
// a host (":11434").
func parseBase(base string) (*url.URL, bool) {
	if base == "" {
		return nil, false
	}
	if strings.HasPrefix(base, ":") {
		base = "127.0.0.1" + base
	}
	if !strings.Contains(base, "://") {
		base = "http://" + base
	}
	u, err := url.Parse(base)
	return u, err == nil && u.Hostname() != ""
}

// isLocal reports whether a base URL stays on this machine. A server that was
// told to listen on all addresses (0.0.0.0) is reached on this one.
func isLocal(base string) bool {
	u, ok := parseBase(base)
	if !ok {
		return false
	}
	if u.Hostname() == "localhost" {
		return true
	}
	ip := net.ParseIP(u.Hostname())
	return ip != nil && (ip.IsLoopback() || ip.IsUnspecified())
}

func hostPort(base string) string {
	u, ok := parseBase(base)
	if !ok {
		return ""
	}
	port := "80"
	if u.Scheme == "https" {
		port = "443"
	}
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), port))
}
