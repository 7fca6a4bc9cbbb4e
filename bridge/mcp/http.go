package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bothyd/bothy/sdk/loopback"
)

// endpoint is the path that the protocol is served at.
const endpoint = "/mcp"

// Bounds of what is served by HTTP.
const (
	idleSession = time.Hour
	headTime    = 10 * time.Second
	mostHead    = 64 << 10
	goodbyeTime = 3 * time.Second
)

// serveHTTP serves clients over HTTP until the bridge ends.
func (b *bridge) serveHTTP(ctx context.Context) error {
	listener, err := loopback.Listen(ctx, b.o.address)
	if err != nil {
		return fmt.Errorf("--http: %w", err)
	}
	token, err := tokenOf(b.o.tokenFile)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	fmt.Printf("url %s\n", "http://"+listener.Addr().String()+endpoint)
	if b.o.tokenFile == "" {
		fmt.Printf("token %s\n", token)
	}
	mux := http.NewServeMux()
	mux.Handle(endpoint, guard(token, eras(b.server, quiet(b.log))))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: headTime, MaxHeaderBytes: mostHead, BaseContext: func(net.Listener) context.Context { return ctx }}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbyeTime)
	defer cancel()
	if server.Shutdown(last) != nil {
		_ = server.Close() // streams that nobody reads
	}
	return nil
}

// eras are the two ways the protocol goes over HTTP: from 2026-07-28 on each request stands for
// itself, before that there are sessions.
func eras(server *mcp.Server, log *slog.Logger) http.Handler {
	get := func(*http.Request) *mcp.Server { return server }
	now := mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{
		Stateless: true, MaxRequestBodyBytes: mostFrame, PropagateRequestCancellation: true, Logger: log,
	})
	before := mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{
		EventStore: mcp.NewMemoryEventStore(nil), SessionTimeout: idleSession, MaxRequestBodyBytes: mostFrame, Logger: log,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= manyRounds {
			now.ServeHTTP(w, r)
			return
		}
		before.ServeHTTP(w, r)
	})
}

// guard lets in who has the token and speaks to this machine by its own name: a page in a browser
// has neither, whatever name it made resolve to this machine.
func guard(token string, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := loopback.Check(r); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		given := sha256.Sum256([]byte(loopback.Token(r)))
		if subtle.ConstantTimeCompare(given[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="bothy"`)
			http.Error(w, "the token is missing or wrong: send it as `Authorization: Bearer TOKEN`, or as ?token=TOKEN", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// tokenBytes is how long a token is, before it is written as hex.
const tokenBytes = 32

// tokenOf is the token in a file that nobody else can read, which is made where it is missing; a
// new one without a file.
func tokenOf(path string) (string, error) {
	token := newToken()
	if path == "" {
		return token, nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if errors.Is(err, os.ErrExist) {
		return readToken(path)
	}
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	_, err = f.WriteString(token + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("--token-file: %w", err), os.Remove(path))
	}
	return token, nil
}

func newToken() string {
	raw := make([]byte, tokenBytes)
	_, _ = rand.Read(raw) // it never fails
	return hex.EncodeToString(raw)
}

// readToken reads a token from a file of the user's that is no link.
func readToken(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	defer func() { _ = f.Close() }() // read only
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("--token-file %s: others can read it: `chmod 600 %s`", path, path)
	}
	raw, err := io.ReadAll(io.LimitReader(f, 4*tokenBytes))
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	token := strings.TrimSpace(string(raw))
	if text, err := hex.DecodeString(token); err != nil || len(text) != tokenBytes {
		return "", fmt.Errorf("--token-file %s: it holds no token, which is %d hex digits: remove it, and one is made", path, 2*tokenBytes)
	}
	return token, nil
}
