package main

import (
	"cmp"
	"context"

	"github.com/coder/acp-go-sdk"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// hearCommands tells the editor which skills there are, as commands, now and whenever they change,
// until the connection is lost or it is called again.
func (s *session) hearCommands() {
	ctx, end := context.WithCancel(s.ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.endHearing != nil {
		s.endHearing()
	}
	s.endHearing = end
	go func() {
		err := s.b.cl.HearSkills(ctx, func(rpc.SkillsChanged) error { return s.tellCommands(ctx) })
		if ctx.Err() == nil {
			s.b.log.Info("changes of skills are not heard", "error", err)
		}
	}()
}

// tellCommands tells which skills there are.
func (s *session) tellCommands(ctx context.Context) error {
	found, err := s.b.cl.Skills(ctx, rpc.SkillQuery{Project: s.project, Status: sdk.SkillEnabled})
	if err != nil {
		return err
	}
	list := []acp.AvailableCommand{}
	for _, k := range found.Skills {
		hint := acp.AvailableCommandInput{Unstructured: &acp.UnstructuredCommandInput{Hint: show.Line(cmp.Or(k.ArgumentHint, "what it is about"))}}
		list = append(list, acp.AvailableCommand{Name: k.Name, Description: show.Line(show.OneLine(k.Description)), Input: &hint})
	}
	s.update(acp.SessionUpdate{AvailableCommandsUpdate: &acp.SessionAvailableCommandsUpdate{AvailableCommands: list}})
	return nil
}
