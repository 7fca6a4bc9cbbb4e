package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// How much a schema may ask of one value, and how deep its schemas may lie in
// each other for it. What a value holds begins anew.
const (
	mostChecks   = 10_000
	deepestCheck = 200
	mostNamed    = 100 // schemas with an $id
)

// atOnce are the keywords whose schemas look at the very value that their own
// schema looks at: one schema, a list, or a member for each name.
var atOnce = []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"}

// endless follows what a schema asks of one value. Who validates follows it as
// well, without a limit: a circle would end the daemon.
type endless struct {
	roots   []map[string]any            // that a pointer may begin at
	anchors map[string][]map[string]any // by name
	asked   map[uintptr]asked           // of what was followed; empty while it is
}

// asked is what a schema asks of one value.
type asked struct{ checks, depth int }

// ends refuses a schema that asks without end, or too much, of one value.
func ends(s *jsonschema.Schema) error {
	text, err := json.Marshal(s) // what was understood of it, in the letters of the keywords
	if err != nil {
		return err
	}
	var whole map[string]any
	if err := json.Unmarshal(text, &whole); err != nil {
		return err
	}
	e := &endless{roots: []map[string]any{whole}, anchors: map[string][]map[string]any{}, asked: map[uintptr]asked{}}
	e.name(whole)
	if len(e.roots) > mostNamed {
		return fmt.Errorf("its JSON Schema has more than %d schemas with an $id", mostNamed)
	}
	return e.each(whole)
}

// name finds what references may lead to.
func (e *endless) name(v any) {
	for _, part := range parts(v) {
		e.name(part)
	}
	s, _ := v.(map[string]any)
	if id, is := s["$id"].(string); is {
		e.roots = append(e.roots, s)
		if _, name, has := strings.Cut(id, "#"); has { // as older drafts name it
			e.anchors[name] = append(e.anchors[name], s)
		}
	}
	for _, key := range []string{"$anchor", "$dynamicAnchor"} {
		if name, is := s[key].(string); is {
			e.anchors[name] = append(e.anchors[name], s)
		}
	}
}

// parts are the members of an object or a list.
func parts(v any) []any {
	switch v := v.(type) {
	case []any:
		return v
	case map[string]any:
		var out []any
		for _, name := range keys(v) {
			out = append(out, v[name])
		}
		return out
	}
	return nil
}

// each follows every schema there is, since any may be reached by a value.
func (e *endless) each(v any) error {
	if s, is := v.(map[string]any); is {
		if _, err := e.follow(s, deepestCheck); err != nil {
			return err
		}
	}
	for _, part := range parts(v) {
		if err := e.each(part); err != nil {
			return err
		}
	}
	return nil
}

// follow counts what a schema asks of one value; it may lie depth deeper.
func (e *endless) follow(s map[string]any, depth int) (asked, error) {
	id := reflect.ValueOf(s).Pointer()
	was, known := e.asked[id]
	switch {
	case known && was.checks == 0:
		return was, errors.New("its JSON Schema refers to itself without end")
	case depth <= was.depth:
		return was, fmt.Errorf("its JSON Schema asks more than %d schemas within each other of one value", deepestCheck)
	case known:
		return was, nil
	}
	e.asked[id] = asked{}
	now := asked{checks: 1, depth: 1}
	for _, next := range e.next(s) {
		more, err := e.follow(next, depth-1)
		if err != nil {
			return now, err
		}
		now.checks, now.depth = now.checks+more.checks, max(now.depth, 1+more.depth)
		if now.checks > mostChecks {
			return now, fmt.Errorf("its JSON Schema asks more than %d schemas of one value", mostChecks)
		}
	}
	e.asked[id] = now
	return now, nil
}

// next are the schemas that look at the same value.
func (e *endless) next(s map[string]any) []map[string]any {
	var out []map[string]any
	add := func(v any) {
		if m, is := v.(map[string]any); is {
			out = append(out, m)
		}
	}
	for _, key := range atOnce {
		v := s[key]
		if strings.HasPrefix(key, "dependen") || !isObject(v) {
			for _, part := range parts(v) {
				add(part)
			}
			continue
		}
		add(v)
	}
	for _, key := range []string{"$ref", "$dynamicRef"} {
		if ref, is := s[key].(string); is {
			out = append(out, e.targets(ref)...)
		}
	}
	return out
}

func isObject(v any) bool {
	_, is := v.(map[string]any)
	return is
}

// targets are the schemas that a reference may mean. It may be more than it
// does: which of several roots it begins at is not worked out.
func (e *endless) targets(ref string) []map[string]any {
	u, err := url.Parse(ref)
	switch {
	case err != nil:
		return nil // it was refused
	case u.Fragment == "":
		return slices.Clone(e.roots)
	case !strings.HasPrefix(u.Fragment, "/"):
		return e.anchors[u.Fragment]
	}
	var out []map[string]any
	for _, root := range e.roots {
		if s, is := pointed(root, u.Fragment).(map[string]any); is {
			out = append(out, s)
		}
	}
	return out
}

var unescaped = strings.NewReplacer("~1", "/", "~0", "~")

// pointed is what a JSON pointer leads to.
func pointed(v any, pointer string) any {
	for _, step := range strings.Split(pointer, "/")[1:] {
		switch whole := v.(type) {
		case map[string]any:
			v = whole[unescaped.Replace(step)]
		case []any:
			n, err := strconv.Atoi(step)
			if err != nil || n < 0 || n >= len(whole) {
				return nil
			}
			v = whole[n]
		default:
			return nil
		}
	}
	return v
}
