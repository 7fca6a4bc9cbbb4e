package policy

import (
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestEditThatWrites: an edit that may begin a file is held to what rules say of write_file as well.
func TestEditThatWrites(t *testing.T) {
	editFile := tool("edit_file", true, destructive, sdk.GrantProject)
	editFile.Plugin = "files"
	marked := func(text string) sdk.PolicyRequest {
		return callOf(editFile, map[string]any{"path": "a.md", "old_text": "", "new_text": text})
	}
	const (
		pair = "<<SEARCH\na\nSEARCH\n<<REPLACE\nb\nREPLACE"
		adds = "<<APPEND\na\nAPPEND"
	)
	tools := func(v sdk.Verdict, names ...string) sdk.PolicyRule {
		return ruleOf(v, func(r *sdk.PolicyRule) { r.Tools = names })
	}
	for _, c := range []struct {
		name string
		call sdk.PolicyRequest
		mode sdk.Mode
		rule sdk.PolicyRule
		want sdk.Verdict
	}{
		{"denied as a write", marked(adds), sdk.ModeFull, tools(sdk.Deny, "write_file"), sdk.Deny},
		{"denied by the plugin's name", marked(adds), sdk.ModeFull, tools(sdk.Deny, "files__write_*"), sdk.Deny},
		{"denied as an edit", marked(adds), sdk.ModeFull, tools(sdk.Deny, "edit_file"), sdk.Deny},
		{"one for all, with text around", marked("it is:\n<<NEW\na\nNEW"), sdk.ModeFull, tools(sdk.Deny, "write_file"), sdk.Deny},
		{"the form of another program", marked("s/a/b/"), sdk.ModeFull, tools(sdk.Deny, "write_file"), sdk.Deny},
		{"of what has to be there", marked(pair), sdk.ModeFull, tools(sdk.Deny, "write_file"), sdk.Allow},
		{"of one place", callOf(editFile, map[string]any{"path": "a.md", "old_text": "a", "new_text": adds}), sdk.ModeFull, tools(sdk.Deny, "write_file"), sdk.Allow},
		{"of another plugin", callOf(tool("edit_file", true, destructive, sdk.GrantProject), map[string]any{"path": "a.md", "old_text": "", "new_text": adds}), sdk.ModeFull, tools(sdk.Deny, "write_file"), sdk.Allow},
		{"proposed as a write", marked(adds), sdk.ModeRestricted, tools(sdk.Propose, "write_file"), sdk.Propose},
		{"allowed as an edit alone", marked(adds), sdk.ModeInteractive, tools(sdk.Allow, "edit_file"), sdk.Propose},
		{"allowed as a write alone", marked(adds), sdk.ModeInteractive, tools(sdk.Allow, "write_file"), sdk.Propose},
		{"allowed as both", marked(adds), sdk.ModeInteractive, tools(sdk.Allow, "edit_file", "files__write_file"), sdk.Allow},
		{"allowed as an edit of what has to be there", marked(pair), sdk.ModeInteractive, tools(sdk.Allow, "edit_file"), sdk.Allow},
	} {
		c.call.Mode, c.call.Attended = c.mode, true
		if d := New(Settings{Rules: []sdk.PolicyRule{c.rule}}).Decide(c.call); d.Verdict != c.want {
			t.Errorf("%s: %+v", c.name, d)
		}
	}
	call := marked(adds)
	call.Mode, call.Attended = sdk.ModeInteractive, true
	hash, err := call.Hash()
	if err != nil {
		t.Fatal(err)
	}
	rule := tools(sdk.Allow, "edit_file")
	rule.Exact = hash
	if d := New(Settings{Rules: []sdk.PolicyRule{rule}}).Decide(call); d.Verdict != sdk.Allow {
		t.Errorf("what a person agreed to for good: %+v", d)
	}
}

// TestEditOfAnAgentWithoutWriting: what an agent's file holds back holds for an edit that may begin a file, and for no other.
func TestEditOfAnAgentWithoutWriting(t *testing.T) {
	editFile := tool("edit_file", true, destructive, sdk.GrantProject)
	editFile.Plugin = "files"
	for _, c := range []struct {
		without, text string
		want          sdk.Verdict
	}{
		{"write_file", "<<NEW\na\nNEW", sdk.Deny},
		{"files__write_*", "<<APPEND\na\nAPPEND", sdk.Deny},
		{"write_file", "<<SEARCH\na\nSEARCH\n<<REPLACE\nb\nREPLACE", sdk.Allow},
		{"delete_path", "<<NEW\na\nNEW", sdk.Allow},
	} {
		call := callOf(editFile, map[string]any{"path": "a.md", "old_text": "", "new_text": c.text})
		call.Mode, call.Without = sdk.ModeFull, []string{c.without}
		d := New(Settings{}).Decide(call)
		if checkTexts(t, d); d.Verdict != c.want || c.want == sdk.Deny && d.Rule != RuleWithheld {
			t.Errorf("without %s, %q: %+v", c.without, c.text, d)
		}
	}
}
