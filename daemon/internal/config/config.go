// Package config reads Bothy's HCL: the defaults that are built in, the user's
// file over them, then the environment. It reports mistakes where they stand.
//
// A plugin's and a provider's block is taken apart only as far as the host
// needs (which binary, which grants); the rest stays undecoded until the
// plugin's manifest says what belongs there.
package config

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/bothyd/bothy/sdk"
)

// Config is everything that was configured, with the defaults filled in.
type Config struct {
	Listen  Listen
	Store   Store
	Sandbox sdk.Sandbox
	Guards  sdk.Guards

	Plugins   []Plugin // in the order of the files: the first has the bare name of a tool
	Providers []Plugin
	Models    []Model
	Agents    map[string]sdk.Agent

	// Values is every single setting with where it comes from, for people.
	Values []Value
	// Files are the files that were read, for snippets in later diagnostics.
	Files map[string]*hcl.File
	// Context evaluates the undecoded bodies of plugins and providers.
	Context *hcl.EvalContext
}

// Listen says where the daemon is reached.
type Listen struct {
	Socket string // empty: $XDG_RUNTIME_DIR/bothy/bothy.sock
}

// Store says where state lies.
type Store struct {
	Path          string // empty: $XDG_STATE_HOME/bothy/bothy.db
	RetentionDays int
}

// Plugin is a plugin or provider block. A provider block is an instance of the
// plugin that its plugin attribute names, with a configuration of its own.
type Plugin struct {
	Label   string
	Binary  string // the NAME of bothy-plugin-NAME
	Path    string // empty: libexec of the installation
	Args    []string
	Env     map[string]string
	Grants  []string
	SHA256  string
	Enabled bool
	Body    hcl.Body // what is left for the plugin's own schema
	Range   hcl.Range
}

// Model is a model block: a name of the user's for a provider's model.
type Model struct {
	Alias       string
	Provider    string
	Name        string
	Context     int
	Temperature *float64
	MaxTokens   int
	Range       hcl.Range
}

// Value is one line of `bothy config show`.
type Value struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Source string `json:"source"` // "default", "file:line", "BOTHY_..." or "flag"
	Doc    string `json:"doc,omitempty"`
}
