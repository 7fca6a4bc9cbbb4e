package sdktest

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/agent"
	"github.com/bothyd/bothy/sdk/conformance"
	"github.com/bothyd/bothy/sdk/host"
)

// Judged is a work for the suite to have judged. It must be accepted, unless Missing or Fails says otherwise.
type Judged struct {
	sdk.Work
	// Blocks says that its judgement lasts until it is cancelled.
	Blocks bool
	// Missing is what the judgement must say is missing, a part of all of it together.
	Missing string
	// Fails is the outcome with which there must be no judgement.
	Fails sdk.Outcome
}

// Agent checks an implementation of the kind agent: its declarations can be used, works are judged as they have to be
// with daemon as what it calls back, and the same way twice; a judgement ends soon after its context, and
// without a daemon it ends as well.
func Agent(t *testing.T, impl agent.Agent, daemon host.Host, works ...Judged) {
	t.Helper()
	register := func(s grpc.ServiceRegistrar) { agent.Register(s, impl) }
	conn := Pair(t, register, serving(daemon)...)
	client := agent.NewClient(withGrease(t, conn), impl.Agents()...)
	alone := agent.NewClient(Pair(t, register), impl.Agents()...)
	t.Run("declarations", func(t *testing.T) {
		if err := conformance.Agents(impl.Agents()); err != nil {
			t.Error(err)
		}
		if !reflect.DeepEqual(impl.Agents(), impl.Agents()) {
			t.Error("two calls of Agents differ, without a change of the manifest")
		}
	})
	for _, w := range works {
		t.Run("judge "+w.Agent, func(t *testing.T) {
			if w.Blocks {
				w.CallID = "blocks"
				cancelled(t, w.CallID, client, func() error {
					_, err := client.Validate(context.Background(), w.Work)
					return err
				})
				return
			}
			for range 2 {
				judgement, err := client.Validate(soon(t), w.Work)
				judges(t, w, judgement, err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			within(t, "a judgement with an ended context", func() {
				_, _ = client.Validate(ctx, w.Work) // any answer will do
			})
			within(t, "a judgement without a daemon", func() {
				_, _ = alone.Validate(context.Background(), w.Work) // likewise
			})
		})
	}
	m := sdk.Manifest{Agents: impl.Agents()}
	keeps(t, conn, m, conformance.AgentChecks(m))
}

// judges checks a judgement.
func judges(t *testing.T, w Judged, j sdk.Judgement, err error) {
	t.Helper()
	said := strings.Join(j.Missing, "\n")
	switch {
	case w.Fails != "":
		if outcome(err) != w.Fails {
			t.Errorf("the judgement is %+v, %v; want outcome %s", j, err, w.Fails)
		}
	case err != nil:
		t.Errorf("there is no judgement: %v", err)
	case w.Missing == "" && !j.Accepted:
		t.Errorf("the work is refused: %s", said)
	case w.Missing != "" && (j.Accepted || !strings.Contains(said, w.Missing)):
		t.Errorf("the judgement is %+v, want a refusal that says %q", j, w.Missing)
	}
}
