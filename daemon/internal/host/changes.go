package host

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/kept"
)

// believe looks at what a result tells of changes in the project, for a person
// may have that taken back later. What a plugin without the grant tells is not
// believed at all, and of a list not the changes that cannot be. A call that was
// made twice may have changed what only its first try could tell of.
func (o *offered) believe(r sdk.ToolResult, twice bool) sdk.ToolResult {
	r = o.owner.believe(r, o.Name, o.Grants)
	if r.Follow != nil && !o.Pinned {
		o.owner.log.Warn("a call that the result of another asked for is not made: nothing vouches for the plugin", "call", o.Name, "asks", r.Follow.Tool)
		r.Follow = nil
	}
	r.Untold = r.Untold || twice && !o.Annotations.ReadOnly
	return r
}

// believe does the same for what a plugin with these grants did once. What one change is
// about can be taken back without those that cannot be.
func (i *instance) believe(r sdk.ToolResult, what string, grants []string) sdk.ToolResult {
	granted, all := slices.Contains(grants, sdk.GrantProject), r.Changes
	bad := func(c sdk.FileChange) bool { return c.Check() != nil }
	var doubt error
	switch first := slices.IndexFunc(all, bad); {
	case len(all) == 0 && r.ChangesKept == "":
	case !granted:
		doubt = fmt.Errorf("its plugin is not granted %q", sdk.GrantProject)
	case r.ChangesKept != "" && len(all) > 0:
		doubt = errors.New("it told of them twice")
	case r.ChangesKept != "" && !kept.IsDigest(r.ChangesKept):
		doubt = fmt.Errorf("%.80q is no digest of a list", r.ChangesKept)
	case first >= 0:
		r.Changes = slices.DeleteFunc(slices.Clone(all), bad)
		i.log.Warn("some changes that a call told of are not kept, and cannot be taken back", "call", what, "changes", len(all)-len(r.Changes), "reason", all[first].Check())
	}
	if doubt != nil {
		i.log.Warn("what a call told of its changes is not kept, and cannot be taken back", "call", what, "reason", doubt)
		r.Changes, r.ChangesKept = nil, ""
	}
	r.Untold = doubt != nil || len(r.Changes) < len(all)
	r.Told = r.Told && granted && !r.Untold
	return r
}
