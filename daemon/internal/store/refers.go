package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// refersMark is how attributes look that may have ActionCall.Refers.
var refersMark = []byte(`"refers":{`)

// resolver finds the arguments that actions refer to. It reads each answer once,
// however many refer to it.
type resolver struct {
	read reader
	have map[string]reply // by scope and path
}

// reply is what the attributes of assistant://N hold of its calls.
type reply struct {
	Calls []struct {
		Arguments string `json:"arguments"`
	} `json:"calls"`
}

func newResolver(read reader) *resolver { return &resolver{read, map[string]reply{}} }

const attributesQuery = `SELECT e.attributes FROM entries e CROSS JOIN run_views v ON v.entry = e.id AND v.run = ?1
	WHERE e.path = ?2 AND e.scope IN ` + visibleScopes

// fillEntries gives entries of a run the arguments that stand elsewhere.
func (f *resolver) fillEntries(run int64, entries []sdk.Entry) error {
	for i := range entries {
		if err := f.fillEntry(run, &entries[i]); err != nil {
			return err
		}
	}
	return nil
}

func (f *resolver) fillEntry(run int64, e *sdk.Entry) (err error) {
	if e.Attributes, err = f.fill(run, e.Phase, e.Attributes); err != nil {
		return fmt.Errorf("finding what %s refers to: %w", e.Path, err)
	}
	return nil
}

// fill puts arguments that attributes only refer to in their place. Only an
// action's attributes are read so, which nobody but the engine writes. What is
// not there any more stays a reference.
func (f *resolver) fill(run int64, phase sdk.Phase, attributes []byte) (json.RawMessage, error) {
	if phase == sdk.PhaseNone || !bytes.Contains(attributes, refersMark) {
		return attributes, nil
	}
	all, err := parseMembers(attributes)
	if err != nil {
		return nil, err
	}
	var places struct {
		Arguments string `json:"arguments"`
	}
	if json.Unmarshal(all["refers"], &places) != nil {
		return attributes, nil
	}
	value, err := f.find(run, places.Arguments)
	if err != nil || value == nil {
		return attributes, err
	}
	all["arguments"] = value
	delete(all, "refers")
	return encodeMembers(all)
}

// find returns the arguments at ANSWER#/calls/I/arguments, nil when there are none.
func (f *resolver) find(run int64, place string) (json.RawMessage, error) {
	path, pointer, _ := strings.Cut(place, "#/calls/")
	i, err := strconv.Atoi(strings.TrimSuffix(pointer, "/arguments"))
	if err != nil {
		return nil, nil //nolint:nilerr // it is no place that is ever written
	}
	key := runScope(run) + " " + path
	a, ok := f.have[key]
	if !ok {
		b, _, err := first(f.read, scanValue[[]byte], attributesQuery, run, path)
		if err != nil {
			return nil, err
		}
		_ = json.Unmarshal(b, &a) // what is no answer has no calls
		f.have[key] = a
	}
	if i < 0 || i >= len(a.Calls) {
		return nil, nil
	}
	value, err := sdk.AnyJSON([]byte(a.Calls[i].Arguments))
	if err != nil {
		return nil, nil //nolint:nilerr // it is no JSON, so it is not what was referred to
	}
	return encode(value)
}
