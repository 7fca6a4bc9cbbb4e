package server

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// limit holds a call of a channel to its projects and to the runs that it began: it refuses what is of
// another, as if that were not there, and writes into the parameters what exactly it has looked at, so that
// the handler looks at nothing else.
type limit func(ctx context.Context, s *Server, l *channelGrant, p params) error

// channelMethods is every method that a channel may call. One that is not in
// here it may not, also one that is not written yet.
var channelMethods = map[string]limit{
	// These know of no project.
	rpc.MethodHello: anywhere, rpc.MethodPing: anywhere, rpc.MethodDiscover: anywhere,
	rpc.MethodModels: anywhere, rpc.MethodTools: anywhere, rpc.MethodUnwatch: anywhere,
	rpc.MethodPeople: anywhere, rpc.MethodClaim: anywhere, // of the channel itself

	// These work in a project, or list what is in one.
	rpc.MethodInit: inProject, rpc.MethodAsk: inProject, rpc.MethodAct: inProject, rpc.MethodStartRun: inProject, rpc.MethodCallTool: inProject,
	rpc.MethodAgents: inProject, rpc.MethodRuns: inProject, rpc.MethodUsage: inProject, rpc.MethodProposals: ofRunOrProject,
	rpc.MethodSkills: inProject, rpc.MethodSkill: inProject, rpc.MethodSkillExplain: inProject, rpc.MethodSkillMatch: inProject,

	// These are about one run.
	rpc.MethodAbort: ofRun, rpc.MethodRelease: ofRun, rpc.MethodTakeBack: ofRun, rpc.MethodPrompts: ofRun, rpc.MethodPromptFiles: ofRun, rpc.MethodCassette: ofRun, rpc.MethodCancelCall: ofRun, rpc.MethodResume: ofRun, rpc.MethodCompact: ofRun, rpc.MethodFork: ofRun, rpc.MethodChanges: ofRun, rpc.MethodPacket: ofRun, rpc.MethodUndo: ofRun, rpc.MethodRedo: ofRun,
	rpc.MethodReset: ofRun, rpc.MethodLeave: ofRun, rpc.MethodDelete: ofRun, rpc.MethodRename: ofRun, rpc.MethodRunConfig: ofRun,
	rpc.MethodRun: ofRun, rpc.MethodEntries: ofEntries,
	rpc.MethodSet: ofEntry, rpc.MethodGet: ofEntry, rpc.MethodRemove: ofEntry, rpc.MethodCopy: ofEntry, rpc.MethodMove: ofEntry, rpc.MethodProgress: ofRun,
	rpc.MethodInject: ofRun, rpc.MethodWorkspaceWrite: ofRun, rpc.MethodWorkspaceRead: ofRun,

	rpc.MethodStreamCancel: ofRun, // and none of the others: a channel never runs what it accepts

	rpc.MethodProposal: ofProposal, rpc.MethodTicket: ofProposal,
	rpc.MethodAnswer:  anywhere, // what its ticket was given out for is the channel's own
	rpc.MethodJournal: ofJournal, rpc.MethodWatch: ofJournal,
}

// params are the parameters of a call.
type params struct {
	fields []field
	reflect.Value
}

// paramsOf are those in a struct, to which p points.
func paramsOf(p any) params {
	v := reflect.ValueOf(p).Elem()
	return params{fieldsOf(v.Type()), v}
}

// text is the parameter of a class, nil when the method has none such.
func (p params) text(access string) *string {
	for _, f := range p.fields {
		if f.access == access {
			return p.FieldByIndex(f.index).Addr().Interface().(*string)
		}
	}
	return nil
}

func anywhere(context.Context, *Server, *channelGrant, params) error { return nil }

// inProject wants a project of the channel's to be named. A run that is named in it is the channel's own, there or not.
func inProject(ctx context.Context, s *Server, l *channelGrant, p params) error {
	project := p.text(rpc.AccessProject)
	if *project == "" {
		return wrongParams("a channel names the project; its own are %s", strings.Join(l.roots, ", "))
	}
	root, own := l.root(*project)
	if !own {
		return outside("%s is no project of this channel, which has %s: the projects in the plugin's block say so", *project, strings.Join(l.roots, ", "))
	}
	*project = root
	if alias := p.text(rpc.AccessAlias); alias != nil {
		*alias = l.name(ctx, s, root, *alias)
	}
	return nil
}

// ofRun wants a run that the channel began, by its alias with the project
// or by its id.
func ofRun(ctx context.Context, s *Server, l *channelGrant, p params) error {
	run, project := p.text(rpc.AccessRun), p.text(rpc.AccessProject)
	if *project != "" {
		if err := inProject(ctx, s, l, p); err != nil {
			return err
		}
	}
	found, err := s.find(ctx, *run, *project)
	if *project != "" && (err != nil || found.Channel != l.instance) {
		if named, missing := s.find(ctx, l.alias(*run), *project); missing == nil {
			found, err = named, nil
		}
	}
	there, own := err == nil, false
	if there {
		own, err = l.owns(ctx, s.cfg.Store, found)
	}
	switch {
	case err != nil && sdk.OutcomeOf(err) != sdk.NotFound:
		return err
	case !own:
		return foreign(there, "there is no run %q that this channel began", *run)
	}
	*run, *project = fmt.Sprint(found.ID), "" // an id is never given to another run
	if alias := p.text(rpc.AccessAlias); alias != nil {
		*alias = l.alias(*alias)
	}
	return nil
}

// ofRunOrProject is ofRun where a run is named, else inProject.
func ofRunOrProject(ctx context.Context, s *Server, l *channelGrant, p params) error {
	if *p.text(rpc.AccessRun) == "" {
		return inProject(ctx, s, l, p)
	}
	return ofRun(ctx, s, l, p)
}

// ofEntry wants a run as ofRun does, or a project where no run is named, as for run://ALIAS: of that the method
// that it comes to is held again, and only runs of channels are read. Neither is named for what it keeps for itself.
func ofEntry(ctx context.Context, s *Server, l *channelGrant, p params) error {
	switch {
	case *p.text(rpc.AccessRun) != "":
		return ofRun(ctx, s, l, p)
	case l.keeps(p):
		return ofKeeper(ctx, s, l, p)
	}
	return inProject(ctx, s, l, p)
}

// ofEntries is ofRun, but for what the channel keeps for itself.
func ofEntries(ctx context.Context, s *Server, l *channelGrant, p params) error {
	if *p.text(rpc.AccessRun) == "" && l.keeps(p) {
		return ofKeeper(ctx, s, l, p)
	}
	return ofRun(ctx, s, l, p)
}

// ofKeeper names the run in which the channel keeps entries of its own.
func ofKeeper(ctx context.Context, s *Server, l *channelGrant, p params) error {
	run, err := s.cfg.Engine.Keeper(ctx, sdk.Origin{Owner: l.instance, Channel: l.instance})
	*p.text(rpc.AccessRun), *p.text(rpc.AccessProject) = fmt.Sprint(run.ID), ""
	return err
}

// ofProposal wants a proposal of a run that the channel began.
func ofProposal(ctx context.Context, s *Server, l *channelGrant, p params) error {
	id := p.text(rpc.AccessProposal)
	found, err := s.findProposal(ctx, *id, func(x sdk.Proposal) (bool, error) { return l.began(ctx, s.cfg.Store, x.Run) })
	if sdk.OutcomeOf(err) == sdk.NotFound {
		_, missing := s.findProposal(ctx, *id, nil)
		return foreign(missing == nil, "there is no proposal %s of a run that this channel began", *id)
	}
	*id = found.ID
	return err
}

// ofJournal takes a run, a project, or neither: rows of others are left out of
// what a channel is sent (see conn.sees).
func ofJournal(ctx context.Context, s *Server, l *channelGrant, p params) error {
	switch {
	case *p.text(rpc.AccessRun) != "":
		return ofRun(ctx, s, l, p)
	case *p.text(rpc.AccessProject) != "":
		return inProject(ctx, s, l, p)
	}
	return nil
}

// foreignError is a refusal that the audit is told of.
type foreignError struct{ said *rpc.Error }

func outside(format string, args ...any) error {
	return foreignError{rpc.Errorf(rpc.CodeRole, sdk.Permission, fmt.Sprintf(format, args...))}
}

// foreign is the answer for what the channel may not know of, the same whether it is there or not. Of what is there the
// audit is told.
func foreign(there bool, format string, args ...any) error {
	said := sdk.Errorf(sdk.NotFound, format, args...)
	if there {
		return foreignError{rpc.ErrorOf(said)}
	}
	return said
}

func (e foreignError) Error() string { return e.said.Message }

// open refuses what a connection for which there is no room may not call, nor a
// plugin's, at all.
func (c *conn) open(name string, role rpc.Role) error {
	if name == rpc.MethodHello {
		return nil
	}
	if err := c.belongs(); err != nil || c.grant == nil {
		return err
	}
	if !c.proven() {
		event := EventRefusedPeer
		if role.NeedsToken() {
			event = refusedFor(role)
		}
		c.s.alarm.raise(event, "pid %d, which descends from the plugin %s, asked for %s without the token of its channel", c.peer.PID, c.grant.instance, name)
		return rpc.Errorf(rpc.CodeRole, sdk.Permission, "say hello first, with the token that Serve was given: nothing else is open to a plugin")
	}
	if _, may := channelMethods[name]; may || role.NeedsToken() {
		return nil // the latter is refused for its role
	}
	c.s.alarm.raise(EventRefusedChannel, "the channel %s (pid %d) asked for %s, which is not for channels", c.grant.instance, c.peer.PID, name)
	return rpc.Errorf(rpc.CodeRole, sdk.Permission, fmt.Sprintf("%s is not for channels: it is not limited to their projects", name))
}

// confine holds a call to the projects of the channel whose connection it is.
func (c *conn) confine(ctx context.Context, name string, p params) error {
	if c.grant == nil || name == rpc.MethodHello {
		return nil
	}
	hold, may := channelMethods[name]
	if !may || c.grant.ctx.Err() != nil {
		return rpc.Errorf(rpc.CodeRole, sdk.Permission, fmt.Sprintf("%s is not open to this channel", name))
	}
	err := hold(ctx, c.s, c.grant, p)
	var refused foreignError
	if errors.As(err, &refused) {
		c.s.alarm.raise(EventRefusedChannel, "the channel %s (pid %d) asked for %s outside of its projects and runs", c.grant.instance, c.peer.PID, name)
		return refused.said
	}
	return err
}

// sees reports whether what is of a run may be sent to this connection; of no run, 0, a channel is sent nothing.
func (c *conn) sees(ctx context.Context, run int64) (bool, error) {
	if c.grant == nil {
		return true, nil
	}
	return c.grant.began(ctx, c.s.cfg.Store, run)
}

// channel is the one whose connection it is, "" of people.
func (c *conn) channel() string {
	if c.grant == nil {
		return ""
	}
	return c.grant.instance
}

// proven reports whether a plugin's connection has shown its channel's token.
func (c *conn) proven() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shown
}

// prove takes the token of a channel.
func (c *conn) prove(p rpc.HelloParams) error {
	_, people := c.s.tokens.role(p.Token)
	switch {
	case p.Role.NeedsToken() || people:
		c.s.alarm.raise(EventRefusedApproval, "pid %d, which descends from the plugin %s, said hello with the role %q", c.peer.PID, c.grant.instance, p.Role)
		return rpc.Errorf(rpc.CodeRole, sdk.Permission, "a plugin never has the roles approve and admin: a channel has submit, with the token that Serve was given")
	case !c.grant.good(p.Token):
		return c.wrongToken("the token is not that of this plugin's channel, which is good only until Serve returns: say hello with the one that Serve was given")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown, c.role = true, rpc.RoleSubmit
	if p.Role != "" {
		c.role = p.Role
	}
	return nil
}
