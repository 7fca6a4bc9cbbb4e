package verbs

import "time"

// MCPAdd writes the block of a server of MCP.
type MCPAdd struct {
	URL        string   `placeholder:"URL" help:"A server that is reached by HTTP, in the place of a command."`
	Env        []string `placeholder:"NAME=VALUE" sep:"none" help:"A variable of its environment; may be given again. A key is written secret(\"NAME\")."`
	Header     []string `placeholder:"NAME=VALUE" sep:"none" help:"A header of each request to the URL; may be given again."`
	Network    bool     `help:"Open the network to it."`
	Paths      []string `name:"path" placeholder:"PATH" sep:"none" complete:"file" help:"Let it read and write below this folder, or this file; may be given again."`
	ReadPaths  []string `name:"read-path" placeholder:"PATH" sep:"none" complete:"file" help:"Let it read and execute there; may be given again."`
	Unconfined bool     `help:"Hold it to nothing: it reads and writes what you may, your keys included."`
	Name       string   `arg:"" name:"name" help:"What it is called: a to z, digits, single _."`
	Command    []string `arg:"" optional:"" name:"command" help:"The program that is the server, and its arguments."`
}

// Help adds to the help of the verb.
func (MCPAdd) Help() string {
	return `Writes a block mcp "NAME" into your configuration. Nothing is started: that happens when an agent that may use the server works, or with bothy tools call mcp__NAME__TOOL.

The server is confined: it has a folder of its own, the system's programs and libraries, and no network but for a URL. A program in your home, as those of nvm are, is opened to it by itself, with the lib beside its bin, and so is the network to npx, uvx and others that fetch what they run. Folders and files among its arguments it may read, but for your home itself, what is hidden in it, and the system's own folders. docker and podman cannot be confined. A line says what is open.

Examples:

    bothy mcp add notes -- /usr/bin/notes-mcp --readonly
    bothy mcp add --path ~/notes files -- npx -y @modelcontextprotocol/server-filesystem ~/notes
    bothy mcp add --url https://tracker.example.com/mcp --header 'Authorization=Bearer secret("TRACKER")' tracker
`
}

// MCPImport reads the servers that other programs have.
type MCPImport struct {
	Print bool     `help:"Only print the blocks."`
	Yes   bool     `short:"y" help:"Do not ask."`
	Files []string `arg:"" optional:"" name:"file" complete:"file" help:"The files to read; those of the programs that are known when absent."`
}

// Help adds to the help of the verb.
func (MCPImport) Help() string {
	return `Reads the servers of MCP that Claude Code, Claude Desktop, VS Code, Cursor, Codex, Gemini, Copilot and Zed keep, shows the blocks that they come to, and writes those that you do not have yet into your configuration, behind all that is there. Nothing is started. What a project brings (.mcp.json, .vscode/mcp.json) is read when its file is named, and nothing is opened to a server of a file that you name: a line says what it needs.

What looks like a key in such a file is not copied: its block says secret("NAME"), and a line says how to keep it. ${VARIABLE} becomes env("VARIABLE").

Examples:

    bothy mcp import
    bothy mcp import --print
    bothy mcp import .mcp.json
`
}

// MCPAccept accepts a server as it is.
type MCPAccept struct {
	Yes  bool   `short:"y" help:"Do not ask."`
	Name string `arg:"" name:"name" help:"The name of its block."`
}

// Help adds to the help of the verb.
func (MCPAccept) Help() string {
	return `Shows what the server starts, with the digests of its files, and of its tools those that are others than were accepted or, before that, than were first seen. With your yes it writes that into bothy.lock. From then on a tool that the server says only reads counts as one that only reads, and what is another than it was, a new tool and a changed file of its program included, is proposed whenever it is called.

Example:

    bothy mcp accept notes
`
}

// MCPRemove takes the block of a server away.
type MCPRemove struct {
	Name string `arg:"" name:"name" help:"The name of its block."`
}

// MCPLogin logs a person in to a server.
type MCPLogin struct {
	Scopes    []string      `name:"scope" placeholder:"SCOPE" sep:"none" help:"Ask for this too, in the server's words; may be given again."`
	File      bool          `help:"Keep the login in credentials.json beside the configuration, as text that only you can read, and not in the keyring."`
	NoBrowser bool          `help:"Open no browser: only print the address."`
	Wait      time.Duration `default:"5m" placeholder:"TIME" help:"How long you may take."`
	Name      string        `arg:"" name:"name" complete:"mcp" help:"The name of its block."`
}

// Help adds to the help of the verb.
func (MCPLogin) Help() string {
	return `For a server that is reached by a URL and wants a login (OAuth). The server says where that is, Bothy registers there, and you log in with your browser: it is opened, or you open the address that is printed. $BROWSER names another program than the desktop's. Where the browser runs on another machine it ends at an address of this one that it cannot open: type that address here.

The login is kept where keys are, as 'bothy auth' lists them, goes to this server alone, and is renewed by itself. What uses it is configured anew at once.

Examples:

    bothy mcp login tracker
    bothy mcp login tracker --scope tickets:write
`
}
