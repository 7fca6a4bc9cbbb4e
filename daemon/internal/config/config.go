// Package config reads Bothy's HCL: the defaults that are built in, the user's file over them, then the
// environment. It reports mistakes where they stand.
//
// A plugin's and a provider's block is taken apart only as far as the host needs (which binary, which
// grants); the rest stays undecoded until the plugin's manifest says what belongs there.
package config

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/bothyd/bothy/sdk"
)

// Config is everything that was configured, with the defaults filled in.
type Config struct {
	// The blocks without a label. The tags of a field are all that there is to know of it; see setting.
	Listen  Listen      `block:"listen"`
	Store   Store       `block:"store"`
	Log     Log         `block:"log"`
	Stop    Stop        `block:"stop"`
	Sandbox sdk.Sandbox `block:"sandbox"`
	Policy  Policy      `block:"policy"`
	Guards  sdk.Guards  `block:"guard"`
	Skills  Skills      `block:"skills"`

	Use sdk.ContextUse `block:"context"`

	Protect sdk.Protection `block:"protect"`

	Workspace Workspace // the user's block of that name
	Plugins   []Plugin  // in the order of the files: the first has the bare name of a tool
	Providers []Plugin
	Models    []Model
	Agents    map[string]sdk.Agent
	Origins   map[string]Origin // of the agents
	Rules     []sdk.PolicyRule
	People    map[string]sdk.Person // whose prompts channels may bring, by ID

	// Values is every single setting with where it comes from, for people.
	Values []Value
	// Files are the files that were read, for snippets in later diagnostics.
	Files map[string]*hcl.File
	// Context evaluates the undecoded bodies of plugins and providers.
	Context *hcl.EvalContext
	// KeyUses are the names of the keys that are asked for, with the blocks that do, as
	// "provider openai". What is switched off asks for none.
	KeyUses map[string][]string

	keys Keys
	own  *sync.Map // the own files of projects that were read against it, by root
}

// Listen says where the daemon is reached.
type Listen struct {
	Socket string `name:"socket" kind:"path" start:"yes" doc:"path of the daemon's socket; empty is $XDG_RUNTIME_DIR/bothy/bothy.sock"`
	Web    string `name:"web" start:"yes" doc:"serves WebSockets and POST here too, such as 127.0.0.1:8378; empty is none"`
}

// Store says where state lies, and for how long.
type Store struct {
	Path          string        `name:"path" kind:"path" start:"yes" doc:"the database file; empty is $XDG_STATE_HOME/bothy/bothy.db"`
	RetentionDays int           `name:"retention_days" default:"31" doc:"days that a run is kept after its last work; 0 keeps all"`
	IdleDays      int           `name:"idle_days" default:"7" doc:"days without work after which a run's container is removed; 0 keeps it until the daemon stops"`
	Rest          time.Duration `name:"rest" default:"30m" doc:"time without a prompt after which a run rests, and plugins are told of that"`
	ChannelRest   time.Duration `name:"channel_rest" default:"1h" doc:"the same of runs that channels began, whose conversations then go on in others"`
	UndoSize      int64         `name:"undo_size" kind:"size" default:"2GB" doc:"the most that is kept of what files held before runs changed them, to take it back"`
	UndoDays      int           `name:"undo_days" default:"31" doc:"days that it is kept without being used; 0 is only bounded by the size"`
	KnownTokens   int           `name:"known_tokens" default:"512" doc:"the most that an entry of known:// holds, in tokens of two characters; 0 is no bound"`
}

// Log says what the daemon logs and how much of it is kept.
type Log struct {
	Level   string `name:"level" default:"info" values:"trace,debug,info,warn,error" doc:"the least that is logged: trace, debug, info, warn or error"`
	MaxSize int64  `name:"max_size" kind:"size" default:"10MB" doc:"size at which the daemon's log is rotated"`
	Keep    int    `name:"keep" default:"3" doc:"rotated logs that are kept"`
}

// Stop says how the daemon ends.
type Stop struct {
	Grace time.Duration `name:"grace" default:"5s" start:"yes" doc:"time that running tools have to end when the daemon stops"`
}

// Plugin is a plugin or provider block. A provider block is an instance of the
// plugin that its plugin attribute names, with a configuration of its own.
type Plugin struct {
	Label   string
	Binary  string            `hcl:"plugin,optional"` // the NAME of bothy-plugin-NAME
	Path    string            `hcl:"path,optional"`   // empty: libexec of the installation
	Args    []string          `hcl:"args,optional"`
	Env     map[string]string `hcl:"env,optional"`
	Grants  []string          `hcl:"grants,optional"`
	Tools   []string          `hcl:"tools,optional"`   // patterns of the tools that it may call with the grant "tools"; nil is all that its manifest declares
	Schemes []string          `hcl:"schemes,optional"` // schemes of entries that it may use with the grant "entries"; nil is all that its manifest declares
	Models  []string          `hcl:"models,optional"`  // patterns of the models that it may name with the grant "models", besides the run's own
	Secrets []string          `hcl:"secrets,optional"` // names that it may ask for with the grant "secrets"

	Requires []string `hcl:"requires,optional"` // labels of plugins that must be ready before it is configured
	Projects []string `hcl:"projects,optional"` // absolute paths of the projects that a channel may use
	Answers  *Answers `hcl:"answers,block"`     // what people may accept by a channel with the grant "answers"; never nil
	Agents   []string `hcl:"agents,optional"`   // the names of the agents of its manifest that are taken
	// AgentTools are patterns of the only tools that those agents may have; nil are all that the manifest says.
	AgentTools []string `hcl:"agent_tools,optional"`
	Limits     *Limits  `hcl:"limits,block"`  // what its process may use; never nil
	Quota      *Quota   `hcl:"quota,block"`   // what it may call back; never nil
	Confine    *Confine `hcl:"confine,block"` // nil: it is not confined
	// Confined is false where the block says that a bundled plugin, or a server of MCP, is not
	// confined as it would be by itself.
	Confined bool `hcl:"confined,optional"`

	SHA256  string     `hcl:"sha256,optional"`
	Locked  *Locked    // what bothy.lock says of it; nil when it is not named there
	Enabled bool       `hcl:"enabled,optional"`
	OnUse   bool       `hcl:"on_use,optional"` // it is started when a skill of it is first executed
	Model   string     `hcl:"model,optional"`  // providers: the model taken when only the provider is known
	Price   *sdk.Price `hcl:"price,block"`     // providers: of each of its models that no model block prices
	Server  *Server    // of an mcp block; nil of all others
	Login   string     // the key of a person's login at what the block names; empty where there can be none
	Digest  string     // of all that the plugin's process is given; see Diff
	Body    hcl.Body   `hcl:",remain"` // what is left for the plugin's own schema
	Range   hcl.Range
}

// Limits are what a plugin's process may use. Zero is the default, below zero is no limit.
type Limits struct {
	Memory int64         // bytes of data
	Files  int64         `hcl:"files,optional"` // open files
	Call   time.Duration // how long a call of it may be silent

	MemoryText string `hcl:"memory,optional"` // as they are written
	CallText   string `hcl:"call,optional"`
}

// Quota is what a plugin may call back. Zero and less is the default.
type Quota struct {
	Calls       int64 `hcl:"calls,optional"`       // services, in one minute
	Completions int64 `hcl:"completions,optional"` // of one call that it serves
}

// Answers is what people may accept by a channel beside what stays in the workspace of its run.
type Answers struct {
	Tools []string `hcl:"tools,optional"` // patterns
}

// Confine is what a plugin's process is held to by the kernel.
type Confine struct {
	BestEffort bool     `hcl:"best_effort,optional"` // it runs also where the kernel cannot hold it
	Network    bool     `hcl:"network,optional"`     // it may use the network
	Paths      []string `hcl:"paths,optional"`       // absolute; below them it reads and writes
	ReadPaths  []string `hcl:"read_paths,optional"`  // absolute; below them it reads and executes
	Bundled    bool     // by no block, but since the plugin comes with Bothy
}

// Model is a model block: a name of the user's for a provider's model.
type Model struct {
	Alias       string
	Provider    string         `hcl:"provider"`
	Name        string         `hcl:"name,optional"`
	Context     int            `hcl:"context,optional"`
	Temperature *float64       `hcl:"temperature"`
	MaxTokens   int            `hcl:"max_tokens,optional"`
	Reasoning   sdk.Reasoning  `hcl:"reasoning,optional"`
	Price       *sdk.Price     `hcl:"price,block"` // nil: as its provider's block says
	Use         sdk.ContextUse // what its context block says
	// Fallback are the models that answer in its place, in order; On says when, beside what always counts.
	Fallback   []string `hcl:"fallback,optional"`
	FallbackOn []string `hcl:"fallback_on,optional"`
}

// Value is one line of `bothy config show`.
type Value struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Source string `json:"source"` // "default", "file:line", "BOTHY_..." or "flag"
	Doc    string `json:"doc,omitempty"`

	text   string    // the value, secret or not
	place  hcl.Range // in a file; empty when it comes from elsewhere
	unsaid bool      // nobody wrote it: it is the default, as the file has it that Bothy brings
}

// BaseURL is the base_url of a provider's block, or "" when it has none that
// can be read now. Only the choice of a model looks at it before the plugin does.
func (p Plugin) BaseURL(ctx *hcl.EvalContext) string { return p.text(ctx, "base_url") }

// Starts reports whether the plugin may start a server of its own: its block has not start = false.
func (p Plugin) Starts(ctx *hcl.EvalContext) bool {
	a := p.attributes()["start"]
	return a == nil || !valueOf(a.Expr, ctx).RawEquals(cty.False)
}

// attributes are those that are left for the plugin's own schema. What is wrong with them is
// told when it starts. A provider that is not there has none.
func (p Plugin) attributes() hcl.Attributes {
	if p.Body == nil {
		return nil
	}
	attrs, _ := p.Body.JustAttributes()
	return attrs
}

func (p Plugin) text(ctx *hcl.EvalContext, name string) string {
	if a := p.attributes()[name]; a != nil {
		return textOf(a.Expr, ctx)
	}
	return ""
}

// valueOf is what an expression comes to, or null when it has a mistake.
func valueOf(expr hcl.Expression, ctx *hcl.EvalContext) cty.Value {
	v, diags := expr.Value(ctx)
	if diags.HasErrors() || !v.IsKnown() {
		return cty.NullVal(cty.DynamicPseudoType)
	}
	return v
}

// textOf is what an expression comes to, or "" when that is no text.
func textOf(expr hcl.Expression, ctx *hcl.EvalContext) string {
	if v := valueOf(expr, ctx); v.Type() == cty.String && !v.IsNull() {
		return v.AsString()
	}
	return ""
}

// HasModel reports whether a name can be that of a model: of a block, or provider/name.
func (c *Config) HasModel(name string) bool {
	provider, _, _ := strings.Cut(name, "/")
	return slices.ContainsFunc(c.Models, func(m Model) bool { return m.Alias == name }) ||
		slices.ContainsFunc(c.Providers, func(p Plugin) bool { return p.Label == provider })
}

// WithoutSecrets evaluates as Context does, except that a secret which is not
// set is empty: where the daemon runs it may be set.
func (c *Config) WithoutSecrets() *hcl.EvalContext {
	return withSecret(c.Context, func(name string) (string, error) {
		value, _ := c.Secret(name)
		return value, nil
	})
}

// Secret resolves a secret by name, as secret() in a file does; from then on its value is redacted.
func (c *Config) Secret(name string) (string, error) {
	v, err := c.Context.Functions["secret"].Call([]cty.Value{cty.StringVal(name)})
	if err != nil {
		return "", sdk.Errorf(sdk.Unavailable, "%w", err)
	}
	return v.AsString(), nil
}
