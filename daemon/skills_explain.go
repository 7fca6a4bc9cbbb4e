package daemon

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Explain implements server.Skills.
func (f skillFace) Explain(_ context.Context, _ rpc.SkillExplainQuery) (rpc.SkillExplain, error) {
	return rpc.SkillExplain{}, sdk.Errorf(sdk.Unavailable, "skills are not there yet")
}
