package sdk

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Manifest is what a plugin says about itself: the answer of Describe, and of
// the sub-command "describe" that every binary built with the SDK has.
type Manifest struct {
	Name          string         `json:"name"`
	Version       string         `json:"version"`
	Protocol      int            `json:"protocol"`
	Kinds         []string       `json:"kinds"` // "tool", "provider", "skill", "hook", "channel", "agent"
	Tools         []ToolSpec     `json:"tools,omitempty"`
	Skills        []string       `json:"skills,omitempty"` // names of the code skills that it executes
	Subscriptions []Subscription `json:"subscriptions,omitempty"`
	Agents        []AgentSpec    `json:"agents,omitempty"` // that it brings; a block takes those that it names
	Schemes       []Scheme       `json:"schemes,omitempty"`
	Projections   []string       `json:"projections,omitempty"` // names of own schemes of whose entries it says what a model reads
	Config        *ConfigSchema  `json:"config,omitempty"`
	Grants        []string       `json:"grants,omitempty"`   // what it wants; the operator's block decides
	Calls         Calls          `json:"calls,omitzero"`     // what it calls with its grants, in detail
	Needs         Needs          `json:"needs,omitzero"`     // what must be open to it where the kernel confines it
	Requires      []string       `json:"requires,omitempty"` // plugins that must be ready before it is configured
	Features      []string       `json:"features,omitempty"` // what it can beyond the floor of its protocol version
}

// Calls says which of the daemon's services a plugin calls back. It declares
// them in its manifest, and the operator's block allows them: what is missing in
// either is refused.
type Calls struct {
	Tools   []string `json:"tools,omitempty"`   // patterns of tools, bare or plugin__tool
	Schemes []string `json:"schemes,omitempty"` // schemes of the entries that it reads and writes
	Models  []string `json:"models,omitempty"`  // patterns of models, besides the run's own
	Secrets []string `json:"secrets,omitempty"` // names
}

// Needs says what a plugin cannot work without when the kernel confines it. It opens
// nothing: who installs the plugin is shown it and asked, and the block's confine says
// what is open.
type Needs struct {
	Network   bool     `json:"network,omitempty"`
	Paths     []string `json:"paths,omitempty"`      // absolute or from ~/, to read and write
	ReadPaths []string `json:"read_paths,omitempty"` // likewise, to read and execute
	// Unconfined is why it cannot be confined at all, for people: "it starts
	// containers, which need namespaces of their own".
	Unconfined string `json:"unconfined,omitempty"`
}

// Check finds what nobody could open, or that says two things. The daemon installs no plugin
// with such needs.
func (n Needs) Check() error {
	for _, p := range slices.Concat(n.Paths, n.ReadPaths) {
		if !filepath.IsAbs(p) && !strings.HasPrefix(p, "~/") {
			return fmt.Errorf("it needs the path %q, which is neither absolute nor begins with ~/", p)
		}
		if slices.Contains(strings.Split(p, "/"), "..") {
			return fmt.Errorf("it needs the path %q, which leads out by its \"..\" parts", p)
		}
	}
	if n.Unconfined != "" && (n.Network || len(n.Paths)+len(n.ReadPaths) > 0) {
		return errors.New("it says that it cannot be confined, and what must be open to it when it is")
	}
	return nil
}

// Features of a plugin, and of a daemon, that the other side must not rely on
// unless it is told of them. What one side does not know it skips.
const (
	// FeatureReconfigure: Configure may be called again, with a higher generation.
	FeatureReconfigure = "reconfigure"
	// FeatureRelease: the plugin keeps something for each run, and gives it up
	// when Release is called for the run, for which a successor may wait.
	FeatureRelease = "release"
)

// Grants that a plugin may ask for.
const (
	GrantSandbox = "sandbox" // it gets the decoded sandbox block and runs commands in containers
	GrantProject = "project" // its calls name their project, below which it reads and writes files, through os.Root; policy judges its paths, and changes that it tells of are believed
	GrantEntries = "entries" // host service: entries of the run it is called for
	GrantTools   = "tools"   // host service: invoke other tools
	GrantModels  = "models"  // host service: completions
	GrantRuns    = "runs"    // host service, with GrantEntries: starts runs of the project, gives them prompts and ends their work, as far as what it works for may
	GrantSecrets = "secrets" // host service: the secrets its block names
	GrantChannel = "channel" // it is a front end: it gets the daemon's socket and a token for the projects its block names
	GrantAnswers = "answers" // with GrantChannel, of a pinned plugin: people whom the configuration names answer by it what runs of its own propose
)

// Grants are all that there are.
func Grants() []string {
	return []string{GrantSandbox, GrantProject, GrantEntries, GrantTools, GrantModels, GrantRuns, GrantSecrets, GrantChannel, GrantAnswers}
}

// Settings is what Configure hands a plugin.
type Settings struct {
	Instance   string          `json:"instance"` // the label of the block
	Generation int             `json:"generation"`
	Config     json.RawMessage `json:"config"`            // an object that satisfies the schema
	Sandbox    *Sandbox        `json:"sandbox,omitempty"` // with GrantSandbox
	DataDir    string          `json:"data_dir"`          // the daemon's data directory
	SocketDir  string          `json:"socket_dir"`        // a short 0700 folder for sockets of its own
	Prefix     string          `json:"prefix"`            // the installation: libexec/bothy and share/bothy lie below it
	Features   []string        `json:"-"`                 // of the daemon, beyond the floor of the protocol; unknown ones are skipped
}

// What one command may take: the defaults of the configuration, and the most that
// a command may ask for.
const (
	CommandTime    = 2 * time.Minute
	MaxCommandTime = 10 * time.Minute
	CommandOutput  = 10 << 20 // bytes of standard output that are kept
	CommandErrors  = 1 << 20  // of standard error
)
