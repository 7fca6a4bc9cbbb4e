package rpc

import (
	"fmt"
	"strconv"
	"strings"
)

// Protocol is the version of this wire, "major.minor". A minor step adds; a
// major step breaks, and both sides then refuse to talk.
const Protocol = "2.0"

// RummyVersion is Protocol as three numbers, of which clients check the first.
const RummyVersion = Protocol + ".0"

// Greeting is the first message on a WebSocket.
type Greeting struct {
	RummyVersion string `json:"rummyVersion"`
}

// Hello is the daemon's greeting, and the answer to the request hello.
type Hello struct {
	Server   string `json:"server"`   // "bothyd"
	Version  string `json:"version"`  // the build
	Protocol string `json:"protocol"` // "major.minor"
	PID      int    `json:"pid"`
	Role     Role   `json:"role"` // what this connection may do
	Seq      int64  `json:"seq"`  // the journal's position

	// Lacks are names of keys that the configuration asks for and the daemon does not have. Only
	// the answer to the request says them, and not to a channel: auth/give takes them.
	Lacks []string `json:"lacks,omitempty"`
}

// HelloParams is how a client introduces itself.
type HelloParams struct {
	Client   string `json:"client" access:"free" jsonschema:"the client's name, for the log"`
	Version  string `json:"version,omitempty" access:"free" jsonschema:"the client's version, for the log"`
	Protocol string `json:"protocol" access:"free" jsonschema:"the protocol the client speaks, such as 2.0"`
	Token    string `json:"token,omitempty" access:"free" jsonschema:"the token of the role approve or admin"`
	Role     Role   `json:"role,omitempty" access:"free" jsonschema:"observe asks for less than the token, or none, gives"`
}

// CheckProtocol compares the major numbers of two protocols. The error names
// both; which side is the older one is for the caller to say.
func CheckProtocol(ours, theirs string) error {
	a, err := major(ours)
	if err != nil {
		return err
	}
	b, err := major(theirs)
	if err != nil {
		return err
	}
	if a != b {
		return fmt.Errorf("protocol %s does not fit protocol %s", theirs, ours)
	}
	return nil
}

// Older reports whether a protocol is of an earlier major step than ours.
func Older(protocol string) bool {
	theirs, err := major(protocol)
	ours, _ := major(Protocol)
	return err == nil && theirs < ours
}

func major(protocol string) (int, error) {
	head, _, _ := strings.Cut(protocol, ".")
	n, err := strconv.Atoi(head)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("protocol %q is not written as major.minor", protocol)
	}
	return n, nil
}
