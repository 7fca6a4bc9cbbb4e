package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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

// inPlace are the keywords whose schemas look at the very value that their own
// schema looks at: one schema, a list, or a member for each name.
var inPlace = []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"}

// references follows what a schema asks of one value. The validator follows it as
// well, without a limit: a circle would overflow the daemon's stack.
type references struct {
	all     []map[string]any            // every schema, and whatever else is an object
	roots   []map[string]any            // that a pointer may begin at
	anchors map[string][]map[string]any // by name
	costs   map[uintptr]cost            // of what was followed; zero while it is
}

// cost is what a schema asks of one value.
type cost struct{ checks, depth int }

// bounded refuses a schema that asks without end, or too much, of one value.
func bounded(s *jsonschema.Schema) error {
	text, err := json.Marshal(s) // what was understood of it, in the letters of the keywords
	if err != nil {
		return err
	}
	var whole map[string]any
	if err := json.Unmarshal(text, &whole); err != nil {
		return err
	}
	r := &references{roots: []map[string]any{whole}, anchors: map[string][]map[string]any{}, costs: map[uintptr]cost{}}
	r.collect(whole)
	if len(r.roots) > mostNamed {
		return fmt.Errorf("its JSON Schema has more than %d schemas with an $id", mostNamed)
	}
	for _, s := range r.all { // any may be reached by a value
		if _, err := r.follow(s, deepestCheck); err != nil {
			return err
		}
	}
	return nil
}

// collect finds all schemas, and what references may lead to.
func (r *references) collect(v any) {
	s, isSchema := v.(map[string]any)
	if isSchema {
		r.all = append(r.all, s)
		if id, is := s["$id"].(string); is {
			r.roots = append(r.roots, s)
			if _, name, has := strings.Cut(id, "#"); has { // as older drafts name it
				r.anchors[name] = append(r.anchors[name], s)
			}
		}
		for _, key := range []string{"$anchor", "$dynamicAnchor"} {
			if name, is := s[key].(string); is {
				r.anchors[name] = append(r.anchors[name], s)
			}
		}
	}
	for _, part := range parts(v) {
		r.collect(part)
	}
}

// parts are the members of an object or a list.
func parts(v any) []any {
	list, _ := v.([]any)
	object, _ := v.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		list = append(list, object[name])
	}
	return list
}

// follow counts what a schema asks of one value; it may lie depth deeper.
func (r *references) follow(s map[string]any, depth int) (cost, error) {
	id := reflect.ValueOf(s).Pointer()
	was, known := r.costs[id]
	switch {
	case known && was.checks == 0:
		return was, errors.New("its JSON Schema refers to itself without end")
	case depth <= was.depth:
		return was, fmt.Errorf("its JSON Schema asks more than %d schemas within each other of one value", deepestCheck)
	case known:
		return was, nil
	}
	r.costs[id] = cost{}
	now := cost{checks: 1, depth: 1}
	for _, next := range r.next(s) {
		more, err := r.follow(next, depth-1)
		if err != nil {
			return now, err
		}
		now.checks, now.depth = now.checks+more.checks, max(now.depth, 1+more.depth)
		if now.checks > mostChecks {
			return now, fmt.Errorf("its JSON Schema asks more than %d schemas of one value", mostChecks)
		}
	}
	r.costs[id] = now
	return now, nil
}

// next are the schemas that look at the same value.
func (r *references) next(s map[string]any) []map[string]any {
	var out []map[string]any
	for _, key := range inPlace {
		found := []any{s[key]}
		if _, one := s[key].(map[string]any); !one || strings.HasPrefix(key, "dependen") {
			found = parts(s[key])
		}
		for _, v := range found {
			if next, is := v.(map[string]any); is {
				out = append(out, next)
			}
		}
	}
	for _, key := range []string{"$ref", "$dynamicRef"} {
		if ref, is := s[key].(string); is {
			out = append(out, r.targets(ref)...)
		}
	}
	return out
}

// targets are the schemas that a reference may mean. They may be more than it
// means: which of several roots the reference begins at is not worked out.
func (r *references) targets(ref string) []map[string]any {
	u, err := url.Parse(ref)
	switch {
	case err != nil:
		return nil // the schema was refused
	case u.Fragment == "":
		return r.roots
	case !strings.HasPrefix(u.Fragment, "/"):
		return r.anchors[u.Fragment]
	}
	var out []map[string]any
	for _, root := range r.roots {
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
