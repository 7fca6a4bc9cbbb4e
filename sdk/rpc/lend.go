package rpc

// Lend is the parameters of run/lend: what a front end lends to a run for as long as its
// connection lasts.
type Lend struct {
	Run     string `json:"run" access:"run" jsonschema:"the run's alias in the project, or its id"`
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; not needed with an id"`
	// Servers are servers of MCP whose tools this run has and no other. They are confined
	// as those of the configuration, and opened what `bothy mcp add` opens to one.
	Servers []LentServer `json:"servers,omitempty" access:"approve" jsonschema:"servers of MCP for this run alone"`
	// Buffers says that the connection answers buffer/wanted.
	Buffers bool `json:"buffers,omitempty" access:"approve" jsonschema:"this connection answers buffer/wanted by buffer/give"`
}

// LentServer is a server of MCP, as an mcp block has it. Its texts are taken as they
// are: nothing in them is looked up.
type LentServer struct {
	Name      string            `json:"name"` // as people know it; the name that its tools have is another
	Command   string            `json:"command,omitempty"`
	Args      []string          `json:"args,omitempty"`
	Env       map[string]string `json:"env,omitempty"`
	Dir       string            `json:"cwd,omitempty"`
	URL       string            `json:"url,omitempty"`
	Headers   map[string]string `json:"headers,omitempty"`
	Transport string            `json:"transport,omitempty"` // http, or sse; empty tries both
}

// Lent answers run/lend. The servers start when the run works.
type Lent struct {
	Servers []LentAs `json:"servers"`
}

// LentAs is what became of one of Lend.Servers, in their order.
type LentAs struct {
	Name    string   `json:"name"`
	Server  string   `json:"server,omitempty"`  // stands in the names of its tools: mcp__SERVER__TOOL; empty where it cannot be used
	Problem string   `json:"problem,omitempty"` // why it cannot
	Notes   []string `json:"notes,omitempty"`   // what is open to it, in sentences
}

// BufferWanted is the notification buffer/wanted: a tool of the run is about to read or
// change a file. A client that lent its buffers answers within a second by buffer/give;
// else the tool reads the file as it is on the disk, and does not change it.
type BufferWanted struct {
	ID   int64  `json:"id"`
	Path string `json:"path"` // absolute; the file may not be there
}

// BufferGiven is the parameters of buffer/give.
type BufferGiven struct {
	ID int64 `json:"id" access:"free"`
	// Unsaved says that the client has the file otherwise than the disk, and Text how.
	Unsaved bool   `json:"unsaved,omitempty" access:"free"`
	Text    string `json:"text,omitempty" access:"free"`
	// Unknown says that the client does not tell how it has the file, as for a text that does not
	// fit this message: the file is not changed then.
	Unknown bool `json:"unknown,omitempty" access:"free"`
}
