// Package mcpfile reads the files in which other programs keep the MCP servers that a person
// uses: Claude Code, Claude Desktop, Cursor, Gemini, Copilot, VS Code, Zed and Codex. It starts
// nothing and resolves nothing: a variable stays the name of one, and what looks like a key
// becomes the name of a secret, whose value is told apart for the person to keep.
package mcpfile
