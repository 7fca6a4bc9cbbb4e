package daemon

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Trust implements server.Skills.
func (f skillFace) Trust(_ context.Context, _ rpc.TrustQuery) (rpc.Trust, error) {
	return rpc.Trust{}, sdk.Errorf(sdk.Unavailable, "skills are not there yet")
}
