package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/loopback"
	"github.com/bothyd/bothy/sdk/rpc"
)

// mostHead bounds what comes before the body of a request.
const mostHead = 16 << 10

// web serves the daemon's second listener: a WebSocket, or one message by POST, at the path "/".
// Nobody is told anything there who shows no token, and no GET does anything by itself.
type web struct {
	s      *Server
	http   *http.Server
	served chan struct{} // closed when nothing is accepted any more
}

// serveWeb begins to serve a listener of HTTP. The server's lock is held.
func (s *Server) serveWeb(l net.Listener) {
	w := &web{s: s, served: make(chan struct{})}
	w.http = &http.Server{
		Handler:           w,
		ReadHeaderTimeout: s.limits.FirstByte,
		IdleTimeout:       s.limits.FirstByte,
		MaxHeaderBytes:    mostHead,
		ErrorLog:          s.log.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, guestKey{}, c)
		},
	}
	s.web = w
	go func() {
		defer close(w.served)
		if err := w.http.Serve(&guests{Listener: l, s: s}); !errors.Is(err, http.ErrServerClosed) && s.draining.Err() == nil {
			s.log.Error("the web listener ended", "error", err)
		}
	}()
}

// end closes what is left, when everybody who was let in was served.
func (w *web) end() {
	_ = w.http.Close() // the listener is closed already
	<-w.served
}

// guests accepts the connections of this user's processes, and not too many.
type guests struct {
	net.Listener
	s    *Server
	mu   sync.Mutex
	open int
}

func (g *guests) Accept() (net.Conn, error) {
	for {
		nc, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if uid, known, err := g.s.cfg.WebUser(nc); known && (err != nil || uid != g.s.uid) {
			if err == nil {
				err = fmt.Errorf("this daemon serves uid %d and not uid %d", g.s.uid, uid)
			}
			g.s.alarm.raise(EventRefusedPeer, "a process connected to the web listener: %v", err)
			_ = nc.Close() // it hears nothing
			continue
		}
		if !g.enter() {
			_ = nc.Close() // those that are there said nothing yet, or have a token
			continue
		}
		return &guest{Conn: nc, of: g}, nil
	}
}

func (g *guests) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open >= 2*(g.s.limits.Connections+reserved) {
		return false
	}
	g.open++
	return true
}

// guest is one connection of TCP. Its writes are bounded as those of a Unix socket are.
type guest struct {
	net.Conn
	of    *guests
	left  sync.Once
	asked sync.Once
	from  caller
	err   error
}

type guestKey struct{}

func (g *guest) Write(text []byte) (int, error) {
	if err := writePieces(g.Conn, text, g.of.s.limits.Write); err != nil {
		return 0, err
	}
	return len(text), nil
}

func (g *guest) Close() error {
	g.left.Do(func() {
		g.of.mu.Lock()
		defer g.of.mu.Unlock()
		g.of.open--
	})
	return g.Conn.Close()
}

// check says who the processes at the other end are, and that they may come.
func (g *guest) check() (caller, error) {
	g.asked.Do(func() {
		s := g.of.s
		pids, known, err := s.cfg.WebPeers(g.Conn)
		if !known {
			g.from.peer.UID = s.uid
			return
		}
		if len(pids) == 0 && err == nil {
			pids = []int{0} // as check refuses it
		}
		for _, pid := range pids {
			g.from.peer = rpc.Peer{UID: s.uid, PID: pid}
			grant, refused := s.check(g.from.peer)
			if err = refused; err != nil {
				break
			}
			if grant != nil {
				g.from.grant = grant
			}
		}
		g.err = err
	})
	return g.from, g.err
}

// ServeHTTP answers one request, or the connection that it becomes.
func (w *web) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	g, ok := r.Context().Value(guestKey{}).(*guest)
	if !ok {
		http.Error(out, "no connection", http.StatusInternalServerError)
		return
	}
	from, err := g.check()
	if err != nil {
		w.s.alarm.raise(EventRefusedPeer, "pid %d connected to the web listener: %v", from.peer.PID, err)
		w.refuse(out, http.StatusForbidden, rpc.Errorf(rpc.CodeRefused, sdk.Permission, err.Error()))
		return
	}
	if err := loopback.Check(r); err != nil {
		w.s.alarm.raise(EventRefusedPeer, "pid %d sent a request to the web listener, and %v", from.peer.PID, err)
		w.refuse(out, http.StatusForbidden, rpc.Errorf(rpc.CodeRefused, sdk.Permission, err.Error()))
		return
	}
	if r.URL.Path != "/" {
		http.NotFound(out, r)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodPost {
		out.Header().Set("Allow", "GET, POST")
		http.Error(out, "a WebSocket begins with GET, and one message comes by POST", http.StatusMethodNotAllowed)
		return
	}
	if from, err = w.s.admitted(r, from); err != nil {
		out.Header().Set("WWW-Authenticate", `Bearer realm="bothy"`)
		w.refuse(out, http.StatusUnauthorized, rpc.ErrorOf(err))
		return
	}
	if r.Method == http.MethodPost {
		w.post(out, r, from)
		return
	}
	w.socket(out, r, g, from)
}

// admitted is a caller with the role of the token that a request shows.
func (s *Server) admitted(r *http.Request, from caller) (caller, error) {
	token := loopback.Token(r)
	if token == "" {
		return from, rpc.Errorf(rpc.CodeRole, sdk.Permission, fmt.Sprintf(
			"show a token, as `Authorization: Bearer TOKEN` or as ?token=TOKEN: that of the role submit is in %s", rpc.TokenPath(s.socket, rpc.RoleSubmit)))
	}
	role, known := s.tokens.role(token)
	switch {
	case from.grant == nil && known:
		from.role = role
		return from, nil
	case from.grant != nil && from.grant.good(token):
		from.role, from.shown = rpc.RoleSubmit, true
		return from, nil
	case from.grant != nil && known:
		s.alarm.raise(EventRefusedApproval, "pid %d, which descends from the plugin %s, showed the web listener a token of the role %s", from.peer.PID, from.grant.instance, role)
		return from, rpc.Errorf(rpc.CodeRole, sdk.Permission, "a plugin has no role but that of its channel, with the token that Serve was given")
	}
	s.alarm.raise(EventWrongToken, "pid %d showed the web listener a token that is none of this daemon's", from.peer.PID)
	s.pause(r.Context())
	return from, rpc.Errorf(rpc.CodeRole, sdk.Permission, "the token is none of this daemon's, which makes new ones at each start")
}

// socket serves a WebSocket to its end.
func (w *web) socket(out http.ResponseWriter, r *http.Request, g *guest, from caller) {
	// Origin was looked at: a page of this machine may come from another port.
	ws, err := websocket.Accept(out, r, &websocket.AcceptOptions{InsecureSkipVerify: true, CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return // it was told
	}
	line := newWebSocket(ws, g, w.s.limits)
	c, full := w.s.seat(line, from)
	if full != nil {
		line.last(encodeResponse(nil, nil, full))
		line.close()
		return
	}
	w.s.keep(c, nil)
}

// post serves one message.
func (w *web) post(out http.ResponseWriter, r *http.Request, from caller) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		http.Error(out, "a message is sent as application/json", http.StatusUnsupportedMediaType)
		return
	}
	control := http.NewResponseController(out)
	_ = control.SetReadDeadline(time.Now().Add(w.s.limits.Partial)) // fails only when the connection is gone
	text, err := io.ReadAll(http.MaxBytesReader(out, r.Body, int64(w.s.limits.Frame)))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		w.refuse(out, http.StatusRequestEntityTooLarge, tooLong(w.s.limits))
		return
	case err != nil:
		w.refuse(out, http.StatusRequestTimeout, invalid("the message did not come in time"))
		return
	}
	_ = control.SetReadDeadline(time.Time{})
	line := &post{ctx: r.Context(), text: text}
	c, full := w.s.seat(line, from)
	if full != nil {
		w.refuse(out, http.StatusServiceUnavailable, full)
		return
	}
	w.s.keep(c, func() {
		if line.answer == nil {
			out.WriteHeader(http.StatusNoContent)
			return
		}
		out.Header().Set("Content-Type", "application/json")
		_, _ = out.Write(append(line.answer, '\n')) // who does not read it has gone
		_ = control.Flush()
	})
}

// refuse answers with one error, and ends the connection.
func (w *web) refuse(out http.ResponseWriter, status int, e *rpc.Error) {
	out.Header().Set("Content-Type", "application/json")
	out.Header().Set("Connection", "close")
	out.WriteHeader(status)
	_, _ = out.Write(append(encodeResponse(nil, nil, e), '\n')) // who does not read it has gone
}
