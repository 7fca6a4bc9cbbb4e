package config

import (
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
)

// MCPEdit is an mcp block that is new. What is empty is left out.
type MCPEdit struct {
	Name       string
	Command    Expression            `hcl:"command,optional"`
	Args       []Expression          `hcl:"args,optional"`
	Env        map[string]Expression `hcl:"env,optional"`
	Dir        Expression            `hcl:"cwd,optional"`
	URL        Expression            `hcl:"url,optional"`
	Headers    map[string]Expression `hcl:"headers,optional"`
	Transport  string                `hcl:"transport,optional"`
	Timeout    time.Duration         `hcl:"timeout,optional"`
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
		text = strings.TrimSuffix(text, `"`)
		// A mark at the end would make another of the bracket that follows.
		if is && (i == len(parts)-1 || strings.TrimRight(text, "$%") == text) {
			b.WriteString(text)
		} else {
			b.WriteString("${" + string(p) + "}")
		}
	}
	return Expression(`"` + b.String() + `"`)
}

func (e MCPEdit) attributes() attributes {
	all, c := attributesOf(e), e.Confine
	if e.Disabled {
		all = append(all, attribute{name: "enabled", value: "false"})
	}
	if e.Unconfined {
		all = append(all, attribute{name: "confined", value: "false"})
	} else if c.Network || len(c.Paths)+len(c.ReadPaths) > 0 {
		c.BestEffort = true // as it is without a block
		all = append(all, attribute{name: "confine", block: attributesOf(c)})
	}
	return all
}

// Text is the block as it is written.
func (e MCPEdit) Text() string { return blockText("mcp", e.Name, e.attributes()) }

// AddMCP writes an mcp block into the file at path, behind all that is there. A name that a
// block has already is an error of outcome conflict.
func AddMCP(path string, e MCPEdit) error {
	_, err := putBlock(path, "mcp", e.Name, e.attributes(), true)
	return err
}
