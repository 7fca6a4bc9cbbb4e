package sdktest

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/conformance"
	"github.com/bothyd/bothy/sdk/provider"
)

// door is a model that lets in whoever knocks.
type door struct {
	fakeModel
	knocked chan struct{}  // closed: who was left may not have noticed and wait here too
	steps   []sdk.AuthStep // before it waits; nil are good ones
	fails   error
	panics  bool
}

func (d door) Authenticate(ctx context.Context, show func(sdk.AuthStep) error) error {
	steps := d.steps
	if steps == nil {
		steps = []sdk.AuthStep{{Open: "https://door.example/in"}, {Code: "ABCD-EFGH"}, {Wait: &sdk.AuthWait{Message: "waiting for you", Until: time.UnixMilli(1e12)}}}
	}
	for _, s := range steps {
		if err := show(s); err != nil {
			return err
		}
	}
	switch {
	case d.panics:
		panic("door")
	case d.fails != nil:
		return d.fails
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-d.knocked:
	}
	return show(sdk.AuthStep{Done: &sdk.AuthDone{Account: "ada", Secret: "key"}})
}

func TestSignIn(t *testing.T) {
	d := door{knocked: make(chan struct{})}
	var seen []sdk.AuthStep
	done := SignIn(t, d, func(s sdk.AuthStep) {
		seen = append(seen, s)
		if s.Wait != nil {
			close(d.knocked)
		}
	})
	if done != (sdk.AuthDone{Account: "ada", Secret: "key"}) || len(seen) != 4 || seen[1].Code != "ABCD-EFGH" || !seen[2].Wait.Until.Equal(time.UnixMilli(1e12)) {
		t.Errorf("%+v, %+v", done, seen)
	}
}

func TestSignInErrors(t *testing.T) {
	for name, c := range map[string]struct {
		impl provider.Provider
		want sdk.Outcome
	}{
		"no authenticator": {fakeModel{}, sdk.Unavailable},
		"refused":          {door{fails: sdk.Errorf(sdk.Permission, "no")}, sdk.Permission},
		"a plain error":    {door{fails: io.ErrUnexpectedEOF}, sdk.Internal},
		"a panic":          {door{panics: true}, sdk.Internal},
		"an empty step":    {door{steps: []sdk.AuthStep{{}}}, sdk.Internal},
	} {
		client := provider.NewClient(Pair(t, func(s grpc.ServiceRegistrar) { provider.Register(s, c.impl) }))
		if err := client.Authenticate(soon(t), func(sdk.AuthStep) error { return nil }); outcome(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// silent is an Authenticator that says that all went well.
type silent struct{ fakeModel }

func (silent) Authenticate(context.Context, func(sdk.AuthStep) error) error { return nil }

// TestSignInConformance: a step that is wrong fails the check that is about it.
func TestSignInConformance(t *testing.T) {
	wait := sdk.AuthStep{Wait: &sdk.AuthWait{Message: "waiting"}}
	open := sdk.AuthStep{Open: "https://door.example"}
	for name, c := range map[string]struct {
		impl     provider.Provider
		severity conformance.Severity
		says     string
	}{
		"well":              {door{}, conformance.Passed, ""},
		"no authenticator":  {fakeModel{}, conformance.Skipped, "nobody can sign in"},
		"refused":           {door{fails: sdk.Errorf(sdk.Permission, "not here"), steps: []sdk.AuthStep{open}}, conformance.Warned, "not here"},
		"broken":            {door{fails: errors.New("x"), steps: []sdk.AuthStep{open}}, conformance.Failed, "failed"},
		"no end":            {silent{}, conformance.Failed, "nobody is signed in"},
		"http elsewhere":    {door{steps: []sdk.AuthStep{{Open: "http://door.example"}, wait}}, conformance.Failed, "neither https"},
		"http here":         {door{steps: []sdk.AuthStep{{Open: "http://127.0.0.1:8/x"}, wait}}, conformance.Passed, ""},
		"a file":            {door{steps: []sdk.AuthStep{{Open: "file:///etc/passwd"}, wait}}, conformance.Failed, "names no host"},
		"a user":            {door{steps: []sdk.AuthStep{{Open: "https://a:b@door.example"}, wait}}, conformance.Failed, "or a user"},
		"a code of its own": {door{steps: []sdk.AuthStep{{Code: "A"}, wait}}, conformance.Failed, "no address before it"},
		"a code that acts":  {door{steps: []sdk.AuthStep{open, {Code: "A\x1b[2J"}, wait}}, conformance.Failed, "no line"},
		"a long code":       {door{steps: []sdk.AuthStep{open, {Code: strings.Repeat("A", 65)}, wait}}, conformance.Failed, "no line"},
		"waits for nothing": {door{steps: []sdk.AuthStep{{Wait: &sdk.AuthWait{}}}}, conformance.Failed, "waited for"},
		"two at a time":     {door{steps: []sdk.AuthStep{open, {Done: &sdk.AuthDone{Secret: "s"}}, wait}}, conformance.Failed, "behind Done"},
		"no secret":         {door{steps: []sdk.AuthStep{{Done: &sdk.AuthDone{}}}, fails: sdk.Errorf(sdk.Permission, "x")}, conformance.Failed, "no secret"},
	} {
		conn := Pair(t, func(s grpc.ServiceRegistrar) { provider.Register(s, c.impl) })
		var checks []conformance.Check
		for _, check := range conformance.ProviderChecks(sdk.Manifest{}) {
			if check.Name == "provider: sign-in" {
				checks = append(checks, check)
			}
		}
		var found []conformance.Finding
		conformance.Run(t.Context(), conformance.Subject{Conn: conn, Call: true}, checks, func(f conformance.Finding) { found = append(found, f) })
		if len(found) != 1 || found[0].Severity != c.severity || !strings.Contains(found[0].Text, c.says) {
			t.Errorf("%s: %+v", name, found)
		}
	}
}
