package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bothyd/bothy/sdk"
)

// has is what a server has, for people and programs.
type has struct {
	Tools     []named `json:"tools,omitempty"`
	Prompts   []named `json:"prompts,omitempty"`
	Resources []named `json:"resources"`
	Templates []named `json:"templates"`
}

// named is one thing that a server has.
type named struct {
	Name        string `json:"name"` // of a tool or a prompt the one that it is called by; of a resource its uri
	Own         string `json:"own,omitempty"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mime_type,omitempty"`
	Bytes       int64  `json:"bytes,omitempty"`
}

// about lists the resources of the server, and all else that it has.
func (m *mcpServer) about(ctx context.Context, c *connection, all bool) (sdk.ToolResult, error) {
	h := has{Resources: []named{}, Templates: []named{}}
	m.mu.Lock()
	for _, t := range m.tools {
		switch own, prompt := m.raw[t.Name], m.added.prompts[t.Name]; {
		case !all:
		case own != "":
			h.Tools = append(h.Tools, named{Name: t.Name, Own: own, Description: t.Description})
		case prompt != "":
			h.Prompts = append(h.Prompts, named{Name: t.Name, Own: prompt, Description: t.Description})
		}
	}
	m.mu.Unlock()
	if has := c.InitializeResult().Capabilities; has != nil && has.Resources != nil {
		found, err := collect(mostResources, func(cursor string) ([]*mcp.Resource, string, error) {
			page, err := c.ListResources(ctx, &mcp.ListResourcesParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return page.Resources, page.NextCursor, nil
		})
		if err != nil {
			return sdk.ToolResult{}, err
		}
		for _, r := range found {
			h.Resources = append(h.Resources, named{Name: r.URI, Own: r.Name, Description: clip(firstOf(r.Description, r.Title), mostSaid), MIMEType: r.MIMEType, Bytes: r.Size})
		}
		templates, err := collect(mostResources, func(cursor string) ([]*mcp.ResourceTemplate, string, error) {
			page, err := c.ListResourceTemplates(ctx, &mcp.ListResourceTemplatesParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return page.ResourceTemplates, page.NextCursor, nil
		})
		if err != nil && !unknownMethod(err) {
			return sdk.ToolResult{}, err
		}
		for _, r := range templates {
			h.Templates = append(h.Templates, named{Name: r.URITemplate, Own: r.Name, Description: clip(firstOf(r.Description, r.Title), mostSaid), MIMEType: r.MIMEType})
		}
	}
	structured, err := json.Marshal(h)
	if err != nil {
		return sdk.ToolResult{}, err
	}
	r := sdk.ToolResult{Success: true, Output: clip(h.text(), mostText)}
	if len(structured) <= mostStructured {
		r.Structured = structured
	} else {
		r.Truncated = true
	}
	return r, nil
}

// text is one line for each thing.
func (h has) text() string {
	var b strings.Builder
	for _, part := range []struct {
		what string
		list []named
	}{{"tool", h.Tools}, {"prompt", h.Prompts}, {"resource", h.Resources}, {"resources of the form", h.Templates}} {
		for _, n := range part.list {
			b.WriteString(strings.TrimSpace(strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %s", part.what, n.Name, n.MIMEType, n.Description)), " ")) + "\n")
		}
	}
	if b.Len() == 0 {
		return "there are no resources"
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// unknownMethod reports whether a server says that it has no such request.
func unknownMethod(err error) bool {
	var refused *jsonrpc.Error
	return errors.As(err, &refused) && refused.Code == jsonrpc.CodeMethodNotFound
}
