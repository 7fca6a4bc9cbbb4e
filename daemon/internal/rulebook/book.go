package rulebook

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sdk"
)

// networkRule is the id of the rule that keeps a project's network open. It is
// shown and forgotten like any rule that an answer left.
const networkRule = "network"

// Store is where the rules are.
type Store interface {
	Entries(ctx context.Context, q sdk.EntryQuery) ([]sdk.Entry, error)
}

// Keeper records what is kept for a project, as the engine does.
type Keeper interface {
	Keep(ctx context.Context, project string, writes ...sdk.Write) error
}

// Book knows the rules that answers left. The entries are the truth; what is
// read of them is kept until an answer changes it. It is made before the engine,
// for policy asks it; the engine that is made with it is its keeper.
type Book struct {
	store Store
	log   hclog.Logger
	keep  Keeper
	clock func() time.Time

	mu      sync.Mutex
	under   int // commits of rules that are under way: what is read meanwhile may be of before
	changes int
	known   map[string][]sdk.RememberedRule
}

// New makes a rulebook that reads from the store.
func New(store Store, log hclog.Logger) *Book {
	return &Book{store: store, log: log, known: map[string][]sdk.RememberedRule{}}
}

// KeptBy says who records its rules, and by which clock. It is called before any rule is left.
func (b *Book) KeptBy(keep Keeper, clock func() time.Time) { b.keep, b.clock = keep, clock }

// of are the rules of a project. What cannot be read allows nothing.
func (b *Book) of(project string) []sdk.RememberedRule {
	b.mu.Lock()
	rules, ok := b.known[project]
	changes := b.changes
	b.mu.Unlock()
	if ok {
		return rules
	}
	entries, err := b.store.Entries(context.Background(), sdk.EntryQuery{Project: project, Pattern: scheme + "**"})
	if err != nil {
		b.log.Warn("no remembered rule of a project holds, because they cannot be read", "project", project, "error", err)
		return nil
	}
	rules = rulesOf(entries)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.changes == changes && b.under == 0 {
		b.known[project] = rules
	}
	return rules
}

// Change is called before rules are recorded, and what it returns behind that. From its call on they are read again, so that
// whoever the commit wakes is judged by them. They are few, so that those of all projects are.
func (b *Book) Change() (done func()) {
	b.forget(1)
	return func() { b.forget(-1) }
}

func (b *Book) forget(under int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.under += under
	b.changes++
	clear(b.known)
}

// Allowing are the rules of a project that allow calls. A rule without a
// condition would allow all calls; no answer can leave such a rule, so it is
// left out.
func (b *Book) Allowing(project string) []sdk.PolicyRule {
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
func (b *Book) Open(project string) bool {
	return slices.ContainsFunc(b.of(project), func(r sdk.RememberedRule) bool { return r.ID == networkRule })
}

// Keep opens the network of a project, by the call of a tool that a person
// agreed to; reason is what the model said.
func (b *Book) Keep(ctx context.Context, project, tool, reason string) error {
	// It names the one tool, so that as a rule it allows nothing else.
	rule := sdk.RememberedRule{ID: networkRule, Created: b.clock().UTC(), PolicyRule: sdk.PolicyRule{
		Name: networkRule, Source: "remembered", Verdict: sdk.Allow, Project: project, Tools: []string{tool},
	}}
	write := Write(rule)
	var at map[string]any
	if err := json.Unmarshal(write.Attributes, &at); err != nil {
		return err
	}
	at["reason"] = reason
	write.Attributes = encode(at)
	defer b.Change()()
	return b.keep.Keep(ctx, project, write)
}

// Rules are the rules that answers left in a project, as they are recorded.
func (b *Book) Rules(ctx context.Context, project string) ([]sdk.RememberedRule, error) {
	entries, err := b.store.Entries(ctx, sdk.EntryQuery{Project: project, Pattern: scheme + "**"})
	if err != nil {
		return nil, err
	}
	all := rulesOf(entries)
	slices.SortStableFunc(all, func(a, b sdk.RememberedRule) int { return a.Created.Compare(b.Created) })
	return all, nil
}

// Forget removes a rule from a project; not found when it has none of that id.
// Calls that were allowed by it and have not started are judged without it.
func (b *Book) Forget(ctx context.Context, project, id string) (sdk.RememberedRule, error) {
	rules, err := b.Rules(ctx, project)
	if err != nil {
		return sdk.RememberedRule{}, err
	}
	i := slices.IndexFunc(rules, func(r sdk.RememberedRule) bool { return r.ID == id })
	if i < 0 {
		return sdk.RememberedRule{}, sdk.Errorf(sdk.NotFound, "no rule %s is remembered for %s; `bothy policy rules` shows what is", id, project)
	}
	defer b.Change()()
	removed := encode(map[string]time.Time{"removed": b.clock().UTC()})
	if err := b.keep.Keep(ctx, project, sdk.Write{Path: scheme + id, Writer: sdk.WriterSystem, Attributes: removed}); err != nil {
		return sdk.RememberedRule{}, fmt.Errorf("forget the rule %s: %w", id, err)
	}
	return rules[i], nil
}
