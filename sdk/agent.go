package sdk

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// DefaultAgent is the name of the agent of whoever names none.
const DefaultAgent = "default"

// The dialects and the views that an agent may have, in any pair.
const (
	DialectTools = "tools" // native function calling
	DialectTags  = "tags"  // XML tags in the text of the answer

	ViewTranscript = "transcript" // a conversation
	ViewPacket     = "packet"     // one system and one user message
)

// Agent is a named profile: which model, which tools, how it is told and what
// stops it. It comes from an agent block, a plugin or a Markdown file, with the defaults filled in.
type Agent struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty" hcl:"description,optional"` // what it is for, in a sentence, for people and for whoever delegates
	// Capabilities are words for what it is good at, by which a prompt finds it where nobody names an agent.
	Capabilities []string `json:"capabilities,omitempty" hcl:"capabilities,optional"`
	Model        string   `json:"model,omitempty" hcl:"model,optional"`     // alias or provider/name; empty is the daemon's choice
	Persona      string   `json:"persona,omitempty" hcl:"persona,optional"` // text that joins the system prompt
	Tools        []string `json:"tools,omitempty" hcl:"tools,optional"`     // globs over tool names; empty is all
	// MCP are the servers whose tools it has; nil has those of all that Tools admits.
	MCP []string `json:"mcp,omitzero" hcl:"mcp,optional"`
	// Bound are the tools and servers of which it has no more, whatever Tools and MCP say; nil is all.
	Bound *Bound `json:"bound,omitempty"`
	// Lent are the servers that a front end lent to the run: it has the tools of those, whatever
	// MCP and Tools say, and of no other that was lent.
	Lent []string `json:"-"`
	// Excluded are the names of tools that it has not, whatever else is said: what the run leaves out.
	Excluded []string `json:"-"`
	// Without are names of tools and globs over them that it has not, whatever Tools says: what its file holds back.
	Without []string `json:"without,omitempty"`
	// Skills are the names of the only skills that it is told of and may use; nil is all.
	Skills []string `json:"skills,omitzero" hcl:"skills,optional"`
	// Agents are the names of those that it may delegate to; without any it has no tool for it.
	Agents []string `json:"agents,omitempty" hcl:"agents,optional"`
	// Finish says what it must hand back; nil is an agent whose plain answer ends the work.
	Finish *FinishSpec `json:"finish,omitempty"`
	// Team makes it a team of its Agents, which does nothing by itself; nil is an agent.
	Team    *Team  `json:"team,omitempty"`
	Dialect string `json:"dialect" hcl:"dialect,optional"` // how its model writes calls: DialectTools or DialectTags
	View    string `json:"view" hcl:"view,optional"`       // how the run's entries become messages: ViewTranscript or ViewPacket
	// Messages is how many of the last messages its model is shown; 0 is all, and in a run that a channel began ChannelMessages.
	Messages    int       `json:"messages,omitempty" hcl:"messages,optional"`
	Temperature *float64  `json:"temperature,omitempty" hcl:"temperature,optional"`
	MaxTokens   int       `json:"max_tokens,omitempty" hcl:"max_tokens,optional"`
	Reasoning   Reasoning `json:"reasoning,omitempty" hcl:"reasoning,optional"` // empty is the model's
	// Context is what it says of the context of its models itself; see ContextUse.
	Context ContextUse `json:"context,omitzero"`
	Guards  Guards     `json:"guards"`
	// Network is false of an agent that reaches no network, nor do those that it delegates to; nil and true close nothing.
	Network *bool  `json:"network,omitempty" hcl:"network,optional"`
	Busy    string `json:"busy,omitempty" hcl:"busy,optional"` // "queue" (default) or "refuse"
	Mode    Mode   `json:"mode,omitempty" hcl:"mode,optional"` // the attribute mode of its block; empty is restricted
	// WithoutView is its mode where that is workspace and commands cannot work on a
	// copy of the project; empty is restricted.
	WithoutView Mode `json:"without_view,omitempty" hcl:"without_view,optional"`
}

// ChannelMessages is how many of the last messages a model is shown in a run that a channel began, where its agent does not say.
const ChannelMessages = 20

// Otherwise is the agent's mode in the place of workspace, where that is not
// possible.
func (a Agent) Otherwise() Mode { return cmp.Or(a.WithoutView, ModeRestricted) }

// Offline reports whether the agent reaches no network.
func (a Agent) Offline() bool { return a.Network != nil && !*a.Network }

// MCPPrefix stands before the name of a server of MCP in the name of its plugin and, with
// another __ behind it, in the names of its tools.
const MCPPrefix = "mcp__"

// ProjectServers are the files of a project, from its root, in which other programs find servers
// of MCP. Bothy reads one when a person names it, and not before.
var ProjectServers = []string{".mcp.json", ".vscode/mcp.json", ".cursor/mcp.json"}

// IsLent reports whether a server of MCP is one that a front end lent to a run. The name of one
// in the configuration begins with no underscore.
func IsLent(server string) bool { return strings.HasPrefix(server, "_") }

// MCPAbout is the name of the tool, which only people call, that tells what a server of MCP has
// and reads its resources. No tool of a server has that name.
func MCPAbout(server string) string { return MCPPrefix + server + "___server" }

// UsesMCP reports whether the agent may have tools of a server of MCP, which is then started
// for it.
func (a Agent) UsesMCP(server string) bool {
	if IsLent(server) {
		return slices.Contains(a.Lent, server)
	}
	if a.Bound != nil && !a.Bound.agent().UsesMCP(server) {
		return false
	}
	if a.MCP != nil {
		return slices.Contains(a.MCP, server)
	}
	prefix := MCPPrefix + server + "__"
	return len(a.Tools) == 0 || slices.ContainsFunc(a.Tools, func(glob string) bool {
		head := glob // as far as it is a name
		if i := strings.IndexAny(glob, globbing); i >= 0 {
			head = glob[:i]
		}
		return strings.HasPrefix(prefix, head) || strings.HasPrefix(head, prefix)
	})
}

// Admits reports whether the agent may use a tool that is not excluded: by the servers that
// it names where it is one of MCP, always where its turn is given it, by its very name where no glob names
// it, else by its globs over bare and qualified names.
func (a Agent) Admits(t Tool) bool { return a.admits(&t) }

// admits is Admits without copies: it is asked of every tool, for each agent of a list.
func (a *Agent) admits(t *Tool) bool {
	if slices.Contains(a.Excluded, cmp.Or(t.Declared, t.Name)) || t.Runs != "" && slices.Contains(a.Excluded, t.Name) {
		return false
	}
	if len(a.Without) > 0 && slices.ContainsFunc([]string{t.Name, t.Declared, t.Qualified(), t.Runs}, a.Withholds) {
		return false
	}
	if a.Offline() && (t.Annotations.OpenWorld || !t.Pinned) { // nothing vouches for what it reaches
		return false
	}
	server, ofMCP := strings.CutPrefix(t.Plugin, MCPPrefix)
	if ofMCP && IsLent(server) {
		return a.UsesMCP(server)
	}
	if a.Bound != nil {
		if bound := a.Bound.agent(); !bound.admits(t) {
			return false
		}
	}
	switch {
	case ofMCP && a.MCP != nil:
		return a.UsesMCP(server)
	case t.Given:
		return true
	case t.Named:
		return slices.Contains(a.Tools, t.Name) || slices.Contains(a.Tools, t.Qualified())
	}
	return len(a.Tools) == 0 || anyMatches(a.Tools, t.Name) || anyMatches(a.Tools, t.Qualified())
}

// anyMatches reports whether one of some globs stands for a name. One that cannot be read stands for none.
func anyMatches(globs []string, name string) bool {
	for _, glob := range globs {
		if glob == name || glob == "*" { // as most are
			return true
		}
		if glob == "" || name == "" || glob[0] != name[0] && !strings.Contains(globbing, glob[:1]) {
			continue // it begins otherwise
		}
		if ok, err := path.Match(glob, name); ok && err == nil {
			return true
		}
	}
	return false
}

// globbing are the characters by which a glob is more than a name.
const globbing = `*?[\`

// Withholds reports whether a tool of this name is one that the agent has not, whatever else is said.
func (a Agent) Withholds(tool string) bool {
	return slices.ContainsFunc(a.Without, func(glob string) bool {
		ok, err := path.Match(glob, tool)
		return tool != "" && (ok || err != nil)
	})
}

// Qualified is the name PLUGIN__NAME that a tool always answers to.
func (t Tool) Qualified() string {
	prefix := t.Plugin + "__"
	if strings.HasPrefix(t.Name, prefix) {
		return t.Name
	}
	return prefix + t.Name
}
