// Package packet renders a run's entries into two messages: a system text that stays as it is while tools, persona and
// instructions do, and a user message that has the prompt, the entries at their levels, and what they cost. The sections of the
// user message are written by parts, which are subscribers of assembly.user like those of plugins.
package packet

import (
	"context"
	"math"
	"strings"
	"sync"

	"github.com/bothyd/bothy/daemon/internal/hook"
	"github.com/bothyd/bothy/daemon/internal/view"
	"github.com/bothyd/bothy/sdk"
)

// Config is what a packet needs to know of entries. Scheme is required.
type Config struct {
	// Scheme is what is registered of a scheme; false is that nothing is, and no entry of it is shown.
	Scheme func(name string) (sdk.Scheme, bool)
	// Projectors are the schemes of whose entries a plugin says what a model reads, each with a text that is another when what it
	// said before is to be asked anew; Project has it do so for a level, of visible and summarized entries alone. Nil is that no
	// plugin is asked.
	Projectors func() map[string]string
	Project    func(ctx context.Context, e sdk.Entry, level sdk.Visibility) (string, error)
	// Redact takes secrets out of what a plugin says, as the store does of what is written. Nil takes none.
	Redact func(string) string
}

// Packet renders packets. What it has rendered it keeps by entry and version, so that a turn costs what changed; Forget lets go
// of it. Its methods may be called concurrently.
type Packet struct {
	cfg     Config
	ratio   float64 // of a turn that is rendered again; see Calibrate
	counted counted

	mu   sync.Mutex // guards runs, never held while rendering
	runs map[int64]*cache
}

// New makes the view, whose parts write their sections at assembly.user of chains.
func New(cfg Config, chains *hook.Chains) *Packet {
	k := Beside(cfg)
	k.subscribe(chains)
	return k
}

// Beside makes a view that has rendered nothing and shares the parts of the one that New made: for what a turn saw, which
// is not to take the place of what is kept for the next one.
func Beside(cfg Config) *Packet { return &Packet{cfg: cfg, runs: map[int64]*cache{}} }

// Assemble makes the system text and the rows of a turn. The user message has the images of prompts alone: its text is written
// by the parts, and put together by Fit. Tokens is the estimate of what they will write.
func (k *Packet) Assemble(ctx context.Context, in sdk.Assembly) (sdk.Prompt, error) {
	c := k.cache(in.Run)
	c.mu.Lock()
	defer c.mu.Unlock()
	p := sdk.Prompt{
		Run: in.Run.ForHook(), Loop: in.Loop.ForHook(), Turn: in.Turn, Model: in.Model,
		System:  systemText(&in),
		Tools:   in.Tools,
		Use:     in.Use,
		Ceiling: in.Use.Most(in.Context, in.Agent.MaxTokens),
	}
	found := c.find(ctx, k.cfg, &in)
	p.Rows = found.rows(in.Loop.ID, in.Turn)
	c.inputs, c.images, c.prompts = in.Inputs, found.images, found.prompts
	c.ratio.Store(math.Float64bits(found.ratios[in.Model]))
	c.said = instructionsText(&in, found.nested())
	c.picture(&p)
	p.Tokens = k.estimate(&p)
	return p, nil
}

// Forget drops what is kept for a run. The next Assemble renders it anew.
func (k *Packet) Forget(run int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.runs, run)
}

func (k *Packet) cache(run sdk.Run) *cache {
	k.mu.Lock()
	defer k.mu.Unlock()
	c, ok := k.runs[run.ID]
	if !ok {
		c = &cache{}
		k.runs[run.ID] = c
	}
	return c
}

// instructionsText is what a turn says beside what stays: skills and other words of the daemon's own tools, whether the prompt
// may only be read for or has no tools, and the instructions of folders that calls worked below.
func instructionsText(in *sdk.Assembly, nested []sdk.Instructions) string {
	var texts []string
	add := func(text string) {
		if text = strings.TrimSpace(text); text != "" {
			texts = append(texts, text)
		}
	}
	if in.Loop.ReadOnly && len(in.Tools) > 0 {
		add("This prompt may only be answered by reading: calls with side effects are refused.")
	}
	if len(in.Tools) == 0 {
		add("There are no tools in this turn: make no call, and answer the prompt in plain text.")
	}
	add(in.Skills)
	for _, n := range nested {
		add(view.Nested(n))
	}
	return strings.Join(texts, "\n\n")
}
