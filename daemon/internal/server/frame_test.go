package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk/rpc"
)

func TestBadMessages(t *testing.T) {
	h := open(t, nil)
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for name, c := range map[string]struct {
		line string
		code int
		says string
		id   string
	}{
		"no JSON":             {`{"jsonrpc":`, rpc.CodeParse, "no JSON", "null"},
		"two values":          {ping + ping, rpc.CodeParse, "no JSON", "null"},
		"not UTF-8":           {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", rpc.CodeParse, "UTF-8", "null"},
		"deep":                {strings.Repeat("[", 1_000_000) + strings.Repeat("]", 1_000_000), rpc.CodeInvalid, "64 levels", "null"},
		"deep and broken":     {strings.Repeat(`{"a":`, 100), rpc.CodeInvalid, "64 levels", "null"},
		"key twice":           {`{"jsonrpc":"2.0","id":1,"method":"ping","method":"stop"}`, rpc.CodeInvalid, `"method" twice`, "null"},
		"key twice, escaped":  {`{"jsonrpc":"2.0","id":1,"method":"ping","m\u0065thod":"stop"}`, rpc.CodeInvalid, `"method" twice`, "null"},
		"key twice, inside":   {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"project":"/p","tool":"t","arguments":{"a":[{"b":1,"b":2}]}}}`, rpc.CodeInvalid, `"b" twice`, "null"},
		"key in another case": {`{"jsonrpc":"2.0","id":1,"method":"ping","Method":"stop"}`, rpc.CodeInvalid, `"Method"`, "1"},
		"empty batch":         {"[]", rpc.CodeInvalid, "batch", "null"},
		"a bare word":         {`"ping"`, rpc.CodeInvalid, "object", "null"},
		"no version":          {`{"id":"x","method":"ping"}`, rpc.CodeInvalid, "jsonrpc", `"x"`},
		"version 1":           {`{"jsonrpc":"1.0","id":2,"method":"ping"}`, rpc.CodeInvalid, "jsonrpc", "2"},
		"no method":           {`{"jsonrpc":"2.0","id":2}`, rpc.CodeInvalid, "method", "2"},
		"method is a number":  {`{"jsonrpc":"2.0","id":2,"method":7}`, rpc.CodeInvalid, "method", "2"},
		"id is a list":        {`{"jsonrpc":"2.0","id":[1],"method":"ping"}`, rpc.CodeInvalid, "string or a number", "null"},
		"id is null":          {`{"jsonrpc":"2.0","id":null,"method":"ping"}`, rpc.CodeInvalid, "string or a number", "null"},
	} {
		t.Run(name, func(t *testing.T) {
			r := h.dial(t)
			r.send(c.line + "\n")
			m := r.answer()
			if m.Error == nil || m.Error.Code != c.code || !strings.Contains(m.Error.Message, c.says) || string(m.ID) != c.id {
				t.Fatalf("got id %s, %+v; want id %s, code %d, %q", m.ID, m.Error, c.id, c.code, c.says)
			}
			r.send(ping + "\n")
			if m := r.answer(); m.Error != nil || string(m.ID) != "1" {
				t.Errorf("the connection is of no use afterwards: %+v", m.Error)
			}
		})
	}
}

// TestIDs holds that an id comes back as it was written.
func TestIDs(t *testing.T) {
	h := open(t, nil)
	r := h.dial(t)
	for _, id := range []string{"0", "-1", "1.50", "12345678901234567890123", `""`, `"1"`, `"a\u00e9\n"`} {
		r.send("\n  \n" + `{"id":` + id + `,"jsonrpc":"2.0","method":"ping","params":{}}` + "\r\n")
		m := r.answer()
		var want, got any
		_ = json.Unmarshal([]byte(id), &want)
		_ = json.Unmarshal(m.ID, &got)
		if m.Error != nil || got != want || (id[0] != '"' && string(m.ID) != id) {
			t.Errorf("id %s came back as %s (%v)", id, m.ID, m.Error)
		}
	}
	r.send(`{"jsonrpc":"2.0","method":"ping"}` + "\n" + `{"jsonrpc":"2.0","id":"after","method":"ping"}` + "\n")
	if m := r.answer(); string(m.ID) != `"after"` {
		t.Errorf("a notification was answered: %s", m.ID)
	}
}

// TestLongLine sends 5 MiB: an answer and the end of the connection, and
// nobody else notices.
func TestLongLine(t *testing.T) {
	h := open(t, nil)
	other := h.client(t)
	if err := other.Ping(context.Background()); err != nil {
		t.Fatal(err)
	}
	r := h.dial(t)
	go func() { _, _ = r.conn.Write(bytes.Repeat([]byte("x"), 5<<20)) }() // fails when the server closes, as it should
	r.wantError(rpc.CodeInvalid, "longer than 4194304 bytes")
	r.closed()
	if err := other.Ping(context.Background()); err != nil {
		t.Error(err)
	}
	full := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{}` + strings.Repeat(" ", 4<<20-52) + "}"
	if len(full) != 4<<20 {
		t.Fatalf("the test's line has %d bytes", len(full))
	}
	r = h.dial(t)
	r.send(full + "\n")
	if m := r.answer(); m.Error != nil {
		t.Errorf("a message of exactly the limit: %v", m.Error)
	}
}

// TestSlowSender trickles: a message must end in time, silence before the
// first one too, and silence after it is nobody's concern.
func TestSlowSender(t *testing.T) {
	h := open(t, func(cfg *Config) {
		cfg.Limits.FirstByte, cfg.Limits.Partial = 300*time.Millisecond, 400*time.Millisecond
	})
	silent := h.dial(t)
	silent.wantError(rpc.CodeInvalid, "in time")
	silent.closed()

	r := h.dial(t)
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if _, err := io.WriteString(r.conn, "{"); err != nil {
					return
				}
			case <-stop:
				return
			}
		}
	}()
	r.wantError(rpc.CodeInvalid, "in time")
	r.closed()

	idle := h.dial(t)
	idle.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")
	idle.answer()
	gone := make(chan struct{})
	go func() { _, _ = idle.next(); close(gone) }()
	select {
	case <-gone:
		t.Error("an idle connection was closed")
	case <-time.After(time.Second):
	}
	_ = idle.conn.Close()
	<-gone
}

// FuzzFrame feeds the whole way from bytes to a request. Whatever passes is
// JSON that every reader takes for the same.
func FuzzFrame(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":"a","method":"act","params":{"project":"/p","prompt":"x"}}`,
		`[]`, `{"a":{"a":[1,{"b":2}]}}`, `{"a":1,"a":2}`, `{"\u0061":1,"a":2}`, `"x"`, `{"a":"\\\"{{{"}`, "null", "7E330", `{"id":{}}`, "{}\n{}",
	} {
		f.Add([]byte(seed))
	}
	s := &Server{cfg: Config{Skills: &fakeSkills{}}}
	table := s.table()
	f.Fuzz(func(t *testing.T, data []byte) {
		ours, theirs := net.Pipe()
		go func() { _, _ = theirs.Write(data); _ = theirs.Close() }()
		frames := newFrameReader(ours, DefaultLimits())
		for {
			frame, err := frames.next()
			if err != nil {
				_ = ours.Close()
				return
			}
			if checkFrame(frame, 64) != nil {
				continue
			}
			var v any
			dec := json.NewDecoder(bytes.NewReader(frame))
			dec.UseNumber() // 7E330 is JSON, and no float64
			if err := dec.Decode(&v); err != nil {
				t.Fatalf("%q passed and is no JSON: %v", frame, err)
			}
			again, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			if n, m := members(frame), members(again); n != m {
				t.Fatalf("%q passed with %d members of which the decoder kept %d", frame, n, m)
			}
			calls, _, _ := readMessage(frame, 32)
			for _, x := range calls {
				if m, ok := table[x.Method]; ok && x.failed == nil {
					p := map[string]any{}
					_ = decodeParams(x.Method, x.Params, fieldsOf(m.params), &p, false)
				}
			}
		}
	})
}

// members counts the members of all objects in a JSON text.
func members(text []byte) int {
	dec := json.NewDecoder(bytes.NewReader(text))
	n := 0
	type level struct{ object, key bool }
	var levels []level
	for {
		token, err := dec.Token()
		if err != nil {
			break
		}
		if d, ok := token.(json.Delim); ok && (d == '}' || d == ']') {
			levels = levels[:len(levels)-1]
			continue
		}
		if len(levels) > 0 && levels[len(levels)-1].object {
			top := &levels[len(levels)-1]
			if top.key = !top.key; top.key {
				n++
			}
		}
		if d, ok := token.(json.Delim); ok {
			levels = append(levels, level{object: d == '{'})
		}
	}
	return n
}
