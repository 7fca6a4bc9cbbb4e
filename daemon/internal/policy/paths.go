package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/bothyd/bothy/daemon/internal/policy/shell"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/protect"
)

// pathKeys are the argument names that hold a path of the project, as plain
// makes them.
var pathKeys = map[string]bool{
	"from": true, "to": true, "source": true, "destination": true, "src": true, "dst": true, "dest": true,
	"target": true, "root": true, "cwd": true, "base": true, "location": true,
}

// pathEnds are how a name ends that holds one: file_path, outputFile, workdir.
var pathEnds = []string{"path", "file", "filename", "dir", "directory", "directorie", "folder"}

// plain is an argument's name without case and signs: "filePath", "file-path"
// and "File_Path" are one name.
func plain(key string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' || r == ' ' {
			return -1
		}
		return unicode.ToLower(r)
	}, key)
}

// holdsPath reports whether a plain name says that its value is a path, or
// paths.
func holdsPath(key string) bool {
	one := strings.TrimSuffix(key, "s")
	if pathKeys[key] || pathKeys[one] {
		return true
	}
	return slices.ContainsFunc(pathEnds, func(end string) bool { return strings.HasSuffix(one, end) })
}

// originKeys name what a call takes something from. A tool that is not
// destructive leaves it as it is, so it may be a protected path.
var originKeys = map[string]bool{"from": true, "source": true, "src": true}

// namedPath is a path among the arguments, with the plain name that says so.
type namedPath struct{ key, path string }

// pathsOf finds the paths that arguments name, in an order that is the same for
// the same call.
func pathsOf(arguments map[string]any) []namedPath { return ofObject(nil, arguments) }

func ofObject(paths []namedPath, object map[string]any) []namedPath {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		paths = ofValue(paths, plain(key), object[key])
	}
	return paths
}

func ofValue(paths []namedPath, key string, value any) []namedPath {
	switch v := value.(type) {
	case string:
		if holdsPath(key) {
			paths = append(paths, namedPath{key, v})
		}
	case []any:
		for _, item := range v {
			paths = ofValue(paths, key, item)
		}
	case map[string]any:
		if holdsPath(key) { // such as {"files": {"a.txt": "content"}}
			for _, name := range slices.Sorted(maps.Keys(v)) {
				paths = append(paths, namedPath{key, name})
			}
		}
		paths = ofObject(paths, v)
	}
	return paths
}

// judgePath judges a path that a call names: denied when it leaves the project
// or, for a tool that writes, is refused; proposed when it is asked, or holds
// credentials that the tool reads. The zero Decision says that nothing is wrong.
func (p *Policy) judgePath(j *judged, key, at string) sdk.Decision {
	tool := j.tool
	first, _, _ := strings.Cut(at, "/")
	switch {
	case strings.ContainsFunc(at, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return deny(RuleOutside, "write the path as plain text", "%s of %q holds a control character", key, tool.Name)
	case isSkill(at) && tool.Annotations.ReadOnly && slices.Contains(tool.Grants, sdk.GrantProject):
		return sdk.Decision{}
	case isSkill(at):
		return deny(RuleOutside, "write below the project, with a relative path", "%s is %q, a skill's folder, which can only be read", key, at)
	case strings.HasPrefix(at, "/"):
		return escape("%s is %q, an absolute path that is not one of the project", key, at)
	case strings.HasPrefix(first, "~"):
		return escape("%s is %q, a path in a home directory", key, at)
	}
	clean := path.Clean(at)
	if clean == ".." || strings.HasPrefix(clean, "../") {
		return escape("%s is %q, which lies outside the project", key, at)
	}
	named := fmt.Sprintf("%s is %q", key, at)
	if real, led := j.Links[at]; led && !path.IsAbs(real) { // out of the project no tool follows a link
		clean, named = real, fmt.Sprintf("%s is %q, which a link leads to %q", key, at, real)
	}
	if protect.Secret(clean) && (tool.Annotations.ReadOnly || originKeys[key]) {
		return propose(RuleSecret, leaveSecret, "%s, and that is where credentials are kept: what is read goes to the model", named)
	}
	if tool.Annotations.ReadOnly || originKeys[key] && !tool.Annotations.Destructive {
		return sdk.Decision{}
	}
	return p.judgeWrite(j, named, clean)
}

// escape is a denial that is a security event too.
func escape(format string, args ...any) sdk.Decision {
	d := deny(RuleOutside, "name a path below the project, relative to it, such as \"src/main.go\"; ask the person for what lies elsewhere", format, args...)
	d.Violation = violationEscape
	return d
}

// skills is where a run has its own copies of the skills that it loaded. File
// tools read them by the path that commands know them by; the same is said in
// package sandbox and plugins/files.
const skills = "/skills"

// isSkill reports whether a path is that folder or lies in it.
func isSkill(p string) bool {
	clean := path.Clean(p)
	return clean == skills || strings.HasPrefix(clean, skills+"/")
}

// judgeWrite judges a path that a call would change, by its name; what
// configuration names is for those to find who can look.
func (p *Policy) judgeWrite(j *judged, named, clean string) sdk.Decision {
	tool := j.tool
	if clean == "." {
		return deny(RuleProtected, "name what is to change below it", "%s, the project directory itself", named)
	}
	if p.set.ReadOnly != nil {
		if by := p.set.ReadOnly(clean, tool.Annotations.Destructive); by != "" {
			return deny(RuleReadOnly, leaveProtected, "%s, and the constraint %q of the project keeps it as it is (`bothy project constrain`)", named, by)
		}
	}
	if !j.mayWrite(clean) {
		return j.notGiven("%s", named)
	}
	found := p.rules.Name(clean)
	switch {
	case found.Class == protect.Free, found.Holds && !tool.Annotations.Destructive:
		return sdk.Decision{}
	case found.Class == protect.Asked && j.isWary():
		return propose(RuleForeign, leaveForeign, "%s, and a person agrees to a change of %s: %s, and this run has read %s", named, found.Name, found.Reason, j.Foreign)
	case found.Class == protect.Asked && found.Holds:
		return propose(RuleAsked, leaveProtected, "%s, which holds %s: %s", named, found.Name, found.Reason)
	case found.Class == protect.Asked:
		return propose(RuleAsked, leaveProtected, "%s, and a person agrees to a change of %s: %s", named, found.Name, found.Reason)
	case found.Holds:
		return deny(RuleProtected, leaveProtected, "%s, which holds the protected path %s and may not be moved, replaced or removed: %s", named, found.Name, found.Reason)
	}
	return deny(RuleProtected, leaveProtected, "%s, and %s is protected: %s, so no tool may change it", named, found.Name, found.Reason)
}

// Paths are the paths that a call names, as its tool gets them and relative to the
// project, of which PolicyRequest.Links may say where they lead.
func (p *Policy) Paths(a sdk.PolicyRequest) []string {
	var arguments map[string]any
	if json.Unmarshal(a.Arguments, &arguments) != nil {
		return nil // it is denied
	}
	if touchesEntries(a.Tool, arguments) {
		return nil
	}
	l := localizer{tops: tops(a.Tool, a.Project, besides(a, p.set.Workspace))}
	arguments = l.object(arguments)
	var named []string
	for _, at := range pathsOf(arguments) {
		named = append(named, at.path)
	}
	if text, ok := arguments[a.Tool.Command].(string); ok && a.Tool.Command != "" {
		named = append(named, shell.Named(text, p.placeIn(arguments, a.Project), p.strict())...)
	}
	return named
}

// Worked are the paths of the project that a call works on, relative to it: those that it
// names, and the folder in which a command starts. A command that works in a folder of
// the run's own works on none.
func (p *Policy) Worked(a sdk.PolicyRequest) []string {
	command := a.Tool.Command != ""
	granted := slices.Contains(a.Tool.Grants, sdk.GrantProject) || slices.Contains(a.Tool.Grants, sdk.GrantSandbox)
	if !granted || command && p.set.Workspace == sdk.WorkspacePrivate {
		return nil
	}
	worked := p.Paths(a)
	var arguments map[string]any
	if !command || json.Unmarshal(a.Arguments, &arguments) != nil {
		return worked
	}
	if dir, below := strings.CutPrefix(p.placeIn(arguments, a.Project).Dir, workspace+"/"); below {
		worked = append(worked, dir)
	}
	return worked
}
