package store

import (
	"bytes"
	"encoding/json"

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
	return encode(m)
}

var null = json.RawMessage("null")

// mergeAttributes patches old as RFC 7386 says and returns the result with the
// members that changed, a removed one as null. Members the patch does not name
// are not parsed further, so that a short patch of a long object is cheap.
func mergeAttributes(old []byte, patch json.RawMessage) (merged json.RawMessage, changed members, err error) {
	v, err := sdk.AnyJSON(patch)
	if err != nil {
		return nil, nil, sdk.Errorf(sdk.Validation, "attributes must be a JSON object: %w", err)
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, nil, sdk.Errorf(sdk.Validation, "attributes must be a JSON object, not %.40s", patch)
	}
	all, err := parseMembers(old)
	if err != nil {
		return nil, nil, err
	}
	changed = members{}
	for name, value := range object {
		before, had := all[name]
		if value == nil {
			if had {
				delete(all, name)
				changed[name] = null
			}
			continue
		}
		after, err := mergeMember(before, value)
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

func mergeMember(before json.RawMessage, patch any) (json.RawMessage, error) {
	var target any
	if _, ok := patch.(map[string]any); ok && len(before) > 0 && before[0] == '{' {
		var err error
		if target, err = sdk.AnyJSON(before); err != nil {
			return nil, err
		}
	}
	return encode(sdk.MergePatch(target, patch))
}
