package rpc

import "github.com/bothyd/bothy/sdk"

// PacketParams is the parameters of run/packet.
type PacketParams struct {
	Run     string `json:"run" access:"run" jsonschema:"the run's alias in the project, or its id"`
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; not needed with an id"`
	Turn    int    `json:"turn" access:"free" jsonschema:"the number of a turn in the run"`
}

// Packet answers run/packet: what a model was sent in a turn, rendered from the journal as it was then.
type Packet struct {
	Run   string `json:"run"`
	ID    int64  `json:"id"`
	Turn  int    `json:"turn"`
	Loop  int64  `json:"loop"`
	Model string `json:"model"`
	View  string `json:"view"`

	// Same says that the rendering is what was sent: Hash, which was taken then, is that of Messages now. It is not where a text
	// was redacted, removed or overwritten since, or a hook changed the prompt.
	Same     bool       `json:"same"`
	Hash     string     `json:"hash"`
	Rendered string     `json:"rendered"`
	Gone     []GoneText `json:"gone"` // the texts that are kept nowhere any more

	Messages []sdk.Message `json:"messages"`        // the system text first; media without their data
	Tools    []sdk.ToolDef `json:"tools,omitempty"` // that were sent beside them

	Tokens        int          `json:"tokens"`         // the estimate of all of it
	ContextTokens int          `json:"context_tokens"` // what the model's server counted, else Tokens
	Context       int          `json:"context,omitempty"`
	Sums          sdk.SentSums `json:"sums"` // in bytes, of what was sent
}

// GoneText names a text that is kept nowhere any more.
type GoneText struct {
	Path string `json:"path"`
	Hash string `json:"hash,omitempty"` // its SHA-256, in hex; absent where not even that is known
}
