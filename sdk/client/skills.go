package client

import (
	"context"

	"github.com/bothyd/bothy/sdk/rpc"
)

// Skills lists the skills of a project, whatever their status.
func (c *Client) Skills(ctx context.Context, p rpc.SkillQuery) (rpc.Skills, error) {
	return ask[rpc.Skills](ctx, c, rpc.MethodSkills, p)
}

// Skill asks for one skill with its body and files.
func (c *Client) Skill(ctx context.Context, p rpc.SkillQuery) (rpc.SkillInfo, error) {
	return ask[rpc.SkillInfo](ctx, c, rpc.MethodSkill, p)
}

// ExplainSkill asks why a skill is in the prompt of an agent, or is not.
func (c *Client) ExplainSkill(ctx context.Context, p rpc.SkillExplainQuery) (rpc.SkillExplain, error) {
	return ask[rpc.SkillExplain](ctx, c, rpc.MethodSkillExplain, p)
}

// MatchSkills asks which skills fit a text, best first.
func (c *Client) MatchSkills(ctx context.Context, p rpc.SkillMatchQuery) (rpc.SkillMatches, error) {
	return ask[rpc.SkillMatches](ctx, c, rpc.MethodSkillMatch, p)
}

// EnableSkill edits the skill's block in the user's configuration. The answer
// means that it is in force.
func (c *Client) EnableSkill(ctx context.Context, p rpc.SkillSwitch) (rpc.SkillSwitched, error) {
	return ask[rpc.SkillSwitched](ctx, c, rpc.MethodSkillEnable, p)
}

// CreateSkill makes a skill in the user's folder.
func (c *Client) CreateSkill(ctx context.Context, p rpc.SkillCreate) (rpc.SkillCreated, error) {
	return ask[rpc.SkillCreated](ctx, c, rpc.MethodSkillCreate, p)
}

// Trust asks what the skills of a workspace are, and with Accept says yes to
// what was shown.
func (c *Client) Trust(ctx context.Context, p rpc.TrustQuery) (rpc.Trust, error) {
	return ask[rpc.Trust](ctx, c, rpc.MethodTrust, p)
}
