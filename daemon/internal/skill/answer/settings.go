package answer

import (
	"context"
	"os"
	"path/filepath"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/places"
	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/daemon/internal/skill/offer"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// ownSkills is where a project keeps skills for Bothy alone.
const ownSkills = ".bothy/skills"

// Settings are the folders of a configuration, the one that goes first before
// the others; bundled is that of the skills that came with Bothy, and shelf that of those which agents found elsewhere, or
// empty.
func Settings(cfg *config.Config, bundled, shelf string) skill.Settings {
	s := skill.Settings{Enabled: cfg.Skills.Switched, Workspace: append([]string{ownSkills}, cfg.Skills.Folders()...)}
	if shelf != "" {
		s.Offered = func(project string) string { return offer.Folder(shelf, project) }
	}
	var users []string
	if path, err := userSkills(); err == nil {
		users = append(users, path)
	}
	if home, err := os.UserHomeDir(); err == nil {
		for _, folder := range cfg.Skills.Folders() {
			users = append(users, filepath.Join(home, filepath.FromSlash(folder)))
		}
	}
	s.Folders = places.User(users...)
	if cfg.Skills.Bundled && bundled != "" {
		s.Folders = append(s.Folders, skill.Folder{Tier: sdk.TierBundled, Path: bundled})
	}
	return s
}

// userSkills is the folder of a person's own skills, beside the configuration.
func userSkills() (string, error) {
	file, err := config.DefaultPath()
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(file), "skills"), nil
}

// Create implements server.Skills. The new skill is found like any that people
// save.
func (a *Answers) Create(_ context.Context, p rpc.SkillCreate) (rpc.SkillCreated, error) {
	root, err := userSkills()
	if err != nil {
		return rpc.SkillCreated{}, err
	}
	files, err := skill.Create(root, skill.New{Name: p.Name, Description: p.Description, Code: p.Code})
	if err != nil {
		return rpc.SkillCreated{}, err
	}
	return rpc.SkillCreated{Folder: filepath.Dir(files[0]), Files: files}, nil
}
