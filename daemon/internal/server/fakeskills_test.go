package server

import (
	"context"

	"github.com/bothyd/bothy/sdk/rpc"
)

// fakeSkills has one skill and answers with what it was asked.
type fakeSkills struct{}

func (*fakeSkills) Skills(context.Context, rpc.SkillQuery) (rpc.Skills, error) {
	return rpc.Skills{}, nil
}

func (*fakeSkills) Skill(context.Context, rpc.SkillQuery) (rpc.SkillInfo, error) {
	return rpc.SkillInfo{}, nil
}

func (*fakeSkills) Explain(_ context.Context, p rpc.SkillExplainQuery) (rpc.SkillExplain, error) {
	return rpc.SkillExplain{Name: p.Name}, nil
}

func (*fakeSkills) Match(context.Context, rpc.SkillMatchQuery) (rpc.SkillMatches, error) {
	return rpc.SkillMatches{}, nil
}

func (*fakeSkills) Enable(context.Context, rpc.SkillSwitch) (rpc.SkillSwitched, error) {
	return rpc.SkillSwitched{}, nil
}

func (*fakeSkills) Create(context.Context, rpc.SkillCreate) (rpc.SkillCreated, error) {
	return rpc.SkillCreated{}, nil
}

func (*fakeSkills) Trust(_ context.Context, p rpc.TrustQuery) (rpc.Trust, error) {
	return rpc.Trust{Project: p.Project}, nil
}
