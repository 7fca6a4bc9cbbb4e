package markdown

import (
	"os"
	"path/filepath"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/places"
)

// ownFolder is where a project keeps agents for Bothy alone.
const ownFolder = ".bothy/agents"

// settings say where agents are looked for.
type settings struct {
	user      []places.Folder // the one that goes first before the others
	workspace []string        // where in a workspace, in the same order
}

// settingsOf are the folders of a configuration: those of skills, with their switches, have
// one of agents beside them.
func settingsOf(cfg *config.Config) settings {
	s := settings{workspace: append([]string{ownFolder}, cfg.Skills.AgentFolders()...)}
	var users []string
	if file, err := config.DefaultPath(); err == nil {
		users = append(users, filepath.Join(filepath.Dir(file), "agents"))
	}
	if home, err := os.UserHomeDir(); err == nil {
		for _, folder := range cfg.Skills.AgentFolders() {
			users = append(users, filepath.Join(home, filepath.FromSlash(folder)))
		}
	}
	s.user = places.User(users...)
	return s
}
