package server

import (
	"fmt"
	"reflect"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// widens reports whether a parameter needs the role approve. One that nobody
// classified does.
func (f field) widens() bool {
	switch f.access {
	case rpc.AccessFree, rpc.AccessProject, rpc.AccessRun, rpc.AccessOwner, rpc.AccessAlias, rpc.AccessProposal:
		return false
	}
	return true
}

// given reports whether a parameter that widens says anything. Of the modes only
// full does: the others ask.
func given(v reflect.Value) bool {
	if mode, is := v.Interface().(sdk.Mode); is {
		return mode == sdk.ModeFull
	}
	if k := v.Kind(); k == reflect.Map || k == reflect.Slice {
		return v.Len() > 0
	}
	return !v.IsZero()
}

// widened names the first parameter of a call that widens something, or "".
func widened(fields []field, params reflect.Value) string {
	for _, f := range fields {
		if f.widens() && given(params.FieldByIndex(f.index)) {
			return f.name
		}
	}
	return ""
}

// permit refuses what the connection's role does not allow. What only a person
// may do is a security event when somebody else tries it.
func (c *conn) permit(need rpc.Role, what string) error {
	has := c.allowed()
	if has.Allows(need) {
		return nil
	}
	if !need.NeedsToken() {
		return rpc.Errorf(rpc.CodeRole, sdk.Permission, fmt.Sprintf("%s needs the role %s, and this connection asked for %s", what, need, has))
	}
	c.s.alarm.raise(refusedFor(need), "pid %d asked for %s with the role %s", c.peer.PID, what, has)
	return rpc.Errorf(rpc.CodeRole, sdk.Permission,
		fmt.Sprintf("%s needs the role %s, and this connection has %s: say hello with the token in %s", what, need, has, rpc.TokenPath(c.s.socket, need)))
}

// refusedFor is the security event of a role that was not there.
func refusedFor(need rpc.Role) string {
	if need == rpc.RoleAdmin {
		return EventRefusedAdmin
	}
	return EventRefusedApproval
}

// allowed is the connection's role.
func (c *conn) allowed() rpc.Role {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.role
}

// introduce gives the connection the role that its hello is good for: that of
// its token, or less when it asks for less. Without a token it never gains.
func (c *conn) introduce(p rpc.HelloParams) error {
	if p.Role != "" && !p.Role.Valid() {
		return wrongParams("there is no role %q: it is observe, submit, approve or admin", p.Role)
	}
	if c.grant != nil {
		return c.prove(p)
	}
	has := c.allowed()
	if p.Token != "" {
		var err error
		if has, err = c.redeem(p.Token); err != nil {
			return err
		}
	}
	if p.Role != "" {
		if err := c.covers(has, p); err != nil {
			return err
		}
		has = p.Role
	}
	c.mu.Lock()
	c.role = has
	c.mu.Unlock()
	return nil
}

// covers refuses a hello that asks for more than it is good for.
func (c *conn) covers(has rpc.Role, p rpc.HelloParams) error {
	if has.Allows(p.Role) {
		return nil
	}
	if !p.Role.NeedsToken() {
		return rpc.Errorf(rpc.CodeRole, sdk.Permission, fmt.Sprintf("this connection gave up the role %s: make another one", p.Role))
	}
	c.s.alarm.raise(refusedFor(p.Role), "pid %d said that its role is %s, and it is %s", c.peer.PID, p.Role, has)
	return rpc.Errorf(rpc.CodeRole, sdk.Permission,
		fmt.Sprintf("the role %s needs its token, which is in %s", p.Role, rpc.TokenPath(c.s.socket, p.Role)))
}

// wrongTokens is how many of them a connection may try.
const wrongTokens = 3

// redeem is the role of a token. A wrong one is answered after a while, and the
// last one that a connection may try ends it. A right one never waits for the
// wrong ones of others: there is nothing to guess in 256 bits, and a lock-out
// would be a way to keep people from answering.
func (c *conn) redeem(given string) (rpc.Role, error) {
	c.mu.Lock()
	spent := c.wrong >= wrongTokens
	c.mu.Unlock()
	if !spent {
		if role, ok := c.s.tokens.role(given); ok {
			return role, nil
		}
	}
	return "", c.wrongToken(fmt.Sprintf("the token is none of this daemon's, which makes new ones at each start: read %s again", rpc.TokenPath(c.s.socket, rpc.RoleApprove)))
}

// wrongToken answers a token that is none.
func (c *conn) wrongToken(message string) error {
	c.mu.Lock()
	c.wrong++
	last := c.wrong >= wrongTokens
	c.mu.Unlock()
	c.s.alarm.raise(EventWrongToken, "pid %d said hello with a token that is none of this daemon's", c.peer.PID)
	c.s.pause(c.ctx)
	if last {
		c.deafen()
	}
	return rpc.Errorf(rpc.CodeRole, sdk.Permission, message)
}
