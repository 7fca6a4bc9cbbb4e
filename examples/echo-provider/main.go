// Command bothy-plugin-echo is a provider whose model says what it was asked,
// word by word. A prompt "call TOOL {…}" makes it call a tool, and what the tool
// answers is then said, so that agents can be tried without a model.
package main

import (
	"context"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
	"github.com/bothyd/bothy/sdk/provider"
)

type settings struct {
	Pause time.Duration `hcl:"pause" default:"0s" doc:"How long to wait before each word."`
}

func main() {
	plugin.NewConfiguredProvider(func(c settings) (provider.Provider, error) { return echo{c}, nil }).Serve("echo", "1.0.0")
}

// echo implements provider.Provider.
type echo struct{ settings }

// Models lists the one there is.
func (echo) Models(context.Context) ([]sdk.Model, error) {
	tools := true
	return []sdk.Model{{Name: "echo", Context: 32_000, Tools: &tools, Streaming: true, Inputs: []string{"text"}}}, nil
}

// Complete streams the answer. What it cannot do is an *sdk.ProviderError, whose
// class says whether asking again could help.
func (e echo) Complete(ctx context.Context, req sdk.Request, send func(sdk.Delta) error) error {
	if len(req.Messages) == 0 {
		return &sdk.ProviderError{Class: sdk.ClassNever, Message: "there is no message to echo"}
	}
	last := req.Messages[len(req.Messages)-1]
	if command, found := strings.CutPrefix(last.Text, "call "); found && last.Role == sdk.RoleUser {
		name, arguments, _ := strings.Cut(command, " ")
		if err := send(sdk.Delta{Call: &sdk.CallDelta{ID: "call-1", Tool: name, Arguments: arguments}}); err != nil {
			return err
		}
		return finish(send, "calls", last.Text, arguments)
	}
	for _, word := range strings.SplitAfter(last.Text, " ") {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(e.Pause):
		}
		if err := send(sdk.Delta{Text: word}); err != nil {
			return err
		}
	}
	return finish(send, "stop", last.Text, last.Text)
}

// finish ends the stream: without it the completion counts as cut off.
func finish(send func(sdk.Delta) error, reason, prompt, answer string) error {
	in, out := len(strings.Fields(prompt)), len(strings.Fields(answer))
	if err := send(sdk.Delta{Usage: &sdk.Usage{Prompt: in, Completion: out, Total: in + out}}); err != nil {
		return err
	}
	return send(sdk.Delta{Finish: &sdk.Finish{Reason: reason}})
}
