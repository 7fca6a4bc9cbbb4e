package policy

import (
	"cmp"
	"fmt"

	"github.com/bothyd/bothy/daemon/internal/policy/shell"
	"github.com/bothyd/bothy/sdk"
)

// howToAllow is what a model is to do instead of what a person could have agreed to.
const howToAllow = "tell the person that they can allow it, with a rule in the configuration or by running the prompt where they can be asked (--mode interactive)"

// leaveSecret is what a model is to do instead of reading credentials.
const leaveSecret = "do without it, or ask the person for what you need of it"

// onlyProven ends the reason of what the strict form refuses and a rule could
// allow.
const onlyProven = "; without a shell (sandbox.shell is argv) only what is known to be harmless runs, unless a rule in the configuration allows the command"

// letsIt ends the reason of what runs although nothing is known of it.
const letsIt = "; full mode lets it"

// builtIn decides by the mode of the run alone.
func (j *judged) builtIn() sdk.Decision {
	tool := j.tool
	if j.guarded.Verdict != "" && tool.Pinned && (!j.sandboxed() || j.granted(sdk.GrantProject)) {
		return j.byPath()
	}
	switch {
	case j.host != "":
		return j.byAddress()
	case j.entries:
		return builtIn(sdk.Allow, RuleEntries, "%q changes what the run knows, and nothing else", tool.Name)
	case j.keeps():
		return builtIn(sdk.Allow, RuleEntries, "%q changes what its plugin keeps as entries, and nothing else", tool.Name)
	case tool.Annotations.ReadOnly:
		return builtIn(sdk.Allow, RuleRead, "%q only reads, and its plugin is pinned", tool.Name)
	case tool.Unlisted && tool.Pinned:
		return j.unvouched(RuleFollow, "a call before it left this to be agreed to by a person (%q)", tool.Name)
	case j.line != nil && j.sandboxed() && tool.Pinned:
		return j.byGrade()
	case !tool.Pinned:
		return j.unvouched(RuleUnpinned, "plugin %q is not pinned, so nothing vouches for what its tool %q does (`%s` pins it)", tool.Plugin, tool.Name, pinVerb(tool))
	case j.sandboxed():
		return j.unvouched(RuleSandbox, "%q runs in the sandbox of this run, and what it runs there cannot be read", tool.Name)
	case j.granted(sdk.GrantProject):
		if j.Mode == sdk.ModeInteractive {
			return builtIn(sdk.Propose, RuleProject, "%q changes files of the project, and in interactive mode a person agrees to that", tool.Name)
		}
		return builtIn(sdk.Allow, RuleProject, "%q changes files below the project only", tool.Name)
	default:
		return j.unvouched(RuleUnknown, "%q has side effects and neither runs in the sandbox nor is confined to the project", tool.Name)
	}
}

// byPath decides about a call of a plugin that is vouched for and names a path that
// is not free: as about a line that would do the same.
func (j *judged) byPath() sdk.Decision {
	d := j.guarded
	switch {
	case j.Mode != sdk.ModeFull:
	case d.Rule == RuleSecret:
		d.Verdict = sdk.Deny
		d.Reason += "; full mode asks nobody, and so it does not run this"
	default:
		d.Verdict = sdk.Allow
		d.Reason += letsIt
	}
	return j.ask(d)
}

// unvouched decides about side effects of which nothing is known.
func (j *judged) unvouched(rule, format string, args ...any) sdk.Decision {
	if j.Mode == sdk.ModeFull {
		if j.line != nil && j.verdictOf(j.line.Grade) == sdk.Deny {
			return j.byGrade()
		}
		return builtIn(sdk.Allow, rule, format+letsIt, args...)
	}
	return j.ask(builtIn(sdk.Propose, rule, format, args...))
}

// byGrade decides about a command line.
func (j *judged) byGrade() sdk.Decision {
	l := j.line
	if l.Secret != "" && j.Mode == sdk.ModeWorkspace && l.Grade < shell.Denied {
		return j.ask(propose(RuleSecret, leaveSecret, "%s", l.Secret))
	}
	if l.Grade == shell.Proven {
		return builtIn(sdk.Allow, RuleProven, "every command of the line is known and only reads below the workspace")
	}
	d := builtIn(j.verdictOf(l.Grade), l.Rule, "%s", l.Reason)
	d.Instead = l.Instead
	switch {
	case d.Verdict == sdk.Deny && l.strict:
		d.Reason += onlyProven
	case d.Verdict == sdk.Deny:
		d.Reason += "; full mode asks nobody, and so it does not run this"
	case d.Verdict == sdk.Allow && j.Mode == sdk.ModeWorkspace:
		d = builtIn(sdk.Allow, RuleView, "the command works on a copy of the project, and what it changes can be taken back")
		d.View = true
	case d.Verdict == sdk.Allow && l.Grade >= shell.Unproven:
		d.Reason += letsIt
	}
	return j.ask(d)
}

// verdictOf is the table of grades and modes, for a run that is attended. The
// strict form asks about nothing that it does not know.
func (j *judged) verdictOf(g shell.Grade) sdk.Verdict {
	switch {
	case g <= shell.Proven:
		return sdk.Allow
	case g >= shell.Denied, g > shell.Contained && j.line.strict:
		return sdk.Deny
	case j.Mode == sdk.ModeWorkspace:
		return sdk.Allow
	case j.Mode == sdk.ModeInteractive:
		return sdk.Propose
	case g == shell.Contained:
		return sdk.Allow
	case j.Mode == sdk.ModeRestricted:
		return sdk.Propose
	case g == shell.Unproven:
		return sdk.Allow
	}
	return sdk.Deny
}

// ask makes a denial of a proposal that nobody would answer. In interactive mode it
// waits, since a person asked for that.
func (j *judged) ask(d sdk.Decision) sdk.Decision {
	if d.Verdict != sdk.Propose {
		return d
	}
	if j.Mode != sdk.ModeInteractive && !j.Attended {
		d.Verdict = sdk.Deny
		d.Reason += fmt.Sprintf("; in %s mode a person has to agree, and nobody is here to ask (--mode interactive asks)", j.Mode)
		how := howToAllow
		if d.Rule == RuleDrift { // which no rule allows
			how = fmt.Sprintf("tell the person to look at what changed (`bothy mcp accept %s`)", serverOf(j.tool))
		}
		d.Instead = cmp.Or(d.Instead, "do it another way") + ", or " + how
		if d.Rule == RuleUnpinned { // a plugin that made the call may pass the text on, and not the call
			d.Instead += fmt.Sprintf("; it was %s of the plugin %s, which `%s` pins", j.tool.Name, j.tool.Plugin, pinVerb(j.tool))
		}
	}
	d.Reason += j.otherMode
	return d
}
