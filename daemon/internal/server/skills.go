package server

import (
	"context"
	"os"
	"path/filepath"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Skills answers for the skills. None of it executes anything that one brings.
type Skills interface {
	Skills(ctx context.Context, p rpc.SkillQuery) (rpc.Skills, error)
	Skill(ctx context.Context, p rpc.SkillQuery) (rpc.SkillInfo, error)
	Explain(ctx context.Context, p rpc.SkillExplainQuery) (rpc.SkillExplain, error)
	Match(ctx context.Context, p rpc.SkillMatchQuery) (rpc.SkillMatches, error)
	Enable(ctx context.Context, p rpc.SkillSwitch) (rpc.SkillSwitched, error)
	Create(ctx context.Context, p rpc.SkillCreate) (rpc.SkillCreated, error)
	Trust(ctx context.Context, p rpc.TrustQuery) (rpc.Trust, error)
}

func (s *Server) skills(ctx context.Context, p rpc.SkillQuery) (rpc.Skills, error) {
	found, err := s.cfg.Skills.Skills(ctx, p)
	found.Skills, found.Folders = orEmpty(found.Skills), orEmpty(found.Folders)
	return found, err
}

func (s *Server) createSkill(ctx context.Context, _ *conn, p rpc.SkillCreate) (rpc.SkillCreated, error) {
	return s.cfg.Skills.Create(ctx, p)
}

func (s *Server) trust(ctx context.Context, _ *conn, p rpc.TrustQuery) (rpc.Trust, error) {
	return s.cfg.Skills.Trust(ctx, p)
}

// inFolder is the handler of a method about the skills of a project. answer gets
// the project as its real path, or none.
func inFolder[P, R any](method string, answer func(context.Context, P) (R, error)) func(context.Context, *conn, P) (R, error) {
	return func(ctx context.Context, c *conn, p P) (R, error) {
		project := paramsOf(&p).text(rpc.AccessProject)
		var err error
		if c.grant != nil { // whose runs have no skills of the project
			*project = ""
		}
		if *project, err = skillProject(method, *project); err != nil {
			var none R
			return none, err
		}
		return answer(ctx, p)
	}
}

// skillProject is the directory whose skills are meant, links resolved; empty
// is no project. The directory must be there: it is watched from then on.
func skillProject(method, project string) (string, error) {
	if project == "" {
		return "", nil
	}
	if err := absolute(method, project); err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(project)
	if err != nil {
		return "", sdk.Errorf(sdk.NotFound, "the project directory cannot be found: %w", err)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", wrongParams("the project %s is not a directory", real)
	}
	return real, nil
}
