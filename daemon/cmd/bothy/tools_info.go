package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type toolsInfoCmd struct {
	Tool string `arg:"" complete:"tool" help:"The tool's name, or PLUGIN__TOOL."`
}

// Help adds to the verb's help.
func (toolsInfoCmd) Help() string {
	return `Says what a model is told of a tool: its description, and each argument with what it may be. Nothing is called.

Examples:

    bothy tools info grep
    bothy tools info write_file --json | jq .parameters
`
}

// Run prints one tool; --json has its schema as the plugin declares it.
func (cmd toolsInfoCmd) Run(ctx context.Context, c *console) error {
	return query(ctx, c, func(cl *client.Client) (sdk.Tool, error) {
		list, err := cl.Tools(ctx)
		if err != nil {
			return sdk.Tool{}, err
		}
		n := slices.IndexFunc(list, func(t sdk.Tool) bool { return t.Name == cmd.Tool || t.Plugin+"__"+t.Name == cmd.Tool })
		if n < 0 {
			names := each(list, func(t sdk.Tool) string { return t.Name })
			plugins, err := cl.Plugins(ctx)
			return sdk.Tool{}, errors.Join(sdk.Errorf(sdk.NotFound, "there is no tool %q; %sthe nearest is %q, and there are: %s",
				cmd.Tool, down(plugins), sdk.Nearest(cmd.Tool, names, strings.ToLower), strings.Join(names, ", ")), err)
		}
		return list[n], nil
	}, c.printTool)
}

// down names the plugins that were to serve and do not, whose tools are not there.
func down(plugins []rpc.Plugin) string {
	var out []string
	for _, p := range plugins {
		if p.State != "ready" && p.State != "stopped" {
			out = append(out, p.Instance+" ("+cmp.Or(p.Error, p.State)+")")
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "these plugins do not run: " + strings.Join(out, "; ") + "; "
}

func (c *console) printTool(t sdk.Tool) error {
	pinned := "yes"
	if !t.Pinned {
		pinned = "no: policy believes nothing of what it says of its effects"
	}
	err := c.facts(14, [][2]string{
		{"name", t.Name}, {"plugin", t.Plugin}, {"pinned", pinned}, {"effects", effects(t.Annotations)}, {"grants", strings.Join(t.Grants, ", ")},
	})
	if err == nil {
		err = c.lines(slices.Concat([]string{""}, strings.Split(strings.TrimSpace(t.Description), "\n"), []string{""})...)
	}
	if err != nil {
		return err
	}
	var schema parameter
	if err := json.Unmarshal(t.Parameters, &schema); err != nil {
		return sdk.Errorf(sdk.Internal, "what %s takes cannot be read: %w", t.Name, err)
	}
	names := slices.SortedFunc(maps.Keys(schema.Properties), func(a, b string) int { // the required ones first
		return cmp.Or(boolean(slices.Contains(schema.Required, b))-boolean(slices.Contains(schema.Required, a)), cmp.Compare(a, b))
	})
	return tableOf(c, names, "it takes no arguments", []string{"ARGUMENT", "REQUIRED", "VALUE", "WHAT IT IS"}, func(name string) []string {
		p, required := schema.Properties[name], "no"
		if slices.Contains(schema.Required, name) {
			required = "yes"
		}
		return []string{name, required, p.String(), show.OneLine(p.Description)}
	})
}

func boolean(is bool) int {
	if is {
		return 1
	}
	return 0
}

// parameter is what a JSON Schema says of a value, as far as people are told.
type parameter struct {
	Type        any // a word, or several
	Description string
	Enum        []json.RawMessage
	Default     json.RawMessage
	Examples    []json.RawMessage
	Minimum     json.RawMessage
	Maximum     json.RawMessage
	Format      string
	Items       *parameter
	Properties  map[string]parameter
	Required    []string
}

// UnmarshalJSON takes also a schema that is only true or false.
func (p *parameter) UnmarshalJSON(text []byte) error {
	type plain parameter
	if string(text) == "true" || string(text) == "false" {
		return nil
	}
	return json.Unmarshal(text, (*plain)(p))
}

// String says in a few words what the value may be.
func (p parameter) String() string {
	text := func(values []json.RawMessage) string {
		return strings.Join(each(values, func(v json.RawMessage) string { return string(v) }), ", ")
	}
	var words []string
	switch kind := p.Type.(type) {
	case string:
		words = append(words, kind)
	case []any:
		words = append(words, strings.Join(each(kind, func(k any) string { s, _ := k.(string); return s }), " or "))
	default:
		words = append(words, "any")
	}
	if p.Items != nil {
		words = append(words, "of "+p.Items.String())
	}
	for _, part := range []struct{ before, text string }{
		{"one of ", text(p.Enum)}, {"from ", string(p.Minimum)}, {"to ", string(p.Maximum)}, {"as ", p.Format}, {"default ", string(p.Default)}, {"such as ", text(p.Examples)},
	} {
		if part.text != "" {
			words = append(words, part.before+part.text)
		}
	}
	return strings.Join(words, " ")
}
