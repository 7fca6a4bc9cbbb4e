package store

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// encode writes v as JSON in the one form that is stored and hashed: compact,
// maps in the order of their keys, no HTML escapes. A json.RawMessage is taken
// as it is, so it must come from encode too.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// canonical encodes any value so that equal content gives equal bytes,
// whatever order its objects were written in.
func canonical(v any) (json.RawMessage, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	plain, err := sdk.AnyJSON(raw)
	if err != nil {
		return nil, err
	}
	return encode(plain)
}

// members is a JSON object whose values are kept as encode wrote them.
type members map[string]json.RawMessage

func parseMembers(object []byte) (members, error) {
	m := members{}
	if len(object) == 0 {
		return m, nil
	}
	err := json.Unmarshal(object, &m)
	return m, err
}

// encodeMembers returns nil for an object without members.
func encodeMembers(m members) (json.RawMessage, error) {
	if len(m) == 0 {
		return nil, nil
	}
	size := len("{}")
	for name, value := range m {
		size += len(`"":,`) + len(name) + len(value)
	}
	b := append(make([]byte, 0, size), '{')
	for i, name := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			b = append(b, ',')
		}
		key, err := encode(name)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, key...), ':'), m[name]...) // which encode wrote
	}
	return append(b, '}'), nil
}

var null = json.RawMessage("null")

// patch is a merge patch of attributes (RFC 7386), read before the transaction that applies it.
type patch map[string]patched

// patched is one member of a patch: nil removes it.
type patched struct {
	value any
	alone json.RawMessage // what it comes to where there is no object to patch
}

// readPatch reads a patch; none is one that changes nothing.
func readPatch(raw json.RawMessage) (patch, error) {
	if raw == nil {
		return nil, nil
	}
	v, err := sdk.AnyJSON(raw)
	if err != nil {
		return nil, sdk.Errorf(sdk.Validation, "attributes must be a JSON object: %w", err)
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, sdk.Errorf(sdk.Validation, "attributes must be a JSON object, not %.40s", raw)
	}
	p := make(patch, len(object))
	for name, value := range object {
		var alone json.RawMessage
		if value != nil {
			if alone, err = encode(sdk.MergePatch(nil, value)); err != nil {
				return nil, err
			}
		}
		p[name] = patched{value, alone}
	}
	return p, nil
}

// mergeAttributes reads a patch and applies it.
func mergeAttributes(old []byte, raw json.RawMessage) (merged json.RawMessage, changed members, err error) {
	p, err := readPatch(raw)
	if err != nil {
		return nil, nil, err
	}
	return p.apply(old)
}

// apply returns old as the patch leaves it and the members that changed, a removed one as null.
// Members the patch does not name are not parsed further, so that a short patch of a long object
// is cheap.
func (p patch) apply(old []byte) (merged json.RawMessage, changed members, err error) {
	all, err := parseMembers(old)
	if err != nil {
		return nil, nil, err
	}
	changed = members{}
	for name, to := range p {
		before, had := all[name]
		if to.value == nil {
			if had {
				delete(all, name)
				changed[name] = null
			}
			continue
		}
		after, err := to.merge(before)
		if err != nil {
			return nil, nil, err
		}
		if !bytes.Equal(before, after) {
			all[name] = after
			changed[name] = after
		}
	}
	merged, err = encodeMembers(all)
	return merged, changed, err
}

func (m patched) merge(before json.RawMessage) (json.RawMessage, error) {
	if _, ok := m.value.(map[string]any); !ok || len(before) == 0 || before[0] != '{' {
		return m.alone, nil
	}
	target, err := sdk.AnyJSON(before)
	if err != nil {
		return nil, err
	}
	return encode(sdk.MergePatch(target, m.value))
}

// with is the patch with the members of another one in the place of its own.
func (p patch) with(raw []byte) (patch, error) {
	more, err := readPatch(raw)
	if err != nil {
		return nil, err
	}
	both := make(patch, len(p)+len(more))
	maps.Copy(both, p)
	maps.Copy(both, more)
	return both, nil
}
