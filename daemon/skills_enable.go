package daemon

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Enable implements server.Skills.
func (f skillFace) Enable(_ context.Context, _ rpc.SkillSwitch) (rpc.SkillSwitched, error) {
	return rpc.SkillSwitched{}, sdk.Errorf(sdk.Unavailable, "skills are not there yet")
}
