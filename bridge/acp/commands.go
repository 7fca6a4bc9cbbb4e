package main

import (
	"cmp"
	"context"
	"strings"

	"github.com/coder/acp-go-sdk"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// hearSkills has all sessions tell their commands anew whenever skills change, and when the
// connection that was lost is back.
func (b *bridge) hearSkills() {
	for {
		err := b.cl.HearSkills(b.ctx, func(rpc.SkillsChanged) error {
			for _, s := range b.open() {
				s.tellCommands(b.ctx)
			}
			return nil
		})
		if b.ctx.Err() != nil {
			return
		}
		b.log.Info("changes of skills are not heard", "error", err)
		select {
		case <-b.back:
		case <-b.ctx.Done():
			return
		}
	}
}

// isBack says that the connection is there again.
func (b *bridge) isBack() {
	select {
	case b.back <- struct{}{}:
	default: // it was said
	}
}

// tellCommands tells which skills there are, and which prompts of MCP servers that run.
func (s *session) tellCommands(ctx context.Context) {
	found, err := s.b.cl.Skills(ctx, rpc.SkillQuery{Project: s.project, Status: sdk.SkillEnabled})
	if err != nil {
		s.b.log.Info("skills are not told", "error", err)
		return
	}
	list := []acp.AvailableCommand{}
	for _, k := range found.Skills {
		hint := acp.AvailableCommandInput{Unstructured: &acp.UnstructuredCommandInput{Hint: show.Line(cmp.Or(k.ArgumentHint, "what it is about"))}}
		list = append(list, acp.AvailableCommand{Name: k.Name, Description: show.Line(show.OneLine(k.Description)), Input: &hint})
	}
	prompts, err := s.b.cl.PeopleTools(ctx)
	if err != nil {
		s.b.log.Info("prompts of MCP servers are not told", "error", err)
	}
	for _, t := range prompts {
		if server, is := strings.CutPrefix(t.Plugin, sdk.MCPPrefix); is && t.Name != sdk.MCPAbout(server) {
			hint := acp.AvailableCommandInput{Unstructured: &acp.UnstructuredCommandInput{Hint: "its arguments, in their order or as NAME=VALUE"}}
			list = append(list, acp.AvailableCommand{Name: t.Name, Description: show.Line(show.OneLine(t.Description)), Input: &hint})
		}
	}
	s.update(acp.SessionUpdate{AvailableCommandsUpdate: &acp.SessionAvailableCommandsUpdate{AvailableCommands: list}})
}
