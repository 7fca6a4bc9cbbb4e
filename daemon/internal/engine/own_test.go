package engine

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/builtin"
	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/sdk"
)

// ownTools gives an engine the real own tools over a catalogue that a test
// exchanges.
type ownTools struct {
	*builtin.Builtin
	catalogue atomic.Pointer[skill.Catalogue]
	taken     atomic.Int32
	fails     atomic.Pointer[error]

	mu       sync.Mutex
	executed []sdk.SkillCall
	executes func(ctx context.Context, out sdk.Stream) (sdk.ToolResult, error)
}

// withSkills puts skills into a house that has not started.
func (h *house) withSkills(documents ...*skill.Document) *ownTools {
	s := &ownTools{}
	s.put(documents...)
	s.Builtin = builtin.New(builtin.Config{
		Catalogue: s.catalogueOf,
		Budget:    func() float64 { return 2 },
		Entries:   h.store,
		Copies:    copies{},
		Execute:   s.execute,
	})
	h.config.Builtin = s
	return s
}

func (s *ownTools) catalogueOf(context.Context, string) (*skill.Catalogue, error) {
	return s.catalogue.Load(), nil
}

// copies says that folders were copied.
type copies struct{}

func (copies) Make(_ context.Context, _ string, d sdk.Skill, runDir, _ string) (skill.Pinned, error) {
	folder := filepath.Join(runDir, "skills", d.Name)
	return skill.Pinned{Folder: folder, Hash: "f-" + d.Hash, Files: []string{"SKILL.md", "a.txt"}}, os.MkdirAll(folder, 0o700)
}

func (copies) Find(_ context.Context, name, runDir, _ string) (skill.Pinned, bool) {
	folder := filepath.Join(runDir, "skills", name)
	_, err := os.Stat(folder)
	return skill.Pinned{Folder: folder, Files: []string{"SKILL.md", "a.txt"}}, err == nil
}

func (s *ownTools) put(documents ...*skill.Document) {
	s.catalogue.Store(skill.NewCatalogue(documents))
}

func (s *ownTools) execute(ctx context.Context, _ string, call sdk.SkillCall, out sdk.Stream) (sdk.ToolResult, error) {
	s.mu.Lock()
	s.executed = append(s.executed, call)
	do := s.executes
	s.mu.Unlock()
	if do != nil {
		return do(ctx, out)
	}
	return sdk.ToolResult{Success: true, Output: "executed " + call.Input}, nil
}

func (s *ownTools) calls() []sdk.SkillCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.executed)
}

// Turn implements Builtin.
func (s *ownTools) Turn(ctx context.Context, t sdk.TurnContext) (sdk.TurnTools, error) {
	s.taken.Add(1)
	if err := s.fails.Load(); err != nil {
		return nil, *err
	}
	return s.Builtin.Turn(ctx, t)
}

// aSkill is a skill of the user's; its text is its hash.
func aSkill(name, body string) *skill.Document {
	return &skill.Document{Loaded: true, SkillDocument: sdk.SkillDocument{Body: body, Skill: sdk.Skill{
		Name: name, Description: "describes " + body, Tier: sdk.TierUser, Status: sdk.SkillEnabled, Hash: "h-" + body, Path: "/u/" + name + "/SKILL.md",
	}}}
}

func aCodeSkill(name string) *skill.Document {
	d := aSkill(name, "runs code")
	d.Plugin = "coder"
	return d
}

func use(name, input string) call {
	return call{"use_skill", string(encode(map[string]string{"name": name, "input": input}))}
}

// TestATurnKeepsItsSkills exchanges the catalogue in the middle of a turn: what
// the turn does still finds the old one, and the next turn has the new one.
func TestATurnKeepsItsSkills(t *testing.T) {
	h := prepareHouse(t, calls(numbered("write", 1), use("greet", "Ann"), use("gone", "")), calls(use("late", "")), say("done"))
	s := h.withSkills(aSkill("greet", "old $ARGUMENTS"), aSkill("gone", "still here"))
	begun, goOn := make(chan struct{}), make(chan struct{})
	h.tools.on("write", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
		close(begun)
		<-goOn
		return ok("written")
	})
	h.start()
	a := h.submit(Submission{})
	<-begun
	s.put(aSkill("greet", "new $ARGUMENTS"), aSkill("late", "came late"))
	close(goOn)
	if l := h.await(a); l.Status != sdk.StatusOK {
		t.Fatalf("ended %d: %s", l.Status, l.Reason)
	}
	asked := h.models.asked()
	if len(asked) != 3 {
		t.Fatalf("%d turns", len(asked))
	}
	for i, want := range []struct{ has, not string }{{"describes still here", "describes came late"}, {"describes came late", "describes still here"}} {
		if system := asked[i].Messages[0].Text; !strings.Contains(system, want.has) || strings.Contains(system, want.not) {
			t.Errorf("turn %d was told %s", i+1, system)
		}
	}
	if got, want := h.outcomes(a.Run.ID), "write:resolved use_skill:resolved use_skill:resolved use_skill:resolved"; got != want {
		t.Errorf("got %s", got)
	}
	var texts []string
	for _, e := range h.actions(a.Run.ID) {
		texts = append(texts, e.Body)
	}
	for i, want := range []string{1: "old Ann", 2: "still here", 3: "came late"} {
		if !strings.Contains(texts[i], want) {
			t.Errorf("call %d came to %q, want %q", i, texts[i], want)
		}
	}
	h.check(a.Run.ID)
}

// TestTheSystemTextStaysTheSame: while no description changes, neither it nor the
// tools do, whatever is loaded, saved or asked; servers keep what they have read.
func TestTheSystemTextStaysTheSame(t *testing.T) {
	h := prepareHouse(t, calls(use("greet", "Ann")), calls(use("code", "x"), numbered("write", 1)), say("done"), calls(use("greet", "Bob")), say("done"))
	greet, code := aSkill("greet", "hello"), aCodeSkill("code")
	s := h.withSkills(greet, code)
	h.tools.on("write", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
		saved := aSkill("greet", "hello")
		saved.Body, saved.Hash = "good evening", "h-new" // its text, and not what is told of it
		s.put(code, saved)
		return ok("written")
	})
	h.start()
	a := h.submit(Submission{Agent: "free", Prompt: "greet Ann"})
	h.await(a)
	b := h.submit(Submission{Agent: "free", Run: a.Run.Alias, Prompt: "run some code"})
	h.await(b)
	asked := h.models.asked()
	if len(asked) != 5 || !strings.Contains(asked[0].Messages[0].Text, "describes hello") {
		t.Fatalf("asked %d times", len(asked))
	}
	for i, r := range asked {
		if got, want := r.Messages[0].Text, asked[0].Messages[0].Text; got != want {
			t.Errorf("the system text of request %d is\n%s\nafter\n%s", i+1, got, want)
		}
		if got, want := string(encode(r.Tools)), string(encode(asked[0].Tools)); got != want {
			t.Errorf("the tools of request %d are\n%s\nafter\n%s", i+1, got, want)
		}
	}
	if kept := h.entries(a.Run.ID, "system://"); len(kept) != 1 || kept[0].Version != 1 {
		t.Errorf("it was written %+v", kept)
	}
	h.check(a.Run.ID)
}

// TestALoadedSkillStays: the run goes on with what it loaded, another run and
// the prompt have what there is now, and a disabled one is refused.
func TestALoadedSkillStays(t *testing.T) {
	h := prepareHouse(t, calls(use("greet", "")), say("a"), calls(use("greet", "again")), say("b"), calls(use("greet", "")), say("c"), calls(use("greet", "x")), say("d"))
	s := h.withSkills(aSkill("greet", "old"))
	h.start()
	h.run(Submission{Run: "one"})
	s.put(aSkill("greet", "new"))
	one := h.submit(Submission{Run: "one"})
	h.await(one)
	two := h.submit(Submission{Run: "two"})
	h.await(two)
	off := aSkill("greet", "new")
	off.Status = sdk.SkillDisabled
	s.put(off, aSkill("other", "other"))
	h.run(Submission{Run: "one"})
	mine := h.actions(one.Run.ID)
	if !strings.Contains(mine[1].Body, "\nold\n") || !strings.Contains(h.actions(two.Run.ID)[0].Body, "\nnew\n") {
		t.Errorf("got %q and %q", mine[1].Body, h.actions(two.Run.ID)[0].Body)
	}
	if last := mine[2]; last.Outcome != sdk.Permission || !strings.Contains(last.Body, "bothy skills enable greet") {
		t.Errorf("a disabled skill came to %s: %s", last.Outcome, last.Body)
	}
	entries := h.entries(one.Run.ID, "skill://")
	if len(entries) != 1 || entries[0].Path != "skill://greet" || entries[0].Body != "old" || entries[0].Writer != sdk.WriterSystem ||
		!strings.Contains(string(entries[0].Attributes), `"folder_hash":"f-h-old"`) {
		t.Errorf("the run holds %+v", entries)
	}
	rows, err := h.store.Journal(t.Context(), sdk.JournalQuery{Run: one.Run.ID})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(rows, func(r sdk.JournalRow) bool {
		return r.Path == "skill://greet" && strings.Contains(string(r.Data), "h-old")
	}) {
		t.Error("the journal does not name what was loaded")
	}
	h.check(one.Run.ID, two.Run.ID)
}

// TestWhoIsOfferedSkills: an agent's globs and the mode decide, as for any
// tool; without the tool nobody speaks of skills.
func TestWhoIsOfferedSkills(t *testing.T) {
	no := false
	for name, c := range map[string]struct {
		agent, tool string
		readOnly    bool
		unable      bool
		fewer       bool // no skill is there
		offered     bool
		outcome     string
	}{
		"an agent with all tools":        {agent: "free", tool: "use_skill", offered: true, outcome: "use_skill:resolved"},
		"by its qualified name":          {agent: "free", tool: "bothy__use_skill", offered: true, outcome: "bothy__use_skill:resolved"},
		"when it only reads":             {agent: "free", tool: "use_skill", readOnly: true, offered: true, outcome: "use_skill:resolved"},
		"a glob on the name":             {agent: "skilled", tool: "use_skill", offered: true, outcome: "use_skill:resolved"},
		"an agent that may not":          {agent: "reader", tool: "use_skill", outcome: "use_skill:failed:permission"},
		"a model that calls no tools":    {agent: "bare", tool: "use_skill", unable: true, outcome: "use_skill:failed:not_found"},
		"where there is no skill at all": {agent: "free", tool: "use_skill", fewer: true, outcome: "use_skill:failed:not_found"},
	} {
		t.Run(name, func(t *testing.T) {
			h := prepareHouse(t, calls(call{c.tool, `{"name":"greet"}`}))
			s := h.withSkills(aSkill("greet", "hello"))
			if c.fewer {
				s.put()
			}
			if c.unable {
				h.models.tools = &no
			}
			h.agents["skilled"] = sdk.Agent{Tools: []string{"bothy__*"}}
			h.start()
			a := h.submit(Submission{Agent: c.agent, ReadOnly: c.readOnly})
			h.await(a)
			first := h.models.asked()[0]
			if got := slices.ContainsFunc(first.Tools, func(d sdk.ToolDef) bool { return d.Name == "use_skill" }); got != c.offered {
				t.Errorf("offered: %v", got)
			}
			if got := strings.Contains(first.Messages[0].Text, "describes hello"); got != c.offered {
				t.Errorf("told: %v", got)
			}
			if got := h.outcomes(a.Run.ID); got != c.outcome {
				t.Errorf("got %s", got)
			}
			h.check(a.Run.ID)
		})
	}
}

// TestAPluginsUseSkill: a plugin's tool of that name does not take the place of
// the daemon's, and is there by its qualified name.
func TestAPluginsUseSkill(t *testing.T) {
	h := prepareHouse(t, calls(use("greet", ""), call{"fake__use_skill", `{}`}))
	h.withSkills(aSkill("greet", "hello"))
	h.tools.add("use_skill", sdk.Annotations{ReadOnly: true}, true)
	h.start()
	a := h.submit(Submission{Agent: "free"})
	h.await(a)
	var names []string
	for _, d := range h.models.asked()[0].Tools {
		if strings.Contains(d.Name, "use_skill") {
			names = append(names, d.Name)
		}
	}
	if got := strings.Join(names, " "); got != "use_skill fake__use_skill" {
		t.Errorf("offered %s", got)
	}
	if made := h.tools.calledTools(); len(made) != 1 || !strings.Contains(h.actions(a.Run.ID)[0].Body, "hello") {
		t.Errorf("the plugin was called %v, and the skill came to %q", made, h.actions(a.Run.ID)[0].Body)
	}
}

// TestAPluginsUseSkillInItsPlace: an agent that may use the plugin's tool and not
// the daemon's has the plugin's by the name that it is offered.
func TestAPluginsUseSkillInItsPlace(t *testing.T) {
	h := prepareHouse(t, calls(call{"use_skill", `{}`}))
	h.withSkills(aSkill("greet", "hello"))
	h.tools.add("use_skill", sdk.Annotations{ReadOnly: true}, true)
	h.agents["theirs"] = sdk.Agent{Tools: []string{"fake__*"}}
	h.start()
	a := h.submit(Submission{Agent: "theirs"})
	h.await(a)
	if defs := h.models.asked()[0].Tools; !slices.ContainsFunc(defs, func(d sdk.ToolDef) bool { return d.Name == "use_skill" }) {
		t.Errorf("offered %v", defs)
	}
	if got := h.outcomes(a.Run.ID); got != "use_skill:resolved" || len(h.tools.calledTools()) != 1 {
		t.Errorf("got %s, and the plugin was called %v", got, h.tools.calledTools())
	}
}

// TestWithoutSkills: that they cannot be had is told once, and the work goes on.
func TestWithoutSkills(t *testing.T) {
	h := prepareHouse(t, calls(numbered("read", 1)), calls(numbered("read", 2)), say("done"))
	s := h.withSkills(aSkill("greet", "hello"))
	lost := errors.New("the shelf fell over")
	s.fails.Store(&lost)
	h.start()
	a := h.submit(Submission{})
	if l := h.await(a); l.Status != sdk.StatusOK {
		t.Errorf("ended %d: %s", l.Status, l.Reason)
	}
	said := h.entries(a.Run.ID, "log://turn_1/error/skills")
	if len(said) != 1 || !strings.Contains(said[0].Body, "the shelf fell over") || len(h.entries(a.Run.ID, "log://turn_2/error/skills")) != 0 {
		t.Errorf("said %+v", said)
	}
	h.check(a.Run.ID)
}

// TestASkillTwiceInARow: guards take a skill for what they take any call for. One
// that comes twice in a row is answered once more, three times end the loop, and a code
// skill is not executed again.
func TestASkillTwiceInARow(t *testing.T) {
	for name, c := range map[string]struct {
		again call
		want  string
		stop  string
	}{
		"the same":                {use("code", "one"), "use_skill:resolved use_skill:resolved use_skill:cancelled:aborted", "repeated_calls"},
		"by its qualified name":   {call{"bothy__use_skill", `{"input":"one", "name":"code"}`}, "use_skill:resolved bothy__use_skill:resolved bothy__use_skill:cancelled:aborted", "repeated_calls"},
		"another skill":           {use("greet", "one"), "use_skill:resolved use_skill:resolved use_skill:resolved", "answer"},
		"the skill for something": {use("code", "two"), "use_skill:resolved use_skill:resolved use_skill:resolved", "answer"},
	} {
		t.Run(name, func(t *testing.T) {
			h := prepareHouse(t, calls(use("code", "one")), calls(c.again), calls(c.again), say("done"))
			s := h.withSkills(aSkill("greet", "hello"), aCodeSkill("code"))
			h.start()
			a := h.submit(Submission{})
			if l := h.await(a); l.Stop != c.stop {
				t.Errorf("ended %d %q: %s", l.Status, l.Stop, l.Reason)
			}
			if got := h.outcomes(a.Run.ID); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			ones := 0
			for _, made := range s.calls() {
				if made.Input == "one" {
					ones++
				}
			}
			if ones != 1 {
				t.Errorf("executed %+v", s.calls())
			}
			h.check(a.Run.ID)
		})
	}
}

// TestACodeSkillIsAnEffect: it runs by itself, and what stands behind it is not
// done when it fails.
func TestACodeSkillIsAnEffect(t *testing.T) {
	h := prepareHouse(t, calls(use("greet", ""), use("code", "one"), numbered("read", 1)))
	s := h.withSkills(aSkill("greet", "hello"), aCodeSkill("code"))
	s.executes = func(_ context.Context, out sdk.Stream) (sdk.ToolResult, error) {
		return sdk.ToolResult{Output: "half", Error: "it broke", Outcome: sdk.Exit(1)}, out.Chunk(1, []byte("half"))
	}
	h.start()
	a := h.submit(Submission{Agent: "free"})
	h.await(a)
	if got := h.outcomes(a.Run.ID); got != "use_skill:resolved use_skill:failed:exit:1 read:failed:aborted" {
		t.Errorf("got %s", got)
	}
	made := s.calls()
	if len(made) != 1 || made[0].Skill != "code" || made[0].Input != "one" || made[0].Body != "runs code" || made[0].Model != "fake/m" ||
		made[0].Folder != filepath.Join(h.engine.runDir(a.Run), "skills", "code") || made[0].CallID == "" {
		t.Errorf("executed %+v", made)
	}
	h.check(a.Run.ID)
}

// TestAPersonUsesASkill calls the tool as a client does.
func TestAPersonUsesASkill(t *testing.T) {
	h := prepareHouse(t)
	people := aSkill("secret", "for people")
	people.PeopleOnly = true
	h.withSkills(aSkill("greet", "hello $ARGUMENTS"), people)
	h.start()
	for name, want := range map[string]string{"greet": "hello Ann", "secret": "for people"} {
		done, err := h.engine.CallTool(t.Context(), ToolCall{Project: h.project, Approved: true, Tool: "use_skill", Arguments: json.RawMessage(use(name, "Ann").arguments)})
		if err != nil || !done.Result.Success || !strings.Contains(done.Result.Output, want) {
			t.Errorf("%s: %v, %+v", name, err, done.Result)
		}
	}
	h.check(1)
}
