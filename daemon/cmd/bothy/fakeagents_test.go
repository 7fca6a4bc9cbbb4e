package main

import (
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// fakeAgents are agents of three sources.
func fakeAgents() []rpc.AgentDetail {
	turns := map[string]string{"tools": "/etc/config.hcl:7", "max_turns": "/etc/config.hcl:3", "mode": "default"}
	return []rpc.AgentDetail{
		{
			Agent: rpc.Agent{Name: "default", Mode: sdk.ModeWorkspace, Description: "asks about the rest", May: "asks about the rest", Tools: []string{"bash", "read_file"}, Default: true, Source: sdk.AgentBundled, Place: "config.hcl:372"},
			Definition: sdk.Definition{
				Agent: sdk.Agent{Name: "default", Tools: []string{"*"}, Mode: sdk.ModeWorkspace, Guards: sdk.Guards{MaxTurns: 9}}, Source: sdk.AgentBundled, Place: "config.hcl:372", From: turns,
				Shadowed: []sdk.ShadowedAgent{{Source: sdk.AgentOfUser, Place: "/home/u/default.md", Notes: []string{"the agent default stands in the configuration alone"}}},
			},
		},
		{
			Agent: rpc.Agent{Name: "reviewer", Mode: sdk.ModeInteractive, Description: "Reviews a change.", Tools: []string{"read_file"}, Source: sdk.AgentOfUser, Place: "/home/u/reviewer.md", Notes: 1, Shadowed: 1},
			Definition: sdk.Definition{
				Agent: sdk.Agent{
					Name: "reviewer", Description: "Reviews a change.", Persona: "You review.\nYou \x1b[31mwrite nothing.", Mode: sdk.ModeInteractive, Skills: []string{},
					Finish: &sdk.FinishSpec{Schema: []byte(`{"type":"object"}`), Prove: []string{"tests"}},
				},
				Source: sdk.AgentOfUser, Place: "/home/u/reviewer.md", Notes: []string{"there is no model sonnet"},
				Shadowed: []sdk.ShadowedAgent{{Source: sdk.AgentOfPlugin, Place: "reviews"}},
			},
		},
		{
			Agent:      rpc.Agent{Name: "stranger", Mode: sdk.ModeRestricted, Description: "Does all.", Tools: []string{}, Source: sdk.AgentOfWorkspace, Place: "/p/.claude/agents/stranger.md", Untrusted: true},
			Definition: sdk.Definition{Agent: sdk.Agent{Name: "stranger"}, Source: sdk.AgentOfWorkspace, Place: "/p/.claude/agents/stranger.md", Untrusted: true},
		},
	}
}

func (f *fakeDaemon) Agents(_ string, untrusted bool) (all []rpc.Agent) {
	for _, a := range fakeAgents() {
		if !a.Untrusted {
			all = append(all, a.Agent)
		}
	}
	if untrusted {
		all = append(all, f.strangers...)
	}
	return all
}

func (f *fakeDaemon) Agent(_, name string) (rpc.AgentDetail, error) {
	for _, a := range fakeAgents() {
		if a.Name == name {
			return a, nil
		}
	}
	return rpc.AgentDetail{}, sdk.Errorf(sdk.NotFound, "there is no agent %q; there are: default, reviewer", name)
}
