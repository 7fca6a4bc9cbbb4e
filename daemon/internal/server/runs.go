package server

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

const (
	defaultPage = 100
	maxPage     = 1000
	historyBody = 16 << 10 // bytes of a body in getRun
)

// find resolves a run: an alias in its project, else an id.
func (s *Server) find(ctx context.Context, run, project string) (sdk.Run, error) {
	id, notNumber := strconv.ParseInt(run, 10, 64)
	if project == "" {
		if notNumber != nil {
			return sdk.Run{}, wrongParams("run %q is named by its alias, so its project is needed too", run)
		}
		return s.cfg.Store.Run(ctx, id)
	}
	p, ok, err := s.project(ctx, project)
	if err != nil {
		return sdk.Run{}, err
	}
	if !ok {
		return sdk.Run{}, sdk.Errorf(sdk.NotFound, "there is no run %q, for project %s has none yet", run, project)
	}
	found, err := s.cfg.Store.RunByAlias(ctx, p.ID, run)
	if err == nil || sdk.OutcomeOf(err) != sdk.NotFound {
		return found, err
	}
	if notNumber == nil {
		if found, err = s.cfg.Store.Run(ctx, id); err == nil && found.Project == p.ID {
			return found, nil
		}
	}
	return sdk.Run{}, sdk.Errorf(sdk.NotFound, "there is no run %q in %s: `bothy runs list -a` shows what there is", run, project)
}

// project looks a project up; asking about one does not make it.
func (s *Server) project(ctx context.Context, root string) (sdk.Project, bool, error) {
	if !filepath.IsAbs(root) {
		return sdk.Project{}, false, wrongParams("the project is %q and must be an absolute path", root)
	}
	root = filepath.Clean(root)
	resolved, err := filepath.EvalSymlinks(root)
	if err != nil {
		resolved = root // a folder that is gone still has its runs
	}
	projects, err := s.cfg.Store.Projects(ctx)
	if err != nil {
		return sdk.Project{}, false, err
	}
	for _, p := range projects {
		if p.Root == resolved {
			return p, true, nil
		}
	}
	return sdk.Project{}, false, nil
}

func (s *Server) runs(ctx context.Context, _ *conn, p rpc.RunsParams) ([]rpc.RunSummary, error) {
	limit, err := page(rpc.MethodRuns, p.Limit, p.Offset)
	if err != nil {
		return nil, err
	}
	var project int64
	if p.Project != "" {
		found, ok, err := s.project(ctx, p.Project)
		if err != nil || !ok {
			return []rpc.RunSummary{}, err
		}
		project = found.ID
	}
	projects, err := s.cfg.Store.Projects(ctx)
	if err != nil {
		return nil, err
	}
	roots := map[int64]string{}
	for _, p := range projects {
		roots[p.ID] = p.Root
	}
	found, err := s.cfg.Store.Runs(ctx, project, p.Hidden, limit, p.Offset)
	if err != nil {
		return nil, err
	}
	list := make([]rpc.RunSummary, 0, len(found))
	for _, run := range found {
		loops, err := s.cfg.Store.Loops(ctx, run.ID)
		if err != nil {
			return nil, err
		}
		list = append(list, rpc.RunSummary{Run: run, ProjectRoot: roots[run.Project], Summary: lastPrompt(loops)})
	}
	return list, nil
}

func lastPrompt(loops []sdk.Loop) string {
	if len(loops) == 0 {
		return ""
	}
	first, _, _ := strings.Cut(strings.TrimSpace(loops[len(loops)-1].Prompt), "\n")
	first, _ = cut(first, 200)
	return first
}

func page(method string, limit, offset int) (int, error) {
	switch {
	case limit < 0 || offset < 0:
		return 0, wrongParams("limit and offset of %s are not negative", method)
	case limit == 0:
		return defaultPage, nil
	default:
		return min(limit, maxPage), nil
	}
}

func (s *Server) run(ctx context.Context, _ *conn, p rpc.RunRef) (rpc.RunDetail, error) {
	seq := s.cfg.Store.Seq() // before reading, so that who watches from here misses nothing
	run, err := s.find(ctx, p.Run, p.Project)
	if err != nil {
		return rpc.RunDetail{}, err
	}
	d := rpc.RunDetail{Run: run.Alias, ID: run.ID, Agent: run.Agent, Model: run.Model, Status: run.Status, Turn: run.Turns, Seq: seq, History: []rpc.Event{}}
	projects, err := s.cfg.Store.Projects(ctx)
	if err != nil {
		return d, err
	}
	for _, p := range projects {
		if p.ID == run.Project {
			d.Project = p.Root
		}
	}
	if d.Loops, err = s.cfg.Store.Loops(ctx, run.ID); err != nil {
		return d, err
	}
	if d.Turns, err = s.cfg.Store.Turns(ctx, run.ID); err != nil {
		return d, err
	}
	entries, err := s.cfg.Store.Entries(ctx, run.ID, "")
	if err != nil {
		return d, err
	}
	d.Loops, d.Turns, d.Telemetry = orEmpty(d.Loops), orEmpty(d.Turns), telemetry(d.Turns)
	for _, e := range entries {
		switch e.Scheme() {
		case "prompt", "assistant", "log":
			d.History = append(d.History, event(e))
		}
		if e.Scheme() == "assistant" && e.State == sdk.StateResolved && strings.TrimSpace(e.Body) != "" {
			d.Summary, _ = cut(e.Body, historyBody)
		}
	}
	return d, nil
}

// event renders an entry; of an action, the tool is part of the path.
func event(e sdk.Entry) rpc.Event {
	ev := rpc.Event{Tool: e.Scheme(), Path: e.Path, Status: e.Status(), State: e.State, Outcome: e.Outcome, Turn: e.Turn}
	if rest, ok := strings.CutPrefix(e.Path, "log://"); ok {
		if parts := strings.SplitN(rest, "/", 3); len(parts) > 1 {
			ev.Tool = parts[1]
		}
	}
	ev.Body, ev.Cut = cut(e.Body, historyBody)
	if len(e.Attributes) > 0 {
		var attributes map[string]any
		if json.Unmarshal(e.Attributes, &attributes) == nil {
			delete(attributes, "structured") // as long as the body, and getEntries has it
			delete(attributes, "extra")
			ev.Attributes = attributes
		}
	}
	return ev
}

// cut keeps at most n bytes of text, and whole characters; it says how many
// bytes are missing.
func cut(text string, n int) (string, int) {
	if len(text) <= n {
		return text, 0
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n], len(text) - n
}

func telemetry(turns []sdk.Turn) *rpc.Telemetry {
	var sum *rpc.Telemetry
	for _, t := range turns {
		if t.Usage == nil {
			continue
		}
		if sum == nil {
			sum = &rpc.Telemetry{}
		}
		sum.PromptTokens += t.Usage.Prompt
		sum.CachedTokens += t.Usage.Cached
		sum.CompletionTokens += t.Usage.Completion
		sum.ReasoningTokens += t.Usage.Reasoning
		sum.TotalTokens += t.Usage.Total
		sum.Cost += t.Usage.Cost
	}
	return sum
}
