package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/tool"
)

// Bounds of what a server has beside tools; what is beyond is left out, and the log says so.
const (
	mostPrompts   = 200
	mostPrompted  = 1 << 20 // bytes of the names, descriptions and arguments of all prompts
	mostResources = 1000
)

// readResource is the server's own name of the tool by which models read its resources.
const readResource = "read_resource"

// extras are the tools that the plugin adds to those of the server: each prompt is one that only
// people call, and so is what tells and reads all that the server has; models read resources by one.
type extras struct {
	prompts map[string]string // a prompt's own name by the name that it is offered by
	about   string            // the tool that only people call
	reads   string            // the tool that models call; empty where there are no resources
	specs   []sdk.ToolSpec
}

// extras asks the server for its prompts, and makes tools of what it has beside tools.
func (m *mcpServer) extras(ctx context.Context, c *connection, tools map[string]string) (extras, error) {
	x := extras{prompts: map[string]string{}, about: sdk.MCPAbout(m.server.name)}
	has := c.InitializeResult().Capabilities
	if has == nil {
		has = &mcp.ServerCapabilities{}
	}
	add := func(name, doc, parameters string, people bool) {
		x.specs = append(x.specs, sdk.ToolSpec{Name: name, Description: clip(doc, mostDoc), Parameters: json.RawMessage(parameters), People: people,
			Annotations: sdk.Annotations{ReadOnly: true, OpenWorld: true}, Source: m.settings.source()})
	}
	add(x.about, "Tells what the MCP server "+m.server.name+" has, or reads one of its resources.", uriSchema, true)
	if name := plain(m.server.name, readResource); has.Resources != nil && m.settings.offers(readResource) && tools[name] == "" {
		x.reads = name
		add(name, "Reads a resource of the MCP server "+m.server.name+" by its uri; without one it lists those that there are.", uriSchema, false)
	}
	if has.Prompts == nil {
		return x, nil
	}
	found, err := collect(mostPrompts, func(cursor string) ([]*mcp.Prompt, string, error) {
		page, err := c.ListPrompts(ctx, &mcp.ListPromptsParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		return page.Prompts, page.NextCursor, nil
	})
	if err != nil {
		return x, err
	}
	by := map[string]*mcp.Prompt{}
	for _, p := range found {
		by[p.Name] = p
	}
	own := slices.Sorted(maps.Keys(by))
	taken := append(slices.Collect(maps.Keys(tools)), x.about, x.reads)
	names, size := toolNames(m.server.name, own, taken...), 0
	for i, prompt := range own {
		schema, err := promptSchema(by[prompt].Arguments)
		if err != nil || len(schema) > mostSchema {
			m.log.Warn("a prompt is left out: its arguments cannot be described", "prompt", clip(prompt, mostSaid))
			continue
		}
		doc := clip(firstOf(by[prompt].Description, by[prompt].Title, prompt), mostDoc)
		if size += len(prompt) + len(doc) + len(schema); size > mostPrompted {
			m.log.Warn("prompts are left out: what describes all of them is too large", "left_out", len(own)-i, "most", mostPrompted)
			break
		}
		add(names[prompt], doc, string(schema), true)
		x.prompts[names[prompt]] = prompt
	}
	slices.SortFunc(x.specs, func(a, b sdk.ToolSpec) int { return strings.Compare(a.Name, b.Name) })
	return x, nil
}

// uriSchema is the schema of a call that reads.
const uriSchema = `{"type":"object","properties":{"uri":{"type":"string","description":"the resource's uri; absent: what there is"}}}`

// promptSchema is the schema of a prompt's arguments: texts, in the order of the server.
func promptSchema(arguments []*mcp.PromptArgument) (json.RawMessage, error) {
	properties := []string{}
	required := []string{}
	for _, a := range arguments {
		if a == nil {
			continue
		}
		name, err := json.Marshal(a.Name)
		if err != nil {
			return nil, err
		}
		property, err := json.Marshal(map[string]string{"type": "string", "description": clip(firstOf(a.Description, a.Title), mostSaid)})
		if err != nil {
			return nil, err
		}
		properties = append(properties, string(name)+":"+string(property))
		if a.Required {
			required = append(required, a.Name)
		}
	}
	needed, err := json.Marshal(required)
	return json.RawMessage(`{"type":"object","properties":{` + strings.Join(properties, ",") + `},"required":` + string(needed) + `}`), err
}

// firstOf is the first text that is not empty.
func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// collect is what there is on all pages, at most so much.
func collect[T any](most int, next func(cursor string) (page []T, more string, err error)) (all []T, err error) {
	cursor := ""
	for range mostPages {
		page, more, err := next(cursor)
		if err != nil {
			return nil, err
		}
		page = slices.DeleteFunc(page, func(x T) bool { return reflect.ValueOf(x).IsZero() }) // null is nothing
		if all = append(all, page...); len(all) >= most {
			return all[:most], nil
		}
		if more == "" || more == cursor {
			return all, nil
		}
		cursor = more
	}
	return nil, fmt.Errorf("its list has more than %d pages", mostPages)
}

// extra makes a call of one of the tools that the plugin adds; false is one of the server's own.
func (m *mcpServer) extra(ctx context.Context, call sdk.Invocation, out tool.Stream) (r sdk.ToolResult, is bool, err error) {
	m.mu.Lock()
	x := m.added
	m.mu.Unlock()
	prompt := x.prompts[call.Tool]
	if prompt == "" && call.Tool != x.about && (x.reads == "" || call.Tool != x.reads) {
		return r, false, nil
	}
	c, err := m.server.use(ctx)
	if err != nil {
		return r, true, err
	}
	if host.Call(ctx) == "" {
		ctx = host.WithCall(ctx, call.CallID)
	}
	defer m.calls.begin(ctx, call, out)()
	var in struct{ URI string }
	switch {
	case prompt != "":
		r, err = m.prompt(ctx, c, prompt, call.Arguments)
	case json.Unmarshal(call.Arguments, &in) != nil && len(call.Arguments) > 0:
		return r, true, sdk.Errorf(sdk.Validation, "the arguments cannot be read")
	case in.URI != "":
		r, err = m.read(ctx, c, in.URI)
	default:
		r, err = m.about(ctx, c, call.Tool == x.about)
	}
	if ctx.Err() != nil {
		return sdk.ToolResult{}, true, ctx.Err()
	}
	if err != nil {
		return sdk.ToolResult{}, true, m.failed(ctx, c, firstOf(prompt, in.URI, call.Tool), err)
	}
	return r, true, nil
}

// prompt is the messages of a prompt, one after the other.
func (m *mcpServer) prompt(ctx context.Context, c *connection, name string, arguments json.RawMessage) (sdk.ToolResult, error) {
	given := map[string]string{}
	if len(arguments) > 0 {
		if err := json.Unmarshal(arguments, &given); err != nil {
			return sdk.ToolResult{}, sdk.Errorf(sdk.Validation, "the arguments of a prompt are texts: %w", err)
		}
	}
	p, err := c.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: given})
	if err != nil {
		return sdk.ToolResult{}, err
	}
	said := &mcp.CallToolResult{}
	for _, msg := range p.Messages {
		if msg == nil {
			continue
		}
		text, is := msg.Content.(*mcp.TextContent)
		if is && msg.Role == "assistant" {
			text = &mcp.TextContent{Text: "[assistant]\n" + text.Text}
		}
		if is {
			said.Content = append(said.Content, text)
		} else if msg.Content != nil {
			said.Content = append(said.Content, msg.Content)
		}
	}
	return result(name, said), nil
}

// read is one resource: its texts are the output, and what is no text is told and in the metadata.
func (m *mcpServer) read(ctx context.Context, c *connection, uri string) (sdk.ToolResult, error) {
	found, err := c.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		return sdk.ToolResult{}, err
	}
	said := &mcp.CallToolResult{}
	for _, r := range found.Contents {
		switch {
		case r == nil:
		case r.Blob == nil && len(found.Contents) == 1:
			said.Content = append(said.Content, &mcp.TextContent{Text: r.Text})
		default:
			said.Content = append(said.Content, &mcp.EmbeddedResource{Resource: r})
		}
	}
	return result(uri, said), nil
}
