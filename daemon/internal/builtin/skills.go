package builtin

import (
	"context"
	"hash/maphash"
	"sync"

	"github.com/bothyd/bothy/sdk"
)

// Skill is a skill with its text.
type Skill struct {
	sdk.Skill
	Body string
}

// Catalogue is what a project can use at one moment. It never changes.
type Catalogue interface {
	// Find returns the enabled skill of a name.
	Find(name string) (Skill, bool)
	// Named are all skills of a name whatever their status, the one that counts first.
	Named(name string) []sdk.Skill
	// Names are those of the enabled skills.
	Names() []string
	// List is what the system text says of them.
	List(context int, prompt string) Listing
}

// Listing is what a model is told of the skills that it may load.
type Listing struct {
	Text  string
	Shown []string // the names in Text
	Left  int      // for which there was no room
}

// Pinned is a run's copy of a skill's folder.
type Pinned struct {
	Folder  string   // absolute path; its last part is its name below /skills
	Hash    string   // of the whole folder
	Files   []string // relative, SKILL.md among them; capped
	More    int      // files beyond the cap
	Skipped []string // what was not copied, and why
}

// Entries are the entries of runs.
type Entries interface {
	Entry(ctx context.Context, run int64, path string) (sdk.Entry, error)
	Commit(ctx context.Context, c sdk.Change) (sdk.Receipt, error)
}

// Config is what the skills are made of. All fields but Network are required.
type Config struct {
	// Catalogue is that of a project, which may be empty, at this moment.
	Catalogue func(ctx context.Context, project string) (Catalogue, error)
	Entries   Entries
	// Pin copies a skill's folder into a run's, in the place of a copy that is
	// there. A folder that must be trusted and is not what was trusted is refused.
	Pin func(ctx context.Context, project string, s Skill, runDir string) (Pinned, error)
	// Kept finds the copy that a run has; false when it has none.
	Kept func(ctx context.Context, name, runDir string) (Pinned, bool)
	// Missing are the required tools that are not among those offered.
	Missing func(required []string, offered []sdk.Tool) []string
	// Execute runs a code skill with a plugin.
	Execute func(ctx context.Context, plugin string, call sdk.SkillCall, out sdk.Stream) (sdk.ToolResult, error)
	// Network is asked for by open_network, which is not offered without it.
	Network Network
}

// Skills gives turns and prompts their skills. Its methods may be called
// concurrently.
type Skills struct {
	cfg  Config
	seed maphash.Seed

	// loading orders the loads of one skill into one run. It is held over the
	// copying of its folder.
	loading [32]sync.Mutex
}

// New makes the skills of a daemon.
func New(cfg Config) *Skills { return &Skills{cfg: cfg, seed: maphash.MakeSeed()} }

// Place says for whom skills are taken. Where there is no run yet its fields
// are empty.
type Place struct {
	Project string // absolute path
	Run     sdk.Run
	RunDir  string
	Loop    sdk.Loop // none: a person makes the call
	Model   string
	Tools   []sdk.Tool          // that the turn offers beside use_skill
	Context int                 // the model's window in tokens; 0 is unknown
	Admits  func(sdk.Tool) bool // whether the agent may use a tool
}

// Take takes the skills as they are now for one turn.
func (s *Skills) Take(ctx context.Context, p Place) (*Turn, error) {
	c, err := s.cfg.Catalogue(ctx, p.Project)
	if err != nil {
		return nil, err
	}
	return newTurn(s, p, c), nil
}
