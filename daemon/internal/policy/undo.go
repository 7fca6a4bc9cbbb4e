package policy

import (
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/protect"
)

// MayUndo refuses a path that nothing may change when what a run did to the
// project at root is taken back. A person asked for that, so that what is asked
// need not be asked again, and no rule about an agent counts. In a repository,
// what commands of git change may be taken back, and what is new there may be
// removed: but nothing that git obeys is written again. Of the project's own folder
// only the mode can be given back, which may be.
func (l Live) MayUndo(root, path string, removes bool) error {
	if path == "." && !removes {
		return nil
	}
	p := New(Settings{Protect: l.Protection(root)})
	writes := sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "undo", Annotations: sdk.Annotations{Destructive: true}}, Plugin: "bothy", Pinned: true, Grants: []string{sdk.GrantProject}}
	d := p.judgePath(&judged{tool: writes}, "path", path)
	if d.Verdict != sdk.Deny || d.Rule == RuleProtected && p.mayUndoInGit(path, removes) {
		return nil
	}
	return sdk.Errorf(sdk.Permission, "%s", d.Reason)
}

// mayUndoInGit reports whether a path that is refused lies in a repository, and is
// either git's own or goes.
func (p *Policy) mayUndoInGit(path string, removes bool) bool {
	found := p.rules.Name(path)
	inGit := slices.ContainsFunc(strings.Split(path, "/"), func(name string) bool { return protect.Alike(name, ".git") })
	return inGit && (removes || found.Reason == protect.GitsOwn)
}
