package rpc

// KeyLogin is the parameters of auth/login.
type KeyLogin struct {
	Of   string `json:"of" access:"free" jsonschema:"the provider or plugin whose block asks for the key, or the key's name, as secret(\"NAME\") has it"`
	Key  string `json:"key" access:"free" jsonschema:"the key: text of at most 64 KiB"`
	File bool   `json:"file,omitempty" access:"free" jsonschema:"keep it in credentials.json beside the configuration, and not in the keyring"`
}

// KeyRef is the parameters of auth/logout.
type KeyRef struct {
	Of string `json:"of" access:"free" jsonschema:"the provider or plugin whose block asks for the key, or the key's name"`
}

// Where a key is: Place of Key and KeyKept.
const (
	KeyInEnvironment = "environment" // of the daemon
	KeyInKeyring     = "keyring"
	KeyInFile        = "file"   // credentials.json
	KeyInMemory      = "memory" // of the daemon, until it ends
)

// KeyKept answers auth/login. What uses the key was restarted by then; Problems say what of that
// went wrong.
type KeyKept struct {
	Name     string   `json:"name"`
	Place    string   `json:"place"` // KeyInKeyring, KeyInFile or KeyInMemory
	File     string   `json:"file"`  // credentials.json, there or not
	UsedBy   []string `json:"used_by"`
	Warnings []string `json:"warnings"`
	Problems []string `json:"problems"`
}

// KeyRemoved answers auth/logout.
type KeyRemoved struct {
	Name     string   `json:"name"`
	From     []string `json:"from"`            // the places that had it
	Still    string   `json:"still,omitempty"` // where there is another one of that name, which counts now
	Problems []string `json:"problems"`
}

// Key is a key that the configuration asks for, or that is kept. Its value is never told.
type Key struct {
	Name   string   `json:"name"`
	Place  string   `json:"place,omitempty"` // empty: there is none
	UsedBy []string `json:"used_by"`         // blocks that ask for it, as "provider openai"
}

// Keys answers auth/list, by name.
type Keys struct {
	Keys    []Key  `json:"keys"`
	File    string `json:"file"`              // credentials.json, there or not
	Keyring string `json:"keyring,omitempty"` // why the keyring is not asked; empty: it answers
	Problem string `json:"problem,omitempty"` // why the file is not used
}

// KeysGive is the parameters of auth/give: keys that the daemon lacks (Hello.Lacks), by name.
type KeysGive struct {
	Keys map[string]string `json:"keys" access:"free" jsonschema:"from the names that the answer to hello lacks to their values; any other name is left alone"`
}

// KeysTaken answers auth/give: the names that were taken, sorted. They are kept until the daemon
// ends.
type KeysTaken struct {
	Taken []string `json:"taken"`
}
