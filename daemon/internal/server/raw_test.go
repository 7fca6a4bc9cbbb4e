package server

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk/rpc"
)

// raw is a connection whose lines a test writes and reads itself.
type raw struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

type rawMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *rpc.Error      `json:"error"`
}

func newRaw(t *testing.T, c net.Conn) *raw {
	return &raw{t: t, conn: c, in: bufio.NewReaderSize(c, 1<<20)}
}

func (r *raw) send(text string) {
	r.t.Helper()
	if _, err := io.WriteString(r.conn, text); err != nil {
		r.t.Fatalf("send: %v", err)
	}
}

func (r *raw) next() (rawMessage, error) {
	var m rawMessage
	_ = r.conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	line, err := r.in.ReadBytes('\n')
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(line, &m)
}

// answer returns the next message that is no notification.
func (r *raw) answer() rawMessage {
	r.t.Helper()
	for {
		m, err := r.next()
		if err != nil {
			r.t.Fatalf("no answer: %v", err)
		}
		if m.Method == "" {
			return m
		}
	}
}

// closed fails unless the server ends the connection.
func (r *raw) closed() {
	r.t.Helper()
	for {
		_, err := r.next()
		if err == nil {
			continue
		}
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() {
			r.t.Fatal("the connection is still open")
		}
		return
	}
}

func (r *raw) wantError(code int, contains string) {
	r.t.Helper()
	m := r.answer()
	if m.Error == nil || m.Error.Code != code || !strings.Contains(m.Error.Message, contains) {
		r.t.Fatalf("got %+v (error %+v), want code %d with %q", m, m.Error, code, contains)
	}
}
