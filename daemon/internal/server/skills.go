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

func (s *Server) skills(ctx context.Context, _ *conn, p rpc.SkillQuery) (rpc.Skills, error) {
	var err error
	if p.Project, err = skillProject(rpc.MethodSkills, p.Project); err != nil {
		return rpc.Skills{}, err
	}
	found, err := s.cfg.Skills.Skills(ctx, p)
	found.Skills, found.Folders = orEmpty(found.Skills), orEmpty(found.Folders)
	return found, err
}

func (s *Server) skill(ctx context.Context, _ *conn, p rpc.SkillQuery) (rpc.SkillInfo, error) {
	var err error
	if p.Project, err = skillProject(rpc.MethodSkill, p.Project); err != nil {
		return rpc.SkillInfo{}, err
	}
	return s.cfg.Skills.Skill(ctx, p)
}

func (s *Server) explainSkill(ctx context.Context, _ *conn, p rpc.SkillExplainQuery) (rpc.SkillExplain, error) {
	var err error
	if p.Project, err = skillProject(rpc.MethodSkillExplain, p.Project); err != nil {
		return rpc.SkillExplain{}, err
	}
	return s.cfg.Skills.Explain(ctx, p)
}

func (s *Server) matchSkills(ctx context.Context, _ *conn, p rpc.SkillMatchQuery) (rpc.SkillMatches, error) {
	var err error
	if p.Project, err = skillProject(rpc.MethodSkillMatch, p.Project); err != nil {
		return rpc.SkillMatches{}, err
	}
	return s.cfg.Skills.Match(ctx, p)
}

func (s *Server) enableSkill(ctx context.Context, _ *conn, p rpc.SkillSwitch) (rpc.SkillSwitched, error) {
	var err error
	if p.Project, err = skillProject(rpc.MethodSkillEnable, p.Project); err != nil {
		return rpc.SkillSwitched{}, err
	}
	return s.cfg.Skills.Enable(ctx, p)
}

func (s *Server) createSkill(ctx context.Context, _ *conn, p rpc.SkillCreate) (rpc.SkillCreated, error) {
	return s.cfg.Skills.Create(ctx, p)
}

func (s *Server) trust(ctx context.Context, _ *conn, p rpc.TrustQuery) (rpc.Trust, error) {
	return s.cfg.Skills.Trust(ctx, p)
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
