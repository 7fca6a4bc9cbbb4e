package sdk

import (
	"encoding/json"
	"strings"
)

// Instructions are what a file tells agents (https://agents.md): AGENTS.md of a
// folder, or CLAUDE.md where there is none. The zero value says that there is no
// such file.
type Instructions struct {
	// File is relative to the project, with slashes; of the user's own it is the name
	// alone.
	File string `json:"file"`
	Text string `json:"text,omitempty"`
	// Untrusted says that no person has agreed to it: the file was not read, and
	// Text is empty.
	Untrusted bool `json:"untrusted,omitempty"`
}

// SystemText is the attributes of an entry that has a system text (SystemTextPath).
type SystemText struct {
	// Instructions are those that the text has, without their texts.
	Instructions []SystemInstructions `json:"instructions,omitempty"`
	// Of is "skills" where the entry has what the daemon's own tools said beside a system text.
	Of string `json:"of,omitempty"`
}

// LastSystemText is the entry of the system text that a run had last: the one that its latest turn wrote, for one that comes
// again is written again. False is that there is none.
func LastSystemText(entries []Entry) (last Entry, text SystemText, is bool) {
	for i := range entries {
		e := &entries[i]
		if !strings.HasPrefix(e.Path, systemTextPrefix) || is && e.Turn < last.Turn {
			continue
		}
		var t SystemText
		if len(e.Attributes) > 0 && json.Unmarshal(e.Attributes, &t) != nil || t.Of != "" {
			continue
		}
		last, text, is = *e, t, true
	}
	return last, text, is
}

// SystemInstructions names a file that tells agents something, in a system text.
type SystemInstructions struct {
	File      string `json:"file"`           // as Instructions.File
	User      bool   `json:"user,omitempty"` // the user's own, and not the project's
	Untrusted bool   `json:"untrusted,omitempty"`
}
