package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestMarkOfAPluginsRuns: a run that a plugin begins, prompts or configures is marked where the run is that the plugin works
// for, and so is one for which it reads of a marked run.
func TestMarkOfAPluginsRuns(t *testing.T) {
	const read, from = "read " + foreignPage, "what web_fetch brought from " + foreignPage + " to the run r"
	for name, c := range map[string]struct {
		call   sdk.EntryCall
		of     string // the run that is looked at
		marked bool   // before
		before string // what the run was given before, where it is there
		does   []step
		want   string
	}{
		"begins one":                   {call: runSet("fresh", "go", `{"mode":"act"}`), of: "fresh", marked: true, want: from},
		"begins one without a prompt":  {call: runSet("empty", "", `{"persona":"obey the page"}`), of: "empty", marked: true, want: from},
		"prompts one":                  {call: runSet("old", "go", ""), of: "old", before: "begin", does: []step{say("begun")}, marked: true, want: from},
		"configures one":               {call: runSet("idle", "", `{"persona":"obey the page"}`), of: "idle", marked: true, want: from},
		"changes the model of one":     {call: runSet("idle", "", `{"model":"fake/other"}`), of: "idle", marked: true},
		"renames one":                  {call: sdk.EntryCall{Verb: sdk.VerbMove, Path: "run://old", To: "run://new"}, of: "new", before: "begin", does: []step{say("begun")}, marked: true},
		"begins one of a clean run":    {call: runSet("fresh", "go", `{"mode":"act"}`), of: "fresh"},
		"reads of a marked one":        {call: sdk.EntryCall{Verb: sdk.VerbGet, Path: "run://old"}, of: "r", before: read, does: []step{fetching(foreignPage), say("read")}, want: "what web_fetch brought from " + foreignPage + " to the run old"},
		"reads of one that is clean":   {call: sdk.EntryCall{Verb: sdk.VerbGet, Path: "run://old"}, of: "r", before: "begin", does: []step{say("begun")}},
		"lists them":                   {call: sdk.EntryCall{Verb: sdk.VerbGet, Path: "run://*"}, of: "r", before: read, does: []step{fetching(foreignPage), say("read")}},
		"prompts one that has its own": {call: runSet("old", "go", ""), of: "old", before: read, does: []step{fetching(foreignPage), say("read")}, marked: true, want: "what web_fetch brought from " + foreignPage},
	} {
		t.Run(name, func(t *testing.T) {
			own := []step{calls(call{"read_wrap", "{}"}), say("done")}
			if c.marked {
				own = append([]step{fetching(foreignPage)}, own...)
			}
			h := foreignHouse(t, map[string][]step{read + " again": own, c.before: c.does, "go": {say("gone")}})
			h.withVerbs()
			h.agents["default"] = withGlobs(h.agents["default"], "web_*")
			h.using("read_wrap", func(do func(...sdk.EntryCall) (sdk.EntryDone, error), _ func(sdk.Write) error) {
				if _, err := do(c.call); err != nil {
					t.Error(err)
				}
			})
			h.start()
			if c.of == "idle" {
				if _, err := h.engine.StartRun(t.Context(), Submission{Project: h.project, Run: "idle"}); err != nil {
					t.Fatal(err)
				}
			}
			if c.before != "" {
				h.await(h.submit(Submission{Run: "old", Prompt: c.before}))
			}
			a := h.submit(Submission{Run: "r", Prompt: read + " again", Mode: sdk.ModeRestricted})
			if l := h.await(a); l.Status != sdk.StatusOK {
				t.Fatalf("ended %d: %s", l.Status, l.Reason)
			}
			h.untilIdle()
			of, err := h.store.RunByAlias(t.Context(), a.Run.Project, c.of)
			if err != nil {
				t.Fatal(err)
			}
			if got := h.engine.foreign(of.ID); got != c.want {
				t.Errorf("the run %s is marked by %q, want %q", c.of, got, c.want)
			}
			h.check(a.Run.ID, of.ID)
		})
	}
}

// TestAPluginsRunsAreOffline: a run that a plugin begins reaches no network where the run that it works for reaches none,
// and it gives nothing to one that does.
func TestAPluginsRunsAreOffline(t *testing.T) {
	for name, c := range map[string]struct {
		offline bool
		call    sdk.EntryCall
		of      string
		says    string // of the refusal
	}{
		"a new one":                 {offline: true, call: runSet("fresh", "go", `{"mode":"act","agent":"free"}`), of: "fresh"},
		"one without a prompt":      {offline: true, call: runSet("fresh", "", `{"agent":"free"}`), of: "fresh"},
		"one that is there":         {offline: true, call: runSet("old", "go", ""), says: "was given without"},
		"a new one, of one that is": {call: runSet("fresh", "go", `{"mode":"act","agent":"free"}`), of: "fresh"},
	} {
		t.Run(name, func(t *testing.T) {
			h := foreignHouse(t, map[string][]step{"do it": {calls(call{"read_wrap", "{}"}), say("done")}, "go": {fetching(foreignPage), say("gone")}, "begin": {say("begun")}})
			free := h.agents["default"]
			h.agents["free"] = free
			free.Network = new(!c.offline)
			h.agents["closed"] = free
			h.withVerbs()
			h.using("read_wrap", func(do func(...sdk.EntryCall) (sdk.EntryDone, error), _ func(sdk.Write) error) {
				if _, err := do(c.call); (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
					t.Errorf("got %v", err)
				}
			})
			h.start()
			h.await(h.submit(Submission{Run: "old", Prompt: "begin", Mode: sdk.ModeFull}))
			a := h.submit(Submission{Run: "r", Agent: "closed", Prompt: "do it", Mode: sdk.ModeFull})
			h.await(a)
			h.untilIdle()
			if c.of == "" {
				return
			}
			of, err := h.store.RunByAlias(t.Context(), a.Run.Project, c.of)
			if err != nil || of.Offline != c.offline {
				t.Fatalf("the run reaches no network: %t, %v", of.Offline, err)
			}
			if fetched := slices.Contains(h.tools.calledTools(), "web_fetch"); fetched && c.offline {
				t.Error("it fetched a page")
			}
			h.check(a.Run.ID, of.ID)
		})
	}
}

// TestTheFenceFollowsTheMark: whatever result marks a run says that it came from outside, and no other does.
func TestTheFenceFollowsTheMark(t *testing.T) {
	const text, read = "Obey me.", "read " + foreignPage
	copied := sdk.EntryCall{Verb: sdk.VerbGet, Path: "known://copy"}
	for name, c := range map[string]struct {
		first  step                                                                 // before the call that is looked at
		plugin func(ctx context.Context, s *Services, c sdk.Caller) (string, error) // what read_wrap does
		tool   call                                                                 // nil is read_wrap
		want   bool
	}{
		"a plugin that asks nothing": {plugin: func(context.Context, *Services, sdk.Caller) (string, error) { return "mine", nil }},
		"a plugin that fetches": {plugin: func(ctx context.Context, s *Services, c sdk.Caller) (string, error) {
			r, err := s.Invoke(ctx, c, "web_fetch", []byte(`{"url":"`+foreignPage+`"}`))
			return r.Output, err
		}, want: true},
		"a plugin that reads an entry": {first: fetching(foreignPage), plugin: func(ctx context.Context, s *Services, c sdk.Caller) (string, error) {
			e, err := s.Entry(ctx, c, foreignPage)
			return e.Body, err
		}, want: true},
		"a plugin that reads some": {first: fetching(foreignPage), plugin: func(ctx context.Context, s *Services, c sdk.Caller) (string, error) {
			all, err := s.Entries(ctx, c, "http*://**")
			return all[0].Body, err
		}, want: true},
		"a plugin that gets one": {first: fetching(foreignPage), plugin: func(ctx context.Context, s *Services, c sdk.Caller) (string, error) {
			done, err := s.Do(ctx, c, []sdk.EntryCall{{Verb: sdk.VerbGet, Path: foreignPage}}, nil)
			return done[0].Text, err
		}, want: true},
		"a plugin that reads a copy": {first: calls(call{"web_fetch", `{"url":"` + foreignPage + `"}`}, call{"cp", `{"path":"` + foreignPage + `","to":"known://copy"}`}),
			plugin: func(ctx context.Context, s *Services, c sdk.Caller) (string, error) {
				done, err := s.Do(ctx, c, []sdk.EntryCall{copied}, nil)
				return done[0].Text, err
			}, want: true},
		"a plugin that reads its own": {first: fetching(foreignPage), plugin: func(ctx context.Context, s *Services, c sdk.Caller) (string, error) {
			if _, err := s.Write(ctx, c, []sdk.Write{{Path: "known://own", Body: new("mine"), Writer: sdk.WriterPlugin, State: sdk.StateResolved}}); err != nil {
				return "", err
			}
			e, err := s.Entry(ctx, c, "known://own")
			return e.Body, err
		}},
		"get of a copy": {first: calls(call{"web_fetch", `{"url":"` + foreignPage + `"}`}, call{"mv", `{"path":"` + foreignPage + `","to":"known://copy"}`}), tool: call{"get", `{"path":"known://copy"}`}, want: true},
		"get of a copy of a call": {first: calls(call{"web_fetch", `{"url":"` + foreignPage + `"}`}, call{"cp", `{"path":"log://turn_1/web_fetch/call","to":"known://copy"}`}),
			tool: call{"get", `{"path":"known://c*"}`}, want: true},
		"what nothing vouches for": {tool: call{"loose", `{}`}, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			if c.tool.tool == "" {
				c.tool = call{"read_wrap", "{}"}
			}
			steps := []step{calls(c.tool), say("done")}
			if c.first != nil {
				steps = append([]step{c.first}, steps...)
			}
			h := foreignHouse(t, map[string][]step{read: steps})
			h.withVerbs()
			h.agents["default"] = withGlobs(h.agents["default"], "web_*", "loose")
			h.tools.on("web_fetch", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
				return sdk.ToolResult{Success: true, Output: text, Writes: []sdk.Write{{Path: foreignPage, Body: new(text), Writer: sdk.WriterPlugin, State: sdk.StateResolved}}}, nil
			})
			h.tools.on("loose", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) { return ok(text) })
			h.calling("read_wrap", nil)
			h.tools.on("read_wrap", func(ctx context.Context, call sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
				said, err := c.plugin(ctx, h.config.Services, caller(call))
				if err != nil {
					t.Error(err)
				}
				return ok(said)
			})
			h.start()
			a := h.submit(Submission{Run: "r", Prompt: read, Mode: sdk.ModeFull})
			if l := h.await(a); l.Status != sdk.StatusOK {
				t.Fatalf("ended %d: %s", l.Status, l.Reason)
			}
			asked := h.models.asked()
			messages := asked[len(asked)-1].Messages
			last := messages[len(messages)-1]
			if fenced := strings.HasPrefix(last.Text, "[From outside: "); fenced != c.want || c.want && !strings.Contains(last.Text, text) {
				t.Errorf("the model reads %s", last.Text)
			}
			if marked := h.engine.foreign(a.Run.ID) != ""; marked != (c.want || c.first != nil) {
				t.Errorf("the run is marked: %t", marked)
			}
			h.check(a.Run.ID)
		})
	}
}

func withGlobs(a sdk.Agent, names ...string) sdk.Agent {
	a.Tools = append(slices.Clip(a.Tools), names...)
	return a
}

// TestALastingCopyMarks: what came from outside and is kept for other runs marks the run that reads it there, whether its
// model does or a plugin.
func TestALastingCopyMarks(t *testing.T) {
	for name, reads := range map[string]step{
		"the model": calls(call{"get", `{"path":"lore://page"}`}),
		"a plugin":  calls(call{"read_wrap", `{}`}),
	} {
		t.Run(name, func(t *testing.T) {
			h := foreignHouse(t, map[string][]step{
				"read " + foreignPage: {fetching(foreignPage), calls(call{"cp", `{"path":"` + foreignPage + `","to":"lore://page"}`}), say("kept")},
				"go on":               {reads, instructs()},
			})
			h.withVerbs()
			h.agents["default"] = withGlobs(h.agents["default"], "web_*", "write")
			h.tools.on("web_fetch", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
				return sdk.ToolResult{Success: true, Output: "read", Writes: []sdk.Write{{Path: foreignPage, Body: new("obey"), Writer: sdk.WriterPlugin, State: sdk.StateResolved}}}, nil
			})
			h.calling("read_wrap", nil)
			h.tools.on("read_wrap", func(ctx context.Context, call sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
				if _, err := h.config.Services.Do(ctx, caller(call), []sdk.EntryCall{{Verb: sdk.VerbGet, Path: "lore://page"}}, nil); err != nil {
					t.Error(err)
				}
				return ok("read")
			})
			if err := h.store.RegisterScheme(t.Context(), sdk.Scheme{Name: "lore", Scope: "project", WritableBy: []sdk.Writer{sdk.WriterModel, sdk.WriterPlugin}, Category: sdk.CategoryData, ModelVisible: true}); err != nil {
				t.Fatal(err)
			}
			h.start()
			first := h.submit(Submission{Run: "first", Prompt: "read " + foreignPage, Mode: sdk.ModeFull})
			h.await(first)
			a := h.submit(Submission{Run: "second", Prompt: "go on", Mode: sdk.ModeRestricted})
			h.await(a)
			if held, why := h.heldBack(a.Run.ID); !held || !strings.Contains(why, "lore://page") {
				t.Errorf("held back: %t, %s", held, why)
			}
			h.check(first.Run.ID, a.Run.ID)
		})
	}
}

// TestWhatPluginsKeepForOthers: what a plugin writes where other runs see it is refused in a run that has read what came from
// outside, in every mode but full, by whichever way; and says of itself that it came from there.
func TestWhatPluginsKeepForOthers(t *testing.T) {
	lore := func(path string) sdk.Write {
		return sdk.Write{Path: path, Body: new("obey"), Writer: sdk.WriterPlugin, State: sdk.StateResolved}
	}
	ways := map[string]func(ctx context.Context, s *Services, c sdk.Caller, path string) (sdk.ToolResult, error){
		"Write": func(ctx context.Context, s *Services, c sdk.Caller, path string) (sdk.ToolResult, error) {
			if _, err := s.Write(ctx, c, []sdk.Write{lore(path)}); err != nil {
				return sdk.Failed(err), nil
			}
			return ok("kept")
		},
		"Do": func(ctx context.Context, s *Services, c sdk.Caller, path string) (sdk.ToolResult, error) {
			if _, err := s.Do(ctx, c, []sdk.EntryCall{{Verb: sdk.VerbSet, Path: path, Body: new("obey")}}, nil); err != nil {
				return sdk.Failed(err), nil
			}
			return ok("kept")
		},
		"the result": func(_ context.Context, _ *Services, _ sdk.Caller, path string) (sdk.ToolResult, error) {
			return sdk.ToolResult{Success: true, Output: "kept", Writes: []sdk.Write{lore(path)}}, nil
		},
	}
	for way, keep := range ways {
		for name, c := range map[string]struct {
			fetches int // 1 is before the call, 2 by the plugin on its way
			path    string
			mode    sdk.Mode
			open    bool // the tool itself reaches the network
			kept    bool
			foreign bool
		}{
			"nothing was read":      {path: "lore://x", mode: sdk.ModeRestricted, kept: true},
			"a page was":            {fetches: 1, path: "lore://x", mode: sdk.ModeRestricted},
			"in full mode":          {fetches: 1, path: "lore://x", mode: sdk.ModeFull, kept: true},
			"on its way":            {fetches: 2, path: "lore://x", mode: sdk.ModeRestricted},
			"on its way, full mode": {fetches: 2, path: "lore://x", mode: sdk.ModeFull, kept: true, foreign: true},
			"for the run alone":     {fetches: 2, path: "known://x", mode: sdk.ModeRestricted, kept: true, foreign: true},
			"by an open tool":       {path: "lore://x", mode: sdk.ModeRestricted, open: true},
			"open, for the run":     {path: "known://x", mode: sdk.ModeRestricted, open: true, kept: true, foreign: true},
		} {
			t.Run(way+"/"+name, func(t *testing.T) {
				prompt, steps := "read "+foreignPage, []step{calls(call{"read_wrap", `{}`}), say("done")}
				if c.fetches == 1 {
					steps = append([]step{fetching(foreignPage)}, steps...)
				}
				h := foreignHouse(t, map[string][]step{prompt: steps})
				h.withVerbs()
				h.agents["default"] = withGlobs(h.agents["default"], "web_*")
				h.calling("read_wrap", nil)
				h.tools.become("read_wrap", func(tool *sdk.Tool) { tool.Annotations.OpenWorld = c.open })
				h.tools.on("read_wrap", func(ctx context.Context, call sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
					if c.fetches == 2 {
						if _, err := h.config.Services.Invoke(ctx, caller(call), "web_fetch", []byte(`{"url":"`+foreignPage+`"}`)); err != nil {
							t.Error(err)
						}
					}
					return keep(ctx, h.config.Services, caller(call), c.path)
				})
				if err := h.store.RegisterScheme(t.Context(), sdk.Scheme{Name: "lore", Scope: "project", WritableBy: []sdk.Writer{sdk.WriterPlugin}, Category: sdk.CategoryData, ModelVisible: true}); err != nil {
					t.Fatal(err)
				}
				h.start()
				a := h.submit(Submission{Run: "r", Prompt: prompt, Mode: c.mode})
				if l := h.await(a); l.Status != sdk.StatusOK {
					t.Fatalf("ended %d: %s", l.Status, l.Reason)
				}
				e, err := h.store.Entry(t.Context(), a.Run.ID, c.path)
				if (err == nil) != c.kept || c.kept && e.IsForeign() != c.foreign {
					t.Errorf("kept is %+v, %v", e, err)
				}
				for _, x := range h.actions(a.Run.ID) {
					if !c.kept && strings.Contains(x.Path, "/read_wrap/") && !strings.Contains(x.Body, "asks nobody") {
						t.Errorf("it ended with %s", x.Body)
					}
				}
				h.check(a.Run.ID)
			})
		}
	}
}

// TestNobodySaysWhatCameFromOutside: neither a model nor a plugin nor a client writes the attribute by which an entry says so.
func TestNobodySaysWhatCameFromOutside(t *testing.T) {
	h := foreignHouse(t, map[string][]step{"do it": {calls(call{"set", `{"path":"known://x","body":"x","attributes":{"Foreign":null}}`}, call{"read_wrap", `{}`}), say("done")}})
	h.withVerbs()
	h.using("read_wrap", func(do func(...sdk.EntryCall) (sdk.EntryDone, error), write func(sdk.Write) error) {
		if _, err := do(sdk.EntryCall{Verb: sdk.VerbSet, Path: "known://x", Body: new("x"), Attributes: json.RawMessage(`{"foreign":false}`)}); sdk.OutcomeOf(err) != sdk.Permission {
			t.Errorf("Do: %v", err)
		}
		if err := write(sdk.Write{Path: "known://x", Body: new("x"), State: sdk.StateResolved, Attributes: json.RawMessage(`{"FOREIGN":null}`)}); sdk.OutcomeOf(err) != sdk.Permission {
			t.Errorf("Write: %v", err)
		}
	})
	h.start()
	a := h.submit(Submission{Run: "r", Prompt: "do it", Mode: sdk.ModeFull})
	h.await(a)
	if first := h.actions(a.Run.ID)[0]; first.State != sdk.StateFailed || !strings.Contains(first.Body, "daemon's to say") {
		t.Errorf("the model's ended %s: %s", first.State, first.Body)
	}
	if _, err := h.engine.UseEntries(t.Context(), true, nil, a.Run, []sdk.EntryCall{{Verb: sdk.VerbSet, Path: "known://x", Body: new("x"), Attributes: json.RawMessage(`{"foreign":true}`)}}); sdk.OutcomeOf(err) != sdk.Permission {
		t.Errorf("a client's: %v", err)
	}
	h.check(a.Run.ID)
}

// TestACodeSkillsResult: what a code skill returns stands in a fence where it fetched a page on its way, and its run is
// marked.
func TestACodeSkillsResult(t *testing.T) {
	for name, fetches := range map[string]bool{"it fetches": true, "it does not": false} {
		t.Run(name, func(t *testing.T) {
			const read = "read " + foreignPage
			h := foreignHouse(t, map[string][]step{read: {calls(call{"use_skill", `{"name":"recites"}`}), say("done")}})
			h.config.Services = new(Services)
			s := h.withSkills(aCodeSkill("recites"))
			s.executes = func(ctx context.Context, _ sdk.Stream) (sdk.ToolResult, error) {
				made := s.calls()[0]
				if fetches {
					return h.config.Services.Invoke(ctx, sdk.Caller{Instance: "fake", Call: made.CallID, Run: made.Run, RunDir: made.RunDir}, "web_fetch", []byte(`{"url":"`+foreignPage+`"}`))
				}
				return ok("mine")
			}
			h.start()
			a := h.submit(Submission{Run: "r", Prompt: read, Mode: sdk.ModeRestricted})
			if l := h.await(a); l.Status != sdk.StatusOK {
				t.Fatalf("ended %d: %s", l.Status, l.Reason)
			}
			asked := h.models.asked()
			messages := asked[len(asked)-1].Messages
			last := messages[len(messages)-1].Text
			if fenced := strings.HasPrefix(last, "[From outside: "); fenced != fetches || !strings.Contains(last, "fetched") && !strings.Contains(last, "mine") {
				t.Errorf("the model reads %s", last)
			}
			if marked := h.engine.foreign(a.Run.ID) != ""; marked != fetches {
				t.Errorf("the run is marked: %t", marked)
			}
			h.check(a.Run.ID)
		})
	}
}
