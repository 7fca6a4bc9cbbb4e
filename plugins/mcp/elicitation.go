package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
)

// The modes and actions of elicitation, in the words of MCP.
const (
	modeURL       = "url"
	actionAccept  = "accept"
	actionDecline = "decline"
	actionCancel  = "cancel"
)

// elicit asks the person for the server: elicitation, in the words of MCP. It is a question of the
// call that the server works on. Where nobody can be asked it is told that nobody chose, as
// when somebody looks away: servers know what to do then.
func (m *mcpServer) elicit(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	call, err := m.calls.serving(ctx)
	if err != nil {
		return nil, err
	}
	// It ends with either: the call, or the request of the server.
	call, cancel := context.WithCancel(call)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	q := sdk.Question{Message: r.Params.Message}
	if r.Params.Mode == modeURL {
		q.URL = r.Params.URL
	} else if r.Params.RequestedSchema != nil {
		q.Order = orderOf(r.Params.RequestedSchema)
		if q.Schema, err = json.Marshal(r.Params.RequestedSchema); err != nil {
			return nil, sdk.Errorf(sdk.Validation, "the schema of the question cannot be read: %w", err)
		}
	}
	a, err := host.Question(call, q)
	switch {
	case sdk.OutcomeOf(err) == sdk.Unavailable && err != nil:
		m.log.Warn("the server's question was not asked", "error", err)
		return &mcp.ElicitResult{Action: actionCancel}, nil
	case err != nil:
		return nil, err
	case a.Answer == sdk.Reject:
		return &mcp.ElicitResult{Action: actionDecline}, nil
	case a.Answer != sdk.Accept:
		return &mcp.ElicitResult{Action: actionCancel}, nil
	}
	answer := &mcp.ElicitResult{Action: actionAccept}
	if len(a.Data) > 0 {
		if err := json.Unmarshal(a.Data, &answer.Content); err != nil {
			return nil, sdk.Errorf(sdk.Internal, "the person's answer cannot be read: %w", err)
		}
	}
	return answer, nil
}

// opened has the person open the addresses that a refusal of a call names, which is then to be made
// once more (MCP 2025-11-25, error -32042). It is false where there are none, or not all were.
func (m *mcpServer) opened(ctx context.Context, refusal error) bool {
	var refused *jsonrpc.Error
	var first struct{ Elicitations []*mcp.ElicitParams }
	if !errors.As(refusal, &refused) || refused.Code != mcp.CodeURLElicitationRequired || json.Unmarshal(refused.Data, &first) != nil || len(first.Elicitations) == 0 {
		return false
	}
	for _, e := range first.Elicitations {
		if e == nil || e.URL == "" {
			return false
		}
		a, err := host.Question(ctx, sdk.Question{Message: e.Message + "\n\nSay yes when that is done: the call is made again then.", URL: e.URL})
		if err != nil {
			m.log.Warn("the server's question was not asked", "error", err)
		}
		if err != nil || a.Answer != sdk.Accept {
			return false
		}
	}
	return true
}
