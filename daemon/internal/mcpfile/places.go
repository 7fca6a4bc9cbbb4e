package mcpfile

import (
	"path/filepath"
	"runtime"
)

// Place is where a program keeps its servers.
type Place struct {
	Program string // for people
	Path    string
}

// Places are the files of the programs that are known, whether there or not: those of the
// person first. What a project brings is read like them, and is inert by itself.
func Places(home, project string) []Place {
	config := filepath.Join(home, ".config")
	if runtime.GOOS == "darwin" {
		config = filepath.Join(home, "Library", "Application Support")
	}
	return []Place{
		{"Claude Code", filepath.Join(home, ".claude.json")},
		{"Claude Desktop", filepath.Join(config, "Claude", "claude_desktop_config.json")},
		{"VS Code", filepath.Join(config, "Code", "User", "mcp.json")},
		{"Cursor", filepath.Join(home, ".cursor", "mcp.json")},
		{"Codex", filepath.Join(home, ".codex", "config.toml")},
		{"Gemini", filepath.Join(home, ".gemini", "settings.json")},
		{"Copilot", filepath.Join(home, ".copilot", "mcp-config.json")},
		{"the project (.mcp.json)", filepath.Join(project, ".mcp.json")},
		{"the project (.vscode)", filepath.Join(project, ".vscode", "mcp.json")},
		{"the project (.cursor)", filepath.Join(project, ".cursor", "mcp.json")},
		{"the project (.gemini)", filepath.Join(project, ".gemini", "settings.json")},
	}
}
