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

// believe does the same for what a plugin with these grants did once.
func (i *instance) believe(r sdk.ToolResult, what string, grants []string) sdk.ToolResult {
	r.Untold = false
	granted := slices.Contains(grants, sdk.GrantProject)
	if err := doubt(r, granted); err != nil {
		i.log.Warn("what a call told of its changes is not kept, and cannot be taken back", "call", what, "reason", err)
		r.Changes, r.ChangesKept, r.Untold = nil, "", true
	}
	doubted := i.possible(&r, what)
	r.Untold = r.Untold || doubted
	r.Told = r.Told && granted && !r.Untold
	return r
}

func doubt(r sdk.ToolResult, granted bool) error {
	switch {
	case len(r.Changes) == 0 && r.ChangesKept == "":
		return nil
	case !granted:
		return fmt.Errorf("its plugin is not granted %q", sdk.GrantProject)
	case r.ChangesKept != "" && len(r.Changes) > 0:
		return errors.New("it told of them twice")
	case r.ChangesKept != "" && !kept.IsDigest(r.ChangesKept):
		return fmt.Errorf("%.80q is no digest of a list", r.ChangesKept)
	}
	return nil
}

// possible leaves the changes out of a result that cannot be, and reports whether
// there were any. The others stay: what one of them is about can be taken back without those.
func (i *instance) possible(r *sdk.ToolResult, what string) (doubted bool) {
	all := r.Changes
	bad := func(c sdk.FileChange) bool { return c.Check() != nil }
	first := slices.IndexFunc(all, bad)
	if first < 0 {
		return false
	}
	r.Changes = slices.DeleteFunc(slices.Clone(all), bad)
	i.log.Warn("some changes that a call told of are not kept, and cannot be taken back", "call", what, "changes", len(all)-len(r.Changes), "reason", all[first].Check())
	return true
}
