package answer

import (
	"context"
	"path/filepath"

	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/sdk/rpc"
)

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
