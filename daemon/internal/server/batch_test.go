package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk/rpc"
)

// TestBatches: the requests of a batch are done in order and answered together, one for each that
// has an id; what is no request is answered where it stands.
func TestBatches(t *testing.T) {
	h := open(t, func(c *Config) { c.Limits.BatchAnswer = 300 })
	r := h.dial(t)
	if _, err := r.next(); err != nil { // the greeting
		t.Fatal(err)
	}
	one := func(id int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, id) }
	many := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, one(i))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	answered := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, i))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	for _, c := range []struct{ sends, want string }{
		{many(1), answered(1)},
		{many(7), answered(7)},
		{"[]", `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`},
		{many(33), `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the batch has 33 requests, and may have 32`},
		{"[1," + one(4) + "]", `[{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`},
		{"[" + many(1) + "]", `[{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`},
		{`[{"jsonrpc":"2.0","id":"x","method":"nope"}]`, `[{"jsonrpc":"2.0","id":"x","error":{"code":-32601,`},
		{`[{"jsonrpc":"2.0","method":"ping"}]` + "\n" + one(9), `{"jsonrpc":"2.0","id":9,"result":{}}`}, // the first says nothing
		{`[{"jsonrpc":"2.0","method":"nope"},` + one(5) + `]`, "[" + `{"jsonrpc":"2.0","id":5,"result":{}}]`},
		{`{"jsonrpc":"2.0","method":"nope"}` + "\n" + one(6), `{"jsonrpc":"2.0","id":6,"result":{}}`},
		{`[null]`, `[{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`},
	} {
		r.send(c.sends + "\n")
		line, err := r.in.ReadString('\n')
		if err != nil || !strings.HasPrefix(line, c.want) {
			t.Errorf("%.80s: %s, %v", c.sends, line, err)
		}
	}
	r.send(many(32) + "\n")
	line, err := r.in.ReadString('\n')
	if err != nil || strings.Count(line, `"result"`) < 7 || strings.Count(line, fmt.Sprint(rpc.CodeBusy)) < 20 {
		t.Errorf("the answers of a batch are bounded: %s, %v", line, err)
	}
}

// TestBatchesOfAStranger: the audit says also what was asked for in one.
func TestBatchesOfAStranger(t *testing.T) {
	calls, batch, err := readMessage([]byte(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"act"}]`), 2)
	if err != nil || !batch || len(calls) != 2 || calls[1].Method != "act" || calls[1].ID != nil {
		t.Errorf("%+v, %v, %v", calls, batch, err)
	}
}
