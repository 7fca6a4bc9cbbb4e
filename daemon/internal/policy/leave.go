package policy

import (
	"github.com/bothyd/bothy/daemon/internal/policy/shell"
	"github.com/bothyd/bothy/sdk"
)

// howToAllow ends the reason of a denial that a person could have answered
// differently. A model reads it, and so does the person who wonders.
const howToAllow = "nobody is here to ask. Do it another way, or say that a person can allow it: with a rule in the configuration, or by running the prompt where it can be asked (--mode interactive)"

// letsIt ends the reason of what runs although nothing is known of it.
const letsIt = "; full mode lets it"

// builtIn decides by the leave of the run alone.
func (j *judged) builtIn() sdk.Decision {
	tool := j.tool
	switch {
	case tool.Annotations.ReadOnly:
		return allow(RuleRead, "%q only reads, and its plugin is pinned", tool.Name)
	case j.line != nil && j.sandboxed() && tool.Pinned:
		return j.byGrade()
	case !tool.Pinned:
		return j.unvouched(RuleUnpinned, "plugin %q is not pinned, so nothing vouches for what its tool %q does (`bothy plugins lock` pins it)", tool.Plugin, tool.Name)
	case j.sandboxed():
		return j.unvouched(RuleSandbox, "%q runs in the sandbox of this run, and what it runs there cannot be read", tool.Name)
	case j.granted(sdk.GrantProject):
		if j.Leave == sdk.LeaveInteractive {
			return builtIn(sdk.Propose, RuleProject, "%q changes files of the project, and in interactive mode a person agrees to that", tool.Name)
		}
		return allow(RuleProject, "%q changes files below the project only", tool.Name)
	default:
		return j.unvouched(RuleUnknown, "%q has side effects and neither runs in the sandbox nor is confined to the project", tool.Name)
	}
}

// unvouched decides about side effects of which nothing is known.
func (j *judged) unvouched(rule, format string, args ...any) sdk.Decision {
	if j.Leave == sdk.LeaveFull {
		if j.line != nil && j.line.Grade >= shell.Unsafe {
			return j.byGrade()
		}
		return builtIn(sdk.Allow, rule, format+letsIt, args...)
	}
	return j.ask(builtIn(sdk.Propose, rule, format, args...))
}

// byGrade decides about a command line.
func (j *judged) byGrade() sdk.Decision {
	l := j.line
	if l.Grade == shell.Proven {
		return allow(RuleProven, "every command of the line is known and only reads below the workspace")
	}
	d := builtIn(verdictOf(l.Grade, j.Leave), l.Rule, "%s", l.Reason)
	switch {
	case d.Verdict == sdk.Deny:
		d.Reason += "; full mode asks nobody, and so it does not run this"
	case d.Verdict == sdk.Allow && l.Grade >= shell.Unproven:
		d.Reason += letsIt
	}
	return j.ask(d)
}

// verdictOf is the table of grades and leaves, for a run that is attended.
func verdictOf(g shell.Grade, leave sdk.Leave) sdk.Verdict {
	switch {
	case g <= shell.Proven:
		return sdk.Allow
	case g >= shell.Denied:
		return sdk.Deny
	case leave == sdk.LeaveInteractive:
		return sdk.Propose
	case g == shell.Contained:
		return sdk.Allow
	case leave == sdk.LeaveRestricted:
		return sdk.Propose
	case g == shell.Unproven:
		return sdk.Allow
	}
	return sdk.Deny
}

// ask makes a denial of a proposal that nobody would answer. In interactive mode
// it waits; in full mode only a rule proposes, and whoever wrote it wants it to.
func (j *judged) ask(d sdk.Decision) sdk.Decision {
	if d.Verdict == sdk.Propose && j.Leave == sdk.LeaveRestricted && !j.Attended {
		d.Verdict = sdk.Deny
		d.Reason += "; in restricted mode a person would have to agree, and " + howToAllow
	}
	return d
}
