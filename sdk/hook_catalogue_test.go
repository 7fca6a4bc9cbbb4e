package sdk

import (
	"regexp"
	"strings"
	"testing"
)

func TestHookNames(t *testing.T) {
	snake := regexp.MustCompile(`^[a-z]+(\.[a-z]+(_[a-z]+)*)+$`)
	seen := map[string]bool{}
	for _, p := range Hooks() {
		if !snake.MatchString(p.Name) {
			t.Errorf("%q is not snake_case", p.Name)
		}
		if seen[p.Name] {
			t.Errorf("%q appears twice", p.Name)
		}
		seen[p.Name] = true
		if p.Doc == "" || p.Kind != HookEvent && p.Kind != HookFilter {
			t.Errorf("%q lacks a doc or a kind: %+v", p.Name, p)
		}
	}
	kinds := map[string]HookKind{
		"project.init.started": "event", "project.init.completed": "event", "run.config": "filter", "run.created": "event",
		"run.reset": "event", "run.expired": "event", "run.deleted": "event", "run.idle": "event", "run.rested": "event",
		"ask.started": "event", "act.started": "event", "ask.completed": "event", "act.completed": "event",
		"run.progress": "event", "run.state": "event", "run.step.completed": "event",
		"loop.started": "event", "loop.completed": "event", "turn.started": "event", "context.materialized": "event",
		"assembly.system": "filter", "assembly.user": "filter", "instructions.tool_docs": "filter",
		"instructions.resolve_system_prompt": "filter", "turn.before_dispatch": "filter", "turn.dispatched": "event",
		"llm.messages": "filter", "llm.request.started": "event", "llm.request.completed": "event",
		"llm.response": "filter", "llm.reasoning": "filter", "turn.response": "event", "entry.recording": "filter",
		"tool.before": "event", "tool.after": "event", "entry.created": "event", "entry.changed": "event",
		"proposal.prepare": "event", "proposal.pending": "event", "proposal.accepting": "filter",
		"proposal.content": "filter", "proposal.accepted": "event", "proposal.rejected": "event",
		"turn.verdict": "filter", "error.log": "event", "stream.cancelled": "event", "turn.completed": "event",
		"ui.render": "event", "ui.notify": "event", "socket.message.raw": "filter", "rpc.request": "filter",
		"rpc.response.result": "filter", "rpc.started": "event", "rpc.completed": "event", "rpc.error": "event",
	}
	for name, kind := range kinds {
		p, ok := FindHook(name)
		if !ok {
			t.Errorf("%q is missing", name)
		} else if p.Kind != kind {
			t.Errorf("%q is a %s, want %s", name, p.Kind, kind)
		}
	}
	if len(kinds) != len(seen) {
		t.Errorf("the catalogue has %d names, the test knows %d", len(seen), len(kinds))
	}
}

// TestSubscriptionCheck: what cannot be subscribed to is refused, and why is said.
func TestSubscriptionCheck(t *testing.T) {
	for _, c := range []struct {
		sub  Subscription
		code Outcome // empty: nothing is wrong
		want string
	}{
		{Subscription{Name: "run.created"}, "", ""},
		{Subscription{Name: "run.created", Priority: -3, Failure: FailOpen}, "", ""},
		{Subscription{Name: "entry.recording", Failure: FailClosed}, "", ""},
		{Subscription{Name: "run.creatde"}, NotFound, `there is no hook "run.creatde"; the nearest name is "run.created"`},
		{Subscription{Name: "turn.beforeDispatch"}, NotFound, `the nearest name is "turn.before_dispatch"`},
		{Subscription{Name: strings.Repeat("x", 1<<20)}, NotFound, "the nearest name is"},
		{Subscription{Name: "run.created", Failure: FailClosed}, Validation, "cannot fail closed"},
		{Subscription{Name: "turn.verdict", Failure: "maybe"}, Validation, `write "open" or "closed"`},
	} {
		check(t, c.sub, c.code, c.want)
	}
	for _, p := range Hooks() {
		check(t, Subscription{Name: p.Name}, "", "")
	}
}

func check(t *testing.T, sub Subscription, code Outcome, want string) {
	t.Helper()
	err := sub.Check()
	if (err == nil) != (code == "") || err != nil && (OutcomeOf(err) != code || !strings.Contains(err.Error(), want)) {
		t.Errorf("%.60v: %v, want %s %q", sub, err, code, want)
	}
}
