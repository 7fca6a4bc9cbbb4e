package inspect

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
)

// Spec is one plugin to run: a decoded block, but for its Body.
type Spec struct {
	Instance string // the label of the block
	Plugin   string // the NAME of bothy-plugin-NAME
	Path     string // empty: looked for in libexec
	Args     []string
	Env      map[string]string
	Grants   []string
	Tools    []string         // patterns of the tools that it may call with GrantTools; nil is all that it declares
	Schemes  []string         // schemes of entries that it may use with GrantEntries; nil is all that it declares
	Models   []string         // patterns of the models that it may name with GrantModels, besides the run's own
	Secrets  []string         // the names that the plugin may ask for with GrantSecrets
	Login    string           // the key of the login that the plugin may ask for and keep; empty is none
	SHA256   string           // hex; empty: not pinned by its block
	Locked   *config.Locked   // what bothy.lock says of it; nil: not pinned by that
	Body     hcl.Body         // what the plugin's own schema decodes; nil is empty
	Eval     *hcl.EvalContext // evaluates Body
	Source   hcl.Range        // where the block stands
	Sandbox  *sdk.Sandbox     // handed to the plugin with GrantSandbox
	Requires []string         // instances that must be ready before it is configured
	Projects []string         // of a channel
	Answers  []string         // patterns of the tools beyond the workspace whose calls people may accept by it, with GrantAnswers
	Agents   []string         // the names of the agents of its manifest that are taken
	// AgentTools are patterns of the only tools that those may have; nil are all that the manifest says.
	AgentTools []string
	Limits     config.Limits   // what its process may use
	Quota      config.Quota    // what it may call back
	Foreign    *Foreign        // a process of its author to use instead of one from the file; nil is none
	Confine    *config.Confine // what the kernel holds its process to; nil is nothing
	Digest     string          // sums up all that its process is given: with the same one a plugin goes on as it is
	Off        bool            // it does not run
	Lazy       bool            // it is started when it is first asked for
}

// Granted reports whether the block gives a grant.
func (spec Spec) Granted(g string) bool { return slices.Contains(spec.Grants, g) }

// Foreign is a plugin's process that its author runs from the file at Path. The host uses it and never
// owns it: it is not started, not limited, not confined, not taken to hang, and
// neither drained nor killed.
type Foreign struct {
	Address string // the Unix socket that it serves, absolute
	PID     int
}

// Blocks are all blocks of a configuration, those of plugins first. Providers wait
// for their first use.
func Blocks(cfg *config.Config) (specs []Spec) {
	for n, b := range slices.Concat(cfg.Plugins, cfg.Providers) {
		spec := SpecOf(cfg, b)
		spec.Lazy = spec.Lazy || n >= len(cfg.Plugins)
		specs = append(specs, spec)
	}
	return specs
}

// SpecOf is one block of a configuration.
func SpecOf(cfg *config.Config, b config.Plugin) Spec {
	digest := b.Digest
	if slices.Contains(b.Grants, sdk.GrantSandbox) {
		digest = fmt.Sprintf("%s %+v", digest, *SandboxOf(cfg))
	}
	return Spec{
		Digest: digest, Off: !b.Enabled, Lazy: b.OnUse && len(b.Agents) == 0, // who takes an agent lists it
		Instance: b.Label, Plugin: b.Binary, Path: b.Path, Args: b.Args, Env: b.Env, Grants: b.Grants, Tools: b.Tools, Models: b.Models,
		Secrets: b.Secrets, Login: b.Login, SHA256: b.SHA256, Locked: b.Locked, Body: b.Body, Eval: cfg.Context, Source: b.Range, Sandbox: SandboxOf(cfg),
		Schemes: b.Schemes, Requires: b.Requires, Projects: b.Projects, Answers: b.Answers.Tools, Agents: b.Agents, AgentTools: b.AgentTools, Limits: *b.Limits, Quota: *b.Quota, Confine: b.Confine,
	}
}

// NotThere is the fault of a block that opens to a confined plugin what is not there,
// which its walls cannot be made of; nil for none.
func (spec Spec) NotThere() *Fault {
	if spec.Confine == nil {
		return nil
	}
	for _, path := range slices.Concat(spec.Confine.Paths, spec.Confine.ReadPaths) {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return &Fault{Summary: "its confine block opens " + path + ", which is not there", Detail: "Make it, or take it out of the block.", Permanent: true}
		}
	}
	return nil
}

// SandboxOf is the sandbox block as plugins get it: with the folders of this process's
// PATH, in their order, and with how much of what commands replace can be taken back.
func SandboxOf(cfg *config.Config) *sdk.Sandbox {
	sandbox := cfg.Sandbox
	sandbox.Path, sandbox.Undo = nil, cfg.Store.UndoSize
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if dir = filepath.Clean(dir); filepath.IsAbs(dir) {
			sandbox.Path = append(sandbox.Path, dir)
		}
	}
	return &sandbox
}
