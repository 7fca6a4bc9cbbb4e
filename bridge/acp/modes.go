package main

import (
	"slices"

	"github.com/coder/acp-go-sdk"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// modeTexts are the modes with their names and what they mean, for people.
var modeTexts = []struct {
	mode        sdk.Mode
	name, about string
}{
	{sdk.ModeInteractive, "Interactive", "Asks before whatever does more than read."},
	{sdk.ModeRestricted, "Restricted", "Changes files of the project unasked; asks before commands that are not proven harmless."},
	{sdk.ModeWorkspace, "Workspace", "Commands work on a copy of the project unasked; what they changed is judged."},
	{sdk.ModeFull, "Full", "Runs whatever is not denied and asks about nothing."},
}

// offers reports whether a mode may be chosen here: full has to be meant when the bridge is
// started, as everywhere.
func (b *bridge) offers(m sdk.Mode) bool { return m.Valid() && (m != sdk.ModeFull || b.o.dangerous) }

// modes are those that may be chosen, and the one that holds. The caller holds s.mu.
func (s *session) modes() *acp.SessionModeState {
	state := &acp.SessionModeState{CurrentModeId: acp.SessionModeId(s.shown.mode)}
	for _, m := range modeTexts {
		if s.b.offers(m.mode) || m.mode == s.shown.mode {
			state.AvailableModes = append(state.AvailableModes, acp.SessionMode{Id: acp.SessionModeId(m.mode), Name: m.name, Description: &m.about})
		}
	}
	return state
}

// modeOf is the mode that an agent has by itself, as far as the daemon told. The session is not open yet.
func (s *session) modeOf(agent string) sdk.Mode {
	if i := slices.IndexFunc(s.agents, func(a rpc.Agent) bool { return a.Name == agent }); i >= 0 {
		return s.agents[i].Mode
	}
	return ""
}
