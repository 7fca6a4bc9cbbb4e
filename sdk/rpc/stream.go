package rpc

import "encoding/json"

// The parameters of the methods by which a client tells of a command that it runs: one of sh or env that it
// accepted by run/resolve. Path is that of the action, log://turn_N/sh/SLUG. Only the connection that
// accepted it may call them, but for StreamCancel. Its calls are done in the order in which they come.

// Stream is the parameters of stream: a piece of what the command printed. It is kept when it is answered.
type Stream struct {
	Run     string `json:"run" access:"run" jsonschema:"the run's alias in the project, or its id"`
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; not needed with an id"`
	Path    string `json:"path" access:"free" jsonschema:"of the action that was accepted, log://turn_N/sh/SLUG"`
	Channel int    `json:"channel" access:"free" jsonschema:"1 is standard output, 2 standard error"`
	Chunk   string `json:"chunk" access:"free" jsonschema:"at most 1 MiB; 10 MiB of channel 1 and 1 MiB of channel 2 are taken in all"`
}

// StreamCompleted is the parameters of stream/completed: the command has ended.
type StreamCompleted struct {
	Run      string          `json:"run" access:"run" jsonschema:"the run's alias in the project, or its id"`
	Project  string          `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; not needed with an id"`
	Path     string          `json:"path" access:"free" jsonschema:"of the action that was accepted"`
	ExitCode *int            `json:"exit_code,omitempty" access:"free" jsonschema:"its exit status; 0 when absent"`
	Duration json.RawMessage `json:"duration,omitempty" access:"free" jsonschema:"how long it took, a number or a short text, which is told as it is"`
}

// StreamAborted is the parameters of stream/aborted: the client ended the command.
type StreamAborted struct {
	Run      string          `json:"run" access:"run" jsonschema:"the run's alias in the project, or its id"`
	Project  string          `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; not needed with an id"`
	Path     string          `json:"path" access:"free" jsonschema:"of the action that was accepted"`
	Reason   string          `json:"reason,omitempty" access:"free" jsonschema:"why, for the model and for people"`
	Duration json.RawMessage `json:"duration,omitempty" access:"free" jsonschema:"how long it took, a number or a short text, which is told as it is"`
}

// StreamCancel is the parameters of stream/cancel: the command shall end, whoever runs it. A client
// that runs it is told by stream/cancelled.
type StreamCancel struct {
	Run     string `json:"run" access:"run" jsonschema:"the run's alias in the project, or its id"`
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; not needed with an id"`
	Path    string `json:"path" access:"free" jsonschema:"of the action"`
	Reason  string `json:"reason,omitempty" access:"free" jsonschema:"why, for the model and for people"`
}

// Streamed answers the four: what there is of the command's output.
type Streamed struct {
	Status   string         `json:"status"`             // "ok"
	Channels []StreamOutput `json:"channels,omitempty"` // not in the answer to stream
}

// StreamOutput is what a command printed on one channel.
type StreamOutput struct {
	Path   string `json:"path"`
	Bytes  int    `json:"bytes"`
	Status int    `json:"status"` // 102 while it grows; 200, 500 or 499
}
