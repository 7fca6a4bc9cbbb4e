package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// usedAt is the i-th action of turn 1, a use of a skill, in a phase.
func usedAt(i int, name string, phase sdk.Phase) sdk.Write {
	w := at(i, "use_skill", phase, sdk.StateStreaming, "")
	if phase == sdk.PhaseEnded {
		w = at(i, "use_skill", phase, sdk.StateResolved, "")
	}
	w.Attributes = encode(sdk.ActionCall{CallID: fmt.Sprintf("id%d", i), Tool: "use_skill", Plugin: "bothy", Index: i, Arguments: json.RawMessage(use(name, "in").arguments)})
	return w
}

func usedAnswer(names ...string) sdk.Write {
	text := "I use skills."
	at := sdk.Reply{Model: "fake/m", Finish: "calls"}
	for i, name := range names {
		at.Calls = append(at.Calls, sdk.Call{ID: fmt.Sprintf("id%d", i), Tool: "use_skill", Arguments: use(name, "in").arguments})
	}
	return sdk.Write{Path: "assistant://1", Body: &text, Attributes: encode(at)}
}

// TestRecoveryOfSkills dies at every durable point of turns that use skills: a
// text is loaded again, and a code skill is never executed a second time.
func TestRecoveryOfSkills(t *testing.T) {
	loaded := func(body string) sdk.Write {
		return sdk.Write{Path: "skill://greet", Body: &body, Attributes: json.RawMessage(`{"tier":"user","hash":"h-old","folder_hash":"f"}`)}
	}
	for name, c := range map[string]struct {
		commits  [][]sdk.Write
		actions  string
		executed int
		text     string // of the first action
	}{
		"answer stored, calls not planned": {
			commits: [][]sdk.Write{{usedAnswer("greet", "code")}},
			actions: "use_skill:resolved use_skill:resolved", executed: 1, text: "hello in",
		},
		"recorded, nothing started": {
			commits: [][]sdk.Write{{usedAnswer("greet", "code"), usedAt(0, "greet", sdk.PhaseRecorded), usedAt(1, "code", sdk.PhaseRecorded)}},
			actions: "use_skill:resolved use_skill:resolved", executed: 1, text: "hello in",
		},
		"a load started": {
			commits: [][]sdk.Write{{usedAnswer("greet", "code"), usedAt(0, "greet", sdk.PhaseStarted), usedAt(1, "code", sdk.PhaseRecorded)}},
			actions: "use_skill:resolved use_skill:resolved", executed: 1, text: "hello in",
		},
		"a load started, its entry written": {
			commits: [][]sdk.Write{{usedAnswer("greet"), usedAt(0, "greet", sdk.PhaseStarted)}, {loaded("what was loaded")}},
			actions: "use_skill:resolved", text: "what was loaded",
		},
		"a load ended, the code recorded": {
			commits: [][]sdk.Write{{usedAnswer("greet", "code"), usedAt(0, "greet", sdk.PhaseEnded), usedAt(1, "code", sdk.PhaseRecorded)}},
			actions: "use_skill:resolved use_skill:resolved", executed: 1, text: "it came to this",
		},
		"a code skill started": {
			commits: [][]sdk.Write{{usedAnswer("code", "greet"), usedAt(0, "code", sdk.PhaseStarted), usedAt(1, "greet", sdk.PhaseRecorded)}},
			actions: "use_skill:failed:interrupted use_skill:failed:aborted", text: "the daemon ended while this call ran",
		},
		"a code skill ended, no verdict": {
			commits: [][]sdk.Write{{usedAnswer("code"), usedAt(0, "code", sdk.PhaseEnded)}},
			actions: "use_skill:resolved", text: "it came to this",
		},
		"a skill that is gone": {
			commits: [][]sdk.Write{{usedAnswer("gone"), usedAt(0, "gone", sdk.PhaseStarted)}},
			actions: "use_skill:failed:not_found", text: `there is no skill "gone"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRuin(t)
			s := r.withSkills(aSkill("greet", "hello $ARGUMENTS"), aCodeSkill("code"))
			r.opened()
			for _, writes := range c.commits {
				r.left(sdk.Change{Writes: writes})
			}
			r.start()
			if l := r.await(Accepted{Run: r.run, Loop: r.loops[0]}); l.Status != sdk.StatusOK {
				t.Errorf("ended %d %q: %s", l.Status, l.Stop, l.Reason)
			}
			r.await(Accepted{Run: r.run, Loop: r.loops[1]})
			if got := r.outcomes(r.run.ID); got != c.actions {
				t.Errorf("got  %s\nwant %s", got, c.actions)
			}
			if got := len(s.calls()); got != c.executed {
				t.Errorf("executed %d times, want %d", got, c.executed)
			}
			if got := r.actions(r.run.ID)[0].Body; !strings.Contains(got, c.text) {
				t.Errorf("came to %q, want %q", got, c.text)
			}
			if len(r.tools.settled) > 0 {
				t.Errorf("a plugin was asked about %+v", r.tools.settled)
			}
			r.check(r.run.ID)
		})
	}
}

// TestRecoveryWhileASkillRuns cuts a daemon in the middle of both kinds.
func TestRecoveryWhileASkillRuns(t *testing.T) {
	h := prepareHouse(t, calls(use("code", "one")), say("done"))
	s := h.withSkills(aCodeSkill("code"))
	begun := make(chan struct{}, 1)
	s.executes = func(ctx context.Context, _ sdk.Stream) (sdk.ToolResult, error) {
		begun <- struct{}{}
		<-ctx.Done()
		return sdk.ToolResult{}, ctx.Err()
	}
	h.start()
	a := h.submit(Submission{})
	<-begun
	h.cut()
	h.start()
	if l := h.await(a); l.Status != sdk.StatusOK {
		t.Errorf("ended %d: %s", l.Status, l.Reason)
	}
	if got := h.outcomes(a.Run.ID); got != "use_skill:failed:interrupted" || len(s.calls()) != 1 {
		t.Errorf("got %s, executed %d times", got, len(s.calls()))
	}
	h.check(a.Run.ID)
}

// TestRecoveryOfADisabledCodeSkill: what it did is unknown, whatever was switched
// since.
func TestRecoveryOfADisabledCodeSkill(t *testing.T) {
	r := newRuin(t)
	off := aCodeSkill("code")
	off.Status = sdk.SkillDisabled
	s := r.withSkills(off, aSkill("greet", "hello"))
	body := "runs code"
	r.opened()
	r.left(sdk.Change{Writes: []sdk.Write{usedAnswer("code"), usedAt(0, "code", sdk.PhaseStarted),
		{Path: "skill://code", Body: &body, Attributes: json.RawMessage(`{"plugin":"coder"}`)}}})
	r.start()
	r.await(Accepted{Run: r.run, Loop: r.loops[0]})
	r.await(Accepted{Run: r.run, Loop: r.loops[1]})
	if got := r.outcomes(r.run.ID); got != "use_skill:failed:interrupted" || len(s.calls()) != 0 {
		t.Errorf("got %s, executed %d times", got, len(s.calls()))
	}
}

// TestATypedSkill: people see what they typed, the model reads the skill, and
// the run has it loaded.
func TestATypedSkill(t *testing.T) {
	h := prepareHouse(t, say("hi"), calls(use("secret", "")), say("b"))
	people := aSkill("secret", "for people: $ARGUMENTS")
	people.PeopleOnly = true
	h.withSkills(aSkill("greet", "hello $ARGUMENTS"), people)
	h.start()
	a := h.submit(Submission{Run: "r", Prompt: "/secret  of mine"})
	if l := h.await(a); l.Prompt != "/secret  of mine" {
		t.Errorf("the loop keeps %q", l.Prompt)
	}
	first := h.models.asked()[0]
	if last := first.Messages[len(first.Messages)-1]; !strings.Contains(last.Text, "\nfor people: of mine\n") || last.Skill != "secret" {
		t.Errorf("the model read %+v", last)
	}
	if e := h.entries(a.Run.ID, "prompt://"); len(e) != 1 || e[0].Body != "/secret  of mine" {
		t.Errorf("the prompt is %+v", e)
	}
	if e := h.entries(a.Run.ID, "skill://"); len(e) != 1 || e[0].Path != "skill://secret" {
		t.Errorf("loaded %+v", e)
	}
	if _, err := os.Stat(filepath.Join(h.engine.runDir(a.Run), "skills", "secret")); err != nil {
		t.Error(err)
	}
	// The model by itself may not use what is for people.
	h.await(h.submit(Submission{Run: "r"}))
	if got := h.outcomes(a.Run.ID); got != "use_skill:failed:permission" {
		t.Errorf("got %s", got)
	}
	h.check(a.Run.ID)
}

// TestATypedCodeSkill tells the model to call it, which it may in this loop.
func TestATypedCodeSkill(t *testing.T) {
	h := prepareHouse(t, calls(use("code", "the \"input\"")), say("done"))
	code := aCodeSkill("code")
	code.PeopleOnly = true
	s := h.withSkills(code)
	h.start()
	a := h.submit(Submission{Prompt: `/code the "input"`})
	h.await(a)
	first := h.models.asked()[0]
	if text := first.Messages[len(first.Messages)-1].Text; !strings.Contains(text, `use_skill with the arguments {"name":"code","input":"the \"input\""}`) || len(first.Tools) == 0 || first.Tools[0].Name != "use_skill" {
		t.Errorf("the model read %q", text)
	}
	if made := s.calls(); len(made) != 1 || made[0].Input != `the "input"` {
		t.Errorf("executed %+v", made)
	}
	if _, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Prompt: "/code x", Agent: "reader"}); sdk.OutcomeOf(err) != sdk.Permission {
		t.Errorf("an agent without the tool: %v", err)
	}
}

// TestWhatCannotBeTyped is an error before there is a run; anything else that
// begins with a slash is text.
func TestWhatCannotBeTyped(t *testing.T) {
	h := prepareHouse(t)
	off, needs, untrusted := aSkill("off", "x"), aSkill("needs", "x"), aSkill("theirs", "x")
	off.Status, off.Reason = sdk.SkillDisabled, "a skill block says so"
	untrusted.Status, untrusted.Tier = sdk.SkillUntrusted, sdk.TierWorkspace
	needs.ToolsRequired = []string{"read", "deploy"}
	h.withSkills(aSkill("greet", "hello"), off, needs, untrusted)
	h.start()
	for prompt, want := range map[string]struct {
		outcome sdk.Outcome
		says    string
	}{
		"/gret Ann":  {sdk.NotFound, `there is no skill "gret"; did you mean greet?`},
		"/tmp":       {sdk.NotFound, "To send this text as it is, begin it with a space"},
		"/off":       {sdk.Permission, "the skill off is disabled (a skill block says so); a person can enable it with `bothy skills enable off`"},
		"/needs":     {sdk.Unavailable, "(tools_required): deploy."},
		"/theirs me": {sdk.Permission, "before a person trusts it: it came with the project, see `bothy trust`"},
	} {
		_, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Prompt: prompt})
		if sdk.OutcomeOf(err) != want.outcome || !strings.Contains(err.Error(), want.says) || !strings.Contains(err.Error(), "begin it with a space") {
			t.Errorf("%s: %v", prompt, err)
		}
	}
	if _, err := h.store.Run(t.Context(), 1); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("a run was made: %v", err)
	}
	for _, prompt := range []string{"/etc/passwd", " /gret", "/", "/ gret", "//", "/Home is", "tell me about /greet"} {
		a := h.submit(Submission{Prompt: prompt})
		h.await(a)
		asked := h.models.asked()
		last := asked[len(asked)-1]
		if got := last.Messages[len(last.Messages)-1]; got.Text != prompt || got.Skill != "" {
			t.Errorf("%q was read as %q", prompt, got.Text)
		}
	}
}
