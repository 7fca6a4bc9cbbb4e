package main

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/coder/acp-go-sdk"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
)

// NewSession implements acp.Agent: it makes a run.
func (b *bridge) NewSession(ctx context.Context, p acp.NewSessionRequest) (acp.NewSessionResponse, error) {
	project, err := projectOf(p.Cwd)
	if err != nil {
		return acp.NewSessionResponse{}, err
	}
	started, err := start.Again(b.ctx, b.daemon, b.cl, func() (rpc.Started, error) { // who gives up asking leaves no run
		b.daemon.Give(b.ctx, b.cl)
		return b.cl.StartRun(b.ctx, rpc.StartRun{Project: project, Agent: b.o.agent, Model: b.o.model})
	})
	if err != nil {
		return acp.NewSessionResponse{}, fault(err)
	}
	run, err := b.find(ctx, project, func(r rpc.RunSummary) bool { return r.ID == started.ID })
	if err != nil {
		b.unmake(started.ID)
		return acp.NewSessionResponse{}, fault(err)
	}
	s := b.newSession(acp.SessionId(run.Key), run.ProjectRoot, run.ID, run.Alias)
	s.made = true
	s.readChoices(ctx)
	s.next = chosen{agent: b.o.agent, model: b.o.model, mode: sdk.Mode(b.o.mode)}
	s.shown = chosen{agent: b.o.agent, model: started.Model, mode: cmp.Or(s.next.mode, s.modeOf(b.o.agent))}
	if ctx.Err() != nil {
		s.end()
		b.unmake(s.run)
		return acp.NewSessionResponse{}, ctx.Err()
	}
	s.lend(ctx, p.McpServers, p.Cwd)
	b.take(s)
	b.out.after(s.id, s.follow)
	modes, options := s.state()
	return acp.NewSessionResponse{SessionId: s.id, Modes: modes, ConfigOptions: options}, nil
}

// LoadSession implements acp.AgentLoader: it tells all of the run, and then what comes.
func (b *bridge) LoadSession(ctx context.Context, p acp.LoadSessionRequest) (acp.LoadSessionResponse, error) {
	s, err := b.enter(ctx, p.SessionId, p.Cwd, p.McpServers, false)
	if err != nil {
		return acp.LoadSessionResponse{}, fault(err)
	}
	modes, options := s.state()
	return acp.LoadSessionResponse{Modes: modes, ConfigOptions: options}, nil
}

// ResumeSession implements acp.Agent: it is LoadSession for an editor that has the past.
func (b *bridge) ResumeSession(ctx context.Context, p acp.ResumeSessionRequest) (acp.ResumeSessionResponse, error) {
	s, err := b.enter(ctx, p.SessionId, p.Cwd, p.McpServers, true)
	if err != nil {
		return acp.ResumeSessionResponse{}, fault(err)
	}
	modes, options := s.state()
	return acp.ResumeSessionResponse{Modes: modes, ConfigOptions: options}, nil
}

// enter opens the session of a run that is there.
func (b *bridge) enter(ctx context.Context, id acp.SessionId, cwd string, servers []acp.McpServer, muted bool) (*session, error) {
	project, err := projectOf(cwd)
	if err != nil {
		return nil, err
	}
	run, err := b.find(ctx, project, func(r rpc.RunSummary) bool { return r.Key == string(id) })
	if err != nil {
		return nil, err
	}
	s := b.newSession(id, run.ProjectRoot, run.ID, run.Alias)
	s.readChoices(ctx)
	agent := run.Agent
	if !slices.ContainsFunc(s.agents, func(a rpc.Agent) bool { return a.Name == agent }) {
		agent = b.o.agent // the configuration has it no more
	}
	s.next = chosen{agent: agent}
	if last := b.lastMode(ctx, run.ID); last != s.modeOf(agent) && b.offers(last) {
		s.next.mode = last
	}
	s.shown = chosen{agent: agent, model: run.Model, mode: cmp.Or(s.next.mode, s.modeOf(agent))}
	if err := s.replay(ctx, muted); err != nil {
		s.end()
		return nil, err
	}
	s.lend(ctx, servers, cwd)
	b.take(s)
	s.follow()
	return s, nil
}

// lastMode is that of a run's last prompt; empty where there is none.
func (b *bridge) lastMode(ctx context.Context, run int64) sdk.Mode {
	last, err := b.cl.Prompts(ctx, rpc.PromptsParams{Run: strconv.FormatInt(run, 10), Limit: 1})
	if err != nil || len(last.Prompts) == 0 {
		return ""
	}
	return last.Prompts[0].Mode
}

// pageOfRuns is how many runs are asked for at a time.
const pageOfRuns = 50

// find looks for a run of a project, the newest first.
func (b *bridge) find(ctx context.Context, project string, is func(rpc.RunSummary) bool) (rpc.RunSummary, error) {
	for at := 0; ; at += pageOfRuns {
		runs, err := b.runs(ctx, rpc.RunsParams{Project: project, Limit: pageOfRuns, Offset: at})
		if err != nil {
			return rpc.RunSummary{}, err
		}
		if i := slices.IndexFunc(runs, is); i >= 0 {
			return runs[i], nil
		}
		if len(runs) < pageOfRuns {
			return rpc.RunSummary{}, refuse(sdk.NotFound, "there is no such session in %s: its run was deleted, or it is one of another project", project)
		}
	}
}

func (b *bridge) runs(ctx context.Context, p rpc.RunsParams) ([]rpc.RunSummary, error) {
	return start.Repeat(ctx, b.daemon, b.cl, func() ([]rpc.RunSummary, error) { return b.cl.Runs(ctx, p) })
}

// ListSessions implements acp.Agent: the runs that were given a prompt, the last one first.
func (b *bridge) ListSessions(ctx context.Context, p acp.ListSessionsRequest) (acp.ListSessionsResponse, error) {
	query := rpc.RunsParams{Last: true, Limit: pageOfRuns}
	if p.Cwd != nil {
		project, err := projectOf(*p.Cwd)
		if err != nil {
			return acp.ListSessionsResponse{}, err
		}
		query.Project = project
	}
	if p.Cursor != nil {
		at, err := strconv.Atoi(*p.Cursor)
		if err != nil || at < 0 {
			return acp.ListSessionsResponse{}, refuse(sdk.Validation, "the cursor %q is none that was given", *p.Cursor)
		}
		query.Offset = at
	}
	runs, err := b.runs(ctx, query)
	if err != nil {
		return acp.ListSessionsResponse{}, fault(err)
	}
	list := acp.ListSessionsResponse{Sessions: []acp.SessionInfo{}}
	for _, r := range runs {
		title, at := show.Line(r.Alias+": "+r.Summary), r.LastActivity.UTC().Format(time.RFC3339)
		list.Sessions = append(list.Sessions, acp.SessionInfo{SessionId: acp.SessionId(r.Key), Cwd: r.ProjectRoot, Title: &title, UpdatedAt: &at})
	}
	if len(runs) == pageOfRuns {
		next := strconv.Itoa(query.Offset + pageOfRuns)
		list.NextCursor = &next
	}
	return list, nil
}

// CloseSession implements acp.Agent: what the editor gave ends, and a run that was given nothing
// goes.
func (b *bridge) CloseSession(ctx context.Context, p acp.CloseSessionRequest) (acp.CloseSessionResponse, error) {
	s, err := b.session(p.SessionId)
	if err != nil {
		return acp.CloseSessionResponse{}, err
	}
	b.mu.Lock()
	delete(b.sessions, s.id)
	b.mu.Unlock()
	s.end() // prompts that are waited for are ended by those who wait
	s.drop(ctx)
	return acp.CloseSessionResponse{}, nil
}

// leaveTime is how long what is left to do may take when the editor is gone.
const leaveTime = 5 * time.Second

// leave ends all sessions. What is worked on goes on.
func (b *bridge) leave() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.ctx), leaveTime)
	defer cancel()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.sessions {
		s.end()
		s.drop(ctx)
	}
}

// drop deletes a run that this bridge made and nobody gave a prompt. Of any other it says that nobody goes on with it.
func (s *session) drop(ctx context.Context) {
	ref := rpc.RunRef{Run: strconv.FormatInt(s.run, 10)}
	if s.made && !s.busy() {
		switch d, err := s.b.cl.Run(ctx, ref); {
		case err != nil:
			return // it is kept where that is not known
		case len(d.Loops)+len(d.Turns)+len(d.Forks) == 0:
			s.b.remove(ctx, ref)
			return
		}
	}
	_, _ = s.b.cl.Leave(ctx, ref) // in vain, it rests in time
}

// unmake deletes the run of a session that has not come about.
func (b *bridge) unmake(run int64) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.ctx), leaveTime)
	defer cancel()
	b.remove(ctx, rpc.RunRef{Run: strconv.FormatInt(run, 10)})
}

func (b *bridge) remove(ctx context.Context, run rpc.RunRef) {
	if _, err := b.cl.Delete(ctx, run); err != nil {
		b.log.Info("an empty run is kept", "run", run.Run, "error", err)
	}
}

// projectOf is the project of a session: the editor's folder, which is named and not looked for.
// The root of the file system and a home directory are none, for agents write into their project.
func projectOf(cwd string) (string, error) {
	if !filepath.IsAbs(cwd) {
		return "", refuse(sdk.Validation, "the working directory %q is no absolute path", cwd)
	}
	path, err := filepath.EvalSymlinks(cwd)
	if err != nil {
		return "", refuse(sdk.NotFound, "the working directory: %v", err)
	}
	home, _ := os.UserHomeDir() // without one it is none
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	if path == "/" || path == home {
		return "", refuse(sdk.Validation, "%s is no project, and agents would write into it: open a project's folder in the editor", path)
	}
	return path, nil
}
