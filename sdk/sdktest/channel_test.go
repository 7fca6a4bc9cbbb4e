package sdktest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/channel"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/hook"
)

// waits serves until it is told to end, whatever the daemon does.
func waits(ctx context.Context, access channel.Access, say func(string)) error {
	c := client.Client{Socket: access.Socket, Token: access.Token}
	defer c.Close() //nolint:errcheck // nothing hangs on it
	if _, err := c.Hello(ctx); err != nil {
		say("no daemon")
	}
	<-ctx.Done()
	return ctx.Err()
}

func TestChannelContract(t *testing.T) {
	Channel(t, channel.Func(waits))
	Channel(t, channel.Func(func(context.Context, channel.Access, func(string)) error { return errors.New("no network") }))
}

func TestChannelRoundTrip(t *testing.T) {
	began := make(chan channel.Access)
	impl := channel.Func(func(ctx context.Context, a channel.Access, say func(string)) error {
		switch a.Socket {
		case "panic":
			panic("at work")
		case "fail":
			return sdk.Errorf(sdk.Unavailable, "the bot's token is wrong")
		}
		say("connected\xff")
		began <- a
		<-ctx.Done()
		return fmt.Errorf("polling: %w", ctx.Err())
	})
	c := channel.NewClient(Pair(t, func(s grpc.ServiceRegistrar) { channel.Register(s, impl) }))
	if err := c.Serve(soon(t), channel.Access{Socket: "fail"}, nil); outcome(err) != sdk.Unavailable {
		t.Errorf("%v", err)
	}
	if err := c.Serve(soon(t), channel.Access{Socket: "panic"}, nil); outcome(err) != sdk.Internal || !strings.Contains(err.Error(), "panicked") {
		t.Errorf("%v", err)
	}
	if err := c.Cancel(soon(t)); err != nil {
		t.Errorf("with nothing at work: %v", err)
	}
	lent := channel.Access{Socket: "/s", Token: token, Projects: []string{"/a", "/b"}}
	said, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- c.Serve(soon(t), lent, func(s string) { said <- s }) }()
	if a := <-began; a.Socket != "/s" || a.Token != token || len(a.Projects) != 2 {
		t.Errorf("it was lent %v", a)
	}
	if s := <-said; s != "connected\uFFFD" {
		t.Errorf("it said %q", s)
	}
	if err := c.Serve(soon(t), lent, nil); outcome(err) != sdk.Conflict {
		t.Errorf("a second Serve: %v", err)
	}
	if err := c.Cancel(soon(t)); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("ended in order: %v", err)
	}
	for _, form := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(form, lent); strings.Contains(text, token) || !strings.Contains(text, "/b") {
			t.Errorf("%s prints %s", form, text)
		}
	}
}

// TestHookSetContract: hooks of functions keep what they do not know.
func TestHookSetContract(t *testing.T) {
	set := hook.Set{
		hook.On("run.created", func(context.Context, sdk.RunEvent) error { return nil }),
		hook.Filter("entry.recording", func(_ context.Context, r sdk.Recording) (sdk.Recording, error) {
			r.State = sdk.StateFailed
			return r, nil
		}).Closed(),
		hook.Filter("instructions.tool_docs", func(_ context.Context, docs map[string]string) (map[string]string, error) {
			docs["rm"] = "Not here."
			return docs, nil
		}),
	}
	Hook(t, set,
		Heard{Name: "run.created", Value: sdk.RunEvent{Project: "/p"}},
		Heard{Name: "entry.recording", Filter: true, Value: sdk.Recording{Tool: "rm"}},
		Heard{Name: "instructions.tool_docs", Filter: true, Value: map[string]string{"set": "Sets."}},
	)
}
