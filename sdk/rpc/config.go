package rpc

// Reloaded answers config/reload: what the files say now and what became of it.
type Reloaded struct {
	Path string `json:"path"` // the user's file
	// Applied is whether the files could be used. When they could not, all goes
	// on as it was, and Diagnostics say where the mistakes are. A plugin that
	// could not be given its new block is an error among the diagnostics of
	// files that were applied: it goes on with the old one.
	Applied     bool           `json:"applied"`
	Changes     []ConfigChange `json:"changes"`
	Diagnostics []Diagnostic   `json:"diagnostics"`
}

// MistakesParams is the parameters of config/mistakes.
type MistakesParams struct {
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of a project, whose own file is read too"`
}

// Mistakes answers config/mistakes: what of the files is not in force since it is wrong,
// each in one line that begins with the file and the line.
type Mistakes struct {
	Mistakes []string `json:"mistakes"`
	// Unseen are the plugins that were to run and do not, and of which nobody knows what
	// they would hear or refuse.
	Unseen []string `json:"unseen,omitempty"`
}

// ConfigCheck is the parameters of config/check.
type ConfigCheck struct {
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of a project, whose own file is checked too"`
}

// ConfigChecked answers config/check: what is wrong with the files as they are now.
type ConfigChecked struct {
	Path        string       `json:"path"`   // the user's file
	Usable      bool         `json:"usable"` // a daemon can work with it
	Diagnostics []Diagnostic `json:"diagnostics"`
}

// ConfigChange is one block that was added, changed, removed or moved.
type ConfigChange struct {
	Block    string   `json:"block"`
	Label    string   `json:"label,omitempty"`
	Kind     string   `json:"kind"`
	Settings []string `json:"settings,omitempty"` // of a block without a label
	Text     string   `json:"text"`               // all of it, in a line
}

// Diagnostic is a mistake or a warning, where possible at its place.
type Diagnostic struct {
	Severity string `json:"severity"` // "error" or "warning"
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Text     string `json:"text"` // whole, with the place and the source line
}
