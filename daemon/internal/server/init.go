package server

import (
	"context"
	"slices"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// home is what init made of a connection; without a project nothing.
type home struct {
	project sdk.Project
	watch   int64
}

// initProject makes a project that of the connection. What its runs get from then on is told by a watch like
// any other.
func (s *Server) initProject(ctx context.Context, c *conn, p rpc.Init) (rpc.Initialized, error) {
	if err := s.workable(rpc.MethodInit, p.ProjectRoot); err != nil {
		return rpc.Initialized{}, err
	}
	if p.States == "" {
		p.States = rpc.StatesWhole
	}
	if err := checkStates(p.States); err != nil {
		return rpc.Initialized{}, err
	}
	project, err := s.cfg.Engine.Init(ctx, p.ProjectRoot)
	if err != nil {
		return rpc.Initialized{}, err
	}
	c.leave()
	// Whoever is told what waits and may answer it is there to be asked.
	watching, err := s.watch(ctx, c, rpc.WatchParams{Project: project.Root, States: p.States, Attend: true}, true)
	if err != nil {
		return rpc.Initialized{}, err
	}
	c.move(home{project, watching.Watch})
	return rpc.Initialized{ProjectID: project.ID, Name: project.Name, ProjectRoot: project.Root, Watch: watching.Watch, Seq: watching.Seq}, nil
}

// move has the connection be in another place, and returns where it was.
func (c *conn) move(to home) (from home) {
	c.mu.Lock()
	defer c.mu.Unlock()
	from, c.home = c.home, to
	return from
}

// leave has the connection be in no project, and told of none. An init that fails does it, too: what is sent behind that
// was meant for another project than the one before.
func (c *conn) leave() {
	if w, ok := c.dropWatch(c.move(home{}).watch); ok {
		w.cancel()
	}
}

// project is that of the connection; its zero value is none.
func (c *conn) project() sdk.Project {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.home.project
}

// fill names the project in a call that leaves it out.
func (p params) fill(root string) {
	if root == "" {
		return
	}
	for _, f := range p.fields {
		if v := p.FieldByIndex(f.index); f.name == paramProject && v.String() == "" {
			v.SetString(root)
		}
	}
}

// paramProject is how all methods but init name the project.
const paramProject = "project"

// settled is where a connection is after one init: what is sent behind that is about this project, whatever is
// sent later. Its project is read once done is closed.
type settled struct {
	done    chan struct{}
	project sdk.Project
}

// settle says of the calls of a message which init is the last before it, nil for none. A message that has one itself is
// about whatever is so when its turn comes; answered is called when it was.
func (c *conn) settle(calls []call) (before *settled, answered func()) {
	before, answered = c.begun, func() {}
	if inits(calls) {
		now := &settled{done: make(chan struct{})}
		c.begun, answered = now, func() {
			now.project = c.project()
			close(now.done)
		}
		return before, answered
	}
	for i := range calls {
		calls[i].placed = true
	}
	return before, answered
}

// inits reports whether a message has an init.
func inits(calls []call) bool {
	return slices.ContainsFunc(calls, func(x call) bool { return x.Method == rpc.MethodInit })
}

// ready waits for the init before the calls of a message, and asks about the message who is to be asked.
func (c *conn) ready(frame []byte, calls []call, before *settled) {
	ctx, project := c.ctx, c.wait(before)
	if calls[0].placed {
		ctx = context.WithValue(ctx, placeKey{}, project)
	}
	refused := c.s.hooks.message(ctx, c, frame, calls)
	for i := range calls {
		calls[i].ctx, calls[i].refused = ctx, refused
	}
}

// wait returns the project that an init left, when it has; at once where there was none.
func (c *conn) wait(before *settled) sdk.Project {
	if before == nil {
		return sdk.Project{}
	}
	select {
	case <-before.done:
		return before.project
	case <-c.ctx.Done():
		return sdk.Project{}
	}
}

// placeKey is where the context of a request has its project.
type placeKey struct{}

// at is the project that a request is about when it names none.
func (c *conn) at(ctx context.Context) sdk.Project {
	if p, placed := ctx.Value(placeKey{}).(sdk.Project); placed {
		return p
	}
	return c.project()
}
