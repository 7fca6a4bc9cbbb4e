package daemon

import (
	"context"
	"path/filepath"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Create implements server.Skills. The new skill is found like any that people
// save.
func (f skillFace) Create(_ context.Context, p rpc.SkillCreate) (rpc.SkillCreated, error) {
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

// userSkills is the folder of a person's own skills, beside the configuration.
func userSkills() (string, error) {
	file, err := config.DefaultPath()
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(file), "skills"), nil
}
