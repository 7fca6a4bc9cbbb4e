package policy

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Models write the paths of a project as commands see them, /workspace/src/main.go, or as
// the host has them. The tools of plugins that may work in the project know them as
// src/main.go. What is decided about, shown to hooks and sent to the plugin has that form;
// the action keeps what the model wrote.

// tops are the absolute paths that stand for the project in a call of a tool. A tool that
// runs commands is given none: its commands see both paths themselves. Where one path
// could stand for two folders, it stands for neither.
func tops(tool sdk.Tool, project, place string) []string {
	if project == "" || project == "/" || tool.Command != "" || !slices.Contains(tool.Grants, sdk.GrantProject) {
		return nil
	}
	private := place == sdk.WorkspacePrivate // commands have another folder there
	switch {
	case project == workspace && !private:
		return []string{workspace}
	case project == workspace || strings.HasPrefix(project, workspace+"/"):
		return nil
	case private:
		return []string{project}
	}
	return []string{workspace, project}
}

// besides is where commands have another folder at /workspace than the tools that work in the project: in the runs of a
// sandbox whose workspace is private, but for private runs, in which both have the same.
func besides(r sdk.PolicyRequest, place string) string {
	if r.Private {
		return ""
	}
	return place
}

// Local are the arguments of a call with the paths of the project relative to it, or nil
// when that changes nothing. Place is sandbox.workspace.
func Local(tool sdk.Tool, project, place string, arguments json.RawMessage) json.RawMessage {
	tops := tops(tool, project, place)
	if len(tops) == 0 || !bytes.Contains(arguments, []byte("/")) {
		return nil
	}
	value, err := sdk.AnyJSON(arguments)
	all, ok := value.(map[string]any)
	if err != nil || !ok {
		return nil // it is refused
	}
	l := localizer{tops: tops}
	all = l.object(all)
	if !l.changed {
		return nil
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(all) != nil {
		return nil
	}
	return bytes.TrimSpace(out.Bytes())
}

// localize has a call decided about in the form in which its tool gets it.
func (p *Policy) localize(j *judged) {
	l := localizer{tops: tops(j.Tool, j.Project, besides(j.PolicyRequest, p.set.Workspace))}
	if len(l.tops) == 0 {
		return
	}
	if local := l.object(j.arguments); l.changed {
		j.arguments, j.written = local, j.arguments
	}
}

// localizer writes paths below some folders relative to them.
type localizer struct {
	tops    []string
	changed bool
}

func (l *localizer) path(at string) string {
	for _, top := range l.tops {
		rest, below := strings.CutPrefix(at, top)
		switch {
		case !below:
		case strings.Trim(rest, "/") == "":
			l.changed = true
			return "."
		case rest[0] == '/':
			l.changed = true
			return strings.TrimLeft(rest, "/")
		}
	}
	return at
}

// object is a copy in which paths are found where ofObject finds them.
func (l *localizer) object(object map[string]any) map[string]any {
	local := make(map[string]any, len(object))
	for key, value := range object {
		local[key] = l.value(plain(key), value)
	}
	return local
}

func (l *localizer) value(key string, value any) any {
	switch v := value.(type) {
	case string:
		if holdsPath(key) {
			return l.path(v)
		}
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = l.value(key, v[i])
		}
		return list
	case map[string]any:
		if holdsPath(key) {
			return l.names(v)
		}
		return l.object(v)
	}
	return value
}

// names is an object whose names are paths, such as {"files": {"a.txt": "content"}}. What
// they name is left as it is.
func (l *localizer) names(object map[string]any) map[string]any {
	local := make(map[string]any, len(object))
	for _, name := range slices.Sorted(maps.Keys(object)) {
		at := l.path(name)
		_, given := object[at]
		if _, taken := local[at]; taken || given {
			at = name // it would take the place of another; it is refused as an absolute path
		}
		local[at] = object[name]
	}
	return local
}
