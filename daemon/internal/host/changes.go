package host

import (
	"fmt"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// mostChanges is how many changes of files one call may tell of.
const mostChanges = 10_000

// believe looks at what a result tells of changes in the project, for a person
// may have that taken back later. What a plugin without the grant tells, or one
// that tells of what cannot be, is not believed at all. A call that was made
// twice may have changed what only its first try could tell of.
func (o *offered) believe(r sdk.ToolResult, twice bool) sdk.ToolResult {
	r = o.owner.believe(r, o.Name, o.Grants)
	r.Untold = r.Untold || twice && !o.Annotations.ReadOnly
	return r
}

// believe does the same for what a plugin with these grants did once.
func (i *instance) believe(r sdk.ToolResult, what string, grants []string) sdk.ToolResult {
	r.Untold = false
	if err := doubt(r.Changes, grants); err != nil {
		i.log.Warn("what a call told of its changes is not kept, and cannot be taken back", "call", what, "reason", err)
		r.Changes, r.Untold = nil, true
	}
	return r
}

func doubt(changes []sdk.FileChange, grants []string) error {
	switch {
	case len(changes) == 0:
		return nil
	case !slices.Contains(grants, sdk.GrantProject):
		return fmt.Errorf("its plugin is not granted %q", sdk.GrantProject)
	case len(changes) > mostChanges:
		return fmt.Errorf("it told of %d changes, and at most %d are kept", len(changes), mostChanges)
	}
	for _, c := range changes {
		if err := c.Check(); err != nil {
			return err
		}
	}
	return nil
}
