package server

import (
	"context"
	"strconv"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// ofOwner puts into the parameters of a call that names an owner in the place of a run the newest run of that owner: by it
// entries of the scope owner are read and written as from within. What is another's than of whoever works at this machine needs the role
// admin, and a channel, which has runs of its own, names no owner.
func (c *conn) ofOwner(ctx context.Context, method string, p params) error {
	owner := p.text(rpc.AccessOwner)
	if owner == nil || *owner == "" {
		return nil
	}
	run, project := p.text(rpc.AccessRun), p.text(rpc.AccessProject)
	switch {
	case c.grant != nil:
		return outside("a channel names a run of its own, and no owner")
	case *run != "":
		return wrongParams("%s takes a run or an owner, not both", method)
	}
	if *owner != sdk.LocalOwner {
		if err := c.permit(rpc.RoleAdmin, method+" for another owner"); err != nil {
			return err
		}
	}
	newest, err := c.s.cfg.Store.Runs(ctx, sdk.RunFilter{Owner: *owner, Hidden: true, Children: true, Limit: 1})
	switch {
	case err != nil:
		return err
	case len(newest) == 0:
		return sdk.Errorf(sdk.NotFound, "there is no run of %s, so that nothing can be known of them", *owner)
	}
	*run, *project, *owner = strconv.FormatInt(newest[0].ID, 10), "", ""
	return nil
}
