package config

import (
	"maps"
	"regexp"
	"slices"

	"github.com/bothyd/bothy/sdk"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// mcpBinary is the plugin that each server of MCP is an instance of.
const mcpBinary = "mcp"

// mcpLabel is what the label of an mcp block is: short, since the names of its tools hold it,
// and without the two underscores that part those.
var mcpLabel = regexp.MustCompile(`^[a-z0-9]+(_[a-z0-9]+)*$`)

// mostMCPLabel leaves half of a tool's name, which has 64 characters, to the tool.
const mostMCPLabel = 32

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
	value := func(name string) cty.Value {
		a := body.Attributes[name]
		if a == nil {
			return cty.NilVal
		}
		return valueOf(a.Expr, eval)
	}
	text := func(v cty.Value) string {
		if v == cty.NilVal {
			return ""
		}
		s, err := convert.Convert(v, cty.String) // as the plugin is given it
		if err != nil || s.IsNull() || !s.IsKnown() {
			return ""
		}
		return s.AsString()
	}
	names := func(v cty.Value) (out []string) {
		if v != cty.NilVal && v.CanIterateElements() && (v.Type().IsObjectType() || v.Type().IsMapType()) {
			out = slices.Sorted(maps.Keys(v.AsValueMap()))
		}
		return out
	}
	s := &Server{Command: text(value("command")), Dir: text(value("cwd")), URL: text(value("url")), Env: names(value("env")), Headers: names(value("headers"))}
	if args := value("args"); args != cty.NilVal && args.CanIterateElements() {
		for _, v := range args.AsValueSlice() {
			s.Args = append(s.Args, text(v))
		}
	}
	return s
}

// mcp makes a block that names a server of MCP an instance of the plugin mcp. It may say what
// a plugin's block may, too, but what runs is always that plugin.
func (l *loader) mcp(b *block) {
	body := b.body
	server := *body
	server.Attributes = maps.Clone(body.Attributes)
	for _, name := range []string{"plugin", "path"} {
		if body.Attributes[name] != nil {
			l.wrong(body, name, "an mcp block has no %s: the program of the server is its command.", name)
			return
		}
	}
	for _, name := range []string{"arguments", "environment", "offered", "sampling"} {
		if body.Attributes[name] != nil {
			l.wrong(body, name, "an mcp block has no %s: an mcp block has args, env and tools, and asks a model with grants = [\"models\"].", name)
			return
		}
	}
	if a := body.Attributes["confined"]; a != nil && inner(body, "confine") != nil && valueOf(a.Expr, l.cfg.Context).RawEquals(cty.False) {
		l.wrong(body, "confined", "confined = false opens all, and the confine block beside it would hold to nothing: write one of the two.")
		return
	}
	for ours, its := range mcpAttributes {
		if a := body.Attributes[ours]; a != nil {
			renamed := *a
			renamed.Name = its
			delete(server.Attributes, ours)
			server.Attributes[its] = &renamed
		}
	}
	grantQuestions(&server, l.cfg.Context)
	if a := body.Attributes["grants"]; a != nil && holds(valueOf(a.Expr, l.cfg.Context), sdk.GrantModels) {
		// The server is told that it may ask a model; the plugin does not see its grants.
		server.Attributes["sampling"] = &hclsyntax.Attribute{Name: "sampling", Expr: &hclsyntax.LiteralValueExpr{Val: cty.True, SrcRange: a.SrcRange}, SrcRange: a.SrcRange, NameRange: a.NameRange}
	}
	l.instance(&l.cfg.Plugins, Plugin{Label: sdk.MCPPrefix + b.label, Binary: mcpBinary, Server: l.server(body), Enabled: true, OnUse: true, Confined: true, Range: b.at}, &server)
}

// grantQuestions lets a server ask the person: the plugin declares that it calls ask_user, and no
// other tool.
func grantQuestions(server *hclsyntax.Body, ctx *hcl.EvalContext) {
	granted, at := []cty.Value{cty.StringVal(sdk.GrantTools)}, server.SrcRange
	if a := server.Attributes["grants"]; a != nil {
		list := valueOf(a.Expr, ctx)
		if !list.CanIterateElements() || holds(list, sdk.GrantTools) {
			return // it is said where it is read, or it has it
		}
		granted, at = append(list.AsValueSlice(), granted...), a.SrcRange
	}
	server.Attributes["grants"] = &hclsyntax.Attribute{Name: "grants", Expr: &hclsyntax.LiteralValueExpr{Val: cty.TupleVal(granted), SrcRange: at}, SrcRange: at, NameRange: at}
}

// holds reports whether a value is a list with a text in it.
func holds(list cty.Value, text string) bool {
	return list.CanIterateElements() && slices.ContainsFunc(list.AsValueSlice(), func(v cty.Value) bool { return v.RawEquals(cty.StringVal(text)) })
}
