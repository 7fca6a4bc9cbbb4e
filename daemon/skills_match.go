package daemon

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Match implements server.Skills.
func (f skillFace) Match(_ context.Context, _ rpc.SkillMatchQuery) (rpc.SkillMatches, error) {
	return rpc.SkillMatches{}, sdk.Errorf(sdk.Unavailable, "skills are not there yet")
}
