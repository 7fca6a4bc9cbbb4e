package main

import (
	"cmp"
	"context"
	"slices"

	"github.com/coder/acp-go-sdk"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
)

// The options of a session.
const (
	optionMode  = "mode"
	optionModel = "model"
	optionAgent = "agent"
)

// chosen is what goes with the next prompts, or what is shown of it.
type chosen struct {
	mode         sdk.Mode // empty: the agent's
	agent, model string   // an empty model: that of the run or the agent
}

// readChoices asks what there is to choose from. What cannot be had is not offered.
func (s *session) readChoices(ctx context.Context) {
	agents, err := start.Repeat(ctx, s.b.daemon, s.b.cl, func() ([]rpc.Agent, error) {
		return s.b.cl.Agents(ctx, rpc.AgentsParams{Project: s.project})
	})
	if err != nil {
		s.b.log.Warn("agents are not offered", "error", err)
	}
	models, err := start.Repeat(ctx, s.b.daemon, s.b.cl, func() (rpc.Models, error) { return s.b.cl.Models(ctx, rpc.ModelsParams{}) })
	if err != nil {
		s.b.log.Warn("models are not offered", "error", err)
	}
	for _, problem := range models.Problems {
		s.b.log.Info("models", "problem", problem)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agents, s.models = agents, models.Models
}

// state is what may be chosen in a session, and what holds.
func (s *session) state() (*acp.SessionModeState, []acp.SessionConfigOption) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.modes(), s.options()
}

// options are what may be chosen in a session, with what holds. The caller holds s.mu.
func (s *session) options() []acp.SessionConfigOption {
	var modes, models, agents []acp.SessionConfigSelectOption
	for _, m := range s.modes().AvailableModes {
		modes = append(modes, acp.SessionConfigSelectOption{Value: acp.SessionConfigValueId(m.Id), Name: m.Name, Description: m.Description})
	}
	for _, m := range s.models {
		models = append(models, value(m.Alias, show.Model(m)))
	}
	for _, a := range s.agents {
		agents = append(agents, value(a.Name, a.Description))
	}
	options := []acp.SessionConfigOption{
		choice(optionMode, "Mode", "How much runs without a question.", string(s.shown.mode), modes, acp.SessionConfigOptionCategoryMode),
		choice(optionModel, "Model", "Who answers the next prompts.", s.shown.model, models, acp.SessionConfigOptionCategoryModel),
		choice(optionAgent, "Agent", "Which tools and rules the next prompts have.", s.shown.agent, agents, ""),
	}
	return slices.DeleteFunc(options, func(o acp.SessionConfigOption) bool { return o.Select.CurrentValue == "" })
}

// choice is an option. What holds is among its values in any case.
func choice(id, name, about, now string, values []acp.SessionConfigSelectOption, category acp.SessionConfigOptionCategory) acp.SessionConfigOption {
	if !slices.ContainsFunc(values, func(v acp.SessionConfigSelectOption) bool { return string(v.Value) == now }) {
		values = append(values, value(now, ""))
	}
	list := acp.SessionConfigSelectOptionsUngrouped(values)
	o := acp.NewSessionConfigOptionSelect(acp.SessionConfigValueId(now), acp.SessionConfigSelectOptions{Ungrouped: &list})
	o.Select.Id, o.Select.Name, o.Select.Description = acp.SessionConfigId(id), name, &about
	if category != "" {
		o.Select.Category = &category
	}
	return o
}

func value(id, about string) acp.SessionConfigSelectOption {
	v := acp.SessionConfigSelectOption{Value: acp.SessionConfigValueId(id), Name: show.Line(id)}
	if about = show.Line(show.OneLine(about)); about != "" {
		v.Description = &about
	}
	return v
}

// SetSessionMode implements acp.Agent.
func (b *bridge) SetSessionMode(_ context.Context, p acp.SetSessionModeRequest) (acp.SetSessionModeResponse, error) {
	s, err := b.session(p.SessionId)
	if err == nil {
		err = s.choose(optionMode, string(p.ModeId))
	}
	return acp.SetSessionModeResponse{}, fault(err)
}

// SetSessionConfigOption implements acp.Agent.
func (b *bridge) SetSessionConfigOption(_ context.Context, p acp.SetSessionConfigOptionRequest) (acp.SetSessionConfigOptionResponse, error) {
	if p.ValueId == nil {
		return acp.SetSessionConfigOptionResponse{}, refuse(sdk.Validation, "the options here have values to choose from: none is yes or no")
	}
	s, err := b.session(p.ValueId.SessionId)
	if err == nil {
		err = s.choose(string(p.ValueId.ConfigId), string(p.ValueId.Value))
	}
	if err != nil {
		return acp.SetSessionConfigOptionResponse{}, fault(err)
	}
	_, options := s.state()
	return acp.SetSessionConfigOptionResponse{ConfigOptions: options}, nil
}

// choose takes a choice for the next prompts, and tells the editor what holds now.
func (s *session) choose(option, value string) error {
	shown, err := s.chooses(option, value)
	if err == nil {
		s.shows(shown)
	}
	return err
}

// chooses takes a choice, and returns what holds with it.
func (s *session) chooses(option, value string) (chosen, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	shown := s.shown
	switch option {
	case optionMode:
		if !s.b.offers(sdk.Mode(value)) {
			return shown, refuse(sdk.Validation, "the mode %q cannot be chosen here; full needs `bothy acp --allow-dangerous`", value)
		}
		s.next.mode, shown.mode = sdk.Mode(value), sdk.Mode(value)
	case optionModel:
		s.next.model, shown.model = value, value
	case optionAgent:
		i := slices.IndexFunc(s.agents, func(a rpc.Agent) bool { return a.Name == value })
		if i < 0 {
			return shown, refuse(sdk.NotFound, "there is no agent %q", value)
		}
		s.next.agent, shown.agent = value, value
		shown.mode = cmp.Or(s.next.mode, s.agents[i].Mode)
		shown.model = cmp.Or(s.next.model, s.agents[i].Model, shown.model)
	default:
		return shown, refuse(sdk.NotFound, "there is no option %q; there are mode, model and agent", option)
	}
	return shown, nil
}

// shows tells the editor what holds, where that is another than what it shows.
func (s *session) shows(now chosen) {
	s.mu.Lock()
	before := s.shown
	s.shown = now
	options := s.options()
	s.mu.Unlock()
	if now == before {
		return
	}
	if now.mode != before.mode {
		s.update(acp.SessionUpdate{CurrentModeUpdate: &acp.SessionCurrentModeUpdate{CurrentModeId: acp.SessionModeId(now.mode)}})
	}
	s.update(acp.SessionUpdate{ConfigOptionUpdate: &acp.SessionConfigOptionUpdate{ConfigOptions: options}})
}
