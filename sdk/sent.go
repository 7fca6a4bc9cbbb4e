package sdk

// KindNoteSent is a row of the journal before an answer: what the model was sent that gave it. Its Data is a Sent.
const KindNoteSent = KindNote + ".sent"

// Sent is what a model was sent in a turn: hashes and sums of it, and what else it takes to render it again from the journal. A
// text is in it nowhere.
type Sent struct {
	Hash     string `json:"hash"`     // SHA-256 of the messages as they went out, the system text first (ADR 130)
	Messages int    `json:"messages"` // how many, that one too
	Seq      int64  `json:"seq"`      // of the journal: the entries of the run up to it are those that were rendered

	System string `json:"system,omitempty"` // digest of the system text: the entry system://DIGEST
	Tools  string `json:"tools,omitempty"`  // of the definitions of the tools that were sent: tools://DIGEST
	Skills string `json:"skills,omitempty"` // of what the daemon's own tools said, where the system text has it not: system://DIGEST

	View    string `json:"view"`
	Dialect string `json:"dialect,omitempty"` // how the model writes calls; absent is DialectTools
	Told    bool   `json:"told,omitempty"`    // it had tools, and none were sent beside the messages: the system text tells of them
	Model   string `json:"model"`
	Last    int    `json:"last,omitempty"` // how many of the last messages were to be shown at the most (Agent.Messages); 0 is all

	Flat bool `json:"flat,omitempty"` // calls and results were told as text, as who is asked for a summary has them

	// Inputs is what the model takes, in one word for each; absent is that nobody knew.
	Inputs   []string `json:"inputs,omitempty"`
	Context  int      `json:"context,omitempty"`  // of the model, in tokens; 0 is unknown
	Tokens   int      `json:"tokens"`             // the estimate of all that was sent
	Ratio    float64  `json:"ratio,omitempty"`    // what the model's server counted for each token of an estimate; 0 is 1
	Ceilings []int    `json:"ceilings,omitempty"` // what it was made to fit, one after the other

	Use ContextUse `json:"use,omitzero"` // how it is made to fit

	Sums SentSums `json:"sums"`
}

// SentSums is how long the parts of a request were, in bytes.
type SentSums struct {
	System    int `json:"system"`
	User      int `json:"user"`      // messages of people, and what stands for them
	Assistant int `json:"assistant"` // answers, with their calls
	Results   int `json:"results"`   // of tools, as messages of their own
	Tools     int `json:"tools"`     // definitions
	Media     int `json:"media,omitempty"`
}

const (
	systemTextPrefix = "system://"
	toolsTextPrefix  = "tools://"
)

// SystemTextPath is the entry of a run that has a system text, by its SHA-256. What system://N is, with the number of a turn, is
// rendered when it is read.
func SystemTextPath(digest string) string { return systemTextPrefix + digest }

// ToolsTextPath is the entry of a project that has the definitions of tools that models were sent, by the SHA-256 of the JSON.
func ToolsTextPath(digest string) string { return toolsTextPrefix + digest }
