// Package answer answers what clients ask about skills, and keeps which skills and
// agents of a project people trust.
//
//	Answers   what the server asks
//	reasons   why a skill is in a prompt, or is not
//	Trust     which skills and agents of projects people said yes to, and whose instructions
//	Settings  the folders of skills of a configuration
package answer

import (
	"context"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/agent/markdown"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/sdk"
)

// Config is what the answers are made from. All fields are required.
type Config struct {
	Log     hclog.Logger
	Library *skill.Library
	Agents  Agents // the agents' files of projects
	Trust   *Trust
	Current func() *config.Config                               // that is in force
	Load    func() (path string, cfg *config.Config, err error) // the configuration as its file is now
	Reload  func(ctx context.Context) error                     // puts the file in force
	Tools   func() []sdk.Tool                                   // of plugins
	Models  Models
	Keep    func(ctx context.Context, project string, w ...sdk.Write) error // writes entries of a project

	// Agent is the one that a prompt gets by a name in a project.
	Agent func(project, name string) (sdk.Agent, error)
	// Instructions reads those at the root of a project for people, with the file's size.
	Instructions func(root string) (sdk.Instructions, int64, error)
}

// Agents are the agents' files of projects.
type Agents interface {
	// Check looks at them now, whether or not anything is known to have changed.
	Check(ctx context.Context, project string) error
	Files(ctx context.Context, project string) ([]*markdown.File, error)
}

// Models finds the model that a run would have, by a name that a prompt gives or that
// is configured.
type Models interface {
	Look(ctx context.Context, name string, configured bool) (sdk.ModelChoice, error)
}

// Answers answers what clients ask about skills.
type Answers struct {
	cfg       Config
	switching sync.Mutex // held while a skill block is edited
}

// New makes the answers.
func New(cfg Config) *Answers { return &Answers{cfg: cfg} }
