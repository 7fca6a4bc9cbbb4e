package daemon

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestAChannelOutlivesTheDaemon: a daemon is killed while a channel gives it a message, and while it keeps what the channel
// has to find again. The next one has taken the message once, and what was kept is whole.
func TestAChannelOutlivesTheDaemon(t *testing.T) {
	for point, kept := range map[string]int{
		string(failpoint.VerbPlanned): 0, string(failpoint.VerbWritten): 1, string(failpoint.EnqueueAfter): 1, string(failpoint.ClaimAfter): 1, string(failpoint.StoreBefore) + ":9": -1, string(failpoint.StoreAfter) + ":9": -1,
	} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			binary := withFailpoints(t)
			s := newSite(t, withoutSandbox)
			s.binary = binary
			s.configure(withoutSandbox, fmt.Sprintf("plugin \"front\" {\n  env      = { %s = \"/none\", %s = \"1\" }\n  grants   = [\"channel\"]\n  projects = [%q]\n}\nperson \"front/ada\" {}\n", playFront, frontLent, s.project))
			if d := s.start([]string{failpoint.Variable + "=" + point}); !d.gone(patience) {
				t.Fatalf("the daemon lives\n%s", s.evidence())
			}
			_ = s.client.Close() // the connection broke with the daemon
			s.up()
			served := ""
			for deadline := time.Now().Add(patience); served == ""; <-time.After(20 * time.Millisecond) {
				all, err := s.client.Plugins(t.Context())
				if err != nil || time.Now().After(deadline) {
					t.Fatalf("the channel is not served: %v\n%s", err, s.evidence())
				}
				for _, p := range all {
					if p.Instance == "front" && strings.HasPrefix(p.Detail, "served") {
						served = p.Detail
					}
				}
			}
			if want := fmt.Sprintf("served %d times", kept+1); kept >= 0 && !strings.HasPrefix(served, want) {
				t.Errorf("%q, and not %q", served, want)
			}
			s.takenOnce("front_run-")
		})
	}
}

// takenOnce checks that one run has a name that begins so, with one prompt.
func (s *site) takenOnce(begin string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	all, err := s.client.Runs(ctx, rpc.RunsParams{Project: s.project})
	if err != nil {
		s.t.Fatal(err)
	}
	prompts := 0
	for _, r := range all {
		if !strings.HasPrefix(r.Alias, begin) {
			continue
		}
		found, err := s.client.Run(ctx, rpc.RunRef{Run: fmt.Sprint(r.ID)})
		if err != nil {
			s.t.Fatal(err)
		}
		prompts += len(found.Loops)
	}
	if prompts != 1 {
		s.t.Errorf("the message is %d prompts\n%s", prompts, s.evidence())
	}
}
