package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// refers is the member of an action that names members which stand in another
// entry (sdk.ActionCall.Refers); refersMark is how attributes look that may have it.
const refers = "refers"

var refersMark = []byte(`"` + refers + `":{`)

// resolver finds what entries of runs refer to. It reads each entry once, so that
// many who refer to one text cost that text once.
type resolver struct {
	read reader
	have map[string]any
}

// resolver reads from the pool.
func (s *Store) resolver(ctx context.Context) *resolver { return &resolver{read: s.reader(ctx)} }

// resolver reads within the transaction.
func (t *tx) resolver() *resolver { return &resolver{read: t.query} }

const attributesQuery = `SELECT e.attributes FROM entries e CROSS JOIN run_views v ON v.entry = e.id AND v.run = ?1
	WHERE e.path = ?2 AND e.scope IN ` + visibleScopes

// fillEntries gives entries of a run the members that stand elsewhere.
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

// fill puts each member that attributes only refer to in its place. Only an
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
	var places map[string]string
	if json.Unmarshal(all[refers], &places) != nil {
		return attributes, nil
	}
	for name, place := range places {
		value, err := f.find(run, place)
		if err != nil {
			return nil, err
		}
		if value != nil {
			all[name] = value
			delete(places, name)
		}
	}
	delete(all, refers)
	if len(places) > 0 {
		if all[refers], err = encode(places); err != nil {
			return nil, err
		}
	}
	return encodeMembers(all)
}

// find returns the JSON that stands as text at PATH#POINTER, nil when there is
// none.
func (f *resolver) find(run int64, place string) (json.RawMessage, error) {
	path, pointer, _ := strings.Cut(place, "#")
	key := runScope(run) + " " + path
	v, ok := f.have[key]
	if !ok {
		b, _, err := first(f.read, scanValue[[]byte], attributesQuery, run, path)
		if err != nil {
			return nil, err
		}
		if len(b) > 0 {
			if v, err = sdk.AnyJSON(b); err != nil {
				return nil, err
			}
		}
		if f.have == nil {
			f.have = map[string]any{}
		}
		f.have[key] = v
	}
	text, ok := pointed(v, pointer).(string)
	if !ok {
		return nil, nil
	}
	value, err := sdk.AnyJSON([]byte(text))
	if err != nil {
		return nil, nil //nolint:nilerr // it is no JSON, so it is not what was referred to
	}
	return encode(value)
}

// pointed follows a JSON pointer (RFC 6901) of plain names and numbers; nil
// when nothing is there.
func pointed(v any, pointer string) any {
	for name := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		switch in := v.(type) {
		case map[string]any:
			v = in[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}
