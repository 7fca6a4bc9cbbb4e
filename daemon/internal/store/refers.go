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

// reply is what assistant://N holds of its calls.
type reply struct {
	text  string // where calls stand in it
	Calls []struct {
		Arguments string `json:"arguments"`
	} `json:"calls"`
	Found []sdk.FoundCall `json:"found"`
}

func newResolver(read reader) *resolver { return &resolver{read, map[string]reply{}} }

const replyQuery = `SELECT e.attributes, CASE WHEN instr(e.attributes, '"found":[') > 0 THEN e.body ELSE '' END
	FROM entries e CROSS JOIN run_views v ON v.entry = e.id AND v.run = ?1 WHERE e.path = ?2 AND e.scope IN ` + visibleScopes

func scanReply(scan scanner) (r reply, err error) {
	var attributes []byte
	if err = scan(&attributes, &r.text); err == nil {
		_ = json.Unmarshal(attributes, &r) // what is no answer has no calls
	}
	return r, err
}

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

// argumentsOf begins what Refers says of one of the arguments.
const argumentsOf = "arguments/"

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
	var refers map[string]string
	if json.Unmarshal(all["refers"], &refers) != nil {
		return attributes, nil
	}
	known := len(refers)
	var some map[string]json.RawMessage // of the arguments, where they are referred to one by one
	for member, place := range refers {
		value, err := f.find(run, place)
		if err != nil {
			return nil, err
		}
		if name, one := strings.CutPrefix(member, argumentsOf); value != nil && one {
			if some == nil {
				if some, err = parseMembers(all["arguments"]); err != nil {
					return nil, err
				}
			}
			some[name] = value
			delete(refers, member)
			continue
		} else if member != "arguments" {
			value = nil
		}
		if value != nil {
			all["arguments"] = value
			delete(refers, member)
		}
	}
	if some != nil {
		if all["arguments"], err = encodeMembers(some); err != nil {
			return nil, err
		}
	}
	switch len(refers) {
	case known:
		return attributes, nil
	case 0:
		delete(all, "refers")
	default:
		if all["refers"], err = encode(refers); err != nil {
			return nil, err
		}
	}
	return encodeMembers(all)
}

// find returns what stands at a place of an answer, ANSWER#/calls/I/arguments or ANSWER#/found/I/texts/K or quoted/K; nil when it
// has none.
func (f *resolver) find(run int64, place string) (json.RawMessage, error) {
	path, pointer, _ := strings.Cut(place, "#/")
	at := strings.Split(pointer, "/")
	if len(at) < 3 {
		return nil, nil
	}
	i, err := strconv.Atoi(at[1])
	if err != nil || i < 0 {
		return nil, nil //nolint:nilerr // it is no place that is ever written
	}
	key := runScope(run) + " " + path
	a, ok := f.have[key]
	if !ok {
		if a, _, err = first(f.read, scanReply, replyQuery, run, path); err != nil {
			return nil, err
		}
		f.have[key] = a
	}
	switch {
	case at[0] == "calls" && len(at) == 3 && at[2] == "arguments" && i < len(a.Calls):
		value, err := sdk.AnyJSON([]byte(a.Calls[i].Arguments))
		if err != nil {
			return nil, nil //nolint:nilerr // it is no JSON, so it is not what was referred to
		}
		return encode(value)
	case at[0] == "found" && len(at) == 4 && i < len(a.Found):
		return a.argument(a.Found[i], at[2], at[3])
	}
	return nil, nil
}

// argument is one that stands in the text; nil where the text has no such place.
func (r *reply) argument(f sdk.FoundCall, kind, index string) (json.RawMessage, error) {
	spans := map[string][]sdk.Span{"texts": f.Texts, "quoted": f.Quoted}[kind]
	k, err := strconv.Atoi(index)
	if err != nil || k < 0 || k >= len(spans) {
		return nil, nil //nolint:nilerr // it is no place that is ever written
	}
	text, ok := spans[k].Of(r.text)
	if !ok {
		return nil, nil
	}
	if kind == "quoted" {
		var plain string
		if json.Unmarshal([]byte(`"`+text+`"`), &plain) == nil { // else a part of it was hidden
			text = plain
		}
	}
	return encode(text)
}
