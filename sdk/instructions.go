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
