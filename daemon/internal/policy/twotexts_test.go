package policy

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// verbs are what an instruction to a model begins with; "only" stands before one.
var verbs = strings.Fields("answer ask do leave make name only send stay tell use work write")

// TestTwoTexts: for each kind of refusal, the person reads the reason and the model what to
// do instead, beginning with a verb. Neither reads what the other does, and a call that
// runs has nothing to be told instead.
func TestTwoTexts(t *testing.T) {
	unpinned := tool("x", false, reads)
	denying := sdk.PolicyRule{Name: "no-x", Source: "config.hcl:3", Verdict: sdk.Deny, Tools: []string{"x"}}
	asking := sdk.PolicyRule{Name: "ask-x", Source: "config.hcl:4", Verdict: sdk.Propose, Tools: []string{"write_file"}}
	for name, c := range map[string]struct {
		set    Settings
		call   sdk.PolicyRequest
		rule   string
		person string // is in what the person reads
		model  string // begins what the model reads
		names  string // ends it
	}{
		"the deny-list":       {call: ofLine(`rm -rf /`), rule: "shell.deny", person: "cannot be undone", model: "name files and folders below the workspace"},
		"a pipe into a shell": {call: ofLine(`curl x | sh`), rule: "shell.pipe_interpreter", person: "would run what another command says", model: "save it to a file"},
		"a protected path":    {call: ofPath(writeFile, ".git/config"), rule: RuleProtected, person: ".git", model: "leave it as it is"},
		"by a command":        {call: ofLine(`echo x > .bothy/config.hcl`), rule: RuleProtected, person: ".bothy", model: "leave it as it is"},
		"the project itself":  {call: ofPath(writeFile, "."), rule: RuleProtected, person: "the project directory itself", model: "name what is to change"},
		"outside":             {call: ofPath(readFile, "../x"), rule: RuleOutside, person: "lies outside the project", model: "name a path below the project"},
		"an absolute path":    {call: ofPath(writeFile, "/etc/x"), rule: RuleOutside, person: `"/etc/x"`, model: "name a path below the project"},
		"a home":              {call: ofPath(readFile, "~/x"), rule: RuleOutside, person: "home directory", model: "name a path below the project"},
		"a control character": {call: ofPath(readFile, "a\x01b"), rule: RuleOutside, person: "control character", model: "write the path as plain text"},
		"a skill's folder":    {call: ofPath(writeFile, "/skills/x"), rule: RuleOutside, person: "a skill's folder", model: "write below the project"},
		"an asked path":       {call: ofPath(writeFile, ".vscode/tasks.json"), rule: RuleAsked, person: "nobody is here to ask", model: "leave it as it is"},
		"credentials":         {call: ofPath(readFile, ".env"), rule: RuleSecret, person: "credentials", model: "do without it"},
		"credentials, full":   {set: Settings{Mode: sdk.ModeFull}, call: ofPath(readFile, ".env"), rule: RuleSecret, person: "full mode asks nobody", model: "do without it"},
		"the mode":            {call: ofLine(`make`), rule: "shell.program", person: "in restricted mode a person has to agree, and nobody is here to ask", model: "say that a rule"},
		"full mode":           {set: Settings{Mode: sdk.ModeFull}, call: ofLine(`sudo ls`), person: "full mode asks nobody", model: "run the command without it"},
		"the strict form":     {set: Settings{Shell: "argv"}, call: ofLine(`make`), person: "only what is known to be harmless runs", model: "say that a rule"},
		"a path of a command": {call: ofLine(`cat /etc/hosts`), rule: "shell.path", person: `cat reads "/etc/hosts"`, model: "name a path below /workspace"},
		"not pinned":          {call: sdk.PolicyRequest{Tool: unpinned}, rule: RuleUnpinned, person: "is not pinned", model: "do it another way, or tell the person", names: "x of the plugin p, which `bothy plugins lock p` pins"},
		"not accepted":        {call: sdk.PolicyRequest{Tool: ofServer(reads, "")}, rule: RuleUnpinned, person: "is not pinned", model: "do it another way, or tell the person", names: "mcp__s__x of the plugin mcp__s, which `bothy mcp accept s` pins"},
		"drift":               {call: sdk.PolicyRequest{Tool: ofServer(reads, "has another description")}, rule: RuleDrift, person: "it has another description (`bothy mcp accept s` shows and accepts it)", model: "do it another way, or tell the person to look at what changed (`bothy mcp accept s`)"},
		"another sandbox's":   {call: sdk.PolicyRequest{Tool: tool("sh", true, destructive, sdk.GrantSandbox)}, rule: RuleSandbox, person: "cannot be read", model: "do it another way"},
		"unknown effects":     {call: sdk.PolicyRequest{Tool: tool("send", true, destructive)}, rule: RuleUnknown, person: "has side effects", model: "do it another way"},
		"the network":         {call: sdk.PolicyRequest{Tool: tool("open_network", true, destructive)}, rule: RuleNetwork, model: "do without the network", set: Settings{Mode: sdk.ModeFull}, person: "only a person opens the network"},
		"only reading":        {call: sdk.PolicyRequest{Tool: writeFile, ReadOnly: true}, rule: RuleAskMode, person: "may change things", model: "answer without it"},
		"only reading, plug":  {call: sdk.PolicyRequest{Tool: unpinned, ReadOnly: true}, rule: RuleAskMode, person: "which is not pinned", model: "answer without it"},
		"a broken workspace":  {set: Settings{Broken: "no HCL", BrokenAt: "f:1"}, call: ofPath(writeFile, "a"), rule: RuleWorkspace, person: "no HCL", model: "only read in this project"},
		"a rule":              {set: Settings{Rules: []sdk.PolicyRule{denying}}, call: sdk.PolicyRequest{Tool: unpinned}, rule: "no-x", person: `the rule "no-x" at config.hcl:3 denies`, model: "do it another way"},
		"a rule that asks":    {set: Settings{Rules: []sdk.PolicyRule{asking}}, call: ofPath(writeFile, "a"), rule: "ask-x", person: `the rule "ask-x" at config.hcl:4 wants a person`, model: "do it another way"},
		"no object":           {call: sdk.PolicyRequest{Tool: writeFile, Arguments: json.RawMessage(`[]`)}, rule: RuleBadArguments, person: "are not a JSON object", model: "send the arguments as one JSON object"},
		"no command":          {call: sdk.PolicyRequest{Tool: bash, Arguments: json.RawMessage(`{"command":7}`)}, rule: RuleBadArguments, person: "is no text", model: "write command as a text"},
	} {
		t.Run(name, func(t *testing.T) {
			c.call.Project = "/p"
			d := New(c.set).Decide(c.call)
			if d.Verdict != sdk.Deny || c.rule != "" && d.Rule != c.rule {
				t.Fatalf("%s by %s: %s", d.Verdict, d.Rule, d.Reason)
			}
			checkTexts(t, d)
			if !strings.Contains(d.Reason, c.person) || !strings.HasPrefix(d.Instead, c.model) || !strings.HasSuffix(d.Instead, c.names) {
				t.Errorf("the person reads %q\nand the model %q", d.Reason, d.Instead)
			}
			for _, mode := range []sdk.Mode{sdk.ModeInteractive, sdk.ModeRestricted, sdk.ModeWorkspace, sdk.ModeFull} {
				for _, attended := range []bool{false, true} {
					c.call.Mode, c.call.Attended, c.set.View = mode, attended, true
					checkTexts(t, New(c.set).Decide(c.call))
				}
			}
		})
	}
}

func ofPath(t sdk.Tool, path string) sdk.PolicyRequest {
	arguments, _ := json.Marshal(map[string]string{"path": path})
	return sdk.PolicyRequest{Tool: t, Arguments: arguments}
}

func ofLine(line string) sdk.PolicyRequest {
	arguments, _ := json.Marshal(map[string]string{"command": line})
	return sdk.PolicyRequest{Tool: bash, Arguments: arguments}
}

func checkTexts(t *testing.T, d sdk.Decision) {
	t.Helper()
	if d.Verdict == sdk.Allow {
		if d.Instead != "" {
			t.Errorf("it runs, and the model is told %q", d.Instead)
		}
		return
	}
	first, _, _ := strings.Cut(d.Instead, " ")
	if d.Verdict == sdk.Deny && !slices.Contains(append(verbs, "run", "save", "say"), first) {
		t.Errorf("the model is told %q, which is nothing to do", d.Instead)
	}
	if d.Reason == "" || strings.Contains(d.Reason, d.Instead) || strings.Contains(d.Instead, d.Reason) {
		t.Errorf("one reads what the other does: %q and %q", d.Reason, d.Instead)
	}
}
