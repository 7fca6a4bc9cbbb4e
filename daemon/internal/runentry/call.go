package runentry

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// scheme is that of runs, with what stands behind it in a path.
const scheme = "run://"

// Is reports whether a path, or a pattern, is that of runs.
func Is(path string) bool { return sdk.SchemeOf(path) == "run" }

// Names reports whether a use of a verb is about runs, as source or destination.
func Names(c sdk.EntryCall) bool { return Is(c.Path) || Is(c.To) }

// Path is that of a run.
func Path(alias string) string { return scheme + alias }

// Alias is what a path of runs names.
func Alias(path string) string { return path[len(scheme):] }

// At is what there is at the path of a use.
type At struct {
	Project string // its root
	Known   bool   // there is a run of that alias
	// ReadOnly is how its last prompt was given, and counts for a prompt that says nothing of it. One of
	// a run without prompts may only read.
	ReadOnly bool
}

// Call is the call that a use of a verb stands for. Params is what the method takes, of package rpc.
type Call struct {
	Method string
	Params any
}

// Of says what call a use of set or mv stands for. An error, of outcome validation, is a use that stands for
// none.
func Of(c sdk.EntryCall, at At) (Call, error) {
	switch c.Verb {
	case sdk.VerbSet:
		return set(c, at)
	case sdk.VerbMove:
		return move(c, at)
	case sdk.VerbRemove:
		return Call{}, sdk.Errorf(sdk.Validation, "%s is a run, which run/delete deletes for good; `rm` takes entries out of a run's view", c.Path)
	case sdk.VerbCopy:
		return Call{}, sdk.Errorf(sdk.Validation, "%s is a run, of which run/fork makes another; cp copies entries", c.Path)
	}
	return Call{}, sdk.Errorf(sdk.Validation, "%s is a run: get reads it, set gives it a prompt, and mv another name", c.Path)
}

func set(c sdk.EntryCall, at At) (Call, error) {
	if err := Only(c, "path", "body", "state", "attributes"); err != nil {
		return Call{}, err
	}
	attributes, mode, err := attributesOf(c, at)
	if err != nil {
		return Call{}, err
	}
	name := Alias(c.Path)
	switch {
	case c.State != "" && c.Body != nil:
		return Call{}, sdk.Errorf(sdk.Validation, "%s: a body is a prompt, and the state cancelled ends the work on one: set one of them", c.Path)
	case c.State == sdk.StateCancelled:
		p := rpc.Abort{}
		err := fill(&p, attributes, map[string]string{"run": name, "project": at.Project})
		return Call{rpc.MethodAbort, p}, err
	case c.State != "":
		return Call{}, sdk.Errorf(sdk.Validation, "%s: a run is set to cancelled and to no other state; a state on the entry of what it proposes answers that", c.Path)
	case c.Body != nil:
		method := rpc.MethodAct
		if mode {
			method = rpc.MethodAsk
		}
		p := rpc.Prompt{}
		err := fill(&p, attributes, map[string]string{"run": name, "project": at.Project, "prompt": *c.Body})
		return Call{method, p}, err
	case at.Known:
		p := rpc.RunConfig{}
		err := fill(&p, attributes, map[string]string{"run": name, "project": at.Project})
		return Call{rpc.MethodRunConfig, p}, err
	}
	p := rpc.StartRun{}
	err = fill(&p, attributes, map[string]string{"run": name, "project": at.Project})
	return Call{rpc.MethodStartRun, p}, err
}

func move(c sdk.EntryCall, at At) (Call, error) {
	if err := Only(c, "path", "to"); err != nil {
		return Call{}, err
	}
	if !Is(c.Path) || !Is(c.To) {
		return Call{}, sdk.Errorf(sdk.Validation, "%s cannot become %s: a run stays one", c.Path, c.To)
	}
	return Call{rpc.MethodRename, rpc.Rename{Run: Alias(c.Path), Project: at.Project, Name: Alias(c.To)}}, nil
}

// Only refuses what a verb is told beside some members of a use, which are named as in its JSON.
func Only(c sdk.EntryCall, names ...string) error {
	for _, path := range []string{c.Path, c.To} {
		if len(path) > sdk.MaxTarget || !utf8.ValidString(path) || strings.ContainsFunc(path, unicode.IsControl) {
			return sdk.Errorf(sdk.Validation, "a path has %d bytes at the most here, and no control characters: %.80q", sdk.MaxTarget, path)
		}
	}
	told, err := c.Told()
	if err != nil {
		return err
	}
	for _, name := range told {
		if !slices.Contains(names, name) {
			return sdk.Errorf(sdk.Validation, "%s of %.80s takes no %s; it takes %s", c.Verb, c.Path, name, strings.Join(names, ", "))
		}
	}
	return nil
}

// attributesOf are the attributes of a use, without the mode, which says whether a prompt may only read.
func attributesOf(c sdk.EntryCall, at At) (attributes map[string]json.RawMessage, readOnly bool, err error) {
	readOnly = at.ReadOnly || !at.Known
	if len(c.Attributes) == 0 {
		return nil, readOnly, nil
	}
	if json.Unmarshal(c.Attributes, &attributes) != nil || attributes == nil {
		return nil, false, sdk.Errorf(sdk.Validation, "attributes must be a JSON object, not %.40s", c.Attributes)
	}
	text, given := attributes["mode"]
	delete(attributes, "mode")
	if !given {
		return attributes, readOnly, nil
	}
	var mode string
	if json.Unmarshal(text, &mode) != nil || mode != "ask" && mode != "act" {
		return nil, false, sdk.Errorf(sdk.Validation, "the mode of a prompt is ask or act, not %.40s; how much it may do unasked is permission_mode", text)
	}
	if c.Body == nil {
		return nil, false, sdk.Errorf(sdk.Validation, "mode is of a prompt, and there is none: set a body")
	}
	return attributes, mode == "ask", nil
}

// fill makes parameters of attributes and of what the path and the body say, which no attribute may.
func fill(params any, attributes map[string]json.RawMessage, own map[string]string) error {
	names := names(params)
	all := map[string]json.RawMessage{}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		_, taken := own[name]
		if taken || !slices.Contains(names, name) {
			free := slices.DeleteFunc(names, func(n string) bool { _, taken := own[n]; return taken })
			return sdk.Errorf(sdk.Validation, "there is no attribute %.80q here; there are %s", name, strings.Join(free, ", "))
		}
		all[name] = attributes[name]
	}
	for name, value := range own {
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		all[name] = text
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	if err := sdk.ReadJSON(text, params); err != nil {
		return sdk.Errorf(sdk.Validation, "attributes: %w", err)
	}
	return nil
}

// names are those of parameters, those of structs that are embedded among them.
func names(params any) (all []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeOf(params).Elem()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); !f.Anonymous && name != "" && name != "-" {
			all = append(all, name)
		}
	}
	return all
}
