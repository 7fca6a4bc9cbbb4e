package host

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/bothyd/bothy/daemon/internal/callback"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/plugin"
)

// Execute executes a code skill by the plugin of an instance, which is started now if its
// block waits for its first use. The error is one of Invoke's, or unavailable when the plugin
// is not there, permission when nothing vouches for it, not_found when it has no such skill.
// A skill does more than one thing, so it is never executed a second time.
func (s *Supervisor) Execute(ctx context.Context, instance string, call sdk.SkillCall, out sdk.Stream) (sdk.ToolResult, error) {
	if err := s.Ensure(ctx, instance); sdk.OutcomeOf(err) == sdk.Validation {
		return sdk.ToolResult{}, sdk.Errorf(sdk.Unavailable, "the skill %s is executed by the plugin %s, which is switched off: take enabled = false out of its block in the configuration", call.Skill, instance)
	}
	i, err := s.instance(instance)
	if err != nil {
		return sdk.ToolResult{}, sdk.Errorf(sdk.Unavailable, "the skill %s is executed by the plugin %q, which is not configured; write into the configuration: plugin %q {}", call.Skill, instance, instance)
	}
	if ctx, err = callback.Below(ctx, "the skill "+call.Skill); err != nil {
		return sdk.ToolResult{}, err
	}
	if call.CallID == "" {
		call.CallID = uuid.NewString()
	}
	if !call.Deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, call.Deadline)
		defer cancel()
	}
	l, end, err := i.called(ctx, call.Run, call.RunDir)
	if err != nil {
		return sdk.ToolResult{}, err
	}
	defer end()
	if err := i.executes(l, call.Skill); err != nil {
		return sdk.ToolResult{}, err
	}
	r, err := s.serve(ctx, nil, l, i, sdk.Caller{
		Call: call.CallID, Run: call.Run, Project: call.Project, RunDir: call.RunDir, Model: call.Model,
	}, l.skill, out, func(rpc context.Context, deadline time.Time, out sdk.Stream) (sdk.ToolResult, error) {
		call.Deadline, call.Project = deadline, l.told(call.Project)
		return l.skill.Execute(host.Outgoing(rpc), call, out)
	})
	return i.believe(r, "skill "+call.Skill, i.current().Grants), err
}

// executes reports why the plugin cannot execute a skill, or must not. As with
// a tool, what no digest vouches for is not run for a model.
func (i *instance) executes(l *link, name string) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	m := l.manifest.Load()
	switch {
	case !slices.Contains(m.Kinds, plugin.KindSkill):
		return sdk.Errorf(sdk.NotFound, "the plugin %s executes no skills: name another one as plugin in the SKILL.md of %s", i.name, name)
	case !slices.Contains(m.Skills, name):
		return sdk.Errorf(sdk.NotFound, "the plugin %s has no skill %q; it has: %s", i.name, name, callback.List(m.Skills))
	case i.pin == "" && !l.attached: // who attached it vouches for it
		return sdk.Errorf(sdk.Permission, "the plugin %s is not pinned, so nothing vouches for what its skill %s does; if it is what you want, call `bothy plugins lock %s`, or write into its block: sha256 = %q", i.name, name, i.name, l.binary.Digest)
	}
	return nil
}
