package policy

import (
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/protect"
)

// pathKeys are the argument names that hold a path of the project, as plain
// makes them. Judging is lexical: links are the files tool's to refuse, which
// opens through os.Root.
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

// judgePath refuses a path that leaves the project or, when the tool writes, one
// that is protected. The second result is false when nothing is wrong.
func judgePath(tool sdk.Tool, key, p string) (sdk.Decision, bool) {
	first, _, _ := strings.Cut(p, "/")
	switch {
	case strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return deny(RuleOutside, "%s of %q holds a control character; write the path as plain text", key, tool.Name), true
	case isSkill(p) && tool.Annotations.ReadOnly && slices.Contains(tool.Grants, sdk.GrantProject):
		return sdk.Decision{}, false
	case isSkill(p):
		return deny(RuleOutside, "%s is %q, a skill's folder, which can only be read; write below the project, with a relative path", key, p), true
	case strings.HasPrefix(p, "/"):
		return escape("%s is %q, an absolute path; paths are relative to the project, such as \"src/main.go\"", key, p), true
	case strings.HasPrefix(first, "~"):
		return escape("%s is %q, a path in a home directory; paths are relative to the project, such as \"src/main.go\"", key, p), true
	}
	clean := path.Clean(p)
	if clean == ".." || strings.HasPrefix(clean, "../") {
		return escape("%s is %q, which lies outside the project; only what is below the project directory can be reached", key, p), true
	}
	if tool.Annotations.ReadOnly || originKeys[key] && !tool.Annotations.Destructive {
		return sdk.Decision{}, false
	}
	return judgeWrite(key, p, strings.ToLower(clean))
}

// escape is a denial that is a security event too.
func escape(format string, args ...any) sdk.Decision {
	d := deny(RuleOutside, format, args...)
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

// judgeWrite refuses what is protected by its name; links and what configuration
// names are for those to refuse who can look.
func judgeWrite(key, p, clean string) (sdk.Decision, bool) {
	if clean == "." {
		return deny(RuleProtected, "%s is %q, the project directory itself; name what is to change below it", key, p), true
	}
	found := protect.Judge(clean, protect.Paths())
	if found.Reason == "" {
		found = protect.JudgeGit(clean)
	}
	switch found.Reason {
	case protect.Protected:
		return deny(RuleProtected, "%s is %q, and %s is protected: the host trusts it, so no tool may change it", key, p, found.Name), true
	case protect.Holds:
		return deny(RuleProtected, "%s is %q, which holds the protected path %s and may not be moved, replaced or removed", key, p, found.Name), true
	case protect.Repository:
		return deny(RuleProtected, "%s is %q, which holds what git obeys and may not be made, moved, replaced or removed", key, p), true
	}
	return sdk.Decision{}, false
}
