package sdk

import (
	"encoding/json"
	"fmt"
	"time"
)

// AskOrAct is whether a loop may only read, as the surfaces of the run
// specification write it: "ask" when it may only read, else "act". They are the
// attribute mode of prompt:// entries and the member mode in payloads of hooks;
// everywhere else it is read_only, and mode is the permission mode.
type AskOrAct bool

// String is "ask" or "act".
func (a AskOrAct) String() string {
	if a {
		return "ask"
	}
	return "act"
}

// MarshalText implements encoding.TextMarshaler.
func (a AskOrAct) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. No word is act; any other
// word is an error.
func (a *AskOrAct) UnmarshalText(text []byte) error {
	*a = string(text) == "ask"
	if len(text) > 0 && string(text) != a.String() {
		return fmt.Errorf("%q is neither ask nor act", text)
	}
	return nil
}

// HookLoop is a Loop in the payload of a hook: ReadOnly is written as mode.
type HookLoop struct {
	ID       int64           `json:"id"`
	Run      int64           `json:"run"`
	Sequence int             `json:"sequence"`
	ReadOnly AskOrAct        `json:"mode"`
	Model    string          `json:"model"`
	Agent    string          `json:"agent"`
	Prompt   string          `json:"prompt"`
	Status   int             `json:"status"`
	Reason   string          `json:"reason,omitempty"`
	Stop     string          `json:"stop,omitempty"`
	Options  json.RawMessage `json:"options,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"` // what its agent handed over
	Created  time.Time       `json:"created"`
	Ended    time.Time       `json:"ended,omitzero"`
}

// ForHook is the loop as payloads of hooks have it.
func (l Loop) ForHook() HookLoop {
	return HookLoop{
		ID: l.ID, Run: l.Run, Sequence: l.Sequence, ReadOnly: AskOrAct(l.ReadOnly), Model: l.Model, Agent: l.Agent, Prompt: l.Prompt,
		Status: l.Status, Reason: l.Reason, Stop: l.Stop, Options: l.Options, Result: l.Result, Created: l.Created, Ended: l.Ended,
	}
}
