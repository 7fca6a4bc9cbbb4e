package policy

import (
	"fmt"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/policy/shell"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/match"
)

// mayWrite reports whether a path is among those that the run may change. Globs that cannot be read have none.
func (j *judged) mayWrite(clean string) bool {
	if j.Writes == nil {
		return true
	}
	writes, err := match.ParsePaths(j.Writes)
	return err == nil && writes.Has(clean)
}

// notGiven denies what is not among the paths that the run may change.
func (j *judged) notGiven(format string, args ...any) sdk.Decision {
	given := strings.Join(j.Writes, ", ")
	return deny(RuleWrites, "leave it as it is, and say in your result what has to change there; you may change "+given,
		"%s, and this run was given only %s to change", fmt.Sprintf(format, args...), given)
}

// byWrites decides about calls of a run that may change only some paths, where these are not known before they run: a
// command, and what changes the project and names no path. On a copy of the project no more is applied than the run
// may change; without one nothing would hold them to it.
func (j *judged) byWrites(set Settings, d sdk.Decision) sdk.Decision {
	switch {
	case j.Writes == nil, d.Verdict == sdk.Deny, j.entries, j.tool.Annotations.ReadOnly, j.tool.Unlisted && j.tool.Pinned:
		return d
	case j.sandboxed() && (j.line == nil || j.line.Grade > shell.Proven):
		switch {
		case j.Private || set.Workspace == sdk.WorkspacePrivate: // it has nothing of the project
			return d
		case set.View && j.tool.Pinned:
			d.View = true
			return d
		}
		return j.ask(j.unheld(fmt.Sprintf("what %q runs works in the project itself", j.tool.Name)))
	case j.granted(sdk.GrantProject) && !j.sandboxed() && len(j.paths) == 0:
		return j.ask(j.unheld(fmt.Sprintf("%q may change the project and names no path", j.tool.Name)))
	}
	return d
}

// unheld proposes a call that nothing holds to the paths that the run may change.
func (j *judged) unheld(why string) sdk.Decision {
	return propose(RuleWrites, "use the tools for files, or commands that only read",
		"%s, so that nothing holds it to what this run was given to change: %s", why, strings.Join(j.Writes, ", "))
}
