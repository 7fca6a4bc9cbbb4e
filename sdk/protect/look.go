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

// ways are the folders on the way to changes that were there before, the project
// itself first.
func (d disk) ways(changes []Change) []string {
	found, seen := []string{"."}, map[string]bool{".": true}
	made := map[string]bool{}
	for _, c := range changes {
		if c.Was == Nothing && c.Is == Directory {
			made[path.Clean(c.Path)] = true // it held nothing
		}
		for at := path.Dir(path.Clean(c.Path)); !seen[at]; at = path.Dir(at) {
			seen[at] = true
			if !made[at] {
				found = append(found, at)
			}
		}
	}
	return found
}

// worktrees are those of some folders that have a repository, and the project.
func (d disk) worktrees(folders []string) []string {
	found := []string{"."}
	for _, at := range folders {
		if at != "." && d.has(path.Join(at, gitFolderName)) {
			found = append(found, at)
		}
	}
	return found
}

// Obeyed are the paths of a project that are not free because of what is in it:
// what the configuration of git names, which includes it, takes hooks from it or
// runs it, and what links lead to that stand in the place of what is protected or
// lie in it. The folders are those on the way to what is to be changed: there it
// finds what lies too deep for a search of the whole project, and the repositories
// whose configuration counts.
func (r Rules) Obeyed(project string, folders []string) (all []Finding) {
	worktrees := disk(project).worktrees(folders)
	for _, at := range r.Configured(project, worktrees) {
		all = append(all, Finding{Refused, byGit, at, false})
	}
	for _, at := range r.programs(project, worktrees) {
		all = append(all, Finding{Asked, byProgram, at, false})
	}
	for _, f := range slices.Clone(all) {
		for _, at := range leads(project, f.Name) {
			f.Name = at
			all = append(all, f)
		}
	}
	return append(all, r.linked(project, folders)...)
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
