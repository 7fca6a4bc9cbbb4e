// Package reply says where the calls of an answer stand in its text, and what their actions have from there: what a model wrote
// once is stored once (ADR 0131). It is pure: an answer goes in, and what is stored of it comes out.
package reply

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Arguments are stored with the answer alone from these lengths on, in bytes: one that stands in its text, which what refers to it is
// about as long as, and all of a call in native form.
const (
	long       = 96
	longNative = 1 << 10
)

// Found are the calls of a reading as the reply keeps them; nil where they do not stand in its text.
func Found(text string, calls []sdk.ReadCall) []sdk.FoundCall {
	var all []sdk.FoundCall
	for _, call := range calls {
		if call.At.Empty() {
			return nil
		}
		found, _ := find(text, call, call.Arguments)
		all = append(all, found)
	}
	return all
}

// Refer is what an action stores of a call: its arguments without those that its answer has, the very bytes, and where these are. Index
// is that of the call in its turn. Of arguments that are others than what was read the answer has nothing.
func Refer(turn, index int, text string, call sdk.ReadCall, arguments json.RawMessage) (rest json.RawMessage, refers map[string]string) {
	switch {
	case call.At.Empty() && len(arguments) >= longNative && strings.TrimSpace(call.Raw) == string(arguments):
		return nil, map[string]string{"arguments": fmt.Sprintf("%s#/calls/%d/arguments", sdk.ReplyPath(turn), index)}
	case call.At.Empty() || !bytes.Equal(arguments, call.Arguments):
		return arguments, nil
	}
	_, places := find(text, call, arguments)
	if len(places) == 0 {
		return arguments, nil
	}
	all := members(arguments)
	refers = map[string]string{}
	for name, place := range places {
		delete(all, name)
		refers["arguments/"+name] = fmt.Sprintf("%s#/found/%d/%s", sdk.ReplyPath(turn), index, place)
	}
	if len(all) == 0 {
		return nil, refers
	}
	return encode(all), refers
}

// Again is a call that was read again, for an action that is recorded. One of the text whose arguments read otherwise now, since other
// tools are offered, has a Fault: nothing runs that was not recorded.
func Again(call sdk.ReadCall, recorded sdk.ActionCall) sdk.ReadCall {
	if !call.At.Empty() && call.Fault == "" && recorded.Changed == "" && !same(recorded.Arguments, call.Arguments) {
		call.Fault = "this call was not made: it cannot be read again as it was written. Make it again."
	}
	return call
}

// same reports whether arguments that were read again are those that are stored with the action: of these members that are null are
// left out.
func same(stored, read json.RawMessage) bool {
	was, err := sdk.AnyJSON(stored)
	if err != nil {
		return false
	}
	is, err := sdk.AnyJSON(read)
	return err == nil && bytes.Equal(encode(was), encode(sdk.MergePatch(nil, is)))
}

// find looks for the long arguments of a call in the text. The places are by the name of the argument.
func find(text string, call sdk.ReadCall, arguments json.RawMessage) (found sdk.FoundCall, places map[string]string) {
	found = sdk.FoundCall{ID: call.ID, Tool: call.Tool, At: call.At}
	within, ok := call.At.Of(text)
	if !ok || len(arguments) < long {
		return found, nil
	}
	all := members(arguments)
	places = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		var value string
		if len(all[name]) < long || json.Unmarshal(all[name], &value) != nil || len(value) < long {
			continue
		}
		if body, ok := call.BodyAt.Of(text); ok && body == value {
			places[name] = fmt.Sprintf("texts/%d", len(found.Texts))
			found.Texts = append(found.Texts, call.BodyAt)
			continue
		}
		if i := strings.Index(within, value); i >= 0 {
			places[name] = fmt.Sprintf("texts/%d", len(found.Texts))
			found.Texts = append(found.Texts, sdk.Span{Start: call.At.Start + i, End: call.At.Start + i + len(value)})
			continue
		}
		quoted := encode(value)
		quoted = quoted[1 : len(quoted)-1]
		if i := strings.Index(within, string(quoted)); i >= 0 {
			places[name] = fmt.Sprintf("quoted/%d", len(found.Quoted))
			found.Quoted = append(found.Quoted, sdk.Span{Start: call.At.Start + i, End: call.At.Start + i + len(quoted)})
		}
	}
	return found, places
}

// members are those of an object; none of what is no object.
func members(object json.RawMessage) (all map[string]json.RawMessage) {
	_ = json.Unmarshal(object, &all)
	return all
}

func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // texts and what was JSON always are
	return bytes.TrimSpace(b.Bytes())
}
