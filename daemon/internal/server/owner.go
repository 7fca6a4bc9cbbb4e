package server

import (
	"context"
	"slices"
	"strconv"
	"strings"

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
	if err == nil && len(newest) == 0 {
		newest, err = c.s.keeperOf(ctx, *owner)
	}
	if err != nil {
		return err
	}
	*run, *project, *owner = strconv.FormatInt(newest[0].ID, 10), "", ""
	return nil
}

// keeperOf is the run by which entries of an owner without runs are reached, where there are any. Whoever works at this machine may
// have none yet.
func (s *Server) keeperOf(ctx context.Context, owner string) ([]sdk.Run, error) {
	if owner == sdk.LocalOwner {
		run, err := s.cfg.Engine.Keeper(ctx, sdk.Origin{Owner: owner})
		return []sdk.Run{run}, err
	}
	has, err := s.cfg.Store.Owns(ctx, owner)
	if err == nil && !has {
		err = sdk.Errorf(sdk.NotFound, "there is no run of %s, and nothing is kept of them", owner)
	}
	if err != nil {
		return nil, err
	}
	channel, _, _ := strings.Cut(owner, "/")
	run, err := s.cfg.Engine.Keeper(ctx, sdk.Origin{Owner: owner, Channel: channel})
	return []sdk.Run{run}, err
}

// ownerScheme reports whether entries of the scheme of a path, or of a pattern that names one, belong to owners, or tell what
// does: what a model was sent has what is remembered of the owner in it.
func (s *Server) ownerScheme(path string) bool {
	scheme, known := s.cfg.Store.Scheme(strings.ToLower(sdk.SchemeOf(path)))
	return known && scheme.Scope == "owner" || toldOwner(path)
}

// toldOwner reports whether an entry is what a model was sent.
func toldOwner(path string) bool {
	name := strings.ToLower(sdk.SchemeOf(path))
	return name == "system" || name == "user"
}

// seesOwners reports whether what belongs to the owner of a run may be sent to this connection: to whoever works at this machine
// what is theirs, of others with the role admin, and nothing to a channel, whose people's memory is no business of it.
func (c *conn) seesOwners(run sdk.Run) bool {
	return c.grant == nil && (run.Owner == "" || run.Owner == sdk.LocalOwner || c.allowed().Allows(rpc.RoleAdmin))
}

// reachesOwners refuses paths, or patterns that name their scheme, of what belongs to the owner of a run where this connection may
// not see that.
func (c *conn) reachesOwners(method string, run sdk.Run, paths ...string) error {
	switch {
	case c.seesOwners(run) || !slices.ContainsFunc(paths, c.s.ownerScheme):
		return nil
	case c.grant == nil:
		return c.permit(rpc.RoleAdmin, method+" for another owner")
	}
	c.s.alarm.raise(EventRefusedChannel, "the channel %s (pid %d) asked with %s for what belongs to an owner", c.grant.instance, c.peer.PID, method)
	return rpc.Errorf(rpc.CodeRole, sdk.Permission, "what is remembered of somebody is out of a channel's reach; their runs are told of it")
}

// seesRow reports whether a row of the journal may be sent to this connection.
func (c *conn) seesRow(ctx context.Context, row sdk.JournalRow) (bool, error) {
	sees, err := c.sees(ctx, row.Run)
	if err != nil || !sees || row.Path == "" || !c.s.ownerScheme(row.Path) {
		return sees, err
	}
	run, err := c.s.cfg.Store.Run(ctx, row.Run)
	if sdk.OutcomeOf(err) == sdk.NotFound { // it is deleted, and nobody knows whose it was; what it was sent went with it
		return toldOwner(row.Path) && row.Body == nil, nil
	}
	return err == nil && c.seesOwners(run), err
}
