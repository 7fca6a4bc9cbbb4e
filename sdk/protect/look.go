package protect

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// disk is a project's folder, as it is looked at: what is said of its paths may be
// otherwise a moment later.
type disk string

// has says whether something lies at a path of the project.
func (d disk) has(at string) bool {
	_, err := os.Lstat(filepath.Join(string(d), at))
	return err == nil
}

// worktrees are the project and the folders on the way to changes that have a
// repository.
func (d disk) worktrees(changes []Change) []string {
	found, seen := []string{"."}, map[string]bool{".": true}
	made := map[string]bool{}
	for _, c := range changes {
		if c.Was == Nothing && c.Is == Directory {
			made[path.Clean(c.Path)] = true // it held nothing
		}
		for at := path.Dir(path.Clean(c.Path)); !seen[at]; at = path.Dir(at) {
			seen[at] = true
			if !made[at] && d.has(path.Join(at, gitFolderName)) {
				found = append(found, at)
			}
		}
	}
	return found
}

// Obeyed are the paths of a project that are not free because configuration of git
// names them: what it includes and takes hooks from, and the programs that it
// runs. The folders are those that repositories are the worktree of.
func (r Rules) Obeyed(project string, worktrees []string) (all []Finding) {
	for _, at := range r.Configured(project, worktrees) {
		all = append(all, Finding{Refused, byGit, at, false})
	}
	for _, at := range r.programs(project, worktrees) {
		all = append(all, Finding{Asked, byProgram, at, false})
	}
	return all
}

// led are the paths that are not free because of what is in the project: what the
// configuration of git names, and what links in the place of protected paths lead
// to.
func (r Rules) led(project string, worktrees []string) (all []Finding) {
	for _, f := range r.Obeyed(project, worktrees) {
		all = append(all, f)
		for _, at := range leads(project, f.Name) {
			f.Name = at
			all = append(all, f)
		}
	}
	for _, f := range Names() {
		for _, at := range leads(project, f.Name) {
			f.Name = at
			all = append(all, f)
		}
	}
	// Where a link leads for .git there is a repository, which is known as one.
	if links := leads(project, gitFolderName); len(links) > 0 {
		for _, at := range links[:len(links)-1] {
			all = append(all, Finding{Refused, byGit, at, false})
		}
	}
	return all
}

// mostLinks is how many links one path may lead through, as in Linux.
const mostLinks = 40

// leads are the links on the way to a path of the project, and where it leads in
// the end; nothing when no link is on the way.
func leads(project, name string) (all []string) {
	done, todo := "", split(name)
	for links := 0; len(todo) > 0; {
		part := todo[0]
		todo = todo[1:]
		if part == ".." {
			if done == "" {
				return all // it leads out of the project
			}
			done = strings.TrimPrefix(path.Dir("/"+done), "/")
			continue
		}
		at := path.Join(done, part)
		target, err := os.Readlink(filepath.Join(project, at))
		if err != nil {
			done = at
			continue
		}
		all = append(all, at)
		if filepath.IsAbs(target) {
			rel, inside := local(project, filepath.Clean(target))
			if !inside {
				return all
			}
			done, target = "", rel
		}
		if links++; links > mostLinks {
			return all
		}
		todo = append(slices.DeleteFunc(strings.Split(target, "/"), func(p string) bool { return p == "" || p == "." }), todo...)
	}
	if len(all) > 0 && done != "" {
		all = append(all, done)
	}
	return all
}
