package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

// disk is the files that a fake files plugin has, as a map.
type disk struct {
	mu    sync.Mutex
	files map[string]string
}

// do is a call of the files plugin as its tools make it; empty is success.
func (d *disk) do(tool string, a map[string]any) sdk.Outcome {
	d.mu.Lock()
	defer d.mu.Unlock()
	text := func(name string) string { s, _ := a[name].(string); return s }
	from, to := text("source"), text("destination")
	_, there := d.files[text("path")+from]
	switch {
	case tool == "write_file":
		d.files[text("path")] = text("content")
	case !there:
		return sdk.NotFound
	case tool == "delete_path":
		delete(d.files, text("path"))
	case from == to:
		return sdk.Validation
	default:
		if d.files[to] = d.files[from]; tool == "move_path" {
			delete(d.files, from)
		}
	}
	return ""
}

func (d *disk) has() map[string]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.files)
}

// serve has the tools of a house work on the disk.
func (d *disk) serve(h *house) {
	for _, tool := range []string{"write_file", "delete_path", "move_path", "copy_path"} {
		h.tools.on(tool, func(_ context.Context, c sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
			var a map[string]any
			if err := json.Unmarshal(c.Arguments, &a); err != nil {
				return sdk.ToolResult{}, err
			}
			if failed := d.do(tool, a); failed != "" {
				return sdk.Failed(sdk.Errorf(failed, "it failed")), nil
			}
			return ok(tool)
		})
	}
}

// verbCall is a call that a model makes.
type verbCall struct{ verb, path, to, body string }

func (c verbCall) arguments() string {
	a := map[string]string{"path": c.path}
	if c.to != "" {
		a["to"] = c.to
	}
	if c.verb == "set" {
		a["body"] = c.body
	}
	return string(encode(a))
}

// emptied is how a model says that nothing is to be left of a text.
const emptied = "<<NEW\nNEW"

// text is what the body of a set comes to.
func (c verbCall) text() string {
	if c.body == emptied {
		return ""
	}
	return c.body
}

func bare(path string) bool { return !strings.Contains(path, "://") }

// onEntries does a call that touches entries alone; empty is success.
func (c verbCall) onEntries(knows map[string]string) sdk.Outcome {
	body, there := knows[c.path]
	switch {
	case c.verb == "set":
		knows[c.path] = c.text()
		return ""
	case !there:
		return sdk.NotFound
	case c.verb == "rm":
		delete(knows, c.path)
	case c.path == c.to:
		return sdk.Validation
	default:
		if knows[c.to] = body; c.verb == "mv" {
			delete(knows, c.path)
		}
	}
	return ""
}

// onFiles is the call of the files plugin that a call stands for.
func (c verbCall) onFiles(body string) (tool string, arguments map[string]any) {
	switch {
	case c.verb == "set":
		return "write_file", map[string]any{"path": c.path, "content": c.text()}
	case c.verb == "rm":
		return "delete_path", map[string]any{"path": c.path}
	case !bare(c.path):
		return "write_file", map[string]any{"path": c.to, "content": body}
	case c.verb == "mv":
		return "move_path", map[string]any{"source": c.path, "destination": c.to}
	}
	return "copy_path", map[string]any{"source": c.path, "destination": c.to}
}

// touches reports whether a call is one of the files plugin.
func (c verbCall) touches() bool { return bare(c.path) || c.to != "" && bare(c.to) }

// answer is what the calls of one answer come to, by plain maps: an outcome each, empty where it succeeds. What goes from an entry to
// a file is read when the answer is recorded, before any of it is done.
func answer(calls []verbCall, knows map[string]string, d *disk) []sdk.Outcome {
	outcomes := make([]sdk.Outcome, len(calls))
	texts := make([]string, len(calls))
	planned := map[string]bool{} // what calls before may change, whatever they come to
	recorded := len(calls)       // of those from there on none is made
	for i, c := range calls {
		switch {
		case recorded < i:
			outcomes[i] = sdk.Aborted
		case c.touches() && bare(c.path) && c.to != "" && !bare(c.to):
			outcomes[i], recorded = sdk.Validation, i
		case c.touches() && !bare(c.path):
			text, there := knows[c.path]
			switch {
			case planned[c.path]:
				outcomes[i], recorded = sdk.Conflict, i
			case !there:
				outcomes[i], recorded = sdk.NotFound, i
			}
			if texts[i] = text; c.verb == "mv" {
				planned[c.path] = true
			}
		case !c.touches():
			planned[c.path] = planned[c.path] || c.verb != "cp"
			planned[c.to] = true
		}
	}
	broken := false
	for i, c := range calls[:recorded] {
		switch {
		case broken:
			outcomes[i] = sdk.Aborted
		case !c.touches():
			outcomes[i] = c.onEntries(knows)
		default:
			outcomes[i] = d.do(c.onFiles(texts[i]))
			if broken = outcomes[i] != ""; !broken && c.verb == "mv" && !bare(c.path) {
				delete(knows, c.path)
			}
		}
	}
	return outcomes
}

func drawVerb(t *rapid.T) verbCall {
	pick := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name) }
	targets := []string{"known://a", "known://b", "x", "d/y", "[z]"}
	c := verbCall{verb: pick("verb", "set", "set", "set", "rm", "cp", "mv"), path: pick("path", targets...)}
	switch c.verb {
	case "set":
		c.body = pick("body", emptied, "one", "two\n", "ü")
	case "cp", "mv":
		if c.to = pick("to", targets...); bare(c.path) && !bare(c.to) {
			c.verb = "mv"
		}
	}
	return c
}

// TestVerbsOnFilesAgainstAModel uses the verbs on entries and files, some calls an answer, in a run and its forks, and holds what
// each call comes to, what each run knows and what the files are to plain maps.
func TestVerbsOnFilesAgainstAModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := prepareHouse(t)
		h.withFiles()
		agent := h.agents["default"]
		agent.Guards = sdk.Guards{MaxTurns: 99}
		h.agents["default"] = agent
		real, plain := &disk{files: map[string]string{}}, &disk{files: map[string]string{}}
		real.serve(h)
		h.start()
		defer h.cut()
		knows := map[string]map[string]string{"r": {}}
		ids := map[string]int64{}
		for range rapid.IntRange(1, 4).Draw(rt, "prompts") {
			alias := rapid.SampledFrom(slices.Sorted(maps.Keys(knows))).Draw(rt, "run")
			if ids[alias] != 0 && rapid.IntRange(0, 2).Draw(rt, "fork") == 0 {
				child := fmt.Sprintf("%s%d", alias, len(knows))
				if _, err := h.engine.Fork(t.Context(), Fork{Run: ids[alias], Alias: child}); err != nil {
					turns, _ := h.store.Turns(t.Context(), ids[alias])
					rt.Fatalf("fork %s: %v; %+v", alias, err, turns)
				}
				knows[child], alias = maps.Clone(knows[alias]), child
			}
			answers := rapid.SliceOfN(rapid.SliceOfN(rapid.Custom(drawVerb), 1, 4), 1, 3).Draw(rt, "answers")
			var want []string
			for _, a := range answers {
				var made []call
				for i, outcome := range answer(a, knows[alias], plain) {
					made = append(made, call{a[i].verb, a[i].arguments()})
					want = append(want, a[i].verb+":"+string(outcome))
				}
				h.models.then(calls(made...))
			}
			a := h.submit(Submission{Run: alias})
			if l := h.await(a); l.Status != sdk.StatusOK {
				rt.Fatalf("%+v: ended %d: %s", answers, l.Status, l.Reason)
			}
			ids[alias] = a.Run.ID
			var got []string
			for _, x := range h.actions(a.Run.ID) {
				if x.Loop == a.Loop.ID {
					got = append(got, attributes(t, x).Tool+":"+string(x.Outcome))
				}
			}
			if !slices.Equal(got, want) {
				rt.Fatalf("%+v came to %v, want %v", answers, got, want)
			}
			for alias, id := range ids {
				var words []string
				for path, body := range knows[alias] {
					words = append(words, strings.TrimPrefix(path, "known://")+"="+body)
				}
				slices.Sort(words)
				if got := h.knows(id, "known"); got != strings.Join(words, " ") {
					rt.Fatalf("after %+v the run %s knows %q, want %q", answers, alias, got, words)
				}
			}
			if got, want := real.has(), plain.has(); !maps.Equal(got, want) {
				rt.Fatalf("after %+v the files are %v, want %v", answers, got, want)
			}
		}
	})
}
