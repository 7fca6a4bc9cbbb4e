package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/agent"
	"github.com/bothyd/bothy/sdk/host"
)

// agents are two, and judgements that fail in every way a judgement can: the prompt says which.
func agents() agent.Set {
	return agent.Set{
		Declared: []sdk.AgentSpec{
			{Name: "reviewer", Description: "Reviews.", Persona: "Be kind.", Tools: []string{"read_*", "about"}, Schema: json.RawMessage(`{"type":"object"}`)},
			{Name: "own", Description: "Has the tools of its plugin."},
		},
		Judge: judge,
	}
}

func judge(ctx context.Context, w sdk.Work) ([]string, error) {
	if marks := os.Getenv("FAULT_MARKS"); marks != "" {
		_ = mark(marks, "judged\n") // a test that looks for it fails without
	}
	switch w.Prompt {
	case "crash":
		os.Exit(5)
	case "hang":
		forever()
	case "wait":
		<-ctx.Done()
		return nil, ctx.Err()
	case "panics":
		panic("at the disco")
	case "oversize":
		return []string{strings.Repeat("x", 17<<20)}, nil
	case "much":
		return strings.Split(strings.Repeat("x ", 1000), " "), nil
	case "asks":
		answer, err := host.Ask(ctx, sdk.Request{Messages: []sdk.Message{{Role: sdk.RoleUser, Text: "well?"}}})
		return []string{answer}, err
	case "tell":
		return []string{fmt.Sprintf("%s %s %s %s %d %v", w.Key, w.Project, w.RunDir, w.Result, len(w.Done), !w.Deadline.IsZero())}, nil
	}
	return nil, nil
}
