package engine

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestRunsOfOthersAreNotGoneOnWith: a channel goes on with a run for its owner alone, by whatever name it knows it, and
// has an implicit run for each; at this machine any run is gone on with, and stays whose it is.
func TestRunsOfOthersAreNotGoneOnWith(t *testing.T) {
	h := prepareAsking(t, say("one"), say("two"), say("three"))
	h.start()
	bob, elsewhere, group := sdk.Origin{Owner: "chat/bob", Channel: "chat"}, sdk.Origin{Owner: chat.Owner, Channel: "mail"}, sdk.Origin{Owner: "chat/group/1", Channel: "chat"}
	me := sdk.Origin{Owner: sdk.LocalOwner, Channel: "chat"}
	h.run(Submission{Run: "adas", Origin: chat})
	h.run(Submission{Run: "mine"})
	for name, o := range map[string]sdk.Origin{"bob": bob, "another channel": elsewhere, "a group": group, "whoever works here, by the channel": me} {
		for _, run := range []string{"adas", "mine"} {
			_, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Run: run, Prompt: "p", Origin: o})
			_, forkErr := h.engine.Submit(t.Context(), Submission{Project: h.project, Run: run, Fork: true, Prompt: "p", Origin: o})
			_, callErr := h.engine.CallTool(t.Context(), ToolCall{Project: h.project, Run: run, Tool: "read", Arguments: json.RawMessage(`{}`), Origin: o})
			for what, err := range map[string]error{"a prompt": err, "a fork": forkErr, "a call": callErr} {
				if sdk.OutcomeOf(err) != sdk.Conflict {
					t.Errorf("%s of %s in %s: %v", what, name, run, err)
				}
			}
		}
	}
	a := h.submit(Submission{Run: "adas"})
	if h.await(a); a.Run.Origin != chat {
		t.Errorf("it is of %+v", a.Run.Origin)
	}
	seen := map[string]sdk.Origin{}
	for _, o := range []sdk.Origin{{}, chat, bob, elsewhere, group, me} {
		done, err := h.engine.CallTool(t.Context(), ToolCall{Project: h.project, Tool: "read", Arguments: json.RawMessage(`{}`), Origin: o})
		if err != nil || done.Run.Channel != o.Channel || o.Owner != "" && done.Run.Owner != o.Owner {
			t.Errorf("a call of %+v: in %+v, %v", o, done.Run.Origin, err)
		}
		if was, twice := seen[done.Run.Alias]; twice {
			t.Errorf("%+v and %+v share %s", was, o, done.Run.Alias)
		}
		seen[done.Run.Alias] = o
	}
}

// TestKeysAreOfAPerson: the same key of another person, group, channel, or of this machine is another prompt.
func TestKeysAreOfAPerson(t *testing.T) {
	h := prepareAsking(t, say("1"), say("2"), say("3"), say("4"), say("5"))
	h.start()
	me := sdk.Origin{Owner: sdk.LocalOwner, Channel: "chat"}
	loops := map[int64]bool{}
	for _, s := range []Submission{
		{Prompt: "here"}, {Prompt: "ada", Origin: chat, From: &sdk.From{Person: "ada"}}, {Prompt: "elsewhere", Origin: sdk.Origin{Owner: "mail/ada", Channel: "mail"}, From: &sdk.From{Person: "ada"}},
		{Prompt: "me", Origin: me, From: &sdk.From{Person: "me"}}, {Prompt: "me too", Origin: me, From: &sdk.From{Person: "too"}},
	} {
		s.Key = "17"
		a := h.submit(s)
		h.await(a)
		s.Project = h.project
		again, err := h.engine.Submit(t.Context(), s)
		if err != nil || again.Loop.ID != a.Loop.ID || loops[a.Loop.ID] {
			t.Errorf("%s: the loop %d, and again %d, %v", s.Prompt, a.Loop.ID, again.Loop.ID, err)
		}
		loops[a.Loop.ID] = true
	}
}

// TestS3NamesOfRuns: a name that no run can have is refused before any path is made of it, to a channel too, for a fork,
// and for what a plugin asks.
func TestS3NamesOfRuns(t *testing.T) {
	h := prepareAsking(t, say("done"))
	h.start()
	a := h.submit(Submission{Run: "chat_1", Origin: chat})
	h.await(a)
	for _, name := range []string{"../x", "chat_../x", "a/b", "chat_a/b", strings.Repeat("a", 300), "a\x00b", "é"} {
		_, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Run: name, Prompt: "p", Origin: chat})
		_, startErr := h.engine.StartRun(t.Context(), Submission{Project: h.project, Run: name, Origin: chat})
		_, forkErr := h.engine.Fork(t.Context(), Fork{Run: a.Run.ID, Alias: name})
		_, callErr := h.engine.CallTool(t.Context(), ToolCall{Project: h.project, Run: name, Tool: "read", Arguments: json.RawMessage(`{}`), Origin: chat})
		for what, err := range map[string]error{"a prompt": err, "startRun": startErr, "a fork": forkErr, "a call": callErr} {
			if sdk.OutcomeOf(err) != sdk.Validation {
				t.Errorf("%s for %.20q: %v", what, name, err)
			}
		}
	}
	left, err := os.ReadDir(filepath.Join(h.config.DataDir, "runs"))
	for _, at := range left {
		if strings.Contains(at.Name(), "chat") || strings.Contains(at.Name(), "..") {
			t.Errorf("there is %s", at.Name())
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// TestRunsOfPluginsAreTheOwners: what a plugin begins for a run is its owner's, and of others' runs it reads and changes none.
func TestRunsOfPluginsAreTheOwners(t *testing.T) {
	for name, o := range map[string]sdk.Origin{"a channel's": chat, "of this machine": {Owner: sdk.LocalOwner}} {
		t.Run(name, func(t *testing.T) {
			h := prepareHouse(t, say("one"), say("two"), calls(call{"read_wrap", "{}"}), say("done"))
			h.withVerbs()
			h.using("read_wrap", func(do func(...sdk.EntryCall) (sdk.EntryDone, error), _ func(sdk.Write) error) {
				if _, err := do(runSet("fresh", "", `{"noRepo":true}`)); err != nil {
					t.Errorf("it begins none: %v", err)
				}
				for _, other := range []string{"bobs", "theirs"} {
					for what, c := range map[string]sdk.EntryCall{
						"a prompt": runSet(other, "go", ""), "an abort": {Verb: sdk.VerbSet, Path: "run://" + other, State: sdk.StateCancelled},
						"options": runSet(other, "", `{"noWeb":true}`), "a name": {Verb: sdk.VerbMove, Path: "run://" + other, To: "run://x"}, "reading": {Verb: sdk.VerbGet, Path: "run://" + other},
					} {
						if done, err := do(c); err == nil {
							t.Errorf("%s of %s: %+v", what, other, done)
						}
					}
				}
				if done, err := do(sdk.EntryCall{Verb: sdk.VerbGet, Path: "run://*"}); err != nil || strings.Contains(done.Text, "bobs") || strings.Contains(done.Text, "theirs") {
					t.Errorf("it is told %q, %v", done.Text, err)
				}
			})
			h.start()
			theirs := sdk.Origin{Owner: sdk.LocalOwner}
			if o.Channel == "" {
				theirs = chat
			}
			h.run(Submission{Run: "bobs", Origin: sdk.Origin{Owner: "chat/bob", Channel: "chat"}})
			h.run(Submission{Run: "theirs", Origin: theirs})
			a := h.submit(Submission{Run: "own", Origin: o})
			h.await(a)
			fresh, err := h.store.RunByAlias(t.Context(), a.Run.Project, "fresh")
			if err != nil || fresh.Origin != o || fresh.Private != (o.Channel != "") {
				t.Errorf("it began %+v, %v", fresh, err)
			}
		})
	}
}

// TestFirstPromptOfAChannelHasNoSkillsOfTheProject: a skill is looked for where the run that is to be made will have them.
func TestFirstPromptOfAChannelHasNoSkillsOfTheProject(t *testing.T) {
	h := prepareHouse(t, say("a"), say("b"))
	seen := map[string]bool{}
	h.withSkills(aSkill("greet", "hello"))
	own := h.config.Builtin
	h.config.Builtin = watchedTurns{own, seen}
	h.start()
	h.run(Submission{Run: "mine", Prompt: "/greet"})
	h.run(Submission{Run: "chat_1", Prompt: "/greet", Origin: chat})
	if !seen["mine in the project"] || seen["chat in the project"] || !seen["chat in none"] {
		t.Errorf("asked was %v", seen)
	}
}

// watchedTurns tells in which project own tools are asked for.
type watchedTurns struct {
	Builtin
	seen map[string]bool
}

func (w watchedTurns) Typed(ctx context.Context, t sdk.TurnContext, prompt string) (sdk.TypedPrompt, error) {
	who, where := "mine", "in the project"
	if t.Run.Private {
		who = "chat"
	}
	if t.Project == "" {
		where = "in none"
	}
	w.seen[who+" "+where] = true
	return w.Builtin.Typed(ctx, t, prompt)
}
