package host

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Ask asks a model and puts its answer together: the text alone. A request
// without a model asks that of the run, which is all that the grant models
// gives unless the plugin's block names more. A stream that was cut is an error;
// an answer that ended at its limit of tokens is not.
func Ask(ctx context.Context, req sdk.Request) (string, error) {
	var text strings.Builder
	whole := false
	err := From(ctx).Complete(ctx, req, func(d sdk.Delta) error {
		text.WriteString(d.Text)
		whole = whole || d.Finish != nil
		return nil
	})
	switch {
	case err != nil:
		return "", err
	case !whole:
		return "", sdk.Errorf(sdk.Unavailable, "the model's answer was cut off")
	}
	return text.String(), nil
}

// Use calls another tool with arguments that are encoded as JSON. The result
// of a tool that did not succeed is no error: look at Success.
func Use(ctx context.Context, tool string, arguments any) (sdk.ToolResult, error) {
	b, err := json.Marshal(arguments)
	if err != nil {
		return sdk.ToolResult{}, sdk.Errorf(sdk.Validation, "encode the arguments of %s: %w", tool, err)
	}
	return From(ctx).Invoke(ctx, tool, b)
}

// UseAs is Use for who wants the structured result of a tool as a value. A tool that
// did not succeed is an error with its outcome.
func UseAs[Out any](ctx context.Context, tool string, arguments any) (Out, error) {
	var out Out
	r, err := Use(ctx, tool, arguments)
	switch {
	case err != nil:
		return out, err
	case !r.Success:
		return out, &sdk.Error{Outcome: r.Outcome, Message: r.Error}
	}
	if err := json.Unmarshal(r.Structured, &out); err != nil {
		return out, sdk.Errorf(sdk.Internal, "the structured result of %s is no %T: %w", tool, out, err)
	}
	return out, nil
}

// Question asks the person something within a call, and waits for the answer: the tool
// ask_user, which the plugin has to declare (sdk.Calls.Tools) and its block to grant. No
// answer, of somebody who looked away or in time, is one that cancels. An error is a question
// that nobody can be asked.
func Question(ctx context.Context, q sdk.Question) (sdk.QuestionAnswer, error) {
	return UseAs[sdk.QuestionAnswer](ctx, sdk.ToolAskUser, q)
}
