package rpc

// What a file may have that goes into the folder of a run or comes out of it, and how much of it goes at once.
const (
	MaxWorkspaceFile  = 20 << 20
	MaxWorkspacePiece = 1 << 20
)

// WorkspaceWrite is the parameters of workspace/write, which puts a file into the folder of a private run, in pieces.
type WorkspaceWrite struct {
	Run     string `json:"run" access:"run" jsonschema:"the run's alias in the project, or its id"`
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; not needed with an id"`
	Name    string `json:"name" access:"free" jsonschema:"as the service has it, with the first piece; then the one that its answer has"`
	Offset  int64  `json:"offset,omitempty" access:"free" jsonschema:"where the piece begins: 0 makes a file, anything else is how much of it is there"`
	Size    int64  `json:"size" access:"free" jsonschema:"bytes of the whole file, at most 20 MiB"`
	Data    []byte `json:"data" access:"free" jsonschema:"the piece in base64, at most 1 MiB of bytes"`
}

// WorkspaceWritten answers workspace/write.
type WorkspaceWritten struct {
	Name    string `json:"name"`    // that it has: safe, and no other file's; at /workspace for commands
	Written int64  `json:"written"` // bytes that are there; the next piece begins behind them
}

// WorkspaceRead is the parameters of workspace/read.
type WorkspaceRead struct {
	Run     string `json:"run" access:"run" jsonschema:"the run's alias in the project, or its id"`
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; not needed with an id"`
	Name    string `json:"name" access:"free" jsonschema:"path in the folder of the run, also as /workspace/PATH"`
	Offset  int64  `json:"offset,omitempty" access:"free" jsonschema:"where the piece begins"`
}

// WorkspacePiece answers workspace/read. Nothing holds the file still: whoever sees another size begins anew.
type WorkspacePiece struct {
	Data []byte `json:"data"` // in base64; empty behind the end
	Size int64  `json:"size"` // of the file now
}
