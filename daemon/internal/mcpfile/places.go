package mcpfile

import (
	"path/filepath"
	"runtime"
)

// Places are the files below a home in which the programs that are known keep servers,
// whether there or not. What a project brings is not among them: who wants that names its file.
func Places(home string) []string {
	config := filepath.Join(home, ".config")
	if runtime.GOOS == "darwin" {
		config = filepath.Join(home, "Library", "Application Support")
	}
	return []string{
		filepath.Join(home, ".claude.json"), // Claude Code
		filepath.Join(config, "Claude", "claude_desktop_config.json"),
		filepath.Join(config, "Code", "User", "mcp.json"),
		filepath.Join(home, ".cursor", "mcp.json"),
		filepath.Join(home, ".codex", "config.toml"),
		filepath.Join(home, ".gemini", "settings.json"),
		filepath.Join(home, ".copilot", "mcp-config.json"),
		filepath.Join(home, ".config", "zed", "settings.json"),
	}
}
