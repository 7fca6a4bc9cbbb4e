package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/bothyd/bothy/daemon/internal/builtin"
	"github.com/bothyd/bothy/daemon/internal/engine"
	"github.com/bothyd/bothy/sdk"
)

// networkRule is the id of the rule that keeps a project's network open. It is
// shown and forgotten like any rule that an answer left.
const networkRule = "network"

// openings are the projects whose network a person opened.
type openings struct{ d *Daemon }

var _ builtin.Network = openings{}

// Open implements builtin.Network. It is asked at every call, so what is known of
// the rules is taken; what cannot be read is closed.
func (o openings) Open(project string) bool {
	return slices.ContainsFunc(o.d.rules.of(project), func(r sdk.RememberedRule) bool { return r.ID == networkRule })
}

// Keep implements builtin.Network.
func (o openings) Keep(ctx context.Context, project, reason string) error {
	// It names the one tool, so that as a rule it allows nothing else.
	rule := sdk.RememberedRule{ID: networkRule, Created: time.Now().UTC(), PolicyRule: sdk.PolicyRule{
		Name: networkRule, Source: "remembered", Verdict: sdk.Allow, Project: project, Tools: []string{builtin.Plugin + "__" + builtin.OpenNetwork},
	}}
	data, err := json.Marshal(struct {
		sdk.RememberedRule
		Reason  string     `json:"reason"`
		Removed *time.Time `json:"removed"` // a rule of before may have been
	}{rule, reason, nil})
	if err != nil {
		return fmt.Errorf("write the rule that opens the network: %w", err)
	}
	defer o.d.rules.changed(project)
	return o.d.engine.Keep(ctx, project, sdk.Write{
		Path: engine.RuleScheme + networkRule, Writer: sdk.WriterSystem, Visibility: sdk.Archived, Attributes: data,
	})
}
