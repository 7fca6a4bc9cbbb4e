package config

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/bothyd/bothy/sdk"
)

// MCPEdit is an mcp block that is new. What is empty is left out.
type MCPEdit struct {
	Name       string
	Command    Expression
	Args       []Expression
	Env        map[string]Expression
	Dir        Expression
	URL        Expression
	Headers    map[string]Expression
	Transport  string
	Timeout    time.Duration
	Disabled   bool
	Confine    Confine
	Unconfined bool // Confine is not asked then
}

// Expression is a value as it stands in a file; empty is none.
type Expression string

// Text is the expression of a text.
func Text(s string) Expression {
	return Expression(hclwrite.TokensForValue(cty.StringVal(s)).Bytes())
}

// Lookup is the expression of what a function, env or secret, finds by a name. standing is
// what stands where nothing is found; nil is an error then.
func Lookup(function, name string, standing *string) Expression {
	call := function + "(" + string(Text(name))
	if standing != nil {
		call += ", " + string(Text(*standing))
	}
	return Expression(call + ")")
}

// Joined is the expression of several, one behind the other.
func Joined(parts []Expression) Expression {
	if len(parts) == 1 {
		return parts[0]
	}
	var b strings.Builder
	for i, p := range parts {
		text, is := strings.CutPrefix(string(p), `"`)
		if !is {
			b.WriteString("${" + string(p) + "}")
			continue
		}
		text = strings.TrimSuffix(text, `"`)
		// A mark at the end would make another of the bracket that follows.
		if plain := strings.TrimRight(text, "$%"); i < len(parts)-1 && plain != text {
			text = plain + "${\"" + text[len(plain):] + "\"}"
		}
		b.WriteString(text)
	}
	return Expression(`"` + b.String() + `"`)
}

func (e MCPEdit) attributes() (out attributes) {
	say := func(name string, value Expression) {
		if value != "" {
			out = append(out, attribute{name: name, value: string(value)})
		}
	}
	say("command", e.Command)
	if len(e.Args) > 0 {
		args := make([]string, len(e.Args))
		for i, a := range e.Args {
			args[i] = string(a)
		}
		say("args", Expression("["+strings.Join(args, ", ")+"]"))
	}
	say("env", named(e.Env))
	say("cwd", e.Dir)
	say("url", e.URL)
	say("headers", named(e.Headers))
	if e.Transport != "" {
		say("transport", Text(e.Transport))
	}
	if e.Timeout > 0 {
		say("timeout", Text(e.Timeout.String()))
	}
	out.add("enabled", e.Disabled, cty.False)
	out.add("confined", e.Unconfined, cty.False)
	if c := e.Confine; !e.Unconfined && (c.Network || len(c.Paths)+len(c.ReadPaths) > 0) {
		c.BestEffort = true // as it is without a block
		out = append(out, PluginEdit{Confine: &c}.attributes()...)
	}
	return out
}

// named is the expression of a map.
func named(values map[string]Expression) Expression {
	if len(values) == 0 {
		return ""
	}
	var members []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		members = append(members, string(Text(name))+" = "+string(values[name]))
	}
	return Expression("{ " + strings.Join(members, ", ") + " }")
}

// Text is the block as it is written.
func (e MCPEdit) Text() string { return blockText("mcp", e.Name, e.attributes()) }

// AddMCP writes an mcp block into the file at path, behind all that is there. A name that a
// block has already is an error of outcome conflict.
func AddMCP(path string, e MCPEdit) error {
	if len(e.Name) > mostMCPLabel || !mcpLabel.MatchString(e.Name) {
		return sdk.Errorf(sdk.Validation, "an MCP server cannot be named %q: its name has at most 32 of a-z and 0-9, with a single _ between them", e.Name)
	}
	_, err := edit(path, func(text []byte) ([]byte, error) {
		is, err := findBlock(text, path, "mcp", e.Name)
		if err != nil {
			return nil, err
		}
		if is != nil {
			return nil, sdk.Errorf(sdk.Conflict, "%s has an mcp block %q already: change it there, or take another name", path, e.Name)
		}
		return setBlock(text, path, "mcp", e.Name, e.attributes(), "write it yourself:\n"+e.Text())
	})
	return err
}
