package daemon

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Skill implements server.Skills.
func (f skillFace) Skill(_ context.Context, _ rpc.SkillQuery) (rpc.SkillInfo, error) {
	return rpc.SkillInfo{}, sdk.Errorf(sdk.Unavailable, "skills are not there yet")
}
