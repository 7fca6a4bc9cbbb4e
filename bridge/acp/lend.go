package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/acp-go-sdk"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
)

// lending is what the editor lends to a session's run: servers of MCP that it names, and its
// unsaved texts.
type lending struct {
	servers []rpc.LentServer
	buffers bool
	root    string // the project as the editor calls it, whose path may lead through links

	mu       sync.Mutex
	loan     *client.Loan
	problems []string // that the person was not told of
}

// lend lends what the editor has named, and again whenever the daemon was another one. What
// cannot be used keeps no session from beginning.
func (s *session) lend(ctx context.Context, servers []acp.McpServer, cwd string) {
	s.lends = &lending{servers: lentServers(servers), buffers: s.b.reads.Load(), root: filepath.Clean(cwd)}
	if len(s.lends.servers) == 0 && !s.lends.buffers {
		return
	}
	if err := s.lendNow(ctx); err != nil {
		s.b.log.Warn("what the editor lends is not lent", "error", err)
	}
	go s.lendOn()
}

// lendNow lends what is to be lent, unless it is.
func (s *session) lendNow(ctx context.Context) error {
	l := s.lends
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.servers) == 0 && !l.buffers || l.loan != nil && !isClosed(l.loan.Lost()) {
		return nil
	}
	if l.loan != nil {
		l.loan.Close()
		l.loan = nil
	}
	loan, err := s.b.cl.Lend(ctx, rpc.Lend{Run: strconv.FormatInt(s.run, 10), Servers: l.servers, Buffers: l.buffers}, s.unsaved)
	if err != nil {
		return err
	}
	l.loan = loan
	for _, as := range loan.Servers {
		if as.Problem != "" {
			l.problems = append(l.problems, "The MCP server "+show.Line(as.Name)+" of the editor is not used: "+show.Text(as.Problem))
			continue
		}
		s.b.log.Info("an MCP server of the editor is lent to the run", "server", as.Name, "tools", "mcp__"+as.Server+"__*", "open", strings.Join(as.Notes, " "))
	}
	return nil
}

// lendPause is how long after a loan was lost it is tried again.
const lendPause = 200 * time.Millisecond

// lendOn lends again what is lost, and takes it back at the session's end.
func (s *session) lendOn() {
	for {
		s.lends.mu.Lock()
		loan := s.lends.loan
		s.lends.mu.Unlock()
		var lost <-chan struct{}
		var pause <-chan time.Time
		if loan != nil {
			lost = loan.Lost()
		}
		if loan == nil || isClosed(lost) {
			lost, pause = nil, time.After(lendPause)
		}
		select {
		case <-lost:
			continue
		case <-pause:
			_ = s.lendNow(s.ctx) // the next one may do
		case <-s.ctx.Done():
			s.lends.mu.Lock()
			defer s.lends.mu.Unlock()
			if s.lends.loan != nil {
				s.lends.loan.Close()
			}
			return
		}
	}
}

// lendFirst lends before a prompt goes out, so that a daemon that has just come has what the prompt may need,
// and tells what cannot be used.
func (s *session) lendFirst(ctx context.Context) {
	_, err := start.Repeat(ctx, s.b.daemon, s.b.cl, func() (struct{}, error) { return struct{}{}, s.lendNow(ctx) })
	if err != nil {
		s.b.log.Warn("what the editor lends is not lent", "error", err)
	}
	s.lends.mu.Lock()
	problems := s.lends.problems
	s.lends.problems = nil
	s.lends.mu.Unlock()
	for _, p := range problems {
		s.say(p)
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// lentServers are the servers that an editor names, as the daemon takes them.
func lentServers(servers []acp.McpServer) (all []rpc.LentServer) {
	headers := func(list []acp.HttpHeader) map[string]string {
		out := map[string]string{}
		for _, h := range list {
			out[h.Name] = h.Value
		}
		return out
	}
	for _, m := range servers {
		switch {
		case m.Stdio != nil:
			env := map[string]string{}
			for _, v := range m.Stdio.Env {
				env[v.Name] = v.Value
			}
			all = append(all, rpc.LentServer{Name: m.Stdio.Name, Command: m.Stdio.Command, Args: m.Stdio.Args, Env: env})
		case m.Http != nil:
			all = append(all, rpc.LentServer{Name: m.Http.Name, URL: m.Http.Url, Headers: headers(m.Http.Headers), Transport: "http"})
		case m.Sse != nil:
			all = append(all, rpc.LentServer{Name: m.Sse.Name, URL: m.Sse.Url, Headers: headers(m.Sse.Headers), Transport: "sse"})
		}
	}
	return all
}

// mostCompared is how much of a file is compared with what the editor has.
const mostCompared = 32 << 20

// unsaved is how the editor has a file.
func (s *session) unsaved(ctx context.Context, path string) sdk.Buffer {
	inside, err := filepath.Rel(s.project, path)
	if err != nil || !filepath.IsLocal(inside) {
		return sdk.Buffer{}
	}
	got, err := s.b.conn.ReadTextFile(ctx, acp.ReadTextFileRequest{SessionId: s.id, Path: filepath.Join(s.lends.root, inside)})
	if refused := (*acp.RequestError)(nil); err != nil {
		return sdk.Buffer{Unknown: ctx.Err() != nil || !errors.As(err, &refused)} // else there is no file, or none that it has open
	}
	disk, err := beginning(path)
	switch {
	case errors.Is(err, os.ErrInvalid): // no file
		return sdk.Buffer{}
	case err != nil && !os.IsNotExist(err), len(disk) > mostCompared:
		return sdk.Buffer{Unknown: true}
	case sameText(string(disk), got.Content):
		return sdk.Buffer{}
	}
	return sdk.Buffer{Unsaved: true, Text: got.Content}
}

// beginning is the contents of a file, cut where it is longer than what is compared.
func beginning(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, os.ErrInvalid
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.ReadAll(io.LimitReader(f, mostCompared+1))
}

// sameText reports whether an editor that shows a file has changed nothing of it: the marks at the ends of
// lines, the last of them and a byte order mark are the editor's own.
func sameText(disk, shown string) bool {
	if disk == shown {
		return true
	}
	plain := func(s string) string {
		return strings.TrimRight(strings.ReplaceAll(strings.TrimPrefix(s, "\ufeff"), "\r\n", "\n"), "\n")
	}
	return plain(disk) == plain(shown)
}
