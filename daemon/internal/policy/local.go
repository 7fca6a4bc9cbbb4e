package policy

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Local writes the paths of a call of a project's tool as tools know them, relative to
// the project: models write them as commands see them (/workspace/...), or as the host
// has them. It answers nil where there is nothing to change. Whether such a path may be
// used is decided as about any other.
func Local(tool sdk.Tool, project string, arguments json.RawMessage) json.RawMessage {
	if !slices.Contains(tool.Grants, sdk.GrantProject) || !bytes.Contains(arguments, []byte("/")) {
		return nil
	}
	var all map[string]any
	dec := json.NewDecoder(bytes.NewReader(arguments))
	dec.UseNumber()
	if dec.Decode(&all) != nil {
		return nil // it is refused
	}
	l := localizer{tops: []string{workspace, project}}
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

// localizer writes paths below some folders relative to them.
type localizer struct {
	tops    []string
	changed bool
}

func (l *localizer) path(at string) string {
	for _, top := range l.tops {
		rest, below := strings.CutPrefix(at, top)
		switch {
		case !below || top == "" || top == "/":
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

func (l *localizer) object(object map[string]any) map[string]any {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		object[key] = l.value(plain(key), object[key])
	}
	return object
}

// value finds paths where ofValue does.
func (l *localizer) value(key string, value any) any {
	switch v := value.(type) {
	case string:
		if holdsPath(key) {
			return l.path(v)
		}
	case []any:
		for i := range v {
			v[i] = l.value(key, v[i])
		}
	case map[string]any:
		if !holdsPath(key) {
			return l.object(v)
		}
		named := make(map[string]any, len(v)) // such as {"files": {"a.txt": "content"}}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			at := l.path(name)
			if _, taken := v[at]; taken {
				at = name
			}
			named[at] = v[name]
		}
		return l.object(named)
	}
	return value
}
