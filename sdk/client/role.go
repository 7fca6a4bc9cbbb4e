package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TokenError says that the token of the role that a client wants cannot be
// read, so that it has no connection.
type TokenError struct {
	Role  rpc.Role
	Path  string
	Cause error
}

func (e *TokenError) Error() string {
	return fmt.Sprintf("the role %s needs the daemon's token, and %s cannot be read: %v; it is for the daemon's own user on this machine, outside of plugins and sandboxes",
		e.Role, e.Path, e.Cause)
}

// Unwrap returns why the file cannot be read.
func (e *TokenError) Unwrap() error { return e.Cause }

// tokenTime is how long a token that is not there, or is none, is waited for: a
// daemon looks every two seconds whether its files are as it wrote them.
const tokenTime = 5 * time.Second

// introduction is what the client says of itself to the daemon that greeted. One
// that speaks of no roles in its greeting knows neither roles nor tokens.
func (c *Client) introduction(ctx context.Context, l *link, greeting rpc.Hello) (rpc.HelloParams, error) {
	p := rpc.HelloParams{Client: c.Name, Version: sdk.Version, Protocol: rpc.Protocol}
	if p.Client == "" {
		p.Client = "client"
	}
	if c.AnyProtocol {
		p.Protocol = greeting.Protocol
	}
	if c.Token != "" {
		p.Token, p.Role = c.Token, c.Role
		return p, nil
	}
	if c.Role == "" || greeting.Role == "" {
		return p, nil
	}
	p.Role = c.Role
	if !c.Role.NeedsToken() {
		return p, nil
	}
	var err error
	p.Token, err = c.token(ctx, l)
	return p, err
}

// token reads the token of the client's role. The daemon that greeted wrote it
// before it could be reached, so one that is missing or broken was touched since,
// and the daemon makes it again unless it ends.
func (c *Client) token(ctx context.Context, l *link) (string, error) {
	socket, err := c.socket()
	if err != nil {
		return "", err
	}
	path := rpc.TokenPath(socket, c.Role)
	for begin := time.Now(); ; {
		text, err := readToken(path)
		if err == nil {
			return text, nil
		}
		failed := &TokenError{Role: c.Role, Path: path, Cause: err}
		if errors.Is(err, fs.ErrPermission) || time.Since(begin) > tokenTime {
			return "", failed
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-l.done:
			return "", l.why()
		case <-ctx.Done():
			return "", failed
		}
	}
}

// readToken reads a file of 64 hex digits, and no link.
func readToken(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // read only
	text, err := io.ReadAll(io.LimitReader(f, tokenLength+1))
	if err == nil && len(text) != tokenLength {
		err = errors.New("it is no token")
	}
	return string(text), err
}

const tokenLength = 64
