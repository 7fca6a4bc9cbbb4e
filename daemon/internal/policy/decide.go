// Package policy decides about every action: allow, propose or deny, with the
// rule that decided. It is pure: a call goes in, a decision comes out, and
// nothing is read, asked or remembered.
package policy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/policy/shell"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/protect"
)

// The built-in rules, as a Decision names them. Those about command lines are
// named by package shell, and the others by whoever wrote them.
const (
	RuleRead         = "read"          // a read-only tool of a pinned plugin
	RuleEntries      = "entries"       // a verb on entries of the run
	RuleGiven        = "given"         // an own tool without an effect, which the turn is given for its work
	RuleSandbox      = "sandbox"       // a tool that runs what policy cannot read, in the run's container
	RuleProject      = "project"       // a pinned plugin that writes below the project
	RuleUnpinned     = "unpinned"      // nothing vouches for what the plugin declares
	RuleAskMode      = "ask_mode"      // the loop may only read
	RuleOutside      = "outside"       // a path leaves the project
	RuleProtected    = "protected"     // a path that the host or Bothy trusts
	RuleReadOnly     = "readonly"      // a path that a constraint of the project keeps as it is
	RuleWrites       = "writes"        // a path that is not among those that the run may change
	RuleAsked        = "asked"         // a path that editors or tools run
	RuleSecret       = "secret"        // a path that holds credentials
	RuleFollow       = "follow"        // the result of a call asked for this one
	RuleDrift        = "drift"         // the tool is another than it was accepted as
	RuleUnknown      = "unknown"       // side effects that nothing confines
	RuleWithheld     = "withheld"      // the work of a tool that the agent's file holds back
	RuleBadArguments = "bad_arguments" // the arguments cannot be judged
	RuleNetwork      = "open_network"  // the network is opened by a person
	RuleWorkspace    = "workspace"     // the file of the workspace cannot be read
	RuleProven       = sdk.RuleProven  // a command line that only reads below the workspace
	RuleView         = "view"          // a command line that works on a copy of the project
	RuleAddress      = "address"       // where a call goes that names an address
	RuleOffline      = "offline"       // an agent, or the one that it works for, has no network
	RuleForeign      = "foreign"       // what agents obey or remember, in a run that has read what came from outside
	RuleLeak         = sdk.RuleLeak    // a live secret in what goes out of this machine
)

// Where rules come from, as in Decision.Source.
const (
	SourceBuiltIn    = "built-in"
	SourceRemembered = "remembered"
	SourceWorkspace  = "workspace " // and then FILE:LINE
)

// violationEscape is the security event of a path that leads out of the project.
const violationEscape = "path_escape"

// openNetwork is the tool that only a person can say yes to, every time.
const openNetwork = "open_network"

// Settings is what a Policy decides by, beside the built-in rules.
type Settings struct {
	Mode  sdk.Mode         // of an action that names none; empty is restricted
	Rules []sdk.PolicyRule // of the configuration, the workspace and answers, in any order
	Shell string           // sandbox.shell: "argv" is the strict form, all else is bash
	// Protect is what is protected beside what is by itself.
	Protect   sdk.Protection
	Workspace string // sandbox.workspace: with "private" commands work in a folder of the run's own

	// Found is what a look at the project told of paths that git's configuration names.
	Found []protect.Finding

	// ReadOnly says by which constraint of the project no run may write a path or, with holds, what lies below
	// it; empty is by none. Nil says nothing.
	ReadOnly func(at string, holds bool) string

	// View says that commands work on a copy of the project, and NoView why they do
	// not: then there is no mode workspace.
	View   bool
	NoView string

	// Broken is why the workspace's own file cannot be read, and BrokenAt where
	// that stands. What it would have denied is not known then, so that only
	// reading is allowed.
	Broken, BrokenAt string
}

// Policy decides by its settings. It keeps nothing from one decision to the
// next; make one with New.
type Policy struct {
	set     Settings
	rules   protect.Rules
	analyse func(line string, at shell.Place) shell.Report
}

// New makes a policy. Making one costs nothing, so that who has other rules for
// each project makes it when it is asked.
func New(set Settings) *Policy {
	if !set.Mode.Valid() {
		set.Mode = sdk.ModeRestricted
	}
	rules := protect.Rules{Refuse: set.Protect.Refuse, Ask: set.Protect.Ask, Free: set.Protect.Free, Found: set.Found}
	return &Policy{set: set, rules: rules, analyse: shell.Analyse}
}

// judged is an action while it is decided about.
type judged struct {
	sdk.PolicyRequest
	tool sdk.Tool // with no more than is believed of its annotations
	// arguments have the paths of the project relative to it; written are as the model
	// wrote them, where that is another form.
	arguments, written map[string]any
	paths              []namedPath
	otherMode          string       // why another mode holds than workspace
	host               string       // of the address that the call names; empty where it names none
	near               string       // why the address is none of the web
	guarded            sdk.Decision // why a person is asked about a path; its verdict is empty when nobody is
	line               *line        // of a tool that runs commands
	hash               string       // of the call, once it was asked for
	entries            bool         // it changes entries of the run and nothing else
	takes              bool         // it reads a file into an entry
	whole              bool         // it may write a whole file, and its tool is another that edits
}

// Decide rules on one action. What a plugin declares about its tools is believed
// only when it is pinned. The order: a prompt that only reads, the arguments, the
// deny-list, rules that deny, then the mode with the rules that allow, and last
// the rules that propose what would be allowed.
func (p *Policy) Decide(a sdk.PolicyRequest) sdk.Decision {
	j := &judged{PolicyRequest: a, tool: believed(a.Tool)}
	if j.Mode == "" {
		j.Mode = p.set.Mode
	}
	if j.Mode == sdk.ModeWorkspace && !p.set.View {
		j.Mode = sdk.ModeRestricted
		if a.Otherwise == sdk.ModeInteractive {
			j.Mode = a.Otherwise
		}
		j.otherMode = fmt.Sprintf("; the mode is %s, since workspace is not possible here: %s", j.Mode, p.set.NoView)
	}
	if j.isWary() {
		p = p.wary()
	}
	if a.Tool.Given {
		return closed(p.given(j))
	}
	if a.ReadOnly && !j.tool.Annotations.ReadOnly && !j.tool.Entries && !j.keeps() && !j.looks() {
		return denyEffect(a.Tool)
	}
	if len(a.Arguments) > 0 {
		if err := json.Unmarshal(a.Arguments, &j.arguments); err != nil {
			return deny(RuleBadArguments, "send the arguments as one JSON object", "the arguments of %q are not a JSON object", a.Tool.Name)
		}
		p.localize(j)
	}
	if j.takes = takesFile(j.tool, j.arguments); j.takes {
		j.tool.Annotations.ReadOnly = true
	}
	if j.whole = writesWhole(j.tool, j.arguments); j.whole && withholdsWriter(a.Without) {
		return deny(RuleWithheld, "make an edit of what is there, by its own text (SEARCH and REPLACE)", "the agent may not use %q, and this edit begins a file where there is none", writeTool)
	}
	if j.entries = touchesEntries(j.tool, j.arguments); a.ReadOnly && !j.tool.Annotations.ReadOnly && !j.entries && !j.keeps() && !j.looks() {
		return denyEffect(a.Tool)
	}
	d, bad := p.judgeArguments(j)
	if !bad {
		d = p.rule(j)
		j.line.show(&d, j)
	}
	if d.Host = j.host; j.host != "" && d.Verdict != sdk.Deny {
		d.NotHosts = p.notHosts(j)
	}
	return closed(d)
}

// given decides about a tool that has no effect, by its name alone: its arguments name nothing that it touches.
func (p *Policy) given(j *judged) sdk.Decision {
	if d, ok := p.firstOf(j, sdk.Deny); ok {
		return d
	}
	return builtIn(sdk.Allow, RuleGiven, "%q changes nothing by itself", j.tool.Name)
}

// closed is a decision with what a model is to do instead, where it may not do this.
func closed(d sdk.Decision) sdk.Decision {
	switch d.Verdict {
	case sdk.Allow:
		d.Instead = ""
	default:
		d.Instead = cmp.Or(d.Instead, "do it another way, or leave it to the person")
	}
	return d
}

// judgeArguments reads what the call names, and refuses what no rule can allow.
func (p *Policy) judgeArguments(j *judged) (sdk.Decision, bool) {
	switch {
	case j.entries: // what it names are no paths of files
		return sdk.Decision{}, false
	case j.tool.Entries && !j.tool.Annotations.ReadOnly:
		return deny(RuleBadArguments, "name one file, with its whole text where you write it; an entry is known://NAME, say",
			"what %q names has no scheme, so it is a file, and not what %[1]q changes of one", j.tool.Name), true
	}
	if j.paths = pathsOf(j.arguments); j.takes {
		j.paths = slices.DeleteFunc(j.paths, func(p namedPath) bool { return p.key == "to" })
	}
	settled := j.tool.Unlisted && j.tool.Pinned // by the plugin whose result asked for the call
	if !settled && (!j.sandboxed() || j.granted(sdk.GrantProject) && j.tool.Command == "") {
		for _, named := range j.paths {
			d := p.judgePath(j, named.key, named.path)
			if d.Verdict == sdk.Deny {
				return d, true
			}
			if j.guarded.Verdict == "" || d.Rule == RuleSecret || d.Rule == RuleForeign && j.guarded.Rule != RuleSecret {
				j.guarded = d
			}
		}
	}
	if j.goesOut() {
		if d, bad := j.readAddress(); bad {
			return d, true
		}
	}
	if j.tool.Command == "" {
		return sdk.Decision{}, false
	}
	text, ok := j.arguments[j.tool.Command].(string)
	if !ok {
		return deny(RuleBadArguments, "write "+j.tool.Command+" as a text", "%s of %q is no text, so that nobody can say what would run", j.tool.Command, j.tool.Name), true
	}
	j.line = p.read(text, p.place(j))
	return sdk.Decision{}, false
}

// rule finds the rule that decides.
func (p *Policy) rule(j *judged) sdk.Decision {
	if j.line != nil && j.line.Grade >= shell.Denied {
		return deny(j.line.Rule, j.line.Instead, "%s", j.line.Reason)
	}
	if j.ReadOnly && j.looks() && (j.line == nil || j.line.Grade > shell.Proven) {
		return deny(RuleAskMode, "look by commands that only read below the workspace, one after the other", "this prompt may only read, and of this line that is not known")
	}
	if j.line != nil && j.line.Refused != "" && j.Mode != sdk.ModeWorkspace { // in a copy it is not applied, or gone by the end
		return deny(RuleProtected, leaveProtected, "%s", j.line.Refused)
	}
	if d, ok := p.firstOf(j, sdk.Deny); ok {
		return d
	}
	if j.Offline && j.tool.Annotations.OpenWorld {
		return deny(RuleOffline, "do without the network", "%s reaches a network, and the agent has none (network = false)", reachesBy(j))
	}
	if p.set.Broken != "" && !j.tool.Annotations.ReadOnly && !j.entries {
		return sdk.Decision{Verdict: sdk.Deny, Rule: RuleWorkspace, Source: SourceWorkspace + p.set.BrokenAt,
			Reason:  "the configuration of this workspace cannot be read, and what it denies is not known; a person has to mend it: " + p.set.Broken,
			Instead: "only read in this project, and tell the person that .bothy/config.hcl has a mistake"}
	}
	if j.tool.Name == openNetwork {
		d := propose(RuleNetwork, "do without the network", "only a person opens the network of a project, in every mode")
		if j.Mode == sdk.ModeFull { // who asks about nothing waits for nobody
			d = j.ask(d)
		}
		return d
	}
	if j.tool.Drift != "" { // what allows it was about another tool
		return j.ask(propose(RuleDrift, "do it another way", "%q is not the tool any more that it was: it %s (`bothy mcp accept %s` shows and accepts it)", j.tool.Name, j.tool.Drift, serverOf(j.tool)))
	}
	if j.Leaks != "" && j.tool.Annotations.OpenWorld {
		return j.ask(propose(RuleLeak, "leave the key out, and never pass one on", "the call of %q would send the value of the secret %s out of this machine", j.tool.Name, j.Leaks))
	}
	if d, passes := j.passesOn(); passes {
		return d
	}
	d := j.builtIn()
	if d.Verdict != sdk.Allow {
		if allowed, ok := p.allows(j); ok {
			d = allowed
		}
	}
	if d.Verdict == sdk.Deny {
		return d // a rule that proposes is no way around it
	}
	if asked, ok := p.firstOf(j, sdk.Propose); ok {
		d = j.ask(asked)
	}
	return j.byWrites(p.set, d)
}

// believed is a tool without what only its plugin says of it, when nothing
// vouches for the plugin.
func believed(t sdk.Tool) sdk.Tool {
	if !t.Pinned {
		t.Annotations = sdk.Annotations{Destructive: true, OpenWorld: true}
	}
	return t
}

// reachesBy names a tool that reaches a network, on its plugin's word or for the want of one.
func reachesBy(j *judged) string {
	if !j.Tool.Pinned {
		return fmt.Sprintf("nothing vouches that %q is confined, so that it", j.tool.Name)
	}
	return fmt.Sprintf("%q", j.tool.Name)
}

// touchesEntries reports whether a call changes entries of the run and nothing else: that of
// a verb whose targets all have a scheme.
func touchesEntries(tool sdk.Tool, arguments map[string]any) bool {
	if !tool.Entries || !tool.Pinned {
		return false
	}
	if looks(tool, arguments) {
		return true
	}
	for _, key := range []string{"path", "to"} {
		at, given := arguments[key]
		if text, _ := at.(string); given && sdk.SchemeOf(text) == "file" {
			return false
		}
	}
	return true
}

// looks reports whether the tool's commands that only read may run where only reading is allowed.
func (j *judged) looks() bool { return j.tool.Looks && j.tool.Pinned && j.tool.Command != "" }

// keeps reports whether the tool changes what its plugin keeps as entries, and nothing else.
func (j *judged) keeps() bool { return j.tool.Keeps && j.tool.Pinned }

// takesFile reports whether a call copies a file into an entry: it only reads, and what it reads is a file.
func takesFile(tool sdk.Tool, arguments map[string]any) bool {
	from, _ := arguments["path"].(string)
	to, _ := arguments["to"].(string)
	return tool.Entries && tool.Pinned && tool.Name == string(sdk.VerbCopy) && sdk.SchemeOf(from) == "file" && sdk.SchemeOf(to) != "file"
}

// looks reports whether a call of set, or of cp and mv without a destination, changes how much is in sight of what it names, files
// too, and nothing of that.
func looks(tool sdk.Tool, arguments map[string]any) bool {
	verbs := []string{string(sdk.VerbSet), string(sdk.VerbCopy), string(sdk.VerbMove)}
	if !slices.Contains(verbs, tool.Name) || arguments["visibility"] == nil {
		return false
	}
	for key := range arguments {
		if key != "path" && key != "visibility" && key != "filter" {
			return false
		}
	}
	return true
}

// granted reports a grant of the plugin whose own the tool is: one that is only passed on has none.
func (j *judged) granted(grant string) bool {
	return j.tool.Source == "" && slices.Contains(j.tool.Grants, grant)
}

// serverOf is the server of MCP that a tool is of.
func serverOf(t sdk.Tool) string { return strings.TrimPrefix(t.Plugin, sdk.MCPPrefix) }

// pinVerb is what vouches for a tool.
func pinVerb(t sdk.Tool) string {
	if t.Source != "" {
		return "bothy mcp accept " + serverOf(t)
	}
	return "bothy plugins lock " + t.Plugin
}

// sandboxed reports whether the tool runs things in the run's container.
func (j *judged) sandboxed() bool { return j.granted(sdk.GrantSandbox) }

func denyEffect(t sdk.Tool) sdk.Decision {
	const asked = "this prompt may only read, and "
	const instead = "answer without it, or say that the person should run the prompt with side effects allowed"
	if !t.Pinned {
		return deny(RuleAskMode, instead, asked+"nothing vouches for what %q of the plugin %q does, which is not pinned", t.Name, t.Plugin)
	}
	return deny(RuleAskMode, instead, asked+"%q may change things", t.Name)
}

// leaveProtected is what a model is to do instead of changing what is protected.
const leaveProtected = "leave it as it is, and tell the person what you would change there"

// deny is a denial: what the model is to do instead, and why, for the person.
func deny(rule, instead, format string, args ...any) sdk.Decision {
	d := builtIn(sdk.Deny, rule, format, args...)
	d.Instead = instead
	return d
}

// propose is a proposal with what a model is to do instead, where nobody is asked.
func propose(rule, instead, format string, args ...any) sdk.Decision {
	d := deny(rule, instead, format, args...)
	d.Verdict = sdk.Propose
	return d
}

func builtIn(v sdk.Verdict, rule, format string, args ...any) sdk.Decision {
	return sdk.Decision{Verdict: v, Rule: rule, Source: SourceBuiltIn, Reason: fmt.Sprintf(format, args...)}
}
