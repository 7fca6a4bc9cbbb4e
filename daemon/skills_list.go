package daemon

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Skills implements server.Skills.
func (f skillFace) Skills(_ context.Context, _ rpc.SkillQuery) (rpc.Skills, error) {
	return rpc.Skills{}, sdk.Errorf(sdk.Unavailable, "skills are not there yet")
}
