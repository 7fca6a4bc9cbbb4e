package builtin

import (
	"cmp"
	"encoding/json"

	"github.com/bothyd/bothy/sdk"
)

// copy is cp, and mv, which drops the source.
func (p *plan) copy(c sdk.EntryCall) (step, error) {
	moves := c.Verb == sdk.VerbMove
	from, err := p.find(c.Path)
	if err != nil {
		return step{}, err
	}
	if moves {
		err = p.changes(c.Path)
	} else {
		err = p.reads(c.Path)
	}
	if err == nil {
		err = p.changes(c.To)
	}
	switch {
	case err != nil:
		return step{}, err
	case !from.there:
		return step{}, nothing(c.Path)
	case c.Path == c.To:
		return step{}, sdk.Errorf(sdk.Validation, "%s is source and destination", c.Path)
	case !from.State.Ended():
		return step{}, sdk.Errorf(sdk.Conflict, "%s is %s, so nobody knows what it will hold; wait for its end", c.Path, from.State)
	}
	if err := p.read(from); err != nil {
		return step{}, err
	}
	to, err := p.find(c.To)
	if err != nil {
		return step{}, err
	}
	if to.there && !to.State.Ended() {
		return step{}, sdk.Errorf(sdk.Conflict, "%s is %s; wait for its end", c.To, to.State)
	}
	w := p.write(c.To)
	if w.Create = !to.there && !to.planned; !w.Create { // what it is over is what is told of
		to.expect(&w)
	}
	body := from.Body
	w.Body, w.State, w.Outcome, w.Visibility = &body, from.State, from.Outcome, cmp.Or(c.Visibility, from.Visibility)
	attributes := from.Attributes
	if from.isFile() { // they tell of the file
		attributes = nil
	}
	if from.IsForeign() {
		attributes = patched(attributes, json.RawMessage(`{"`+sdk.AttributeForeign+`":true}`))
	}
	if w.Attributes, err = replacing(to.Attributes, attributes); err != nil {
		return step{}, err
	}
	s := step{writes: []sdk.Write{w}, paths: []string{c.To}}
	s.done.Overwrote = to.there
	s.done.Text = c.Path + " is copied to " + c.To
	if moves {
		s.done.Text = c.Path + " is now " + c.To
	}
	seen := sdk.Write{Path: c.Path, Check: true} // as it was copied
	if moves && from.Version > 0 {
		seen = p.removal(from)
	}
	if from.expect(&seen) || seen.Remove {
		s.writes = append(s.writes, seen)
	}
	if moves && shared(from.Entry) {
		s.done.Text += "; others still have it where it was"
	}
	if to.there {
		s.done.Text += ", over what was there"
	}
	return s, nil
}

// replacing is the patch that makes one object of another.
func replacing(old, other json.RawMessage) (json.RawMessage, error) {
	have, err := object(old)
	if err != nil {
		return nil, err
	}
	want, err := object(other)
	if err != nil {
		return nil, err
	}
	patch := difference(have, want)
	if len(patch) == 0 {
		return nil, nil
	}
	return json.Marshal(patch)
}

func difference(have, want map[string]any) map[string]any {
	patch := map[string]any{}
	for name := range have {
		if _, stays := want[name]; !stays {
			patch[name] = nil
		}
	}
	for name, value := range want {
		now, isObject := have[name].(map[string]any)
		if then, both := value.(map[string]any); both && isObject {
			value = difference(now, then)
		}
		patch[name] = value
	}
	return patch
}
