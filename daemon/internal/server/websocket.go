package server

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

// errNoText ends a WebSocket whose client sends bytes: a message is text.
var errNoText = errors.New("a message that is no text")

// goodbye is how long a client has for its half of the end of a WebSocket.
const goodbye = time.Second

// webSocket is a transport on which each message is one text of the protocol. A read of the
// library cannot be given up without the connection, so a goroutine of its own reads.
type webSocket struct {
	ws     *websocket.Conn
	net    net.Conn // under it, which bounds writes
	limits Limits
	in     chan received
	ctx    context.Context
	end    context.CancelFunc
	deaf   chan struct{}
	hush   sync.Once
	gone   atomic.Bool
	why    atomic.Int64 // the websocket.StatusCode that it ends with
}

// received is one message, or why there is none any more.
type received struct {
	text []byte
	err  error
}

func newWebSocket(ws *websocket.Conn, under net.Conn, limits Limits) *webSocket {
	ws.SetReadLimit(-1) // read bounds a message, and says so to the client
	w := &webSocket{ws: ws, net: under, limits: limits, in: make(chan received), deaf: make(chan struct{})}
	w.ctx, w.end = context.WithCancel(context.Background())
	w.why.Store(int64(websocket.StatusGoingAway))
	go w.pump()
	return w
}

func (w *webSocket) pump() {
	for {
		text, err := w.read()
		if err != nil && w.why.Load() == int64(websocket.StatusGoingAway) {
			w.gone.Store(true)
		}
		select {
		case w.in <- received{text, err}:
		case <-w.ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// read waits for one message. Between messages a client may be silent for as long as it likes.
func (w *webSocket) read() ([]byte, error) {
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	kind, r, err := w.ws.Reader(ctx)
	if err != nil {
		return nil, err
	}
	if kind != websocket.MessageText {
		w.why.Store(int64(websocket.StatusUnsupportedData))
		return nil, errNoText
	}
	late := time.AfterFunc(w.limits.Partial, cancel)
	text, err := io.ReadAll(io.LimitReader(r, int64(w.limits.Frame)+1))
	switch {
	case !late.Stop() && err != nil:
		return nil, os.ErrDeadlineExceeded
	case err != nil:
		return nil, err
	case len(text) > w.limits.Frame:
		w.why.Store(int64(websocket.StatusMessageTooBig))
		return nil, errTooLong
	}
	return text, nil
}

func (w *webSocket) next() ([]byte, error) {
	for {
		select {
		case m := <-w.in:
			if m.err == nil && blank(m.text) {
				continue
			}
			return m.text, m.err
		case <-w.deaf:
			return nil, io.EOF
		}
	}
}

func (w *webSocket) write(text []byte) error {
	return w.ws.Write(context.Background(), websocket.MessageText, text) // the connection under it bounds that
}

func (w *webSocket) joins() bool { return false }

func (w *webSocket) last(text []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), lastTime)
	defer cancel()
	_ = w.ws.Write(ctx, websocket.MessageText, text) // nobody waits for it
}

func (w *webSocket) deafen() { w.hush.Do(func() { close(w.deaf) }) }

func (w *webSocket) hungUp() bool { return w.gone.Load() }

// close says goodbye and waits a moment for the client's.
func (w *webSocket) close() {
	w.deafen()
	defer w.end() // of the pump; before the goodbye it would be the end of the connection
	if w.gone.Load() {
		_ = w.ws.CloseNow() // it is closed already, as a rule
		return
	}
	late := time.AfterFunc(goodbye, func() { _ = w.net.Close() })
	defer late.Stop()
	_ = w.ws.Close(websocket.StatusCode(w.why.Load()), "") // fails when the client does not answer
}
