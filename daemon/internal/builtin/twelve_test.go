package builtin

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/dialect/tags"
	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/sdk"
)

// properties are the arguments that a schema names.
func properties(t *testing.T, schema json.RawMessage) map[string]bool {
	t.Helper()
	var s struct{ Properties map[string]json.RawMessage }
	if err := json.Unmarshal(schema, &s); err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for name := range s.Properties {
		all[name] = true
	}
	return all
}

// TestTwelve: the tools that tags are read by are those that models are taught, in that order, and each argument that an own
// one takes is known to the reader, which knows no other: what it reads a tool takes.
func TestTwelve(t *testing.T) {
	own := map[string]sdk.Tool{sdk.ToolThink: thinkSpec, sdk.ToolSkill: skillSpec, sdk.ToolAskUser: askUserSpec}
	for _, s := range verbSpecs {
		own[s.Name] = s
	}
	var names []string
	for _, read := range tags.Twelve() {
		names = append(names, read.Name)
		spec, is := own[read.Name]
		if !is {
			continue
		}
		known, taken := properties(t, read.Parameters), properties(t, spec.Parameters)
		for _, name := range slices.Sorted(maps.Keys(known)) {
			if !taken[name] {
				t.Errorf("the reader knows %s of %s, which does not take it", name, read.Name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(properties(t, spec.Parameters))) {
			if !known[name] {
				t.Errorf("%s takes %s, and the reader does not know it", read.Name, name)
			}
		}
	}
	if !slices.Equal(names, sdk.ModelTools()) {
		t.Errorf("they are %v", names)
	}
}

// taught are the own tools that an agent has in a run without a project.
func taught(t *testing.T, a sdk.Agent, finish *sdk.FinishSpec) turn {
	t.Helper()
	a = a.In(sdk.Run{})
	b := New(Config{
		Catalogue: func(context.Context, string) (*skill.Catalogue, error) { return skill.NewCatalogue(nil), nil },
		Budget:    func() float64 { return 2 },
		Entries:   noEntries{}, Verbs: NewVerbs(nil, Patterns, func(text string) string { return text }),
	})
	all, err := b.Turn(t.Context(), sdk.TurnContext{Loop: sdk.Loop{ID: 1}, Admits: a.Admits, Finish: finish})
	if err != nil {
		t.Fatal(err)
	}
	return all.(turn)
}

// noEntries is a run with none.
type noEntries struct{}

func (noEntries) Entry(context.Context, int64, string) (sdk.Entry, error) {
	return sdk.Entry{}, sdk.Errorf(sdk.NotFound, "there is none")
}

func (noEntries) Entries(context.Context, sdk.EntryQuery) ([]sdk.Entry, error) { return nil, nil }

// TestTaught: with tags or a packet an agent has the own ones of the twelve, or those of them that it names; with neither it has
// what it names.
func TestTaught(t *testing.T) {
	const all = "ask_user cp get mv rm set skill think update"
	for _, c := range []struct {
		agent sdk.Agent
		want  string
	}{
		{sdk.Agent{Dialect: sdk.DialectTags}, all},
		{sdk.Agent{View: sdk.ViewPacket, Dialect: sdk.DialectTools}, all},
		{sdk.Agent{Dialect: sdk.DialectTags, Tools: []string{"*"}}, all},
		{sdk.Agent{Dialect: sdk.DialectTags, Tools: []string{"remember", "mcp__*"}}, all},
		{sdk.Agent{Dialect: sdk.DialectTags, Tools: []string{"get", "web_*"}}, "get think update"},
		{sdk.Agent{Dialect: sdk.DialectTags, Tools: []string{"get", "*"}}, all},
		{sdk.Agent{Dialect: sdk.DialectTags, Tools: []string{"g*"}}, "get think update"},
		{sdk.Agent{Dialect: sdk.DialectTags, Tools: []string{"bothy__get", "bothy__c*"}}, "cp get think update"},
		{sdk.Agent{Dialect: sdk.DialectTags, Without: []string{"rm", "update"}}, "ask_user cp get mv set skill think"},
		{sdk.Agent{Dialect: sdk.DialectTags, Bound: &sdk.Bound{Tools: []string{"get", "set"}}}, "get set think update"},
		{sdk.Agent{Dialect: sdk.DialectTags, Bound: &sdk.Bound{}}, all},
		{sdk.Agent{Dialect: sdk.DialectTags, Bound: &sdk.Bound{Tools: []string{"*"}}}, all},
		{sdk.Agent{Dialect: sdk.DialectTags, Bound: &sdk.Bound{Tools: []string{"read_file", "s*"}}}, "set skill think update"},
		{sdk.Agent{Dialect: sdk.DialectTags, Tools: []string{"rm"}, Bound: &sdk.Bound{Tools: []string{"read_file"}}}, "think update"},
		{sdk.Agent{}, ""},
		{sdk.Agent{Tools: []string{"*"}}, ""},
		{sdk.Agent{Tools: []string{"get", "think"}}, "get think"},
	} {
		var names []string
		for _, tool := range taught(t, c.agent, nil).Tools() {
			names = append(names, tool.Name)
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%+v has %q, want %q", c.agent, got, c.want)
		}
	}
}

// TestUpdateBesideAResult: where a result has to be handed over, an update that calls the work done is a conflict which names how
// that is done; that it goes on, or cannot be done, is none.
func TestUpdateBesideAResult(t *testing.T) {
	finish := &sdk.FinishSpec{Schema: json.RawMessage(`{"type":"object"}`)}
	for arguments, refused := range map[string]bool{
		`{"status":200,"body":"done"}`: true, `{"status":204}`: true, `{"body":"on"}`: false, `{"status":102}`: false, `{"status":422,"body":"no"}`: false,
	} {
		all := taught(t, sdk.Agent{Dialect: sdk.DialectTags}, finish)
		err := all.unfinished(mustCall(t, all, arguments))
		if err != nil != refused || refused && (sdk.OutcomeOf(err) != sdk.Conflict || !strings.Contains(err.Error(), sdk.ToolFinish)) {
			t.Errorf("%s: %v", arguments, err)
		}
		if err := taught(t, sdk.Agent{Dialect: sdk.DialectTags}, nil).unfinished(mustCall(t, all, arguments)); err != nil {
			t.Errorf("without a result, %s: %v", arguments, err)
		}
	}
}

func mustCall(t *testing.T, all turn, arguments string) sdk.EntryCall {
	t.Helper()
	v, err := all.verb("update")
	if err != nil {
		t.Fatal(err)
	}
	c, err := v.call(json.RawMessage(arguments))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestOptionsAsText: the options of a question come as a list, or as the text between tags.
func TestOptionsAsText(t *testing.T) {
	for options, want := range map[string]string{
		`["a","b"]`: `["a","b"]`, `"[\"a\", \"b c\"]"`: `["a","b c"]`, `"a; b; c"`: `["a","b","c"]`, `"- a\n- b; c\n"`: `["a","b; c"]`,
	} {
		q, err := turn{}.Question(json.RawMessage(`{"question":"Which?","options":` + options + `}`))
		if err != nil || !strings.Contains(string(q.Schema), `"enum":`+want) {
			t.Errorf("%s: %s, %v", options, q.Schema, err)
		}
	}
	for _, options := range []string{`"one"`, `7`, `[]`, `"a;` + strings.Repeat("x", 300) + `"`} {
		if _, err := (turn{}).Question(json.RawMessage(`{"question":"Which?","options":` + options + `}`)); sdk.OutcomeOf(err) != sdk.Validation {
			t.Errorf("%s: %v", options, err)
		}
	}
}

// TestRemovePreviewed: a preview lists what would be removed, of a file too, and removes nothing.
func TestRemovePreviewed(t *testing.T) {
	b := newBench(t)
	for _, path := range []string{"known://temp_1", "known://temp_2", "known://kept"} {
		b.commit(sdk.Write{Path: path, Body: new("x"), Writer: sdk.WriterModel, State: sdk.StateResolved, Visibility: sdk.Visible})
	}
	done, err := b.do(sdk.EntryCall{Verb: sdk.VerbRemove, Path: "known://temp_*", Preview: true})
	if err != nil || !strings.Contains(done.Text, "known://temp_2") || strings.Contains(done.Text, "kept") {
		t.Errorf("%q, %v", done.Text, err)
	}
	for _, path := range []string{"known://temp_1", "known://temp_2"} {
		if _, err := b.s.Entry(t.Context(), b.use.Run.ID, path); err != nil {
			t.Error(err)
		}
	}
	if _, err := b.do(sdk.EntryCall{Verb: sdk.VerbRemove, Path: "known://none_*", Preview: true}); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("of nothing: %v", err)
	}
	if f, is, _ := standing(sdk.WriterModel).File("rm", json.RawMessage(`{"path":"a","preview":true}`)); is {
		t.Errorf("a preview of a file stands for %s", f.Tool)
	}
}
