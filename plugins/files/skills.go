package main

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// skills is where a run's skills are for its commands. The tools that look know
// their files by the same paths; daemon/internal/policy lets them pass.
const skills = "/skills"

// isSkill tells whether a path is that folder or leads into it.
func isSkill(name string) bool {
	clean := path.Clean(name)
	return clean == skills || strings.HasPrefix(clean, skills+"/")
}

// looking are the arguments of a tool that only looks: they name one place,
// which may be in a skill.
type looking interface{ place() *string }

func (a *readArgs) place() *string { return &a.Path }
func (a *listArgs) place() *string { return &a.Path }
func (a *findArgs) place() *string { return &a.Path }
func (a *grepArgs) place() *string { return &a.Path }

// openFor opens what a call is about: its project, or for a tool that looks at
// a path below /skills the skills of its run.
func openFor(call sdk.Invocation, a sdk.Annotations, in any) (*project, error) {
	look, ok := in.(looking)
	if !ok || !a.ReadOnly || !isSkill(*look.place()) {
		return openProject(call.Project)
	}
	name := path.Clean(*look.place())
	if !filepath.IsAbs(call.RunDir) {
		return nil, sdk.Errorf(sdk.NotFound, "%s: this call belongs to no run, so no skill is loaded", shown(name))
	}
	dir := filepath.Join(call.RunDir, "skills")
	root, err := os.OpenRoot(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, sdk.Errorf(sdk.NotFound, "%s: this run has loaded no skill yet; use_skill loads one", shown(name))
	case err != nil:
		return nil, fault("open", skills, err)
	}
	return &project{dir: dir, root: root, at: skills}, nil
}
