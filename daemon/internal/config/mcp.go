package config

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/bothyd/bothy/sdk"
)

// mcpBinary is the plugin that each server of MCP is an instance of.
const mcpBinary = "mcp"

// mcpLabel is what the label of an mcp block is: short, since the names of its tools hold it,
// and without the two underscores that part those.
var mcpLabel = regexp.MustCompile(`^[a-z0-9]+(_[a-z0-9]+)*$`)

// mcpAttributes are those of an mcp block that mean something else in a plugin's, with
// their names in the schema of the plugin.
var mcpAttributes = map[string]string{"args": "arguments", "env": "environment", "tools": "offered"}

// Server is what an mcp block starts, or reaches. A secret stands in it by its name alone.
type Server struct {
	Command  string   `json:"command,omitempty"`
	Args     []string `json:"args,omitempty"`
	Env      []string `json:"env,omitempty"` // the names of its variables
	Dir      string   `json:"cwd,omitempty"`
	URL      string   `json:"url,omitempty"`
	Headers  []string `json:"headers,omitempty"` // their names
	Accepted *Locked  `json:"-"`                 // what bothy.lock says of it; nil: nothing
}

// server reads what an mcp block starts. What is wrong in it is told when it is started.
func (l *loader) server(body *hclsyntax.Body) *Server {
	eval := withSecret(l.cfg.Context, func(name string) (string, error) { return "secret(" + name + ")", nil })
	s, env, headers := &Server{}, map[string]string{}, map[string]string{}
	for name, into := range map[string]any{"command": &s.Command, "args": &s.Args, "cwd": &s.Dir, "url": &s.URL, "env": &env, "headers": &headers} {
		if a := body.Attributes[name]; a != nil {
			_ = gohcl.DecodeExpression(a.Expr, eval, into) // as the plugin is given it
		}
	}
	s.Env, s.Headers = slices.Sorted(maps.Keys(env)), slices.Sorted(maps.Keys(headers))
	return s
}

// mcp makes a block that names a server of MCP an instance of the plugin mcp. It may say what
// a plugin's block may, too, but what runs is always that plugin.
func (l *loader) mcp(b *block) {
	const command, own = "the program of the server is its command", `an mcp block has args, env and tools, and asks a model with grants = ["models"]`
	for _, x := range []struct{ name, has string }{{"plugin", command}, {"path", command}, {"arguments", own}, {"environment", own}, {"offered", own}, {"sampling", own}} {
		if b.body.Attributes[x.name] != nil {
			l.wrong(b.body, x.name, "an mcp block has no %s: %s.", x.name, x.has)
			return
		}
	}
	body := *b.body
	body.Attributes = maps.Clone(body.Attributes)
	for ours, its := range mcpAttributes {
		if a := body.Attributes[ours]; a != nil {
			renamed := *a
			renamed.Name = its
			delete(body.Attributes, ours)
			body.Attributes[its] = &renamed
		}
	}
	server, login := l.server(b.body), ""
	if server.URL != "" && !slices.ContainsFunc(server.Headers, func(h string) bool { return strings.EqualFold(h, "Authorization") }) {
		login = sdk.MCPLogin(b.label)
	}
	l.instance(&l.cfg.Plugins, Plugin{Label: sdk.MCPPrefix + b.label, Binary: mcpBinary, Server: server, Login: login, Enabled: true, OnUse: true, Confined: true, Range: b.at}, &body)
}

// serve has the plugin of a server tell it that it may ask a model, for the plugin does not see its
// grants, and lets the server ask the person: the plugin declares that it calls ask_user, and no
// other tool.
func (p *Plugin) serve() {
	if slices.Contains(p.Grants, sdk.GrantModels) {
		p.Body.(*hclsyntax.Body).Attributes["sampling"] = &hclsyntax.Attribute{
			Name: "sampling", Expr: &hclsyntax.LiteralValueExpr{Val: cty.True, SrcRange: p.Range}, SrcRange: p.Range, NameRange: p.Range,
		}
	}
	if !slices.Contains(p.Grants, sdk.GrantTools) {
		p.Grants = append(p.Grants, sdk.GrantTools)
	}
}
