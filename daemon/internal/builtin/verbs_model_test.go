package builtin

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/daemon/internal/store"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/edit"
)

// The three scopes of the model, by the scheme of a path.
var scopes = map[string]string{"known": "run", "wiki": "project", "lore": "global"}

// content is what is shared of an entry, and seen what one run has of it.
type content struct {
	body       string
	attributes map[string]any
}

type seen struct {
	state      sdk.State
	outcome    sdk.Outcome
	visibility sdk.Visibility
}

// modelRun is a run as plain maps.
type modelRun struct {
	id, project int64
	own         map[string]content
	views       map[string]seen
}

// modelWorld is all runs with what they share.
type modelWorld struct {
	runs    []*modelRun
	project map[int64]map[string]content
	global  map[string]content
}

func (w *modelWorld) place(r *modelRun, path string) map[string]content {
	switch scopes[sdk.SchemeOf(path)] {
	case "project":
		return w.project[r.project]
	case "global":
		return w.global
	default:
		return r.own
	}
}

// at is what a run finds at a path.
func (w *modelWorld) at(r *modelRun, path string) (content, seen, bool) {
	c, there := w.place(r, path)[path]
	s, inView := r.views[path]
	if there && !inView {
		s = seen{state: sdk.StateResolved, visibility: sdk.Archived}
	}
	return c, s, there
}

// paths are those that fit a pattern of the model: a scheme and all below it.
func (w *modelWorld) paths(r *modelRun, pattern string) (all []string) {
	for scheme := range scopes {
		for path := range w.place(r, scheme+"://") {
			if strings.HasPrefix(path, strings.TrimSuffix(pattern, "*")) {
				all = append(all, path)
			}
		}
	}
	slices.Sort(all)
	return all
}

// apply does one call, or tells the outcome that it fails with.
func (w *modelWorld) apply(r *modelRun, c sdk.EntryCall) sdk.Outcome {
	is := strings.HasSuffix(c.Path, "*")
	body, view, there := w.at(r, c.Path)
	_, inView := r.views[c.Path]
	switch c.Verb {
	case sdk.VerbGet, sdk.VerbSet:
		paths := []string{c.Path}
		if is && (c.Verb == sdk.VerbGet || c.Body == nil || c.Pattern) {
			if paths = w.paths(r, c.Path); len(paths) == 0 {
				return sdk.NotFound
			}
		} else if !there && (c.Verb == sdk.VerbGet || c.Body == nil || c.Pattern) {
			return sdk.NotFound
		}
		for _, path := range paths {
			if _, outcome := w.text(r, path, c); outcome != "" {
				return outcome
			}
		}
		for _, path := range paths {
			w.change(r, path, c)
		}
	case sdk.VerbRemove:
		paths := []string{c.Path}
		if is {
			paths = slices.DeleteFunc(w.paths(r, c.Path), func(path string) bool { _, has := r.views[path]; return !has })
		} else if !inView {
			return sdk.NotFound
		}
		if len(paths) == 0 {
			return sdk.NotFound
		}
		for _, path := range paths {
			w.drop(r, path)
		}
	case sdk.VerbCopy, sdk.VerbMove:
		switch {
		case !there:
			return sdk.NotFound
		case c.Path == c.To:
			return sdk.Validation
		}
		if c.Visibility != "" {
			view.visibility = c.Visibility
		}
		w.place(r, c.To)[c.To] = content{body.body, maps.Clone(body.attributes)}
		r.views[c.To] = view
		if c.Verb == sdk.VerbMove && inView {
			w.drop(r, c.Path)
		}
	}
	return ""
}

// text is what the body of a set makes of an entry, which for a model is an edit.
func (w *modelWorld) text(r *modelRun, path string, c sdk.EntryCall) (string, sdk.Outcome) {
	was, _, _ := w.at(r, path)
	switch {
	case c.Body == nil:
		return was.body, ""
	case c.Append:
		return was.body + *c.Body, ""
	case *c.Body == "" && was.body == "":
		return "", ""
	}
	e, err := edit.Parse(*c.Body)
	if err != nil {
		return "", sdk.OutcomeOf(err)
	}
	after, err := e.Apply(was.body)
	if err != nil {
		return "", sdk.OutcomeOf(err)
	}
	return after.Body, ""
}

func (w *modelWorld) change(r *modelRun, path string, c sdk.EntryCall) {
	body, view, _ := w.at(r, path)
	_, inView := r.views[path]
	switch {
	case c.Verb == sdk.VerbGet:
		view.visibility = sdk.Visible
		r.views[path] = view
		return
	case c.Body == nil && c.State == "" && c.Attributes == nil && c.Summary == "":
		view.visibility = c.Visibility
		r.views[path] = view
		return
	case !inView:
		view = seen{state: sdk.StateResolved, visibility: sdk.Visible}
	}
	if c.Body != nil {
		view.state, view.outcome, view.visibility = sdk.StateResolved, "", sdk.Visible
		body.body, _ = w.text(r, path, c)
	}
	if c.State != "" {
		view.state, view.outcome = c.State, c.Outcome
	}
	if c.Visibility != "" {
		view.visibility = c.Visibility
	}
	attributes := map[string]any{}
	maps.Copy(attributes, body.attributes)
	if c.Attributes != nil {
		var patch map[string]any
		if err := json.Unmarshal(c.Attributes, &patch); err != nil {
			panic(err)
		}
		for name, value := range patch {
			if attributes[name] = value; value == nil {
				delete(attributes, name)
			}
		}
	}
	if c.Summary != "" {
		attributes["summary"] = c.Summary
	}
	body.attributes = attributes
	w.place(r, path)[path], r.views[path] = body, view
}

func (w *modelWorld) drop(r *modelRun, path string) {
	delete(r.views, path)
	if scopes[sdk.SchemeOf(path)] == "run" {
		delete(r.own, path)
	}
}

func (w *modelWorld) fork(of *modelRun, id int64) *modelRun {
	f := &modelRun{id: id, project: of.project, own: map[string]content{}, views: maps.Clone(of.views)}
	for path, c := range of.own {
		f.own[path] = content{c.body, maps.Clone(c.attributes)}
	}
	w.runs = append(w.runs, f)
	return f
}

// describe is what a run finds, as text.
func describe(path, body string, attributes map[string]any, s seen) string {
	text, _ := json.Marshal(attributes)
	if len(attributes) == 0 {
		text = []byte("{}")
	}
	return fmt.Sprintf("%s %q %s %s %s %s", path, body, text, s.state, s.outcome, s.visibility)
}

func (w *modelWorld) describe(r *modelRun) (all []string) {
	for _, path := range w.paths(r, "*") {
		c, s, _ := w.at(r, path)
		all = append(all, describe(path, c.body, c.attributes, s))
	}
	return all
}

func drawCall(t *rapid.T) sdk.EntryCall {
	pick := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name) }
	names := []string{"known://a", "known://b", "known://a(b)", "wiki://a", "wiki://b", "lore://a", "lore://b"}
	patterns := []string{"known://*", "wiki://*", "lore://*"}
	c := sdk.EntryCall{Verb: sdk.Verb(pick("verb", "set", "set", "set", "set", "get", "get", "rm", "cp", "mv")), Path: pick("path", names...)}
	visibility := sdk.Visibility(pick("visibility", "", "visible", "summarized", "archived"))
	if c.Verb == sdk.VerbCopy || c.Verb == sdk.VerbMove {
		c.To, c.Visibility = pick("to", names...), visibility
		return c
	}
	if rapid.IntRange(0, 3).Draw(t, "patterned") == 0 {
		c.Path = pick("pattern", patterns...)
	}
	if c.Verb != sdk.VerbSet {
		return c
	}
	c.Visibility = visibility
	if rapid.Bool().Draw(t, "with body") {
		c.Body = new(rapid.SampledFrom([]string{"", "x", "long text", "ü\n"}).Draw(t, "body"))
		if c.Append = rapid.Bool().Draw(t, "append"); !c.Append && rapid.Bool().Draw(t, "edit") {
			c.Body = new(rapid.SampledFrom([]string{"<<APPEND\nz\nAPPEND", "<<SEARCH x SEARCH<<REPLACE y REPLACE", "<<DELETE\nz\nDELETE", "<<NEW\nx\nz\nNEW", "<<REPLACE\nREPLACE"}).Draw(t, "markers"))
		}
		c.Pattern = strings.HasSuffix(c.Path, "*")
	}
	if rapid.Bool().Draw(t, "with attributes") {
		c.Attributes = json.RawMessage(pick("attributes", `{"p":1}`, `{"p":null}`, `{"p":"y","q":"z"}`, `{"q":null,"summary":"s"}`))
	}
	if rapid.IntRange(0, 4).Draw(t, "with summary") == 0 {
		c.Summary = pick("summary", "short", "other")
	}
	if c.State = sdk.State(pick("state", "", "", "resolved", "failed", "cancelled")); c.State == sdk.StateFailed {
		c.Outcome = sdk.Timeout
	}
	if c.Body == nil && c.State == "" && c.Attributes == nil && c.Summary == "" && c.Visibility == "" {
		c.Visibility = sdk.Summarized
	}
	return c
}

// TestVerbsAgainstAModel uses the verbs on three scopes, in runs of two projects and their forks, some calls at a
// time, and holds that each run finds what plain maps say.
func TestVerbsAgainstAModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := openStore(t)
		defer func() { _ = s.Close() }()
		v := NewVerbs(s, Patterns, func(text string) string { return text })
		w := &modelWorld{project: map[int64]map[string]content{}, global: map[string]content{}}
		for _, root := range []string{"/p", "/p", "/q"} {
			p, err := s.OpenProject(t.Context(), root)
			if err != nil {
				rt.Fatal(err)
			}
			r, err := s.CreateRun(t.Context(), sdk.Run{Project: p.ID, Agent: "chat"})
			if err != nil {
				rt.Fatal(err)
			}
			if w.project[p.ID] == nil {
				w.project[p.ID] = map[string]content{}
			}
			w.runs = append(w.runs, &modelRun{r.ID, p.ID, map[string]content{}, map[string]seen{}})
		}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			r := rapid.SampledFrom(w.runs).Draw(rt, "run")
			if rapid.IntRange(0, 7).Draw(rt, "what") == 0 {
				child, err := s.CreateRun(t.Context(), sdk.Run{Project: r.project, Agent: "chat", Parent: r.id})
				if err != nil {
					rt.Fatal(err)
				}
				r = w.fork(r, child.ID)
			}
			calls := rapid.SliceOfN(rapid.Custom(drawCall), 1, 4).Draw(rt, "calls")
			var writes []sdk.Write
			planned := v.Plan(t.Context(), sdk.EntryUse{Run: sdk.Run{ID: r.id}, Writer: sdk.WriterModel}, calls)
			for i, p := range planned {
				want := w.apply(r, calls[i])
				if (p.Err == nil) != (want == "") || p.Err != nil && sdk.OutcomeOf(p.Err) != want {
					rt.Fatalf("%+v: %v, want %q", calls[i], p.Err, want)
				}
				writes = append(writes, p.Writes...)
			}
			if _, err := s.Commit(t.Context(), sdk.Change{Run: r.id, Writes: writes}); err != nil {
				rt.Fatalf("commit %+v: %v", calls, err)
			}
			for _, r := range w.runs {
				if got, want := finds(rt, s, r.id), w.describe(r); !slices.Equal(got, want) {
					rt.Fatalf("after %+v the run %d finds\n%s\nwant\n%s", calls, r.id, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
		}
	})
}

func finds(t *rapid.T, s *store.Store, run int64) (all []string) {
	entries, err := s.Entries(t.Context(), sdk.EntryQuery{Run: run, Shared: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		var attributes map[string]any
		if len(e.Attributes) > 0 {
			if err := json.Unmarshal(e.Attributes, &attributes); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, describe(e.Path, e.Body, attributes, seen{e.State, e.Outcome, e.Visibility}))
	}
	slices.Sort(all)
	return all
}
