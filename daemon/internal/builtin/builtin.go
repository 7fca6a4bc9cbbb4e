package builtin

import (
	"context"
	"encoding/json"
	"hash/maphash"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/daemon/internal/skill/offer"
	"github.com/bothyd/bothy/sdk"
)

// Plugin is the plugin that own tools are said to be of: use_skill answers to
// bothy__use_skill too.
const Plugin = sdk.OwnPlugin

// Config is what the own tools need. All fields but Verbs, Offers and Network are required.
type Config struct {
	// Catalogue is that of a project, which may be empty, at this moment.
	Catalogue func(ctx context.Context, project string) (*skill.Catalogue, error)
	// Budget is the share of a model's context, in percent, for the list of skills.
	Budget  func() float64
	Entries Entries
	Copies  Copies
	// Execute runs a code skill with a plugin.
	Execute func(ctx context.Context, plugin string, call sdk.SkillCall, out sdk.Stream) (sdk.ToolResult, error)
	// Verbs are the six, without which no model uses them by itself.
	Verbs *Verbs
	// Offers takes skills that lie elsewhere than in a folder of skills; nil takes none.
	Offers Offers
	// Network is asked for by open_network, which is not offered without it.
	Network Network
}

// Entries are the entries of runs.
type Entries interface {
	Entry(ctx context.Context, run int64, path string) (sdk.Entry, error)
	Entries(ctx context.Context, q sdk.EntryQuery) ([]sdk.Entry, error)
}

// Copies are the copies that runs have of skills' folders.
type Copies interface {
	// Make copies a skill's folder into a run's, in the place of a copy that is
	// there. A folder that must be trusted and is not what was trusted is refused,
	// and with a hash one that has another.
	Make(ctx context.Context, project string, s sdk.Skill, runDir, hash string) (skill.Pinned, error)
	// Find finds the copy that a run has of a folder that had this hash; false when
	// it has none. A copy of another is removed.
	Find(ctx context.Context, name, runDir, hash string) (skill.Pinned, bool)
}

// Offers takes skills for people to trust. What it took is in the catalogue that is made after it.
type Offers interface {
	// Path takes what lies at a path below the project.
	Path(ctx context.Context, project, path string) (offer.Offered, error)
	// Text takes what was fetched from an address.
	Text(ctx context.Context, project, address, text string) (offer.Offered, error)
}

// Builtin is the daemon's own tools. Its methods may be called concurrently.
type Builtin struct {
	skills *skills
	tools  []tool
}

// New makes the own tools. A new one is a file of this package and a line here.
func New(cfg Config) *Builtin {
	s := &skills{cfg: cfg, seed: maphash.MakeSeed()}
	all := []tool{useSkillTool{s}, skillTool{s}, thinkTool{}, openNetworkTool{cfg.Network}, askUserTool{}, delegateTool{}, finishTool{}, planTool{cfg}, createPlanTool{}}
	if cfg.Verbs != nil {
		for _, spec := range verbSpecs {
			all = append(all, verbTool{cfg.Verbs, spec})
		}
	}
	return &Builtin{skills: s, tools: all}
}

// tool is one of the daemon's own tools.
type tool interface {
	// take takes the tool as it is at this moment for one turn; nil is a tool
	// that the turn is not offered.
	take(ctx context.Context, t sdk.TurnContext) (turnTool, error)
}

// turnTool is an own tool as one turn has it, whatever changes meanwhile.
type turnTool interface {
	tool() sdk.Tool
	system() string                                           // see sdk.TurnTools
	once(ctx context.Context, arguments json.RawMessage) bool // likewise
	invoke(ctx context.Context, call sdk.Invocation, out sdk.Stream) (sdk.ToolResult, error)
}

// Turn takes the tools as they are now for one turn.
func (b *Builtin) Turn(ctx context.Context, t sdk.TurnContext) (sdk.TurnTools, error) {
	var all turn
	for _, x := range b.tools {
		switch x.(type) {
		case useSkillTool, skillTool:
			if t.Only != "" {
				continue
			}
		}
		taken, err := x.take(ctx, t)
		if err != nil {
			return nil, err
		}
		if taken != nil && (t.Only == "" || taken.tool().Name == t.Only) {
			all = append(all, taken)
		}
	}
	return all, nil
}

// Offered are the tools of a person who makes a call without a project; none
// when they cannot be had.
func (b *Builtin) Offered(ctx context.Context) []sdk.Tool {
	t, err := b.Turn(ctx, sdk.TurnContext{})
	if err != nil {
		return nil
	}
	return t.Tools()
}

// turn is the own tools that one turn is offered.
type turn []turnTool

// Tools implements sdk.TurnTools.
func (t turn) Tools() (all []sdk.Tool) {
	for _, x := range t {
		all = append(all, x.tool())
	}
	return all
}

// System implements sdk.TurnTools.
func (t turn) System() string {
	var texts []string
	for _, x := range t {
		if text := x.system(); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// Once implements sdk.TurnTools.
func (t turn) Once(ctx context.Context, name string, arguments json.RawMessage) bool {
	x, err := t.find(name)
	return err == nil && x.once(ctx, arguments)
}

// Invoke implements sdk.TurnTools.
func (t turn) Invoke(ctx context.Context, call sdk.Invocation, out sdk.Stream) (sdk.ToolResult, error) {
	x, err := t.find(call.Tool)
	if err != nil {
		return sdk.ToolResult{}, err
	}
	return x.invoke(ctx, call, out)
}

func (t turn) find(name string) (turnTool, error) {
	for _, x := range t {
		if x.tool().Name == name {
			return x, nil
		}
	}
	return nil, sdk.Errorf(sdk.NotFound, "this turn is offered no own tool %q", name)
}
