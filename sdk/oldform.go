package sdk

import (
	"encoding/json"
	"maps"
	"strconv"
)

// OldModePath is where the old form kept that a run is in full mode for good. It
// is read beside mode://run, so the scheme stays the daemon's own.
const OldModePath = "leave://run"

// FromOldForm returns an object that is kept in the store in today's form, and
// whether it had the old one. Rows of the journal cannot be rewritten, since
// each is hashed with the one before it, so what version 0.9 and earlier wrote
// is read for ever, and nothing writes it (docs/decisions/0038-mode-and-read-only.md).
//
// In the old form the member mode said ask or act, which is read_only today;
// leave was the permission mode, which is mode today; leaves are modes. A stream
// of changes that began in the old form can hold both: where mode is a
// permission mode, a leave beside it is what is left of the old form: it is taken
// away, and the object is of today's form.
//
// An object that is no JSON comes back as it is. Attributes of prompt:// entries
// have a mode of their own ([AskOrAct]) and are not for this function.
func FromOldForm(object json.RawMessage) (json.RawMessage, bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return object, false
	}
	old, changed := false, false
	rename := func(was, is string) {
		value, there := members[was]
		if !there {
			return
		}
		if _, there = members[is]; !there {
			members[is], old = value, true
		}
		delete(members, was)
		changed = true
	}
	if mode := string(members["mode"]); mode == `"ask"` || mode == `"act"` {
		members["read_only"] = json.RawMessage(strconv.FormatBool(mode == `"ask"`))
		delete(members, "mode")
		old, changed = true, true
	}
	rename("leave", "mode")
	rename("leaves", "modes")
	if !changed {
		return object, false
	}
	text, err := json.Marshal(members)
	if err != nil {
		return object, false
	}
	return text, old
}

// UnmarshalJSON reads a proposal of either form.
func (p *ActionProposal) UnmarshalJSON(text []byte) error {
	type plain ActionProposal
	now, old := FromOldForm(text)
	if err := json.Unmarshal(now, (*plain)(p)); err != nil {
		return err
	}
	p.OldForm = old
	return nil
}

// ToOldForm renames the members read_only and mode of what an answer to a
// proposal agrees to as the old form did. A proposal that was made in the old
// form is verified by the hash that it was shown with.
func ToOldForm(agreed map[string]any) map[string]any {
	was := maps.Clone(agreed)
	readOnly, _ := agreed["read_only"].(bool)
	was["mode"], was["leave"] = AskOrAct(readOnly), agreed["mode"]
	delete(was, "read_only")
	return was
}
