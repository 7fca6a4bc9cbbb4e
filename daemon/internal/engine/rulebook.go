package engine

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sdk"
)

// networkRule is the id of the rule that keeps a project's network open. It is
// shown and forgotten like any rule that an answer left.
const networkRule = "network"

// Rulebook knows the rules that answers left. The entries are the truth; what is
// read of them is kept until an answer changes it. It is made before the engine,
// for policy asks it; the engine that is made with it writes its rules.
type Rulebook struct {
	store interface {
		Entries(ctx context.Context, q sdk.EntryQuery) ([]sdk.Entry, error)
	}
	log    hclog.Logger
	engine *Engine

	mu      sync.Mutex
	changes int
	known   map[string][]sdk.RememberedRule
}

// NewRulebook makes a rulebook that reads from the store.
func NewRulebook(store Store, log hclog.Logger) *Rulebook {
	return &Rulebook{store: store, log: log, known: map[string][]sdk.RememberedRule{}}
}

// of are the rules of a project. What cannot be read allows nothing.
func (b *Rulebook) of(project string) []sdk.RememberedRule {
	b.mu.Lock()
	rules, ok := b.known[project]
	changes := b.changes
	b.mu.Unlock()
	if ok {
		return rules
	}
	entries, err := b.store.Entries(context.Background(), sdk.EntryQuery{Project: project, Pattern: RuleScheme + "**"})
	if err != nil {
		b.log.Warn("no remembered rule of a project holds, because they cannot be read", "project", project, "error", err)
		return nil
	}
	rules = rulesOf(entries)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.changes == changes {
		b.known[project] = rules
	}
	return rules
}

// changed has the rules read again. They are few, so that those of all projects
// are.
func (b *Rulebook) changed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.changes++
	clear(b.known)
}

// Allowing are the rules of a project that allow calls. A rule without a
// condition would allow all calls; no answer can leave such a rule, so it is
// left out.
func (b *Rulebook) Allowing(project string) []sdk.PolicyRule {
	var out []sdk.PolicyRule
	for _, r := range b.of(project) {
		if r.ID != networkRule && len(r.Tools) > 0 {
			out = append(out, r.PolicyRule)
		}
	}
	return out
}

// Open reports whether a person opened the network of a project. It is asked at
// every call, so what is known of the rules is taken; what cannot be read is
// closed.
func (b *Rulebook) Open(project string) bool {
	return slices.ContainsFunc(b.of(project), func(r sdk.RememberedRule) bool { return r.ID == networkRule })
}

// Keep opens the network of a project, by the call of a tool that a person
// agreed to; reason is what the model said.
func (b *Rulebook) Keep(ctx context.Context, project, tool, reason string) error {
	// It names the one tool, so that as a rule it allows nothing else.
	rule := sdk.RememberedRule{ID: networkRule, Created: b.engine.cfg.Clock().UTC(), PolicyRule: sdk.PolicyRule{
		Name: networkRule, Source: "remembered", Verdict: sdk.Allow, Project: project, Tools: []string{tool},
	}}
	write := ruleWrite(rule)
	var at map[string]any
	if err := json.Unmarshal(write.Attributes, &at); err != nil {
		return err
	}
	at["reason"] = reason
	write.Attributes = encode(at)
	defer b.changed()
	return b.engine.Keep(ctx, project, write)
}
