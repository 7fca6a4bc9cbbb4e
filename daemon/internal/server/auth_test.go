package server

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// fakeKeys lacks keys until they are given.
type fakeKeys struct {
	mu    sync.Mutex
	lacks []string
	got   map[string]string
}

func (f *fakeKeys) Login(_ context.Context, p rpc.KeyLogin) (rpc.KeyKept, error) {
	if p.Of == "nobody" {
		return rpc.KeyKept{}, sdk.Errorf(sdk.NotFound, "nobody asks for that")
	}
	return rpc.KeyKept{Name: p.Of, Place: rpc.KeyInKeyring}, nil
}

func (f *fakeKeys) Logout(_ context.Context, p rpc.KeyRef) (rpc.KeyRemoved, error) {
	return rpc.KeyRemoved{Name: p.Of}, nil
}

func (f *fakeKeys) List() rpc.Keys { return rpc.Keys{Keys: []rpc.Key{{Name: "K"}}} }

func (f *fakeKeys) Lacks() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.lacks)
}

func (f *fakeKeys) Give(_ context.Context, _ int, p rpc.KeysGive) (rpc.KeysTaken, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.got, f.lacks = p.Keys, nil
	return rpc.KeysTaken{Taken: []string{"K"}}, nil
}

// TestLackingKeysAreToldInTheAnswerToHello: not in the greeting, which everybody hears, and not
// to who may give no work.
func TestLackingKeysAreToldInTheAnswerToHello(t *testing.T) {
	keys := &fakeKeys{lacks: []string{"K"}}
	h := open(t, func(c *Config) { c.Keys = keys })
	r := h.dial(t)
	var greeted rpc.Hello
	if m, err := r.next(); err != nil || m.Method != rpc.MethodHello || json.Unmarshal(m.Params, &greeted) != nil || greeted.Lacks != nil {
		t.Errorf("the greeting is %s: %v", m.Params, err)
	}
	for role, want := range map[rpc.Role]string{rpc.RoleObserve: "[]", rpc.RoleSubmit: "[K]", "": "[K]"} {
		c := &client.Client{Socket: h.path, Role: role}
		hello, err := c.Hello(context.Background())
		if err != nil || fmt.Sprint(hello.Lacks) != want {
			t.Errorf("role %q: %v, %v", role, hello.Lacks, err)
		}
		_ = c.Close()
	}
	c := &client.Client{Socket: h.path}
	defer c.Close()
	if taken, err := c.Give(context.Background(), map[string]string{"K": "v"}); err != nil || !slices.Equal(taken.Taken, []string{"K"}) || keys.got["K"] != "v" {
		t.Errorf("%v, %v", taken, err)
	}
	if hello, err := c.Hello(context.Background()); err != nil || hello.Lacks != nil {
		t.Errorf("after they were given: %v, %v", hello.Lacks, err)
	}
}

// TestAChannelSaysNothingAboutKeys: it is not told which are lacking, and may neither give, list,
// keep nor remove one.
func TestAChannelSaysNothingAboutKeys(t *testing.T) {
	h := openChannel(t, "/p/one")
	keys := h.cfg.Keys.(*fakeKeys)
	keys.lacks = []string{"K"}
	c := h.channel(t)
	if hello, err := c.Hello(context.Background()); err != nil || hello.Role != rpc.RoleSubmit || hello.Lacks != nil {
		t.Errorf("%+v, %v", hello, err)
	}
	for method, params := range map[string]any{
		rpc.MethodGive: rpc.KeysGive{Keys: map[string]string{"K": "v"}}, rpc.MethodKeys: nil,
		rpc.MethodLogin: rpc.KeyLogin{Of: "K", Key: "v"}, rpc.MethodLogout: rpc.KeyRef{Of: "K"},
	} {
		h.calm()
		if err := c.Call(context.Background(), method, params, nil); !refused(err) {
			t.Errorf("%s: %v", method, err)
		}
	}
	if keys.got != nil {
		t.Errorf("given %v", keys.got)
	}
}

// TestNoErrorRepeatsAKey: what is wrong with a call that has a key in it is said without it.
func TestNoErrorRepeatsAKey(t *testing.T) {
	h := open(t, nil)
	c := h.enter(t, rpc.RoleAdmin)
	const key = "canary-5b1c77"
	for _, call := range []string{
		`"method":"auth/login","params":{"of":"nobody","key":"` + key + `"}`,
		`"method":"auth/login","params":{"of":1,"key":"` + key + `"}`,
		`"method":"auth/login","params":{"key":"` + key + `"}`,
		`"method":"auth/login","params":"` + key + `"`,
		`"method":"auth/login","params":{"of":"x","key":["` + key + `"]}`,
		`"method":"auth/give","params":{"keys":"` + key + `"}`,
		`"method":"auth/give","params":{"keys":{"K":["` + key + `"]}}`,
		`"method":"auth/logout","params":{"of":"x","key":"` + key + `"}`,
	} {
		c.send(`{"jsonrpc":"2.0","id":1,` + call + "}\n")
		m := c.answer()
		if m.Error == nil || strings.Contains(m.Error.Message, key) {
			t.Errorf("%s: %+v", call, m.Error)
		}
	}
}
