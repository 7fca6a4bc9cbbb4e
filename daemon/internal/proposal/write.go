package proposal

import (
	"encoding/json"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Ask has an action wait for a person. Of is the action's entry.
func Ask(of sdk.Entry, p sdk.ActionProposal, arguments json.RawMessage, d sdk.Decision) sdk.Write {
	w := write(of, sdk.StateProposed, sdk.PhaseRecorded)
	w.Expect = of.Phase
	w.Attributes = attributes(map[string]any{"proposal": p, "changed": string(arguments), "decision": Replacing(d)})
	return w
}

// Expire ends an action that nobody decided on for so long.
func Expire(of sdk.Entry, waited string) sdk.Write {
	w := write(of, sdk.StateCancelled, sdk.PhaseEnded)
	reason := "nobody answered within " + waited + ", so this call was not made"
	told := "the person did not answer: go on without this call, and tell them what you wanted to do"
	w.Outcome, w.Body, w.Attributes = sdk.Aborted, &told, attributes(map[string]string{"error": told, "reason": reason})
	return w
}

// Unanswered ends a question that nobody answered for so long.
func Unanswered(of sdk.Entry, waited string) sdk.Write {
	w := write(of, sdk.StateCancelled, sdk.PhaseEnded)
	told := "nobody answered the question within " + waited
	w.Outcome, w.Body, w.Attributes = sdk.Aborted, &told, attributes(map[string]string{"error": told})
	return w
}

// Answer ends a question as a person has it. What they answered with is not in it.
func Answer(of sdk.Entry, given sdk.ActionAnswer, said string) sdk.Write {
	w := write(of, sdk.StateResolved, sdk.PhaseEnded)
	w.Body, w.Attributes = &said, attributes(map[string]any{"answer": given})
	return w
}

// Accept lets an action start. Instead is a body that hooks put into its entry;
// empty keeps what is there.
func Accept(of sdk.Entry, given sdk.ActionAnswer, instead string) sdk.Write {
	w := write(of, sdk.StateStreaming, sdk.PhaseApproved)
	if instead != "" {
		body := strings.ToValidUTF8(instead, "\uFFFD")
		w.Body = &body
	}
	w.Attributes = attributes(map[string]any{"answer": given})
	return w
}

// Reject ends an action as a person, or a hook upon a person's answer, has it: why is the
// reason for people, and tells the model what to do instead.
func Reject(of sdk.Entry, given sdk.ActionAnswer, why error) sdk.Write {
	w := write(of, sdk.StateFailed, sdk.PhaseEnded)
	told, reason := strings.ToValidUTF8(sdk.Told(why), "\uFFFD"), strings.ToValidUTF8(why.Error(), "\uFFFD")
	at := map[string]any{"answer": given, "error": told}
	if reason != told {
		at["reason"] = reason
	}
	w.Outcome, w.Body, w.Attributes = sdk.OutcomeOf(why), &told, attributes(at)
	return w
}

// Edit puts another call in the place of the one that was proposed: it waits, or
// runs when it is allowed. Attributes are merged, so what was there goes first, in
// a write of its own.
func Edit(of sdk.Entry, given sdk.ActionAnswer, p sdk.ActionProposal, arguments json.RawMessage, d sdk.Decision) []sdk.Write {
	none := write(of, "", "")
	none.Attributes = json.RawMessage(`{"arguments":null,"refers":null,"changed":null,"proposal":null,"decision":null,"answer":null}`)
	w := write(of, sdk.StateProposed, sdk.PhaseRecorded)
	if d.Verdict == sdk.Allow {
		w.State, w.Phase = sdk.StateStreaming, sdk.PhaseApproved
	}
	w.Expect, w.ExpectVersion = "", 0
	w.Attributes = attributes(map[string]any{"arguments": arguments, "changed": string(arguments), "proposal": p, "decision": d, "answer": given})
	return []sdk.Write{none, w}
}

// write is a change of an action that waits, which finds it as it was shown.
func write(of sdk.Entry, state sdk.State, phase sdk.Phase) sdk.Write {
	return sdk.Write{
		Path: of.Path, Writer: sdk.WriterSystem, Expect: sdk.PhaseRecorded, ExpectVersion: of.Version,
		State: state, Phase: phase, Loop: of.Loop, Turn: of.Turn,
	}
}

func attributes(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("{}")
	}
	return text
}

// Replacing is a decision that takes the place of another in attributes, which
// are merged: nothing of the other stays.
func Replacing(d sdk.Decision) map[string]any {
	m := map[string]any{"verdict": d.Verdict, "rule": d.Rule, "reason": d.Reason, "instead": nil, "source": nil, "violation": nil, "commands": nil}
	if d.Instead != "" {
		m["instead"] = d.Instead
	}
	if d.Source != "" {
		m["source"] = d.Source
	}
	if d.Violation != "" {
		m["violation"] = d.Violation
	}
	if len(d.Commands) > 0 {
		m["commands"] = d.Commands
	}
	return m
}
