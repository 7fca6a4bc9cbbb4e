package policy

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/protect"
)

// Remembered is what answers of people left in a project.
type Remembered interface {
	// Allowing are the rules that allow calls.
	Allowing(project string) []sdk.PolicyRule
	// Open reports whether a person opened the network for commands.
	Open(project string) bool
}

// Live decides by what holds when it is asked: what is written down for a
// project, and what answers left there.
type Live struct {
	Written    func(project string) Settings
	Sandbox    func(project string) sdk.Sandbox // as it is configured for a project
	Remembered Remembered
	// Links says where paths lead that a call names, in a project; nil looks at none.
	Links func(project string, named []string) map[string]string
	// Found says which paths of a project git's configuration names, for calls that may
	// change something; nil looks at nothing.
	Found func(project string) []protect.Finding
	// ReadOnly says which paths of a project no run may write (Settings.ReadOnly); nil says nothing.
	ReadOnly func(project string) func(at string, holds bool) string
	// Prepared is what was found out about commands in a project; false is nothing yet.
	// Nil knows nothing.
	Prepared func(project string) (sdk.Prepared, bool)
}

// Decide rules on a call.
func (l Live) Decide(r sdk.PolicyRequest) sdk.Decision {
	set := l.settings(r)
	if !r.Private { // what a person said of work in the project is not said of a stranger's
		set.Rules = append(set.Rules, l.Remembered.Allowing(r.Project)...)
	}
	view, known := l.view(r)
	if set.View, set.NoView = view.View, view.Reason; !known {
		set.NoView = "whether commands can work on a copy of the project is not known yet"
	}
	p := New(set)
	if r.Project == "" {
		return p.Decide(r)
	}
	paths := p.Paths(r)
	if l.Links != nil {
		r.Links = l.Links(r.Project, paths)
	}
	if l.ReadOnly != nil && len(paths) > 0 && !r.Private && !believed(r.Tool).Annotations.ReadOnly {
		set.ReadOnly = l.ReadOnly(r.Project)
		p = New(set)
	}
	if l.Found != nil && (len(paths) > 0 || r.Tool.Command != "") && !believed(r.Tool).Annotations.ReadOnly {
		set.Found = l.Found(r.Project)
		p = New(set)
	}
	return p.Decide(r)
}

// readers are the tools by which a run reads a file: what one of them may not have unasked, an entry does not show.
var readers = []sdk.Tool{
	{ToolSpec: sdk.ToolSpec{Name: "read_file", Annotations: sdk.Annotations{ReadOnly: true}}, Plugin: "files", Pinned: true, Grants: []string{sdk.GrantProject}},
	{ToolSpec: sdk.ToolSpec{Name: string(sdk.VerbGet), Annotations: sdk.Annotations{ReadOnly: true}}, Plugin: "bothy", Pinned: true, Grants: []string{sdk.GrantProject}},
}

// MayRead says, for a project, why a file of it may not be read unasked: it holds credentials by its name, or a rule denies
// that or wants a person to agree, in any mode: what one run has in sight is the project's. Nil is that it may.
func (l Live) MayRead(project string) func(at string) error {
	set := l.settings(sdk.PolicyRequest{Project: project})
	set.View = true // else nothing holds of the mode workspace
	p := New(set)
	modes := []sdk.Mode{sdk.ModeRestricted} // nothing but rules tells others from it where a file is read
	for _, r := range set.Rules {
		modes = append(modes, r.Modes...)
	}
	slices.Sort(modes)
	modes = slices.Compact(modes)
	return func(at string) error {
		arguments, err := json.Marshal(map[string]string{"path": at})
		if err != nil {
			return err
		}
		r := sdk.PolicyRequest{Arguments: arguments, Project: project}
		if l.Links != nil {
			r.Links = l.Links(project, []string{at})
		}
		for _, r.Tool = range readers {
			for _, r.Mode = range modes {
				if d := p.Decide(r); d.Verdict != sdk.Allow {
					return sdk.Errorf(sdk.Permission, "%s cannot be seen as an entry: %s", at, d.Reason)
				}
			}
		}
		return nil
	}
}

// settings are what is written down for a call.
func (l Live) settings(r sdk.PolicyRequest) Settings {
	set := l.Written(cmp.Or(r.Settled, r.Project))
	if r.Private {
		set.Workspace = sdk.WorkspacePrivate
	}
	return set
}

// Configured are the rules that are written down: of the configuration and, with
// a project, of its workspace.
func (l Live) Configured(project string) []sdk.PolicyRule { return l.Written(project).Rules }

// Network reports whether commands in a project have the network.
func (l Live) Network(project string) bool { return l.Remembered.Open(project) }

// View says whether commands work on a copy of a project, and why they do not.
// False says that this is not known yet.
func (l Live) View(project string) (sdk.Prepared, bool) {
	return l.view(sdk.PolicyRequest{Project: project})
}

func (l Live) view(r sdk.PolicyRequest) (sdk.Prepared, bool) {
	switch l.place(r).Workspace {
	case sdk.WorkspacePrivate:
		return sdk.Prepared{Reason: "sandbox.workspace is private, so that commands work in a folder of the run's own"}, true
	case sdk.WorkspaceDirect:
		return sdk.Prepared{Reason: "sandbox.workspace is direct, so that commands work in the project itself"}, true
	}
	if l.Prepared == nil {
		return sdk.Prepared{}, false
	}
	return l.Prepared(r.Project)
}

// place is the sandbox that a call would have.
func (l Live) place(r sdk.PolicyRequest) sdk.Sandbox {
	if r.Private {
		return l.Sandbox("")
	}
	return l.Sandbox(r.Project)
}

// Protection is what was configured to be protected in a project.
func (l Live) Protection(project string) sdk.Protection { return l.Written(project).Protect }

// Arguments are those of a call as its tool gets them: with the paths of the project
// relative to it. Nil says that they are as they are.
func (l Live) Arguments(r sdk.PolicyRequest) json.RawMessage {
	return Local(r.Tool, r.Project, besides(r, l.place(r).Workspace), r.Arguments)
}

// Worked are the paths of a project that a call works on, relative to it and clean, where
// links lead: what lies outside of it is none of them.
func (l Live) Worked(r sdk.PolicyRequest) []string {
	named := New(l.settings(r)).Worked(r)
	var links map[string]string
	if l.Links != nil && len(named) > 0 {
		links = l.Links(r.Project, named)
	}
	worked := make([]string, 0, len(named))
	for _, at := range named {
		if to, led := links[at]; led {
			at = to
		}
		if !path.IsAbs(at) {
			worked = append(worked, path.Clean(at)) // "a/.." is the folder itself only where no link is on the way
		}
	}
	return worked
}

// Reach is what a call could touch as it is now: an answer to a proposal is bound
// to that.
func (l Live) Reach(r sdk.PolicyRequest, runDir string) sdk.Reach {
	return reach(r.Tool, r.Arguments, l.place(r), r.Project, runDir, !r.Private && !r.Offline && l.Network(r.Project))
}
