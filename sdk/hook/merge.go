package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/bothyd/bothy/sdk"
)

// merge puts into a value what a filter changed: before and after are the value
// as the filter's type writes it, without what the type does not know. Members
// that it does not know stay, also those of an array's elements where it can be
// said which they are: at its beginning and its end as far as they are the same,
// and one by one where as many stand between as before.
func merge(whole, before, after json.RawMessage) (json.RawMessage, error) {
	switch {
	case bytes.Equal(before, after):
		return whole, nil // not a byte of it is another
	case bytes.Equal(whole, before):
		return after, nil // the type knows all of it
	}
	var members [3]map[string]json.RawMessage
	for i, text := range []json.RawMessage{whole, before, after} {
		if err := json.Unmarshal(text, &members[i]); err != nil || members[i] == nil {
			return mergeRaw(whole, before, after) // no object
		}
	}
	merged, w, b := members[2], members[0], members[1]
	for name, v := range merged {
		is, there := w[name]
		was, known := b[name]
		switch {
		case !there || !known:
		case bytes.Equal(was, v): // most texts are, and none of them is looked into
			merged[name] = is
		default:
			var err error
			if merged[name], err = mergeRaw(is, was, v); err != nil {
				return nil, err
			}
		}
	}
	for name, v := range w {
		_, known := b[name]
		if _, kept := merged[name]; !known && !kept {
			merged[name] = v // unknown to the type, or empty before and after
		}
	}
	return written(merged)
}

// mergeRaw is merge for any values.
func mergeRaw(whole, before, after json.RawMessage) (json.RawMessage, error) {
	if len(after) > 0 && after[0] == '"' {
		return after, nil // a text has nothing that the type does not know
	}
	var trees [3]any
	for i, text := range []json.RawMessage{whole, before, after} {
		var err error
		if trees[i], err = sdk.AnyJSON(text); err != nil {
			return nil, fmt.Errorf("put together what the filter changed: %w", err)
		}
	}
	return written(mergeTree(trees[0], trees[1], trees[2]))
}

func written(v any) (json.RawMessage, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("put together what the filter changed: %w", err)
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

func mergeTree(whole, before, after any) any {
	if reflect.DeepEqual(before, after) {
		return whole
	}
	switch w := whole.(type) {
	case map[string]any:
		b, wasObject := before.(map[string]any)
		a, isObject := after.(map[string]any)
		if wasObject && isObject {
			return mergeObject(w, b, a)
		}
	case []any:
		b, wasArray := before.([]any)
		a, isArray := after.([]any)
		if wasArray && isArray && len(w) == len(b) {
			return mergeArray(w, b, a)
		}
	}
	return after
}

func mergeObject(whole, before, after map[string]any) map[string]any {
	merged := map[string]any{}
	for name, v := range whole {
		_, known := before[name]
		if _, kept := after[name]; !known && !kept {
			merged[name] = v // unknown to the type, or empty before and after
		}
	}
	for name, v := range after {
		w, there := whole[name]
		b, known := before[name]
		if there && known {
			v = mergeTree(w, b, v)
		}
		merged[name] = v
	}
	return merged
}

func mergeArray(whole, before, after []any) []any {
	first := 0
	for first < len(before) && first < len(after) && reflect.DeepEqual(before[first], after[first]) {
		first++
	}
	last := 0
	for last < len(before)-first && last < len(after)-first &&
		reflect.DeepEqual(before[len(before)-1-last], after[len(after)-1-last]) {
		last++
	}
	merged := append([]any{}, whole[:first]...)
	between := after[first : len(after)-last]
	if len(between) == len(before)-first-last {
		for i, v := range between {
			merged = append(merged, mergeTree(whole[first+i], before[first+i], v))
		}
	} else {
		merged = append(merged, between...)
	}
	return append(merged, whole[len(whole)-last:]...)
}
