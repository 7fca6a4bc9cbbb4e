package daemon

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Create implements server.Skills.
func (f skillFace) Create(_ context.Context, _ rpc.SkillCreate) (rpc.SkillCreated, error) {
	return rpc.SkillCreated{}, sdk.Errorf(sdk.Unavailable, "skills are not there yet")
}
