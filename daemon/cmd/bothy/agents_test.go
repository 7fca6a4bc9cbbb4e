package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk/rpc"
)

func TestAgentsLs(t *testing.T) {
	b := withDaemon(t, nil)
	b.daemon.strangers = []rpc.Agent{fakeAgents()[2].Agent}
	b.want(t, exitOK, "agents")
	b.golden(t, "agents-ls")
	if !strings.Contains(b.err.String(), "1 untrusted agent of this project") {
		t.Errorf("what nobody agreed to is not pointed at: %s", b.err.String())
	}
	var found rpc.Agents
	b.want(t, exitOK, "agents", "ls", "--json")
	if err := json.Unmarshal([]byte(b.out.String()), &found); err != nil || len(found.Agents) != 3 {
		t.Errorf("%v\n%s", err, b.out.String())
	}
}

func TestAgentsShow(t *testing.T) {
	b := withDaemon(t, nil)
	b.want(t, exitOK, "agents", "show", "reviewer")
	b.golden(t, "agents-show")
	b.want(t, exitOK, "agents", "show", "default")
	b.golden(t, "agents-show-default")
	b.want(t, exitOK, "agents", "show", "stranger")
	if !strings.Contains(b.out.String(), "untrusted: no prompt gets it") {
		t.Errorf("an untrusted one is shown as %s", b.out.String())
	}
	b.want(t, exitOK, "agents", "show", "reviewer", "--persona")
	if b.out.String() != "You review.\nYou \x1b[31mwrite nothing.\n" {
		t.Errorf("the persona is %q", b.out.String())
	}
	b.want(t, exitFailed, "agents", "show", "nobody")
	b.want(t, exitUsage, "agents", "show")
	var shown rpc.AgentDetail
	b.want(t, exitOK, "agents", "show", "reviewer", "--json")
	if err := json.Unmarshal([]byte(b.out.String()), &shown); err != nil || shown.Definition.Agent.Finish == nil {
		t.Errorf("%v\n%s", err, b.out.String())
	}
}
