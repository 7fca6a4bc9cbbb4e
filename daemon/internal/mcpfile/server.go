package mcpfile

import "time"

// Server is one server as a file has it.
type Server struct {
	Name      string // as the file has it
	Label     string // Name as a block's label: a-z and 0-9, with a single _ between them
	Command   Value
	Args      []Value
	Env       map[string]Value
	Dir       Value
	URL       Value
	Headers   map[string]Value
	Transport string // "", "http" or "sse"
	Timeout   time.Duration
	Disabled  bool
	// Notes are sentences for the person: what to do before it works, and what of the
	// file was left out.
	Notes []string
}

// Value is a text with what is looked up in it when it is used; empty is none.
type Value []Part

// Part is a piece of a Value: a text as it is, or the name of what is looked up.
type Part struct {
	Text    string
	Env     string  // a variable of the environment
	Default *string // what stands for Env where it is not set
	Secret  string  // a key by the name that it is kept under
}

// Plain is the text of a value that looks nothing up, and false for any other.
func (v Value) Plain() (string, bool) {
	text := ""
	for _, p := range v {
		if p.Env != "" || p.Secret != "" {
			return "", false
		}
		text += p.Text
	}
	return text, true
}
