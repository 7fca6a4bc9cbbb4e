package main

//lint:file-ignore SA1019 the servers there are speak protocols of before 2026-07-28, in which sampling and logging are not deprecated

import (
	"context"
	"math"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
)

// createMessage asks the model of the run for the server: sampling, in the words of MCP. It is
// a completion of the call that the server works on, with that run's policy and budget; which
// model the server prefers is not asked.
func (m *mcpServer) createMessage(ctx context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	call, err := m.calls.serving(ctx)
	if err != nil {
		return nil, err
	}
	// It ends with either: the call, or the request of the server.
	call, cancel := context.WithCancel(call)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	req := sdk.Request{MaxTokens: int(min(max(r.Params.MaxTokens, 0), math.MaxInt32))}
	if t := r.Params.Temperature; t > 0 {
		req.Temperature = &t
	}
	if r.Params.SystemPrompt != "" {
		req.Messages = append(req.Messages, sdk.Message{Role: sdk.RoleSystem, Text: r.Params.SystemPrompt})
	}
	for _, msg := range r.Params.Messages {
		text, is := msg.Content.(*mcp.TextContent)
		if !is {
			return nil, sdk.Errorf(sdk.Validation, "a model can be asked with texts alone, not with %T", msg.Content)
		}
		role := sdk.RoleUser
		if msg.Role == "assistant" {
			role = sdk.RoleAssistant
		}
		req.Messages = append(req.Messages, sdk.Message{Role: role, Text: text.Text})
	}
	text, err := host.Ask(call, req)
	if err != nil {
		return nil, err
	}
	return &mcp.CreateMessageResult{Content: &mcp.TextContent{Text: text}, Role: "assistant", Model: "the model of the run", StopReason: "endTurn"}, nil
}
