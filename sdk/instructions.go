package sdk

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

// SystemPath is the entry of a run that has the system text of its last turn.
const SystemPath = "instructions://system"

// SystemText is the attributes of the entry at SystemPath.
type SystemText struct {
	// Instructions are those that the text has, without their texts.
	Instructions []SystemInstructions `json:"instructions,omitempty"`
}

// SystemInstructions names a file that tells agents something, in a system text.
type SystemInstructions struct {
	File      string `json:"file"`           // as Instructions.File
	User      bool   `json:"user,omitempty"` // the user's own, and not the project's
	Untrusted bool   `json:"untrusted,omitempty"`
}
