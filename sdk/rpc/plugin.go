package rpc

// Plugin is one plugin instance as the supervisor sees it.
type Plugin struct {
	Instance string   `json:"instance"` // the label of its block
	Plugin   string   `json:"plugin"`   // bothy-plugin-NAME
	Path     string   `json:"path,omitempty"`
	Version  string   `json:"version,omitempty"`
	Kinds    []string `json:"kinds"`
	State    string   `json:"state"` // starting, ready, draining, stopped, crashed, backoff, broken
	PID      int      `json:"pid,omitempty"`
	Restarts int      `json:"restarts"`
	Error    string   `json:"error,omitempty"` // why it is not ready, and what to do
	Tools    []string `json:"tools"`
	RSS      int64    `json:"rss,omitempty"` // resident memory in bytes
}
